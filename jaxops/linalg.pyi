# Written by `make names` from _names.py, for type checkers and editors.

from jaxops import (matrix_band_part as band_part, matrix_diag as diag, matrix_diag_part as
    diag_part, matrix_set_diag as set_diag, matrix_transpose, tensor_diag, tensor_diag_part)
__all__ = ["band_part", "diag", "diag_part", "set_diag", "matrix_transpose", "tensor_diag",
    "tensor_diag_part"]
