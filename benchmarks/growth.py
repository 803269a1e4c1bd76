"""How time, temporaries and compilation grow with size, as exponents beside those of the peers.

Run it with `make bench-growth`. Every row of the suite that has megabytes of data, and the rows of
growth_rows.py, are timed at a 64th, a 16th, a quarter and the whole of their size, all contenders
in turns. Programs of growth_programs.py are compiled for more and more outputs, parts, windows and
ranks. How to read the table: benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import statistics
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import growth_programs
import growth_rows
import jax
import numpy as np
import peers
import programs
import report
import suite
import timing
import work
from growth_programs import Program
from row import PEERS, Row, full, small

PEERS_HERE = ("tensorflow", "jnp")
FRACTIONS = (1 / 64, 1 / 16, 1 / 4, 1)
# What a row calls a size is kept if it is smaller: the width of a row, the number of parts.
LEAST_THAT_GROWS = 256
# A time counts for the exponent if it is so many times that of the smallest call.
ABOVE_FLOOR = 3
MORE_THAN_PEER = 0.1  # of an exponent
# Temporary memory counts as this many bytes if it is less: programs have some, whatever they do.
FEW_BYTES = 1 << 12
MANY_BYTES = 100_000  # fewer are no matter, however they grow


# --- sizes ---


def scaled(row: Row, scale: float) -> Callable[[int, int], int]:
    """What gives a row its sizes: those that grow are multiplied, and rounded down.

    To multiples of 8, or of 4 if they are small, as some sizes must be divided by 2, by 4 or by 8.
    As all are rounded down, what fits at the full size fits.
    """
    sizes = []
    row.arguments(lambda whole, few: sizes.append(whole) or few)
    least = min(LEAST_THAT_GROWS, max(sizes, default=0))

    def size(whole: int, few: int) -> int:
        del few
        if scale == 1 or whole < least:
            return whole
        step = 8 if whole >= LEAST_THAT_GROWS else 4
        return max(step, int(whole * scale) // step * step)

    return size


def elements(row: Row, size: Callable[[int, int], int]) -> int:
    """Of the arguments, and of the result where its shape is known."""
    arguments = work.convert(row.arguments(size), work.to_jax)
    leaves = jax.tree.leaves([a for a in arguments if not isinstance(a, int)])
    if not row.eager:
        bound, arrays = work.bind(row.jaxops, arguments)
        leaves += jax.tree.leaves(jax.eval_shape(bound, *arrays))
    return sum(leaf.size for leaf in leaves)


def scales(row: Row, largest: float) -> list[float]:
    """By how much sizes are multiplied so that elements are fractions of `largest` times all."""
    whole, part = elements(row, full), elements(row, scaled(row, 1 / 4))
    degree = math.log(whole / part, 4)
    return [(largest * fraction) ** (1 / degree) for fraction in FRACTIONS]


# --- exponents ---


def slope(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Of the line through the logarithms, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def exponents(
    sizes: Sequence[float], times: Mapping[str, Sequence[float]], floors: Mapping[str, float]
) -> dict[str, dict[str, Any]]:
    """Of jaxops and of each peer, over the sizes where both take well more than the smallest call.

    Over the two largest sizes at least.
    """
    found = {}
    for peer in (name for name in times if name != "jaxops"):
        above = [
            all(times[name][n] >= ABOVE_FLOOR * floors[name] for name in ("jaxops", peer))
            for n in range(len(sizes))
        ]
        # From the first size on, as noise is not to leave one out in between.
        first = min(above.index(True) if True in above else len(sizes), len(sizes) - 2)
        ours, theirs = (slope(sizes[first:], times[name][first:]) for name in ("jaxops", peer))
        found[peer] = {
            "points": len(sizes) - first,
            "jaxops": round(ours, 3),
            "peer": round(theirs, 3),
            "more": round(ours - theirs, 3),
            "ratios": [round(a / b, 3) for a, b in zip(times["jaxops"], times[peer], strict=True)],
        }
    return found


# --- time and temporaries of a row ---


def only_with(row: Row, names: Sequence[str]) -> Row:
    left_out = dict.fromkeys(set(PEERS) - set(names))
    return row._replace(**left_out)


def gradient_row(row: Row) -> Row:
    """The row of the gradient, of jaxops and jnp: cotangents, and the arguments of the row.

    Cotangents are arguments, as XLA would compute with constants while it compiles.
    """

    def with_cotangents(size):
        arguments = row.arguments(size)
        return work.cotangents_of(row, work.convert(arguments, work.to_jax)), *arguments

    found = row._replace(
        what=f"gradient, {row.what}",
        arguments=with_cotangents,
        jaxops=work.pullback(row, row.jaxops),
        jnp=work.pullback(row, row.jnp),
        comparable=jax.tree.leaves,
    )
    return only_with(found, ("jnp",))


def compiled_programs(row: Row, arguments: tuple[Any, ...]) -> dict[str, Any]:
    """Of jaxops and jnp: the bytes of temporaries, and the instructions."""
    if row.eager:
        return {}
    functions = {"jaxops": row.jaxops} | ({"jnp": row.jnp} if row.jnp else {})
    found = {}
    for name, function in functions.items():
        bound, arrays = work.bind(function, arguments)
        compiled = jax.jit(bound).lower(*arrays).compile()
        memory: Any = compiled.memory_analysis()
        found[name] = {
            "bytes": memory.temp_size_in_bytes,
            "text": programs.normalized(compiled.as_text() or ""),
        }
    return found


def finite(answer: Any) -> list[np.ndarray]:
    """With the largest number for infinity: the maximum of no elements is the one or the other."""
    return [
        np.nan_to_num(array, nan=np.nan) if array.dtype.kind == "f" else array
        for array in timing.to_host(answer)
    ]


def timed(row: Row, size, seconds: float, rounds: int | None) -> dict[str, float]:
    """Median seconds of each contender, whose answers were compared."""
    calls = work.contender_calls(row, row.arguments(size), row.eager, tiny=False)
    answers = {name: finite(row.comparable(call())) for name, call in calls.items()}
    timing.check_answers(row.name, answers)
    return {
        name: statistics.median(t) for name, t in timing.measure(calls, seconds, rounds).items()
    }


def with_better_tensorflow(by_size: list[dict[str, float]]) -> dict[str, list[float]]:
    """Times by contender; of the two ways of TensorFlow that which is faster at the full size."""
    names = list(by_size[-1])
    ways = [name for name in names if name in (work.TF_EAGER, work.TF_FUNCTION)]
    if ways:
        better = min(ways, key=by_size[-1].__getitem__)
        names = [name for name in names if name not in ways or name == better]
    return {
        "tensorflow" if name in ways else name: [times[name] for times in by_size] for name in names
    }


def run_row(
    row: Row, largest: float = 1, seconds: float = 0.3, rounds: int | None = None
) -> dict[str, Any]:
    """Figures of the row up to `largest` times its size.

    Raises WrongAnswer where the contenders disagree.
    """
    row = only_with(row, PEERS_HERE)
    with jax.enable_x64(row.x64):
        sizes = [scaled(row, scale) for scale in scales(row, largest)]
        counts = [elements(row, size) for size in sizes]
        compiled = [
            compiled_programs(row, work.convert(row.arguments(size), work.to_jax)) for size in sizes
        ]
        by_size = [timed(row, size, seconds, rounds) for size in (small, *sizes)]
    floors_and_times = with_better_tensorflow(by_size)
    times = {
        name: of_size[1:]
        for name, of_size in floors_and_times.items()
        if name not in row.shares_memory
    }
    floors = {name: of_size[0] for name, of_size in floors_and_times.items()}
    result = {"op": row.op, "what": row.what, **figures(counts, times, floors)}
    texts = [{name: program["text"] for name, program in at.items()} for at in compiled]
    result["same_program"] = all(
        at.get("jaxops") is not None and at.get("jaxops") == at.get("jnp") for at in texts
    )
    if compiled[-1]:
        temporaries = {name: [at[name]["bytes"] for at in compiled] for name in compiled[-1]}
        at_least = {name: [max(FEW_BYTES, b) for b in of] for name, of in temporaries.items()}
        result["temporaries"] = temporaries
        result["temporaries_exponents"] = {
            name: round(slope(counts, of_size), 3) for name, of_size in at_least.items()
        }
    return judged(result)


def figures(counts, times, floors) -> dict[str, Any]:
    return {
        "sizes": list(counts),
        "microseconds": {
            name: [round(1e6 * t, 2) for t in of_size] for name, of_size in times.items()
        },
        "exponents": exponents(counts, times, floors),
        "exponent": round(slope(counts, times["jaxops"]), 3),
    }


def judged(result: dict[str, Any]) -> dict[str, Any]:
    """Adds the fastest peer at the largest size, and what is worse than its by 0.1."""
    times, found = result["microseconds"], result["exponents"]
    best = min(found, key=lambda name: times[name][-1], default=None)
    worse = []
    is_same = best == "jnp" and result.get("same_program")
    if best is not None and not is_same and found[best]["more"] > MORE_THAN_PEER:
        worse.append("time")
    of = result.get("temporaries_exponents", {})
    many = result.get("temporaries", {}).get("jaxops", [0])[-1] > MANY_BYTES
    if many and "jnp" in of and of["jaxops"] - of["jnp"] > MORE_THAN_PEER:
        worse.append("temporaries")
    ahead = best is not None and found[best]["ratios"][-1] < 1
    return {**result, "best_peer": best, "ahead": ahead, "worse": worse}


# --- compilation of a program ---


def cotangents_pulled(function, differentiated: int):
    def pull(*arguments):
        data, rest = arguments[:differentiated], arguments[differentiated:]
        results, pull = jax.vjp(lambda *data: jax.tree.leaves(function(*data, *rest)), *data)
        return pull([0.5 * x for x in results])

    return pull


def run_program(
    program: Program,
    gradient: bool,
    seconds: float = 0.0,
    rounds: int | None = 2,
    counts: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Seconds to trace, lower and compile for each count, in turns and with empty caches."""
    counts = program.counts if counts is None else tuple(counts)
    by_count = []
    for count in counts:
        arguments = work.convert(program.arguments(count), work.to_jax)
        functions = {name: getattr(program, name)(count) for name in ("jaxops", "jnp")}
        if gradient:
            functions = {
                name: cotangents_pulled(function, program.differentiated)
                for name, function in functions.items()
            }
        bound = {name: work.bind(function, arguments) for name, function in functions.items()}
        timing.check_answers(
            program.name, {name: jax.jit(f)(*arrays) for name, (f, arrays) in bound.items()}
        )
        by_count.append(compile_times(bound, seconds, rounds))
    (floor,) = compile_times({"": (lambda x: x + 1, [np.zeros(8)])}, seconds, rounds).values()
    times = {name: [of[name] for of in by_count] for name in by_count[0]}
    floors = dict.fromkeys(times, floor)
    what = f"{'gradient, ' if gradient else ''}{program.grows}"
    return judged({"op": program.op, "what": what, **figures(counts, times, floors)})


