"""The functions that TensorFlow has in `tf.strings`."""

from jaxops._ops.string_to_number import string_to_number

to_number = string_to_number
