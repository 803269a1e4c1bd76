"""The functions that TensorFlow has in `tf.linalg`."""

from jaxops import _getter
from jaxops import matrix_band_part as band_part
from jaxops import matrix_diag as diag
from jaxops import matrix_diag_part as diag_part
from jaxops import matrix_set_diag as set_diag
from jaxops import matrix_transpose as matrix_transpose
from jaxops import tensor_diag as tensor_diag
from jaxops import tensor_diag_part as tensor_diag_part

__all__ = [
    "band_part",
    "diag",
    "diag_part",
    "matrix_transpose",
    "set_diag",
    "tensor_diag",
    "tensor_diag_part",
]


def __dir__() -> list[str]:
    return __all__


globals()["__getattr__"] = _getter(__name__)  # type checkers would let any name pass
