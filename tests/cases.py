"""The table of calls that the harness, `test_ops.py`, takes every op through."""

import cases_blocks
import cases_casting
import cases_indexing
import cases_partition
import cases_shaping

CASES = {
    **cases_blocks.CASES,
    **cases_casting.CASES,
    **cases_indexing.CASES,
    **cases_partition.CASES,
    **cases_shaping.CASES,
}
