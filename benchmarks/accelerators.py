"""Compiles every function for an H100 or a TPU v5e that is not there, beside its idiom.

    python benchmarks/accelerators.py cuda --quick

Needs the environment of `make accelerators`. Fails if a program waits for the host, or adds float32
or int32 numbers by a loop of compare-and-swap. With `--quick` or `--only` fails also if a program
is worse than the recorded one of the same version of jax; without them writes new records.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import multiprocessing
import os
from importlib.metadata import version
from typing import Any

from accelerator_results import RESULTS, is_worse, name_of, read, rows_of

KINDS = (
    "f32",
    "bf16",
    "int32",
    "f32 gradient",
    "bf16 gradient",
    "f32 vmap",
    "f32 vmap gradient",
)
OF_OTHER_SIZES = ("f32", "f32 gradient")
LANES = 4  # of the batch under vmap
# A gradient whose row numbers the scatter's own kernel computes: XLA's vectors are lost there.
KNOWN_LOOPS = ("boolean_mask", "dynamic_partition", "repeat", "slice")
_state: dict[str, Any] = {}


def start(platform: str) -> None:
    from compilers import Compiler

    _state["compiler"] = Compiler(platform)


def measure(number: int, kind: str) -> dict[str, Any] | None:
    """Both programs of a row; None where there is none of this kind."""
    from accelerator_rows import STEPS, WORKS

    work = WORKS[number]
    if (work in STEPS and "gradient" in kind) or (work.other_sizes and kind not in OF_OTHER_SIZES):
        return None
    row: dict[str, Any] = {"op": work.op, "what": work.what, "kind": kind}
    for contender in ("jaxops", "idiom"):
        made = program(getattr(work, contender), work.arguments, kind)
        if made is None:
            return None
        try:
            row[contender] = _state["compiler"].compile(*made)._asdict()
        except Exception as error:
            row[contender] = {"error": f"{type(error).__name__}: {error}"[:300]}
    return row


def program(function, arguments, kind: str):
    """The function to compile, and its arguments; None if nothing is differentiated or there."""
    import jax
    import jax.numpy as jnp

    dtype = {"f32": jnp.float32, "bf16": jnp.bfloat16, "int32": jnp.int32}[kind.split()[0]]
    leaves, tree = jax.tree.flatten(arguments)
    is_data = [leaf.dtype == jnp.float32 for leaf in leaves]
    if not any(is_data) and kind.split()[0] != "f32":
        return None
    if not leaves and "vmap" in kind:
        return None
    leaves = [
        jax.ShapeDtypeStruct(x.shape, dtype if d else x.dtype)
        for x, d in zip(leaves, is_data, strict=True)
    ]
    arguments = jax.tree.unflatten(tree, leaves)
    try:
        results = jax.tree.leaves(jax.eval_shape(function, *arguments))
    except TypeError:  # there is no gradient step on integers
        return None
    if "gradient" in kind:
        cotangents = [x for x in results if jnp.issubdtype(x.dtype, jnp.floating)]
        if not any(is_data) or not cotangents:
            return None
        function = gradient(function, tree, is_data)
        arguments = (cotangents, *leaves)
    if "vmap" in kind:
        function = jax.vmap(function)
        arguments = jax.tree.map(
            lambda x: jax.ShapeDtypeStruct((LANES, *x.shape), x.dtype), arguments
        )
    return function, arguments


def gradient(function, tree, is_data):
    import jax
    import jax.numpy as jnp

    def cotangents_of_data(cotangents, *leaves):
        def of_data(*data):
            values = iter(data)
            merged = [next(values) if d else x for x, d in zip(leaves, is_data, strict=True)]
            results = jax.tree.leaves(function(*jax.tree.unflatten(tree, merged)))
            return [x for x in results if jnp.issubdtype(x.dtype, jnp.floating)]

        given = [x for x, d in zip(leaves, is_data, strict=True) if d]
        return jax.vjp(of_data, *given)[1](cotangents)

    return cotangents_of_data


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("platform", choices=["cuda", "tpu"])
    parser.add_argument("--quick", action="store_true", help="a few rows; writes nothing")
    parser.add_argument("--only", default="", help="rows whose name has this in it; writes nothing")
    parser.add_argument("--missing", action="store_true", help="adds what the results lack")
    parser.add_argument("--kinds", nargs="+", default=KINDS)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    from accelerator_rows import WORKS

    path = RESULTS / f"accelerators-{options.platform}.json"
    recorded = read(options.platform)
    known = recorded["rows"] if options.missing else []
    done = {(name_of(row), row["kind"]) for row in known}
    context = multiprocessing.get_context("spawn")
    tasks = [
        (number, kind)
        for number, work in enumerate(WORKS)
        if options.only in f"{work.op} {work.what}" and (work.quick or not options.quick)
        for kind in options.kinds
        if (name_of_work(work), kind) not in done
    ]
    with concurrent.futures.ProcessPoolExecutor(
        options.processes, context, start, (options.platform,)
    ) as pool:
        rows = []
        for row in pool.map(measure, *zip(*tasks, strict=True)):
            if row is not None:
                rows.append(row)
                print(line(row), flush=True)
    writes = not (options.quick or options.only)
    failed = [f"{name_of(row)}, {row['kind']}: {fault}" for row in rows for fault in faults(row)]
    for text in worse_than(rows_of(options.platform), rows):
        text = f"WORSE THAN RECORDED: {text}"
        print(text)
        # Another version of XLA may make other programs of the same code.
        if not writes and recorded["jax"] == version("jax"):
            failed.append(text)
    if failed:
        raise SystemExit("\n".join(failed))
    if writes:
        names = [name_of_work(work) for work in WORKS]
        rows += [row for row in known if name_of(row) in names]
        rows.sort(key=lambda row: (names.index(name_of(row)), KINDS.index(row["kind"])))
        text = ",\n".join(json.dumps(without_nothing(row)) for row in rows)
        path.write_text(f'{{"jax": "{version("jax")}", "rows": [\n{text}\n]}}\n')


def without_nothing(row: dict[str, Any]) -> dict[str, Any]:
    """What is 0 or empty is left out, and so is what one platform does not tell."""
    return {
        key: without_nothing(value) if isinstance(value, dict) else value
        for key, value in row.items()
        if value
    }


def name_of_work(work: Any) -> str:
    return name_of(work._asdict())


def faults(row: dict[str, Any]) -> list[str]:
    """What a program of jaxops does that it should not, whatever its idiom does."""
    ours = row["jaxops"]
    if "error" in ours:
        return [ours["error"]]
    found = [f"{opcode} waits for the host" for opcode in ours["stalls"]]
    is_sum = not row["op"].endswith(("max", "min", "prod")) and not row["kind"].startswith("bf16")
    if is_sum and any("cas" in name for name in ours["atomics"]) and row["op"] not in KNOWN_LOOPS:
        found.append("adds by compare-and-swap")
    return found


def worse_than(recorded: list[dict[str, Any]], rows: list[dict[str, Any]]) -> list[str]:
    """In what programs of jaxops are worse than they were."""
    before = {(name_of(row), row["kind"]): row["jaxops"] for row in recorded}
    found = []
    for row in rows:
        name, kind = name_of(row), row["kind"]
        if worse := is_worse({**row, "idiom": before.get((name, kind), row["jaxops"])}):
            found.append(f"{name}, {kind}: {worse}")
    return found


def line(row: dict[str, Any]) -> str:
    ours, theirs = row["jaxops"], row["idiom"]
    if "error" in ours or "error" in theirs:
        values = f"{ours.get('error')} | {theirs.get('error')}"
    else:
        keys = [
            "kernels",
            "temporaries",
            "seconds",
            *["accessed", "prefetched"][: 2 * bool(ours["accessed"])],
        ]
        values = " ".join(f"{f'{ours[key]}/{theirs[key]}':>20}" for key in keys)
        values += " " + " ".join(ours["atomics"])
    worse = is_worse(row)
    return f"{name_of(row):38} {row['kind']:18} {values} {worse and f'WORSE: {worse}'}"


if __name__ == "__main__":
    main()