def compile_times(bound: dict[str, Any], seconds: float, rounds: int | None) -> dict[str, float]:
    """The least seconds of each, as other processes only ever add to the time of a compilation."""

    def to_compile(function, arrays):
        shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), arrays)
        return lambda: jax.jit(function).lower(*shapes).compile()

    calls = {name: to_compile(*of) for name, of in bound.items()}
    times = timing.measure(calls, seconds, rounds, before=jax.clear_caches)
    return {name: min(samples) for name, samples in times.items()}


# --- the command ---


def chosen_rows(
    pattern: str, largest: float
) -> list[tuple[str, Callable[..., dict[str, Any]], Any]]:
    """Kind, what runs it, and the arguments of each piece of work whose name is like that."""
    of_gradients = [row for row in suite.ROWS if suite.in_group(row, "gradients") and row.jnp]
    found = [
        *(("time", run_row, (row, largest)) for row in growth_rows.ROWS),
        *(("gradients", run_row, (gradient_row(row), largest)) for row in of_gradients),
        *(
            ("compile", run_program, (program, gradient))
            for program in growth_programs.PROGRAMS
            for gradient in ([False, True] if program.differentiated else [False])
        ),
    ]
    return [(kind, run, given) for kind, run, given in found if re.search(pattern, given[0].name)]


