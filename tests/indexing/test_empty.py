"""Checks of calls in which some dimension is 0: a program raises where an eager call raises.

A check is a part of the program that computes the result. Of an empty result there is nothing to
compute, and so the check was lost.
"""

import functools
import inspect
import itertools
import random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import NIGHTLY, SLOW
from jax import lax
from records import CALLS, FUNCTIONS, RECORDS, needed
from records.arguments import MASK

import jaxops
from jaxops.typing import Mode

LISTS = {"arrays", "indices"}
ARRAYS = {"data", "integers", "bools"} | LISTS
MODES = [{"mode": mode} for mode in ("device", "error", "promise_in_bounds")]
OPTIONS = {"mode", "bad_indices_policy", "deterministic", "fill_value", "return_size"}


def single_index(input_, begin, mode: Mode = "device"):
    return jaxops.strided_slice(input_, [begin, 0], [0, 9], shrink_axis_mask=1, mode=mode)


X = CALLS["strided_slice"]["input_"]
NUMBER = ("integers", np.int32(0))
CHECKED = {
    name: [(FUNCTIONS[name], CALLS[name]), (FUNCTIONS[name], needed(name))]
    for name in CALLS
    if "mode" in CALLS[name] or RECORDS[name].out_of_bounds or name.startswith("RaggedTensor.")
} | {
    # Numbers that have bounds where they are traced.
    "strided_slice": [(single_index, {"input_": X, "begin": NUMBER})],
    "where": [(jaxops.where, {"condition": MASK, "size": ("int", 3)})],
    "matrix_band_part": [
        (jaxops.matrix_band_part, {"input": X, "num_lower": NUMBER, "num_upper": NUMBER})
    ],
}
del CHECKED["RaggedTensor.nrows"]  # told by the shape of the splits, which are not looked at
del CHECKED["pad"], CHECKED["v0.pad"]  # whose mode is about other things
del CHECKED["unravel_index"], CHECKED["invert_permutation"]  # only their indices may be empty
NAMES = [*CHECKED]


def with_zeros(values: Any) -> list[Any]:
    """Nested lists of ints in which some are 0, in every combination; the lists themselves too."""
    if isinstance(values, (list, tuple)):
        return [[*some] for some in itertools.product(*map(with_zeros, values))]
    return [values] if values == 0 or type(values) is not int else [values, 0]


def calls_of(name):
    """Valid calls in which some dimension is 0: functions of arrays, the arrays, and a mode.

    In an order without a pattern, as some tests take the first ones.
    """
    seen = set()
    for function, call in CHECKED[name]:
        arrays = {arg: value for arg, (kind, value) in call.items() if kind in ARRAYS}
        arrays = {
            arg: [*map(np.asarray, x)] if call[arg][0] in LISTS else np.asarray(x)
            for arg, x in arrays.items()
        }
        static = {arg: x for arg, (_, x) in call.items() if arg not in {*arrays, *OPTIONS}}
        leaves, structure = jax.tree.flatten(arrays)
        of_shapes = with_zeros([[*x.shape] for x in leaves])
        all_calls = [*itertools.product(of_shapes, *map(with_zeros, static.values()))]
        random.Random(0).shuffle(all_calls)
        for shapes, *values in all_calls:
            options = dict(zip(static, values, strict=True))
            zeros = [np.zeros(shape, x.dtype) for shape, x in zip(shapes, leaves, strict=True)]

            def run(*leaves, function=function, structure=structure, options=options, **mode):
                return function(**structure.unflatten(leaves), **options, **mode)

            key = str((structure, shapes, options))
            modes = MODES if "mode" in inspect.signature(function).parameters else [{}]
            if key not in seen and is_empty(functools.partial(run, **modes[-1]), zeros):
                for mode in modes[:-1] or modes:
                    yield functools.partial(run, **mode), zeros, mode
            seen.add(key)


def is_empty(run, arrays):
    """Whether the call is valid, and some array without elements."""
    try:
        result = jax.eval_shape(run, *arrays)
    except (TypeError, ValueError):
        return False
    return any(x.size == 0 for x in [*arrays, *jax.tree.leaves(result)])


def bad_values(x):
    """Arrays of which some, in the place of the zeros `x`, are no valid argument of some function.

    An index too large, a negative one; and as many different elements, true ones, as there are.
    """
    if x.dtype == bool:
        return [~x]
    last = np.zeros(x.size, bool)
    last[-1:] = True
    last = last.reshape(x.shape)
    return [np.where(last, x.dtype.type(n), x) for n in (99, -1)] + [
        np.arange(x.size, dtype=x.dtype).reshape(x.shape)
    ]


