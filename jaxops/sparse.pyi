# Written by `make names` from _names.py, for type checkers and editors.

from jaxops import (SparseTensor, sparse_segment_mean as segment_mean, sparse_segment_sqrt_n as
    segment_sqrt_n, sparse_segment_sum as segment_sum)
__all__ = ["SparseTensor", "segment_mean", "segment_sqrt_n", "segment_sum"]
