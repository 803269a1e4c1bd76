"""The table of calls that the harness, `test_ops.py`, takes every op through."""

import cases_casting
import cases_indexing

CASES = {**cases_indexing.CASES, **cases_casting.CASES}
