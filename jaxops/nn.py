"""The functions that TensorFlow has in `tf.nn`, and others of graphs: see `_names.py`."""

from jaxops import _namespace

globals().update(_namespace(__name__))