def line(result: dict[str, Any]) -> str:
    name = f"{result['op']}: {result['what']}"
    peer = result["best_peer"]
    cells = (
        f"{report.time_text(result['microseconds']['jaxops'][-1]):>10} {result['exponent']:8.2f}"
    )
    if peer is not None:
        of = result["exponents"][peer]
        ratios = " ".join(f"{ratio:.2f}" for ratio in of["ratios"])
        cells += f" {of['more']:+7.2f} {peer:>10} {ratios}"
    for name_of, exponent in result.get("temporaries_exponents", {}).items():
        cells += f" {name_of} {result['temporaries'][name_of][-1] / 1e6:.2f} MB ^{exponent:.2f}"
    same = " same program" if result.get("same_program") else ""
    worse = f" WORSE: {', '.join(result['worse'])}" if result["worse"] else ""
    return f"{name[:72]:72} {cells}{same}{worse}"


HEAD = (
    f"{'':72} {'jaxops':>10} {'exponent':>8} {'- peer':>7} {'best peer':>10} ratio by size, "
    "temporaries"
)


def run_all(arguments: argparse.Namespace) -> dict[str, Any]:
    results: dict[str, list[dict[str, Any]]] = {}
    failures = []
    machine = report.machine()
    for kind, run, given in chosen_rows(arguments.rows, arguments.largest):
        if kind not in arguments.kinds:
            continue
        if kind not in results:
            print(f"\n{kind}\n{HEAD}", flush=True)
        of_kind = results.setdefault(kind, [])
        try:
            result = run(*given)
            if "time" in result["worse"]:  # noise does not come twice
                result = run(*given)
        except Exception as error:
            failures.append({"kind": kind, "row": given[0].name, "error": f"{error}"[:1000]})
            print(f"{given[0].name}: FAILED\n{traceback.format_exc()}", flush=True)
            continue
        of_kind.append({**result, "load": round(os.getloadavg()[0], 1)})
        print(line(result), flush=True)
    return {
        "machine": machine,
        "versions": report.versions(),
        **results,
        "failures": failures,
    }


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    kinds = ("time", "gradients", "compile")
    parser.add_argument("--kinds", nargs="+", choices=kinds, default=list(kinds))
    parser.add_argument("--rows", default="", metavar="REGEX", help="of the names of rows")
    parser.add_argument(
        "--largest", type=float, default=1, metavar="TIMES", help="the size of rows, at most"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the figures")
    arguments = parser.parse_args(words)
    if arguments.largest <= 0:
        parser.error(f"argument --largest: received {arguments.largest}, expected more than 0")
    try:
        found = chosen_rows(arguments.rows, arguments.largest)
    except re.error as error:
        parser.error(f"argument --rows: {error}")
    if not any(kind in arguments.kinds for kind, *_ in found):
        parser.error(f"no row of these kinds is named like {arguments.rows!r}")
    return arguments


def main(words: list[str]) -> int:
    arguments = parse(words)
    kept = suite.ALLOCATORS["kept"]
    if not kept.items() <= os.environ.items():
        # A process of its own, as glibc reads its settings when one starts. With glibc's defaults
        # times jump where a result becomes so large that its pages are mapped anew in each call.
        command = [sys.executable, __file__, *words]
        return subprocess.run(command, env=os.environ | kept, check=False).returncode
    # Else compiling would take no time.
    jax.config.update("jax_enable_compilation_cache", False)
    if not peers.is_installed("tensorflow"):
        print("TensorFlow is not installed, so that jnp is the only peer.")
    everything = run_all(arguments)
    results = [row for kind in arguments.kinds for row in everything.get(kind, [])]
    worse = [row for row in results if row["worse"]]
    ahead = [row for row in worse if row["worse"] == ["time"] and row["ahead"]]
    print(f"\n{len(results)} rows, {len(worse)} grow faster than their peer by more than 0.1:")
    print("\n".join(line(row) for row in worse if row not in ahead))
    print(f"Of these {len(ahead)} take less time than their peer even so, at the largest size:")
    print("\n".join(map(line, ahead)))
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(report.json_text(everything))
    return 1 if everything["failures"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
