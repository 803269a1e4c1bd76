"""The out-of-bounds contract: every op, every context, every mode."""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import NIGHTLY, SLOW, assert_fails, printed_by
from jax import lax
from jax.experimental import checkify, serialize_executable
from jax.extend.core import jaxpr_as_fun
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P
from records import CALLS, FUNCTIONS, arguments, first_of_each_op, joined
from records import CASES as CASES_OF_ALL_OPS

import jaxops
from jaxops import testing
from jaxops._indexing import check
from jaxops._indexing.specs import ScalarIndex

CASES = joined("out_of_bounds")


@pytest.fixture(params=CASES)
def case(request):
    function, good, bad, *rest = CASES[request.param]
    return function, jnp.array(good), jnp.array(bad), *rest


# `make test` takes these, as programs take long to compile, and `make test-slow` a third of others.
SOON = "gather embedding_lookup_sparse one_hot-negative invert_permutation-duplicate scatter_nd"
SOON += " gather_nd-batch segment_max slice-begin sparse_segment_sum-segment_ids strided_slice"
OTHERS = [name for name in CASES if name not in SOON.split()]


@pytest.fixture(
    params=[
        *SOON.split(),
        *(pytest.param(name, marks=NIGHTLY if n % 3 else SLOW) for n, name in enumerate(OTHERS)),
    ]
)
def large_case(request):
    function, good, bad, *rest = CASES[request.param]
    return function, jnp.array(good), jnp.array(bad), *rest


@pytest.mark.parametrize("options", [{}, {"mode": "error"}], ids=["default", "error"])
def test_eager_and_jit(case, options):
    function, good, bad, text, position, index, bound = case
    function = functools.partial(function, **options)
    expected = jax.jit(function)(good)
    error = testing.assert_out_of_bounds(function, bad)
    assert isinstance(error, IndexError)
    assert str(error).startswith(text)
    assert error.operation in str(error)
    assert (error.position, error.index, error.bound) == (position, index, bound)
    np.testing.assert_array_equal(jax.jit(function)(good), expected)  # and life goes on


def end_of(text):
    """Without the position, before which stand those of the batch."""
    return re.split(" = |: ", text)[-1]


def test_vmap_leads_the_position(large_case):
    function, good, bad, text, position, *_ = large_case
    mapped = jax.vmap(function)
    with pytest.raises(jaxops.OutOfBoundsError) as info:
        mapped(jnp.stack([good, good, bad]))
    assert info.value.position == (2, *position)
    assert end_of(text) in str(info.value)
    mapped_twice = jax.vmap(mapped)
    with pytest.raises(jaxops.OutOfBoundsError) as info:
        mapped_twice(jnp.stack([jnp.stack([good, good]), jnp.stack([good, bad])]))
    assert info.value.position == (1, 1, *position)
    assert_fails(end_of(text), jax.jit(mapped), jnp.stack([good, good, bad]))


def test_lanes_along_any_axis(large_case):
    function, good, bad, text, position, *_ = large_case
    expected = jax.vmap(function)(jnp.stack([good, good]))
    for axis in range(1, good.ndim + 1):
        mapped = jax.vmap(function, axis)
        both = jnp.stack([good, good], axis)
        np.testing.assert_array_equal(mapped(both), expected)
        np.testing.assert_array_equal(jax.jit(mapped)(both), expected)
        with pytest.raises(jaxops.OutOfBoundsError, match=re.escape(end_of(text))) as info:
            mapped(jnp.stack([good, bad], axis))
        assert info.value.position == (1, *position)


def test_control_flow(large_case):
    function, good, bad, text, *_ = large_case

    def scanned(stack):
        return lax.scan(lambda carry, i: (carry + function(i).sum(), None), 0.0, stack)[0]

    assert_fails(text, jax.jit(scanned), jnp.stack([good, bad]))
    jax.jit(scanned)(jnp.stack([good, good]))

    def looped(i):
        return lax.while_loop(
            lambda c: c[0] < 2, lambda c: (c[0] + 1, c[1] + function(i).sum()), (0, 0.0)
        )

    assert_fails(text, jax.jit(looped), bad)

    def branched(taken, i):
        return lax.cond(taken, lambda: function(i).sum(), lambda: jnp.float32(-1))

    assert jax.jit(branched)(False, bad) == -1  # the branch not taken does not check
    assert_fails(text, jax.jit(branched), True, bad)
    assert_fails(text, jax.jit(jax.checkpoint(lambda i: function(i) * 2)), bad)


def test_checkify(large_case):
    function, good, bad, text, *_ = large_case
    checked = jax.jit(checkify.checkify(function))
    error, _ = checked(bad)
    assert error.get().startswith(text)
    error, result = checked(good)
    assert error.get() is None
    np.testing.assert_array_equal(result, function(good))


