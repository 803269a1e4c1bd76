"""What is compiled for accelerators: every function, beside an idiom of the same values."""

import importlib
import sys
import types
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from records import RECORDS

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
rows, accelerators, compilers = (
    importlib.import_module(name) for name in ("accelerator_rows", "accelerators", "compilers")
)
# Of the host alone; of 64-bit types; of the static arguments of another; of gradients, which
# `lazy` and `sparse_value_and_grad` stand for.
WITHOUT = {"string_to_number", "edit_distance", "to_double", "to_int64", "strided_slice_spec"}
WITHOUT |= {"required_space_to_batch_paddings"}
WITHOUT |= {"psum", "pmean", "sum_stacked", "global_norm", "clip_by_global_norm"}


def test_every_function_is_compiled():
    functions = {name for name, record in RECORDS.items() if record.section and record.call}
    functions = {name for name in functions if "." not in name}
    assert {work.op for work in rows.WORKS} >= functions - WITHOUT


# TensorFlow orders values, and rows of the same place, in ways of its own.
IN_ANOTHER_ORDER = {"unique", "unique_with_counts", "dynamic_stitch"}
SAME = [work for work in rows.WORKS if work.op not in IN_ANOTHER_ORDER]


@pytest.mark.slow
@pytest.mark.parametrize("work", SAME, ids=accelerators.name_of_work)
def test_the_idiom_has_the_same_values(work):
    rng = np.random.default_rng(0)

    def values(leaf):
        if leaf.dtype == jnp.float32:
            return rng.integers(-9, 9, leaf.shape).astype(np.float32)
        parts = int(work.what.split()[0]) if work.op == "dynamic_partition" else 0
        distinct = parts or {"slice": 1, "invert_permutation": leaf.size}.get(work.op, 2)
        numbers = np.arange(leaf.size) % distinct
        numbers = np.sort(numbers) if "segment_" in work.op else numbers  # most refuse others
        return numbers.reshape(leaf.shape).astype(leaf.dtype)

    arguments = jax.tree.map(values, work.arguments)
    results = (jax.tree.leaves(jax.jit(f)(*arguments)) for f in (work.jaxops, work.idiom))
    for ours, theirs in zip(*results, strict=True):
        ours, theirs = (np.asarray(x).astype(np.float64) for x in (ours, theirs))
        np.testing.assert_allclose(ours, theirs, 1e-4, 1e-4)


TEXT = """
%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %n = f32[8]{0} negate(%p)
}

%body (s: (s32[], f32[8])) -> (s32[], f32[8]) {
  %s = (s32[], f32[8]{0:T(8)S(1)}) parameter(0)
  %x = f32[8]{0:T(8)S(1)} get-tuple-element(%s), index=1
  %y = f32[8]{0:T(8)S(1)} fusion(%x), kind=kLoop, calls=%fused
  ROOT %t = (s32[], f32[8]{0}) tuple(%i, %y)
}

ENTRY %main (a: f32[8]) -> f32[16] {
  %a = f32[8]{0} parameter(0)
  %copy-start = (f32[8]{0:S(1)}, f32[8]{0}, u32[]{:S(2)}) copy-start(%a)
  %copy-done = f32[8]{0:S(1)} copy-done(%copy-start)
  %w = (s32[], f32[8]{0}) while(%init), condition=%cond, body=%body
  %all = f32[16]{0} all-gather(%copy-done), dimensions={0}
  ROOT %c = f32[16]{0} custom-call(%all), custom_call_target="xla_ffi_python_gpu_callback"
}
"""


def test_steps_of_a_program():
    steps = list(compilers._steps(TEXT))
    opcodes = ["copy-start", "copy-done", "all-gather", "custom-call", "fusion"]
    assert [opcode for opcode, *_ in steps] == opcodes
    assert [compilers._prefetched(step) for step in steps] == [64, 0, 0, 0, 0]
    assert compilers._bytes(steps[2][1]) == 64
    stalls = [compilers._stall(opcode, rest) for opcode, _, rest in steps]
    assert stalls == ["", "", "", "custom-call", ""]


