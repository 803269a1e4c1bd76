"""Settings of the comparison with TensorFlow."""

import os

import pytest
from outcome import clear_programs
from peer import prepare

# Nearly all of the time goes to XLA's compiler, for programs that run once, on a few numbers.
# With these two it takes half as long. `make fuzz` compiles as users do.
CHEAP_TO_COMPILE = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"

last_group = []


def pytest_configure(config):
    del config
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {CHEAP_TO_COMPILE}"
    prepare()


@pytest.fixture(autouse=True)
def programs_are_dropped(request):
    """Between two groups: compiled programs are kept as long as their functions are."""
    marker = request.node.get_closest_marker("xdist_group")
    group = None if marker is None else marker.args[0]
    if last_group and last_group[-1] != group:
        clear_programs()
    last_group[:] = [group]


def pytest_terminal_summary(terminalreporter):
    """What was compared, by function: the numbers say whether the draws are worth something."""
    tallies = {}
    for report in terminalreporter.stats.get("passed", []):
        tallies.update(p for p in report.user_properties if p[0].startswith("tally "))
    for key in sorted(tallies):
        terminalreporter.write_line(f"{key.removeprefix('tally '):28s} {tallies[key]}")
