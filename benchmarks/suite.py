"""Times jaxops against TensorFlow, jax.numpy, keras.ops, PyTorch, NumPy; checks their answers.

Run it with `make bench`. Contenders take turns within each round; a figure is the median over the
rounds of the ratio in that round. Below 1, jaxops takes less time. How to read the table:
benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import chart
import jax
import peers
import report
import rows_records
from row import Row, full
from timing import check_answers, measure
from work import GROUPS

_FILES = sorted(Path(__file__).parent.glob("rows_*.py"))
_MODULES = [importlib.import_module(file.stem) for file in _FILES]
ROWS = [row for module in _MODULES for row in getattr(module, "ROWS", [])]
ROWS += [*rows_records.tiny_rows(ROWS), *rows_records.throughput_rows(ROWS)]
KEEP = str(2**32)  # more bytes than any row frees
ALLOCATORS = {
    "default": {},
    "kept": {
        "MALLOC_MMAP_THRESHOLD_": KEEP,
        "MALLOC_TRIM_THRESHOLD_": KEEP,
        "MALLOC_TOP_PAD_": str(2**28),
        # XLA's threads allocate too, and the heap of a thread holds no more than 64 MiB.
        "MALLOC_ARENA_MAX": "1",
    },
}


def in_group(row: Row, group: str) -> bool:
    group = "gradients" if group == "tiny_gradients" else group
    return any(word == group or word.startswith(f"{group}-") for word in row.groups.split())


def in_quick(group: str, row: Row) -> bool:
    """Tiny calls cost little; to compile costs a second and more, round by round."""
    return group == "tiny" or (row.quick and (group != "compile" or row.op == "gather"))


def chosen(groups: list[str], pattern: str, quick: bool) -> list[tuple[str, Row]]:
    return [
        (group, row)
        for group in groups
        for row in ROWS
        if in_group(row, group)
        and re.search(pattern, row.name)
        and (not quick or in_quick(group, row))
    ]


def run_row(
    group: str, row: Row, seconds: float = 0.6, rounds: int | None = None, size=full
) -> dict[str, Any]:
    """Figures of the row. Raises WrongAnswer where the contenders disagree."""
    with jax.enable_x64(row.x64):
        work = GROUPS[group](row, size)
        check_answers(row.name, work.answers)
        work.answers.clear()
        times = measure(work.calls, seconds, rounds, work.before)
    return report.figures(row, group, times, work)


def run_rows(rows: list[tuple[str, Row]], arguments: argparse.Namespace) -> dict[str, Any]:
    """Every row in this process and its allocator. A row that fails does not end the others."""
    results, failures = [], []
    started = report.machine()
    for n, (group, row) in enumerate(rows, 1):
        if n == 1 or rows[n - 2][0] != group:
            print(f"\n{group}, allocator {arguments.allocator}\n{report.HEAD}", flush=True)
        done = f"[{n}/{len(rows)}]"
        try:
            result = run_row(group, row, arguments.seconds_per_row, arguments.rounds)
        except Exception as error:
            failures.append({"group": group, "row": row.name, "error": f"{error}"[:1000]})
            print(f"{done:9} {row.name}: FAILED\n{traceback.format_exc()}", flush=True)
            continue
        results.append({"allocator": arguments.allocator, **result})
        print(report.line(done, result), flush=True)
    return {
        "machine": started,
        # What this process was started with, rather than what it should have been.
        "malloc": {k: v for k, v in os.environ.items() if k.startswith("MALLOC_")},
        "versions": report.versions(),
        "rows": results,
        "failures": failures,
    }


def run_in_other_process(allocator: str, options: list[str]) -> dict[str, Any]:
    """A process of its own, as glibc reads its settings when one starts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.json"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")}
        subprocess.run(
            [sys.executable, __file__, *options, "--allocator", allocator, "--worker", path],
            env=environment | ALLOCATORS[allocator],
            check=True,
        )
        return json.loads(path.read_text())


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--groups", nargs="+", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--rows", default="", metavar="REGEX", help="of the names of rows")
    parser.add_argument("--rounds", type=int, help="at least 3; default: what the time allows")
    parser.add_argument("--seconds-per-row", type=float, help="default 0.6; 0.2 with --quick")
    parser.add_argument("--allocator", choices=[*ALLOCATORS, "both"])
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the figures")
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="FILE.png",
        help="where to draw the chart of all rows; that of ten is FILE_ten.png",
    )
    parser.add_argument("--quick", action="store_true", help="a few rows, one allocator")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args(words)
    if arguments.rounds is not None and arguments.rounds < 3:
        parser.error(f"argument --rounds: received {arguments.rounds}, expected 3 at least")
    if arguments.seconds_per_row is None:
        arguments.seconds_per_row = 0.2 if arguments.quick else 0.6
    if arguments.allocator is None:
        arguments.allocator = "kept" if arguments.quick else "both"
    try:
        found = chosen(arguments.groups, arguments.rows, arguments.quick)
    except re.error as error:
        parser.error(f"argument --rows: {error}")
    if not found:
        parser.error(f"no row of these groups is named like {arguments.rows!r}")
    return arguments


def main(words: list[str]) -> int:
    arguments = parse(words)
    if arguments.worker is not None:
        # Else compiling would take no time, and programs come with the metadata of others.
        jax.config.update("jax_enable_compilation_cache", False)
        rows = chosen(arguments.groups, arguments.rows, arguments.quick)
        arguments.worker.write_text(json.dumps(run_rows(rows, arguments)))
        return 0
    start = time.perf_counter()
    missing = [name for name in ("tensorflow", "keras") if not peers.is_installed(name)]
    if missing and jax.default_backend() == "cpu":
        print(f"Not installed, so that their columns are empty: {', '.join(missing)}")
    both = list(ALLOCATORS) if arguments.allocator == "both" else [arguments.allocator]
    runs = {allocator: run_in_other_process(allocator, words) for allocator in both}
    results = [row for run in runs.values() for row in run["rows"]]
    failures = [row for run in runs.values() for row in run["failures"]]
    print(f"\n{report.summary_text(results)}")
    print(f"{len(results)} rows in {(time.perf_counter() - start) / 60:.1f} minutes")
    last = runs[both[-1]]
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        everything = {
            "versions": last["versions"],
            "machine": last["machine"],
            "allocators": {allocator: run["malloc"] for allocator, run in runs.items()},
            "load": {allocator: run["machine"]["load"] for allocator, run in runs.items()},
            "summary": report.summaries(results),
            "rows": results,
            "failures": failures,
        }
        arguments.json.write_text(report.json_text(everything))
    if arguments.plot and results:
        chart.draw(results, arguments.plot)
        chart.draw_ten(results, arguments.plot.with_stem(f"{arguments.plot.stem}_ten"))
    for failure in failures:
        print(f"FAILED: {failure['group']}: {failure['row']}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
