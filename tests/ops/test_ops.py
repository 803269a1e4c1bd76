"""The harness: takes every case of the table through oracle, jit, vmap, both autodiff modes."""

import functools
import itertools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fast import fast_jit
from records import CASES, PUBLIC_FUNCTIONS, TRANSFORMATIONS, first_of_each_op, wanted
from records.record import MODES

from jaxops import testing

MODES_WITHOUT_ERRORS = ["fill", "clip", "wrap"]


FIRST_OF_EACH_OP = {op: CASES[name] for op, name in first_of_each_op(CASES).items()}


def is_first_of_its_op(case):
    return any(case is first for first in FIRST_OF_EACH_OP.values())


def select(predicate=lambda case: True, modes=MODES, others_are_slow=False):
    """Parameters `(case, ways)`: each case that fits, and by mode its options, for those of `modes`
    that it knows. A test compiles one program for all: one for each takes twice as long. With
    `others_are_slow`, `make test` takes the first case of each op only."""
    params = []
    for name, case in CASES.items():
        known = {mode: {"mode": mode} for mode in modes if mode in case.modes}
        if predicate(case) and (known or not case.modes):
            is_slow = others_are_slow and not is_first_of_its_op(case)
            marks = [pytest.mark.slow] if is_slow else []
            params.append(pytest.param(case, known or {"": {}}, id=name, marks=marks))
    return pytest.mark.parametrize(("case", "ways"), params)


def has_derivatives(case):
    """That are not 0 = 0."""
    return any(d.size for d in case.data) and case.oracle(*case.args).size > 0


def assert_same(actual, expected, mode=""):
    np.testing.assert_array_equal(np.asarray(actual), expected, mode, strict=True)


def shifted(case, by):
    by = by if case.modes else 0  # else they have no bounds
    return tuple(indices + np.int32(by) for indices in case.indices)


def test_every_public_function_is_in_the_table():
    ops = {name.split("-")[0] for name in CASES if "." not in name}  # the others are of a class
    without_oracle = {"shape", "shape_n", "size", "rank", "range", "strided_slice_spec"}
    without_oracle |= {"required_space_to_batch_paddings"}
    without_oracle |= {"stop_gradient"}  # whose gradient is not that of its values
    with_oracle = {*PUBLIC_FUNCTIONS} - without_oracle - TRANSFORMATIONS
    assert not wanted(with_oracle - ops, "`cases`, with an oracle")
    assert ops <= with_oracle


def in_each_way(case, ways, by=0, **more):
    """A function of data, whose results are by mode. What raises no error has indices shifted."""

    def op(*data):
        return {
            mode: case.op(
                *data, *shifted(case, by * (mode in MODES_WITHOUT_ERRORS)), **options, **more
            )
            for mode, options in ways.items()
        }

    return op


def uncompiled(function):
    return function


@select(is_first_of_its_op)
def test_values_eager_and_jit(case, ways):
    check_values(case, ways, [jax.jit, uncompiled])


@select(lambda case: not is_first_of_its_op(case))
def test_values_of_others(case, ways):
    """Compiled only: eagerly the next test computes them, each night."""
    check_values(case, ways, [jax.jit])


@pytest.mark.slow
@pytest.mark.nightly
@select(lambda case: not is_first_of_its_op(case))
def test_values_eager_of_others(case, ways):
    check_values(case, ways, [uncompiled])


def check_values(case, ways, transforms: list[Callable]):
    shifts = [0, -2, 3] if ways.keys() & MODES_WITHOUT_ERRORS else [0]

    def results(data, indices):  # one program of all modes: one for each takes longer to compile
        of_errors, others = indices
        return {
            mode: case.op(
                *data, *(others if mode in MODES_WITHOUT_ERRORS else of_errors), **options
            )
            for mode, options in ways.items()
        }

    for transform, by in itertools.product(transforms, shifts):
        indices = case.indices, shifted(case, by)
        for mode, result in transform(results)(case.data, indices).items():
            moved = indices[mode in MODES_WITHOUT_ERRORS]
            assert_same(result, case.oracle(*case.data, *moved, **ways[mode]), mode)


