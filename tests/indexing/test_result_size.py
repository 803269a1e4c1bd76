"""What a static `size=` does not hold: one rule, in every function that has the argument."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import SLOW, exported_for, names_with

import jaxops
from jaxops import testing

X = jnp.array([5.0, 3, 5, 1])
NUMBERS = np.array([2, 0, 2, 1], np.int32)  # 4 elements, 3 distinct ones, 3 that are not 0


RAGGED = jaxops.RaggedTensor.from_row_lengths([4, 2, 3], [1, 2])


def rows(i, size, **options):
    slices = jaxops.IndexedSlices(X, i, (9,)).sum_duplicates(size, **options)
    return slices.values, slices.indices


def parts_of(ragged):
    return ragged.values, ragged.row_splits, ragged.value_rowids()


# By function: a call with NUMBERS; a size that holds all; the error of one less, its position and
# number; and what stands in the places of each result that hold nothing, where `fill_value` is left
# out, and where it is -7. It is None where a result has no such places. The numbers of segments and
# positions among these are out of bounds, or those that the function of JAX has.
CALLS = {
    "boolean_mask": (
        lambda i, size, **k: jaxops.boolean_mask(X, i, size=size, **k), 3,
        ("3 true values of mask do not fit size=2", (), 3), ([0], [-7])),
    "where": (
        lambda i, size, **k: jaxops.where(i, size=size, **k), 3,
        ("3 true values of condition do not fit size=2", (), 3), ([0], [-7])),  # as jnp.argwhere
    "repeat": (
        lambda i, size, **k: jaxops.repeat(X, i, size=size, **k), 5,
        ("5 repeated slices of input do not fit size=4", (), 5), ([X[-1]], [-7])),  # as jnp.repeat
    "unique": (
        lambda i, size, **k: jaxops.unique(i, size=size, **k), 3,
        ("3 distinct values of x do not fit size=2", (), 3), ([0, None], [-7, None])),
    "unique_with_counts": (
        lambda i, size, **k: jaxops.unique_with_counts(i, size=size, **k), 3,
        ("3 distinct values of x do not fit size=2", (), 3), ([0, None, 0], [-7, None, 0])),
    "setdiff1d": (
        lambda i, size, **k: jaxops.setdiff1d(i, i[:0] + 1, size=size, **k), 4,
        ("4 values of x that are not in y do not fit size=3", (), 4),
        ([0, NUMBERS.size], [-7, NUMBERS.size])),
    "dynamic_partition": (
        lambda i, size, **k: jaxops.dynamic_partition(
            X, i, 3, size=None if size is None else [size, 1, size], **k), 2,
        ("2 slices of partition 2 do not fit size=1", (2,), 2), ([0, None, 0], [-7, None, -7])),
    "dynamic_stitch": (
        lambda i, size, **k: jaxops.dynamic_stitch([i], [X], size=size, **k), 3,
        ("indices[0] is out of range: indices[0][0] = 2 is not in [0, 2)", (0, 0), 2),
        ([0], [-7])),
    "IndexedSlices.sum_duplicates": (
        rows, 3, ("3 distinct rows do not fit size=2", (), 3), ([0, 9], None)),
    "RaggedTensor.from_tensor": (
        lambda i, size, **k: parts_of(
            jaxops.RaggedTensor.from_tensor(jnp.ones((4, 2)), i, size=size, **k)), 5,
        ("5 values of the rows do not fit size=4", (), 5), ([0, None, 4], None)),
    "RaggedTensor.gather": (
        lambda i, size, **k: parts_of(RAGGED.gather(i % 2, size=size, **k)), 5,
        ("5 values of the rows do not fit size=4", (), 5), ([0, None, 4], None)),
}  # fmt: skip
REPORTS = {name for name in CALLS if "." not in name}


@pytest.fixture(params=CALLS)
def call(request):
    function, enough, error, _ = CALLS[request.param]
    return request.param, function, enough, *error


def leaves(result):
    return jax.tree.leaves(result)


def assert_equal(actual, expected):
    jax.tree.map(np.testing.assert_array_equal, leaves(actual), leaves(expected))


def test_the_table_has_every_function_with_a_size():
    assert names_with("return_size", jaxops) == REPORTS
    takes = names_with("size", jaxops) - {"slice"}
    for holder in (jaxops.RaggedTensor, jaxops.IndexedSlices):
        takes |= {f"{holder.__name__}.{name}" for name in names_with("size", holder)}
    assert {*CALLS} == takes


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_dtypes_are_those_without_a_size(name):
    function, enough, *_ = CALLS[name]
    sized = jax.jit(lambda i: function(i, enough, return_size=True))(NUMBERS)
    for options in ({}, {"return_size": True}):
        exact = function(NUMBERS, None, **options)
        dtypes = [x.dtype for x in leaves(exact)]
        assert dtypes == [x.dtype for x in leaves(sized)][: len(dtypes)]


def test_too_small_a_size_is_an_error(call):
    name, function, enough, text, position, index = call
    function(NUMBERS, enough)
    error = testing.assert_out_of_bounds(lambda i: function(i, enough - 1), NUMBERS)
    assert text in str(error)
    assert (error.position, error.index) == (position, index)
    assert error.bound == (enough - 1 if name == "dynamic_stitch" else enough)


def test_dropped_on_purpose(call):
    """In the same way by `mode="fill"`, by `return_size`, and where there is no check."""
    name, function, enough, *_ = call
    for size in (enough - 1, 0):
        filled = function(NUMBERS, size, mode="fill")
        compiled = jax.jit(lambda i, size=size: function(i, size, mode="promise_in_bounds"))
        if name != "dynamic_stitch":  # whose promise is about all indices
            assert_equal(compiled(NUMBERS), filled)
        if name in REPORTS:
            for mode in ("device", "error"):
                result, total = function(NUMBERS, size, mode=mode, return_size=True)
                assert_equal(result, filled)
                assert np.max(total) == enough


def test_off_the_cpu_it_is_dropped(call):
    """Lowered for CUDA, and run here where there is nothing of CUDA in it."""
    _, function, enough, *_ = call
    exported = exported_for("cuda", lambda i: function(i, enough - 1), NUMBERS)
    assert "callback" not in exported.mlir_module()
    if "composite" not in exported.mlir_module():  # jax 0.12's cumulative sums are CUDA's
        assert_equal(exported.call(NUMBERS), function(NUMBERS, enough - 1, mode="fill"))
    everywhere = jax.make_jaxpr(lambda i: function(i, enough - 1, mode="error"))(NUMBERS)
    assert "mode=error" in str(everywhere)


def test_every_result_has_the_check(call):
    """As JAX drops what no result depends on. Of size 0 too, where nothing is selected."""
    name, function, enough, *_ = call
    for size in (enough - 1, 0):
        count = len(leaves(function(NUMBERS, size, mode="fill")))
        for n in range(count):
            jitted = jax.jit(lambda i, n=n, size=size: leaves(function(i, size))[n])
            assert "callback" in jitted.lower(NUMBERS).as_text(), (name, size, n)


def test_a_size_that_holds_the_most_there_can_be_costs_no_check(call):
    name, function, *_ = call
    # They check indices, and counts without a limit.
    if name in ("dynamic_stitch", "repeat") or name.startswith("RaggedTensor"):
        return
    options = {"mode": "promise_in_bounds"} if name == "dynamic_partition" else {}
    numbers = NUMBERS % 1 if name == "dynamic_partition" else NUMBERS  # with sizes of 4, 1, 4
    jitted = jax.jit(lambda i: function(i, 4, **options))
    assert "callback" not in jitted.lower(numbers).as_text()


@pytest.mark.parametrize("batched", [False, True], ids=["one", "batch"])
def test_bad_numbers_of_no_place_at_all(batched):
    """`size=0` lost the check of the numbers themselves."""

    def none(p):
        return jaxops.dynamic_partition(X, p, 2, size=0, return_size=True)[0]

    numbers = np.array([0, 1, 7, 0], np.int32)
    if batched:
        none, numbers = jax.vmap(none), np.stack([numbers * 0, numbers])
    place = "1,2" if batched else "2"
    testing.assert_out_of_bounds(none, numbers, match=rf"partitions\[{place}\] = 7 is not in")


@pytest.mark.parametrize("size", [0, 2])
def test_gradient_of_what_is_held(size):
    """None for what is dropped; of `size=0` JAX's own sum of rows has no gradient."""
    slices_at = np.array([4, 4, 1, -1], np.int32)

    def total(x, mode):
        rows = jaxops.IndexedSlices(x, slices_at, (9,)).sum_duplicates(size, mode=mode)
        return (rows.values * jnp.arange(2.0, 2 + size)).sum()

    expected = np.array([2.0, 2, 3, 0]) if size else np.zeros(4)
    for grad in (jax.grad(total), jax.jit(jax.grad(total), static_argnums=1)):
        np.testing.assert_array_equal(grad(X, "fill"), expected)


