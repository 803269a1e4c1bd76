"""The contract and the speed of jaxops on the device that is there: `make device`.

    PYTHONPATH=tests python benchmarks/device.py --platform cuda

The parts, in turn: indices out of bounds; errors; values and gradients beside those of the CPU;
times beside JAX idioms and a copy; the cost of a check of bounds. Each part prints as it goes, and
the script adds it to the JSON file when it ends: after an interruption the earlier parts are there.
The status is 1 if a part found a fault.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import importlib.metadata
import json
import os
import re
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import device_rows
import jax
import jax.numpy as jnp
import numpy as np
import suite
import timing
import work
from checked import jax_code
from records import CASES, first_of_each_op, joined
from records.record import Case, OutOfBounds
from row import Row, full, small
from setting import write_figures

import jaxops
from jaxops import testing

RESULTS = Path(__file__).parent / "results"


class Setting(NamedTuple):
    platform: str
    every: int  # of the cases of the harness, and of the rows, one in so many
    threads: int

    @property
    def fills(self) -> dict[str, str]:
        """The options with which an index out of bounds reads 0: on a device none, the default."""
        return {"mode": "fill"} if self.platform == "cpu" else {}

    def some(self, items: Mapping[str, Any]) -> dict[str, Any]:
        return dict([*items.items()][:: self.every])


# --- what is right or wrong ---


def outcomes(tasks: Mapping[str, Callable[[], None]], threads: int) -> dict[str, Any]:
    """How many tasks pass, and what the others raise."""
    faults = {}
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        running = {pool.submit(task): name for name, task in tasks.items()}
        for done in concurrent.futures.as_completed(running):
            if (error := done.exception()) is not None:
                faults[running[done]] = f"{type(error).__name__}: {error}"[:1000]
                print(f"  FAULT {running[done]}: {faults[running[done]][:300]}", flush=True)
    return {"passed": len(tasks) - len(faults), "faults": faults}


def on_the_cpu(function: Callable) -> Callable:
    """`function`, compiled for the CPU."""
    compiled = jax.jit(function)

    def call(*args: Any) -> Any:
        with jax.default_device(jax.local_devices(backend="cpu")[0]):
            return compiled(*args)

    return call


def all_close(actual: Any, expected: Any) -> None:
    """To the rounding of sums in another order, which atomic additions have."""
    for x, y in zip(jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), 1e-5, 1e-5)


def out_of_bounds(setting: Setting) -> dict[str, Any]:
    """An index out of bounds reads 0 and writes nothing: compiled, eagerly, and under `vmap`."""
    filled = {name: case for name, case in CASES.items() if "fill" in case.modes}
    firsts = {*first_of_each_op(filled).values()}

    def task(name: str, case: Case) -> None:
        function = partial(case.op, **setting.fills)
        calls: dict[str, Callable] = {"jit": jax.jit(function)}
        if name in firsts:
            batched = jax.jit(jax.vmap(function))
            calls["eager"] = function
            calls["vmap"] = lambda *args: batched(*(np.stack([x, x]) for x in args))[1]
        gradients = jax.jit(case.gradients(**setting.fills))
        of_cpu = on_the_cpu(case.gradients(mode="fill"))
        for by in (-2, 3):
            args = (*case.data, *(i + np.int32(by) for i in case.indices))
            expected = case.oracle(*args, mode="fill")
            for way, call in calls.items():
                np.testing.assert_array_equal(call(*args), expected, way)
            all_close(gradients(*args), of_cpu(*args))

    tasks = {name: partial(task, name, case) for name, case in setting.some(filled).items()}
    return outcomes(tasks, setting.threads)


def errors(setting: Setting) -> dict[str, Any]:
    """`mode="error"` and `checked` raise, with the line, and the next call is right."""

    def raises(call: Callable, good: Any, bad: Any, match: str | None = None) -> Callable:
        """The compiled call, which works again after an error."""
        compiled = jax.jit(call)
        error = testing.assert_out_of_bounds(call, bad, match=match, jit=lambda _: compiled)
        assert re.search(r"\w+\.py:\d+", error.where or ""), error.where
        jax.block_until_ready(compiled(good))
        return compiled

    def of_call(entry: OutOfBounds) -> None:
        good, bad = (jnp.asarray(x, jnp.int32) for x in (entry.good, entry.bad))
        raises(partial(entry.call, mode="error"), good, bad, re.escape(entry.text))

    def of_gradient(case: Case) -> None:
        args = (*case.data, *(i + np.int32(100) for i in case.indices))
        testing.assert_out_of_bounds(case.gradients(mode="error"), *args, match="")

    def of_code(name: str) -> None:
        call = partial(jaxops.checked(jax_code.PROGRAMS[name][0], mode="error"), jax_code.X)
        compiled = raises(call, jax_code.GOOD, jax_code.bad_for(name))
        all_close(compiled(jax_code.GOOD), jax_code.PROGRAMS[name][0](jax_code.X, jax_code.GOOD))

    checked = {n: case for n, case in CASES.items() if "error" in case.modes and case.data}
    firsts = {name: CASES[name] for name in first_of_each_op(checked).values()}
    tasks = {
        **{
            n: partial(of_call, entry) for n, entry in setting.some(joined("out_of_bounds")).items()
        },
        **{f"gradient of {n}": partial(of_gradient, c) for n, c in setting.some(firsts).items()},
        **{f"checked {n}": partial(of_code, n) for n in setting.some(jax_code.PROGRAMS)},
    }
    return outcomes(tasks, 1)  # so that a task sees the errors of its own calls alone


def values(setting: Setting) -> dict[str, Any]:
    """Results as the oracles have them, gradients as the CPU has them; fixed sums to the bit."""

    def task(case: Case) -> None:
        result, gradients = jax.jit(lambda *args: (case.op(*args), case.gradients()(*args)))(
            *case.args
        )
        all_close(result, case.oracle(*case.args))
        all_close(gradients, on_the_cpu(case.gradients())(*case.args))

    def fixed(function: Callable, *args: Any) -> None:
        call = jax.jit(partial(function, deterministic=True))
        np.testing.assert_array_equal(call(*args), call(*args))
        all_close(call(*args), on_the_cpu(partial(function, deterministic=True))(*args))

    rng = np.random.default_rng(0)
    size = 1000 if setting.platform == "cpu" else 100_000
    rows = rng.normal(size=(size, 4)).astype(np.float32)
    ids = rng.integers(0, 10, len(rows)).astype(np.int32)
    sums = {
        "scatter_nd": lambda x, i, **k: jaxops.scatter_nd(i[:, None], x, [10, 4], **k),
        "unsorted_segment_sum": lambda x, i, **k: jaxops.unsorted_segment_sum(x, i, 10, **k),
        "tensor_scatter_nd_add": lambda x, i, **k: jaxops.tensor_scatter_nd_add(
            x[:10], i[:, None], x, **k
        ),
    }
    tasks = {name: partial(task, case) for name, case in setting.some(CASES).items()}
    tasks |= {f"{name}, deterministic": partial(fixed, f, rows, ids) for name, f in sums.items()}
    return outcomes(tasks, setting.threads)


# --- times ---


def measured(calls: Mapping[str, Callable], peer: str) -> dict[str, Any]:
    """Milliseconds of each call, and the ratio of "jaxops" to the peer, a median over rounds."""
    times = timing.measure(calls, 0.3)
    found: dict[str, Any] = {
        name: timing.summary(samples, 1e3, digits=4)["median"] for name, samples in times.items()
    }
    found["ratio"] = timing.ratios(times, peer)["median"]
    if "copy" in times:
        found["share of a copy"] = round(1 / timing.ratios(times, "copy")["median"], 3)
    return found


def rows_of_suite(setting: Setting) -> list[Row]:
    """The rows of the usual functions, and the twenty rows that move the most bytes."""
    rows = [row for row in suite.ROWS if suite.in_group(row, "throughput") and row.jnp]
    rows = [row for row in rows if not (row.eager or row.x64)]
    size = small if setting.platform == "cpu" else full

    def bytes_of(row: Row) -> int:
        return work.size_in_bytes(row.arguments(size))

    usual = re.compile("(gather|gather_nd|.*segment_sum|unique|dynamic_partition|where|one_hot):")
    largest = sorted(rows, key=bytes_of)[-20:]
    return [row for row in rows if usual.match(row.name) or row in largest]


def times(setting: Setting) -> dict[str, Any]:
    """Ratios to the idiom of JAX, and shares of the speed of a copy."""
    size = small if setting.platform == "cpu" else full
    alone = dict.fromkeys(("tensorflow", "keras", "torch", "numpy", "numba"))
    rows = [*device_rows.ROWS, *rows_of_suite(setting)]
    found: dict[str, Any] = {}
    for row in rows[:: setting.every]:
        row = row._replace(**alone)
        try:
            calls = work.contender_calls(row, row.arguments(size), row.eager, tiny=False)
            timing.check_answers(row.name, work.compared(row, calls))
            calls["copy"] = work.bandwidth(row, size).calls["copy"]
            found[row.name] = measured(calls, "jnp")
        except Exception as error:
            found[row.name] = {"error": f"{type(error).__name__}: {error}"[:1000]}
        print(f"  {row.name}: {found[row.name]}", flush=True)
    name, calls = device_rows.sparse_adam(1000 if setting.platform == "cpu" else 10_000_000)
    found[name] = measured(calls, "jnp")
    print(f"  {name}: {found[name]}", flush=True)
    return {"faults": {n: f["error"] for n, f in found.items() if "error" in f}, "rows": found}


def checks(setting: Setting) -> dict[str, Any]:
    """The time of a call with a check of bounds, beside the same call without a check."""
    size = small if setting.platform == "cpu" else full
    found = {}
    for name, (function, unchecked, arguments) in device_rows.checks(size).items():
        calls = {
            "jaxops": work.jax_call(function, arguments),
            "unchecked": work.jax_call(unchecked, arguments),
        }
        found[name] = measured(calls, "unchecked")
        print(f"  {name}: {found[name]}", flush=True)
    return {"faults": {}, "rows": found}


PARTS = {
    "out of bounds": out_of_bounds,
    "errors": errors,
    "values": values,
    "times": times,
    "checks": checks,
}


def name_of_device() -> str:
    return re.sub(r"\W+", "-", jax.devices()[0].device_kind).strip("-").lower()


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--platform", choices=["cuda", "rocm", "tpu", "cpu"], default="cuda")
    parser.add_argument("--parts", nargs="+", choices=[*PARTS], default=[*PARTS])
    parser.add_argument("--every", type=int, default=1, help="one case in so many, and one row")
    parser.add_argument("--json", type=Path, help="default: results/device-NAME.json")
    options = parser.parse_args(words)
    platform = jax.default_backend()
    wanted = "gpu" if options.platform in ("cuda", "rocm") else options.platform
    if platform != wanted:
        sys.exit(f"no device of {options.platform} was found: JAX runs on {platform}")
    path = options.json or RESULTS / f"device-{name_of_device()}.json"
    setting = Setting(options.platform, options.every, os.cpu_count() or 1)
    figures: dict[str, Any] = {"jaxlib": importlib.metadata.version("jaxlib")}
    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}; into {path}", flush=True)
    for name in options.parts:
        print(name, flush=True)
        start = time.perf_counter()
        figures[name] = PARTS[name](setting)
        figures[name]["seconds"] = round(time.perf_counter() - start, 1)
        write_figures(path, figures)
        summary = {k: v for k, v in figures[name].items() if k in ("passed", "seconds")}
        print(f"{name}: {len(figures[name]['faults'])} faults, {json.dumps(summary)}", flush=True)
    sys.exit(any(figures[name]["faults"] for name in options.parts))


if __name__ == "__main__":
    main()