def test_checkify_of_shard_map(large_case):
    """Its rule in JAX loses constants: the check of an index has none."""
    function, good, bad, text, position, index, bound = large_case
    mesh = jax.make_mesh((1,), ("x",), axis_types=(AxisType.Auto,))
    mapped = jax.shard_map(function, mesh=mesh, in_specs=P(), out_specs=P(), check_vma=False)
    checked = jax.jit(checkify.checkify(mapped))  # uncompiled, each primitive is a program
    error, result = checked(good)
    assert error.get() is None
    np.testing.assert_array_equal(result, function(good))
    error, _ = checked(bad)
    assert str(error.get()).startswith(f"at mapped index 0: {text}")
    with pytest.raises(jaxops.OutOfBoundsError) as info, jaxops.typed_errors():
        error.throw()
    assert (info.value.position, info.value.index, info.value.bound) == (position, index, bound)


CHECKED = {name: case for name, case in CASES_OF_ALL_OPS.items() if "error" in case.modes}
FIRST_CHECKED = first_of_each_op(CHECKED)


@pytest.mark.parametrize("name", FIRST_CHECKED.values())
def test_mode_error_is_not_exported(name):
    """For other platforms the refusal tells of the check: without a GPU JAX makes no callback."""
    case = CHECKED[name]
    program = jax.jit(functools.partial(case.op, mode="error"))
    for platform in ("cpu", "cuda", "tpu"):
        with pytest.raises(ValueError, match=r"'error', which raises from a host callback"):
            jax.export.export(program, platforms=[platform])(*case.args)


def test_compiled_programs_that_check_are_not_serialized():
    """JAX refuses programs that call Python, but not in words of its own."""
    args = jnp.arange(4.0), jnp.array([1])
    checks, fills = (
        jax.jit(functools.partial(jaxops.gather, mode=mode)).lower(*args).compile()
        for mode in ("error", "fill")
    )
    with pytest.raises(AttributeError, match=r"pickle|local object"):
        serialize_executable.serialize(checks)
    serialize_executable.serialize(fills)


def test_eager_calls_on_a_gpu_raise_in_mode_error_only(case, monkeypatch):
    function, _, bad, text, *_ = case
    monkeypatch.setattr(check, "platform_of", lambda array: "gpu")
    function(bad)
    with pytest.raises(jaxops.OutOfBoundsError) as info:
        function(bad, mode="error")
    assert str(info.value).startswith(text)
    uncompiled = jaxpr_as_fun(jax.make_jaxpr(lambda i: function(i, mode="error"))(bad))
    with pytest.raises(jaxops.OutOfBoundsError):
        uncompiled(bad)


@pytest.mark.parametrize("as_indices", [np.array, jnp.array])
def test_what_the_host_reads_is_ignored_on_a_gpu(as_indices, monkeypatch):
    """By functions that read indices on the host, as the shape of the result depends on them."""
    monkeypatch.setattr(check, "platform_of", lambda array: "gpu")
    x, indices = jnp.array([1.0, 2.0, 3.0]), as_indices([-1, 2, 0])
    assert jaxops.repeat(x, indices).tolist() == [2, 2]
    assert jaxops.dynamic_stitch([indices], [x]).tolist() == [3, 0, 2]
    parts = jaxops.dynamic_partition(x, indices, 2)
    assert [part.tolist() for part in parts] == [[3], []]
    rows = jaxops.RaggedTensor.from_row_lengths(x, [1, 2]).gather(indices)
    assert (rows.values.tolist(), rows.row_splits.tolist()) == ([1], [0, 0, 0, 1])


def test_only_indices_in_bounds_count_in_an_eager_gather_on_a_gpu(monkeypatch):
    indices, spec = jnp.array([[2], [3], [-1]]), ScalarIndex("gather", (3,))
    assert check.mask_off_cpu(spec, indices).tolist() == [True] * 3  # a CPU has raised before
    monkeypatch.setattr(check, "platform_of", lambda array: "gpu")
    assert check.mask_off_cpu(spec, indices).tolist() == [True, False, False]


# Integers that are no indices: values, how far rows go, and counts, of which many may be right.
NO_INDICES = {f"unique{how}-x" for how in ("", "_with_counts")} | {"setdiff1d-x", "setdiff1d-y"}
NO_INDICES |= {"RaggedTensor.from_tensor-lengths", "IndexedSlices.sum_duplicates-indices"}
NO_INDICES |= {"repeat-repeats"}
# Options with which an index out of bounds is no error.
LENIENT = {"fill_value", "bad_indices_policy", "return_size"}
INDICES = [
    (name, arg)
    for name, call in CALLS.items()
    for arg, (kind, _) in call.items()
    if "mode" in call and kind in ("integers", "indices") and f"{name}-{arg}" not in NO_INDICES
]