def test_negative_indices_are_errors_all_the_same():
    """`return_size` tells of places beyond the end only."""
    for size in (0, 1):

        def stitch(i, size=size):
            return jaxops.dynamic_stitch([i], [X[:2]], size=size, return_size=True)

        testing.assert_out_of_bounds(stitch, jnp.array([1, -1]), match=r"indices\[0\]\[1\] = -1")


def test_position_in_a_batch():
    masks = jnp.array([[True, False], [True, True]])
    with pytest.raises(jaxops.OutOfBoundsError) as info:
        jax.vmap(lambda mask: jaxops.boolean_mask(X[:2], mask, size=1))(masks)
    assert "2 true values of mask at [1] of the batch do not fit size=1" in str(info.value)
    assert info.value.position == (1,)


# A function, its arguments with strings, its result, and what the error for a size of 2 counts.
TEXT = np.array(["b", "a", "b", "c"])
OF_STRINGS = [
    (jaxops.boolean_mask, [TEXT, [True, False, True, True]], "bbc", "3 true values"),
    (jaxops.repeat, [TEXT, [1, 0, 2, 1]], "bbbc", "4 repeated slices"),
    (jaxops.unique, [TEXT], "bac", "3 distinct values"),
    (jaxops.unique_with_counts, [TEXT], "bac", "3 distinct values"),
    (jaxops.setdiff1d, [TEXT, ["a"]], "bbc", "3 values of x that are not in y"),
    (jaxops.dynamic_partition, [TEXT, [0, 1, 0, 0], 2], "bbc", "3 slices of partition 0"),
    (jaxops.dynamic_stitch, [[[1], [0, 2, 3]], [TEXT[:1], TEXT[1:]]], "abbc",
     "indices[1][1] = 2 is not in [0, 2)"),
]  # fmt: skip