@select(lambda case: case.indices, modes=["device"], others_are_slow=True)
def test_values_with_64_bit_types_on(case, ways):
    with jax.enable_x64(True):
        data = tuple(d.astype(np.float64) for d in case.data)
        indices = tuple(i.astype(np.int64) for i in case.indices)
        expected = case.oracle(*data, *indices)
        (options,) = ways.values()
        assert_same(case.op(*data, *indices, **options), expected)


# Of 8 and 16 bits: test_index_dtypes.py.
INTEGERS = [np.int32, np.uint32, np.int64, np.uint64, jnp.int4, jnp.uint4]


@pytest.mark.parametrize(
    "x64", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["x32", "x64"], indirect=True
)
@pytest.mark.parametrize("op", [op for op, case in FIRST_OF_EACH_OP.items() if case.indices])
def test_index_dtypes(op, x64):
    case = FIRST_OF_EACH_OP[op]
    expected = case.oracle(*case.data, *case.indices)
    by_dtype = {np.dtype(dtype).name: [i.astype(dtype) for i in case.indices] for dtype in INTEGERS}
    if x64:
        by_dtype = jax.tree.map(jnp.asarray, by_dtype)

    def results(by_dtype):
        return {name: case.op(*case.data, *indices) for name, indices in by_dtype.items()}

    eager = {name: by_dtype.pop(name) for name in ("int64", "uint64", "int4")}
    for name, result in {**results(eager), **jax.jit(results)(by_dtype)}.items():
        assert_same(result, expected, name)


def mapped(case, ways):
    """For each choice of arguments to map over: the function, its arguments and their values."""
    (options,) = ways.values()
    stacked = [np.stack([a, a[::-1] if a.ndim else a], -1) for a in case.args]
    for in_axes in list(itertools.product([-1, None], repeat=len(case.args)))[:-1]:
        choice = [*zip(stacked, case.args, in_axes, strict=True)]
        rows = [[s[..., n] if axis else a for s, a, axis in choice] for n in range(2)]
        expected = np.stack([case.oracle(*row, **options) for row in rows])
        function = jax.vmap(functools.partial(case.op, **options), in_axes)
        yield function, [s if axis else a for s, a, axis in choice], expected


@select(has_derivatives, modes=["fill"], others_are_slow=True)
def test_vmap_over_any_arguments(case, ways):
    functions, args, expected = zip(*mapped(case, ways), strict=True)

    @fast_jit  # one program for all choices: one for each takes much longer to compile
    def compiled(args):
        return [function(*own) for function, own in zip(functions, args, strict=True)]

    for result, values in zip(compiled(args), expected, strict=True):
        assert_same(result, values)


@pytest.mark.slow
@select(lambda case: has_derivatives(case) and is_first_of_its_op(case), modes=["fill"])
def test_vmap_of_eager_calls(case, ways):
    for function, args, expected in mapped(case, ways):
        assert_same(function(*args), expected)


def distinct(data):
    """Arrays like `data` whose values lie far apart, so that small steps change no extremum."""
    total = sum(d.size for d in data)
    values = iter(np.random.default_rng(1).permutation(total).astype(np.float32))
    return [np.array([next(values) for _ in d.flat], d.dtype).reshape(d.shape) for d in data]


@pytest.mark.slow
@select(
    lambda case: case.data and is_first_of_its_op(case), modes=["device", "fill", "clip", "wrap"]
)
def test_gradients_to_second_order(case, ways):
    check_gradients(case, ways)


@pytest.mark.slow
@pytest.mark.nightly  # of a linear op the adjoint and the jacobians say all, and are found sooner
@select(
    lambda case: has_derivatives(case) and not (case.linear or is_first_of_its_op(case)),
    modes=["device"],
)
def test_gradients_of_others(case, ways):
    check_gradients(case, ways)


