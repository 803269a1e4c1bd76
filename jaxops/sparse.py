"""The functions that TensorFlow has in `tf.sparse`: see `_names.py`."""

from jaxops import _namespace

globals().update(_namespace(__name__))