@pytest.mark.parametrize("call", OF_STRINGS, ids=lambda call: call[0].__name__)
def test_strings(call):
    function, args, held, words = call
    for mode in ("device", "error"):
        with pytest.raises(jaxops.OutOfBoundsError) as info:
            function(*args, size=2, mode=mode)
        assert words in str(info.value)
    last = held[-1] if function is jaxops.repeat else ""  # it fills up with the last slice
    for size, options, fill in ((2, {}, ""), (6, {}, last), (6, {"fill_value": "none"}, "none")):
        result, count = function(*args, size=size, return_size=True, **options)
        expected = [*held, *[fill] * (size - len(held))][:size]
        np.testing.assert_array_equal(leaves(result)[0], expected)
        assert np.ravel(count)[0] == len(held)
        assert_equal(function(*args, size=size, mode="fill", **options), result)


SIZED = ["boolean_mask", "where", "repeat", "unique", "unique_with_counts", "setdiff1d"]
SIZED += ["IndexedSlices.sum_duplicates"]


@pytest.mark.parametrize("name", SIZED)
def test_options_that_say_nothing_are_refused(name):
    function = CALLS[name][0]
    with pytest.raises(TypeError, match=f"^{name}: size must be given where .* traced, as the "):
        jax.eval_shape(lambda i: function(i, None), NUMBERS)
    if name in REPORTS:
        with pytest.raises(ValueError, match=f"^{name}: fill_value is used with size only; rece"):
            function(NUMBERS, None, fill_value=7)
    for mode in ("clip", "wrap"):
        with pytest.raises(ValueError, match="mode must be device, error, fill or promise_in_bo"):
            function(NUMBERS, 2, mode=mode)


# The mode of `repeat` is about negative repeats too.
@pytest.mark.parametrize("name", [name for name in SIZED if name != "repeat"])
def test_a_mode_without_a_size_is_refused(name):
    function = CALLS[name][0]
    for mode in ("error", "fill", "promise_in_bounds"):
        with pytest.raises(ValueError, match=f"mode is used with size only; received mode='{mode}"):
            function(NUMBERS, None, mode=mode)


@pytest.mark.parametrize("jitted", [True, pytest.param(False, marks=SLOW)], ids=["jit", "eager"])
@pytest.mark.parametrize("name", CALLS)
def test_what_stands_in_places_that_hold_nothing(name, jitted):
    function, enough, _, paddings = CALLS[name]
    for padding, options in zip(paddings, ({}, {"fill_value": -7}), strict=True):
        if padding is None:
            continue

        def call(size, options=options):
            return leaves(function(NUMBERS, size, **options))

        exact, padded = (
            (jax.jit(call, static_argnums=0) if jitted else call)(enough + n) for n in (0, 3)
        )
        for fill, held, result in zip(padding, exact, padded, strict=True):
            if fill is None:
                assert_equal(result, held)
            else:
                assert_equal(result[: len(held)], held)
                assert_equal(result[len(held) :], np.full((3, *held.shape[1:]), fill, held.dtype))
