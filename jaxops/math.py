"""The functions that TensorFlow has in `tf.math`: see `_names.py`."""

from jaxops import _namespace

globals().update(_namespace(__name__))
