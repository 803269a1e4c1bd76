"""The table of calls that the harness, `test_ops.py`, takes every op through."""

import cases_indexing
import cases_partition

CASES = {**cases_indexing.CASES, **cases_partition.CASES}