@select(lambda case: not has_derivatives(case), modes=["fill"])
def test_derivatives_of_nothing(case, ways):
    """All are zeros, of the right shapes, in any order of summation; and so under vmap."""
    (options,) = ways.values()
    for extra in ({}, {"deterministic": True}) if case.has_deterministic else ({},):
        op = functools.partial(case.op, **options, **extra)

        @fast_jit
        def both(args, op=op):
            data, indices = args[: len(case.data)], args[len(case.data) :]
            result, pull_back = jax.vjp(lambda *data: op(*data, *indices), *data)
            _, out_dot = jax.jvp(lambda *data: op(*data, *indices), data, data)
            mapped = jax.vmap(op)(*[jnp.stack([a, a]) for a in args])
            return result, out_dot, pull_back(result), mapped

        result, out_dot, data_bar, mapped = both(case.args)
        for lane in np.asarray(mapped):
            assert_same(lane, result)
        assert_same(result, case.oracle(*case.args, **options))
        assert_same(out_dot, np.zeros_like(result))
        for bar, data in zip(data_bar, case.data, strict=True):
            assert_same(bar, np.zeros_like(data))


def check_gradients(case, ways):
    op = in_each_way(case, ways, 1)
    testing.check_grads(op, *distinct(case.data), order=2, directions=1, jit=fast_jit)


def is_not_empty(case):
    return bool(case.data) and all(d.size for d in case.data)


@select(is_not_empty, modes=MODES_WITHOUT_ERRORS, others_are_slow=True)
def test_jacobians_are_the_oracles(case, ways):
    """By differences of the oracle with step 1, as data are integers and ops linear there.

    They are exact but for means, of which the oracle rounds two before it subtracts them.
    """
    indices = shifted(case, 1)
    data = [np.asarray(4 * d) for d in distinct(case.data)]
    arguments = tuple(range(len(data)))
    op = in_each_way(case, ways, 1)

    @fast_jit
    def both(*data):
        return jax.jacfwd(op, arguments)(*data), jax.jacrev(op, arguments)(*data)

    forward, reverse = both(*data)
    for mode, options in ways.items():
        base = case.oracle(*data, *indices, **options)
        for n in arguments:
            expected = np.empty((*base.shape, *data[n].shape), np.float32)
            for at in np.ndindex(*data[n].shape):
                moved = [d.copy() for d in data]
                moved[n][at] += 1
                expected[(..., *at)] = case.oracle(*moved, *indices, **options) - base
            for jacobian in (forward, reverse):
                np.testing.assert_allclose(jacobian[mode][n], expected, 2e-5, err_msg=mode)


@pytest.mark.slow  # the jacobians say so too, of the modes without errors
@select(
    lambda case: case.linear and has_derivatives(case), modes=["device", "fill", "clip", "wrap"]
)
def test_gradient_is_the_adjoint(case, ways):
    testing.check_adjoint(in_each_way(case, ways, 2), *case.data, by="vjp", jit=fast_jit)


@select(
    lambda case: case.has_deterministic and has_derivatives(case),
    modes=["device", "fill", "clip", "wrap"],
    others_are_slow=True,
)
def test_deterministic_values_and_adjoint(case, ways):
    op = in_each_way(case, ways, 2, deterministic=True)
    for mode, result in fast_jit(op)(*case.data).items():
        indices = shifted(case, 2 * (mode in MODES_WITHOUT_ERRORS))
        assert_same(result, case.oracle(*case.data, *indices, **ways[mode]), mode)
    testing.check_adjoint(op, *case.data, by="vjp", jit=fast_jit)


@pytest.mark.slow
@select(lambda case: case.has_deterministic and has_derivatives(case), modes=["fill"])
def test_deterministic_under_vmap(case, ways):
    (options,) = ways.values()
    op = functools.partial(case.op, **options, deterministic=True)
    stacked = [np.stack([a, a[::-1] if a.ndim else a]) for a in case.args]
    expected = np.stack([case.oracle(*row, **options) for row in zip(*stacked, strict=True)])
    assert_same(fast_jit(jax.vmap(op))(*stacked), expected)
    first_only = (0, *[None] * (len(stacked) - 1))
    rest = case.args[1:]
    expected = np.stack([case.oracle(a, *rest, **options) for a in stacked[0]])
    assert_same(jax.vmap(op, first_only)(stacked[0], *rest), expected)