@pytest.mark.parametrize(("name", "arg"), INDICES)
def test_an_error_that_was_asked_for_is_one_for_every_index(name, arg):
    """Also in functions that leave some out by default."""
    given = {**arguments(name), "mode": "error"}
    given = {option: x for option, x in given.items() if option not in LENIENT}
    is_list = CALLS[name][arg][0] == "indices"
    good = np.asarray(given[arg][-1] if is_list else given[arg])

    def call(last):
        return FUNCTIONS[name](**{**given, arg: [*given[arg][:-1], last] if is_list else last})

    call(good)
    for wrong in (-99, 99):
        bad = good.copy()
        bad[:1] = wrong
        with pytest.raises((jaxops.OutOfBoundsError, ValueError), match=r"\[Op:"):
            call(bad)


UNCHECKED = ("fill", "clip", "wrap", "promise_in_bounds")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "mode"),
    [(n, m) for n in FIRST_CHECKED.values() for m in UNCHECKED if m in CHECKED[n].modes],
)
def test_modes_without_a_check_are_exported(name, mode):
    case = CHECKED[name]
    program = jax.jit(functools.partial(case.op, mode=mode))
    exported = jax.export.export(program)(*case.data, *case.indices)
    reloaded = jax.export.deserialize(exported.serialize())
    for by in (0,) if mode == "promise_in_bounds" else (0, -2, 3):
        args = (*case.data, *(indices + np.int32(by) for indices in case.indices))
        expected = case.oracle(*args, mode=mode)
        np.testing.assert_array_equal(reloaded.call(*args), expected, strict=True)


CACHED = """
import logging, os, sys
import jax, jax.numpy as jnp
import jaxops
logging.disable(logging.CRITICAL)
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
checked = {
    "indices[0] = 7 is not in [0, 3)": jax.jit(lambda i: jaxops.gather(jnp.arange(3), i)),
    "index 7 at position [0]": jax.jit(jaxops.checked(lambda i: jnp.arange(3)[i])),
}
unchecked = jax.jit(lambda i: jaxops.gather(jnp.arange(3), i, mode="fill"))
good, bad = jnp.array([2]), jnp.array([7])
assert all(f(good) == 2 for f in checked.values())
stored = set(os.listdir(sys.argv[1]))
assert unchecked(good) == 2 and unchecked(bad) == 0
print("new" if set(os.listdir(sys.argv[1])) - stored else "stored")
for words, f in checked.items():
    try:
        f(bad).block_until_ready()
    except Exception as e:
        assert words in str(e)
    else:
        sys.exit("no error")
"""


@pytest.mark.slow
def test_persistent_compilation_cache(tmp_path):
    for expected in ("new", "stored"):  # the second process finds what the first one compiled
        assert printed_by("-c", CACHED, tmp_path).strip() == expected


def test_indices_that_are_constants():
    """JAX hands them to the check as NumPy arrays when it evaluates a jaxpr."""
    ones = jnp.ones(2)

    def total(u):
        return (jaxops.scatter_nd([[0], [2]], u, [3]) ** 2).sum()

    np.testing.assert_array_equal(jax.grad(jax.checkpoint(total))(ones), [2, 2])
    scanned = jax.grad(lambda u: lax.scan(lambda c, _: (c + total(u), None), 0.0, length=2)[0])
    np.testing.assert_array_equal(scanned(ones), [4, 4])
    transpose = jax.linear_transpose(lambda u: jaxops.scatter_nd([[0], [2]], u, [3]), ones)
    np.testing.assert_array_equal(transpose(jnp.arange(3.0))[0], [0, 2])


def test_batches_of_none(large_case):
    function, good, *_ = large_case
    none = jnp.zeros((0, *good.shape), good.dtype)
    shape = (0, *function(good).shape)
    assert jax.jit(jax.vmap(function))(none).shape == shape
    error, result = checkify.checkify(jax.vmap(function))(none)
    assert error.get() is None
    assert result.shape == shape


@pytest.mark.parametrize("errors", ["nan_checks", "float_checks", "all_checks", "user_checks"])
def test_checkify_of_other_errors_checks_bounds_too(errors):
    checked = checkify.checkify(
        lambda i: jaxops.gather(jnp.arange(3.0), i), errors=getattr(checkify, errors)
    )
    error, _ = jax.jit(checked)(jnp.array([0, 9]))
    assert error.get().startswith("indices[1] = 9 is not in [0, 3)")


def test_empty_results():
    empty = jnp.zeros((4, 0))
    assert jaxops.gather(empty, [7]).shape == (1, 0)  # as TensorFlow's gather
    for function in (
        lambda i: jaxops.gather(empty, i[0], mode="error"),
        lambda i: jaxops.gather_nd(empty, i),
        lambda i: jaxops.scatter_nd(i, jnp.zeros((1, 0)), [4, 0]),
        lambda i: jaxops.tensor_scatter_nd_update(empty, i, jnp.zeros((1, 0))),
    ):
        assert function(jnp.array([[3]])).size == 0
        with pytest.raises(jaxops.OutOfBoundsError):
            function(jnp.array([[7]]))
        assert_fails("indices[0] = ", jax.jit(function), jnp.array([[7]]))
