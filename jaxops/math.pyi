# Written by `make names` from _names.py, for type checkers and editors.

from jaxops import (invert_permutation, segment_max, segment_mean, segment_min, segment_prod,
    segment_sum, unsorted_segment_max, unsorted_segment_mean, unsorted_segment_min,
    unsorted_segment_prod, unsorted_segment_sqrt_n, unsorted_segment_sum)
__all__ = ["invert_permutation", "segment_max", "segment_mean", "segment_min", "segment_prod",
    "segment_sum", "unsorted_segment_max", "unsorted_segment_mean", "unsorted_segment_min",
    "unsorted_segment_prod", "unsorted_segment_sqrt_n", "unsorted_segment_sum"]
