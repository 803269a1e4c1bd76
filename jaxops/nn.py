"""The functions that TensorFlow has in `tf.nn`."""

from jaxops._ops.space_to_batch import space_to_batch as space_to_batch
from jaxops._ops.space_to_depth import depth_to_space as depth_to_space
from jaxops._ops.space_to_depth import space_to_depth as space_to_depth
