"""The table of calls that the harness, `test_ops.py`, takes every op through."""

import cases_blocks
import cases_indexing

CASES = {**cases_indexing.CASES, **cases_blocks.CASES}
