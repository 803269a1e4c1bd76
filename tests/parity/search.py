"""A function's calls, drawn by Hypothesis and compared one by one."""

from __future__ import annotations

from collections.abc import Callable

from calls import Call, Entry
from hypothesis import HealthCheck, Phase, given, settings
from outcome import Tally, check

OPTIONS = settings(
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    # They are about speed, and most of the time goes to XLA.
    suppress_health_check=tuple(HealthCheck),  # type: ignore[arg-type]
)


def examples(entry: Entry, tally: Tally, options: settings) -> Callable[[], None]:
    """A function that raises where an example differs; the error's notes tell the call."""

    @options
    @given(entry.calls)
    def same_as_tensorflow(call: Call):
        check(entry, call, tally)

    return same_as_tensorflow
