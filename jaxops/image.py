"""The functions that TensorFlow has in `tf.image`."""

from jaxops._ops.patches import extract_patches as extract_patches
