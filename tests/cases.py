"""The table of calls that the harness, `test_ops.py`, takes every op through."""

from collections.abc import Mapping

import cases_blocks
import cases_casting
import cases_indexing
import cases_partition
import cases_shaping
from case import Case

CASES = {
    **cases_blocks.CASES,
    **cases_casting.CASES,
    **cases_indexing.CASES,
    **cases_partition.CASES,
    **cases_shaping.CASES,
}


def has_elements(case: Case) -> bool:
    """In data and result: a test of arrays without elements sees no value."""
    return all(d.size for d in case.data) and case.oracle(*case.args).size > 0


def first_of_each_op(cases: Mapping[str, Case]) -> dict[str, str]:
    """By name of the op the name of its first case that has elements."""
    names = [name for name, case in cases.items() if has_elements(case)]
    return {name.split("-")[0]: name for name in reversed(names)}