GOOD = {"kernels": 2, "temporaries": 0, "accessed": None, "atomics": ["add.u32"], "stalls": []}
ROW = {"op": "scatter_nd", "what": "", "kind": "int32", "jaxops": GOOD, "idiom": GOOD}


def test_faults_and_what_is_worse():
    assert not accelerators.faults(ROW)
    assert not accelerators.is_worse(ROW)
    loop = {**ROW, "jaxops": {**GOOD, "atomics": ["cas.b32"]}}
    assert accelerators.faults(loop) == ["adds by compare-and-swap"]
    assert accelerators.faults({**ROW, "jaxops": {**GOOD, "stalls": ["infeed"]}})
    assert accelerators.is_worse({**ROW, "jaxops": {**GOOD, "kernels": 3}}) == "kernels"
    assert accelerators.is_worse({**ROW, "jaxops": {**GOOD, "temporaries": 99}}) == "temporaries"
    tpu = {**GOOD, "accessed": 1000, "prefetched": 0}
    more = {**tpu, "accessed": 1100}
    assert accelerators.is_worse({**ROW, "jaxops": more, "idiom": tpu}) == "bytes"
    large = {**tpu, "temporaries": 2_000_000}
    assert accelerators.is_worse({**ROW, "jaxops": large, "idiom": tpu}) == "temporaries"
    copied = {**more, "prefetched": 100}
    assert not accelerators.is_worse({**ROW, "jaxops": copied, "idiom": tpu})


def test_other_sizes_are_compiled_in_float32_alone(monkeypatch):
    """Beside the sizes of the table, each of which shows one case of its function."""
    (number, work), *_ = [(n, w) for n, w in enumerate(rows.WORKS) if w.other_sizes]
    assert work.op in {other.op for other in rows.WORKS if not other.other_sizes}
    compiler = types.SimpleNamespace(compile=lambda *_: types.SimpleNamespace(_asdict=dict))
    monkeypatch.setitem(accelerators._state, "compiler", compiler)
    made = [kind for kind in accelerators.KINDS if accelerators.measure(number, kind)]
    assert made == ["f32", "f32 gradient"]


def test_what_is_worse_than_recorded():
    """A form that a CPU computes faster may take more on a TPU, as gradients of copies once did."""
    more = {**ROW, "jaxops": {**GOOD, "kernels": 3}}
    other = {**more, "op": "tile"}
    (found,) = accelerators.worse_than([ROW], [more, other])
    assert found == f"{accelerators.name_of(ROW)}, {ROW['kind']}: kernels"
    assert not accelerators.worse_than([more], [ROW])


def test_the_page_has_a_place_for_the_results():
    report = importlib.import_module("accelerators_report")
    page = (BENCHMARKS.parent / "docs" / "accelerators.md").read_text()
    places = ("accelerators", "worse_on_cuda", "worse_on_tpu")
    assert all(f"<!-- made: {place} -->" in page for place in places)
    names = {accelerators.name_of_work(work) for work in rows.WORKS}
    lines = report.table().splitlines()[2:]
    assert {line.split(" | ")[0].removeprefix("| ") for line in lines} == names
    assert "gather: rows of 128: " not in report.misses("cuda")
    assert "- embedding_lookup_sparse: mean: f32: kernels" in report.misses("cuda")
    assert [line in lines for line in report.table("gather").splitlines()[2:]] == [True] * 7


def test_the_table_has_the_numbers_of_a_row():
    report = importlib.import_module("accelerators_report")
    row = {**ROW, "idiom": {**GOOD, "kernels": 3, "temporaries": 2_500_000}}
    assert report.pair(row, "kernels") == "2 / 3"
    assert report.pair(row, "temporaries", 1e6) == "0 / 2.5"
    assert report.pair(None, "kernels") == "-"