def raises(function, *args):
    """Whether a call raises an error about the values of an argument."""
    try:
        jax.block_until_ready(function(*args))
    except (IndexError, ValueError, jax.errors.JaxRuntimeError) as error:
        if "[Op:" in str(error) or "must be negative or at most" in str(error):
            return True
        raise
    return False


def is_counted(x):
    return x.dtype.kind in "iub"


def jit(call, arrays):
    del arrays
    return jax.jit(call)


def vmap(call, arrays):
    batched = jax.vmap(call, [0 if is_counted(x) else None for x in arrays])
    return lambda *args: batched(*stacked(args))


def jit_of_vmap(call, arrays):
    return jax.jit(vmap(call, arrays))


def scan(call, arrays):
    def steps(*args):
        def step(carry, slices):
            slices = iter(slices)
            return carry, call(*(next(slices) if is_counted(x) else x for x in arrays))

        return lax.scan(step, 0.0, [x for x in stacked(args) if is_counted(x)])

    return jax.jit(steps)


def stacked(args):
    """A batch of two, of which the first is good."""
    return [jnp.stack([jnp.zeros_like(x), x]) if is_counted(x) else x for x in args]


WAYS = [jit, vmap, jit_of_vmap, scan]


def differences(name, ways, most):
    """Calls that raise in one way and not in another; and how many raise, `most` or a few more."""
    found, count = [], 0
    for call, arrays, mode in calls_of(name):
        if count >= most:
            break
        compiled = {way.__name__: way(call, arrays) for way in ways}
        for n, x in enumerate(arrays):
            for value in bad_values(x) if is_counted(x) and x.size else ():
                args = [*arrays[:n], value, *arrays[n + 1 :]]
                expected = raises(call, *args)
                count += expected
                for way, function in compiled.items():
                    if raises(function, *args) != expected:
                        shapes = [x.shape for x in args]
                        found.append((way, mode, expected, shapes, n, value.tolist()))
    return found, count


@pytest.mark.parametrize("name", NAMES)
def test_a_program_raises_where_an_eager_call_does(name):
    found, count = differences(name, [jit], 3)
    assert found == []
    assert count > 0


@pytest.mark.slow
@pytest.mark.parametrize("most", [6, pytest.param(1000, marks=NIGHTLY)])
@pytest.mark.parametrize("name", NAMES)
def test_batches_and_loops_raise_where_an_eager_call_does(name, most):
    found, count = differences(name, WAYS, most)
    assert found == []
    assert count > 0


@pytest.mark.slow
@pytest.mark.parametrize("most", [3, pytest.param(1000, marks=NIGHTLY)])
@pytest.mark.parametrize("name", NAMES)
def test_batches_of_none_are_silent(name, most):
    """Of calls that are good, as there is nothing to look at."""
    for call, arrays, _ in itertools.islice(calls_of(name), most):
        axes = [0 if is_counted(x) else None for x in arrays]
        if any(axis == 0 for axis in axes) and not raises(call, *arrays):
            none = [
                x if axis is None else x[None][:0] for x, axis in zip(arrays, axes, strict=True)
            ]
            jax.block_until_ready(jax.jit(jax.vmap(call, axes))(*none))


NO_COLUMNS = np.zeros((2, 0), np.float32)
# Functions of two numbers of which 9 is out of bounds: calls that were silent when compiled.
SILENT = {
    **{
        f"segment_{kind}": functools.partial(
            getattr(jaxops, f"segment_{kind}"), NO_COLUMNS, num_segments=3
        )
        for kind in ("sum", "mean", "min", "max", "prod")
    },
    "segment_max-none": functools.partial(jaxops.segment_max, np.ones((2, 2)), num_segments=0),
    "sparse_segment_sum": lambda i, **k: jaxops.sparse_segment_sum(
        NO_COLUMNS, i * 0, i, num_segments=3, **k
    ),
    "sparse_segment_sum-indices": lambda i, **k: jaxops.sparse_segment_sum(
        NO_COLUMNS, i, i * 0, num_segments=3, **k
    ),
    "band_part-lower": lambda i, **_: jaxops.matrix_band_part(NO_COLUMNS.T, i[1], 0),
    "band_part-upper": lambda i, **_: jaxops.matrix_band_part(NO_COLUMNS, 0, i[1]),
}


@pytest.mark.parametrize("mode", ["device", pytest.param("error", marks=SLOW)])
@pytest.mark.parametrize("name", SILENT)
def test_calls_that_were_silent(name, mode):
    call = functools.partial(SILENT[name], mode=mode)
    good, bad = jnp.array([0, 0]), jnp.array([0, 9])
    ways = [jit(call, [bad]), vmap(call, [bad]), jit_of_vmap(call, [bad]), scan(call, [bad])]
    for function in (call, *ways):
        assert raises(function, bad)
        if name != "segment_max-none":  # no number is one of no segment
            assert not raises(function, good)
