"""What `checked` checks, and what it leaves alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checked.jax_code import GOOD, PROGRAMS, READS, SILENT, WRITES, X, bad_for
from checks import NIGHTLY, raised, share
from jax import export, lax

import jaxops
from jaxops import _jax_internals
from jaxops._indexing import check

# JAX has no derivatives of them.
WITHOUT_DERIVATIVES = {"apply", "segment_prod", "ref-set", "ref.set", "ref.swap"}
CALLS = {
    "eager": jaxops.checked,
    "jit-of-checked": lambda f: jax.jit(jaxops.checked(f)),
    "checked-of-jit": lambda f: jaxops.checked(jax.jit(f)),
}


def assert_same(results, expected):
    jax.tree.map(np.testing.assert_array_equal, results, expected)


def some(soon):
    """The ways to call, all but one of them for the night."""
    return [pytest.param(call, marks=NIGHTLY * (call != soon)) for call in CALLS]


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_index_out_of_bounds_is_an_error(name):
    check_an_index_out_of_bounds(name, "eager")


@pytest.mark.parametrize("call", ["jit-of-checked", "checked-of-jit"])
@pytest.mark.parametrize("name", share(PROGRAMS, 4))
def test_an_index_out_of_bounds_is_an_error_in_a_program(name, call):
    check_an_index_out_of_bounds(name, call)


def check_an_index_out_of_bounds(name, call):
    program, operation = PROGRAMS[name]
    checked = CALLS[call](program)
    assert_same(checked(X, GOOD), program(X, GOOD))
    for _ in range(2):  # the second is called by another way in JAX
        error = raised(checked, X, bad_for(name))
        line = program.__code__.co_firstlineno
        assert error.operation == operation
        assert error.where.startswith("jax_code.py:")
        assert line <= int(error.where.split(":")[1].split()[0]) <= line + 3
        assert_same(checked(X, GOOD), program(X, GOOD))


@pytest.mark.parametrize("name", [name for name in READS | WRITES if "segment" not in name])
def test_the_index_in_the_message_is_as_the_code_has_it(name):
    """Before JAX adds the size of the axis. A segment may be negative."""
    program, _ = PROGRAMS[name]
    added = {"columns": -1, "slice_in_dim": -1, "dynamic_slice": -1, "take-flat": 8, "put": 8}
    added |= {"row-of-one": -3, "slice-of-all": -2, "update-of-one": -3}
    added |= {"ref-columns": -1}
    error = raised(jaxops.checked(program), X, np.array([-30, 1]))
    assert error.index == -30 + added.get(name, 0)


AT_A_CONSTANT = {
    "slice": lambda i: lax.dynamic_slice_in_dim(X[:, :1], i, 1),
    "index": lambda i: lax.dynamic_index_in_dim(X[:, :1], i),
    "update-slice": lambda i: lax.dynamic_update_slice_in_dim(X[:, :1], X[:1, :1], i, 0),
    "update-index": lambda i: lax.dynamic_update_index_in_dim(X[:, :1], X[0, :1], i, 0),
}


@pytest.mark.parametrize("name", AT_A_CONSTANT)
def test_a_constant_in_bounds_has_no_check(name):
    """The 0 at which JAX begins along the second axis, the first and last place there."""
    equations = _jax_internals.equations_in(
        jax.make_jaxpr(jaxops.checked(AT_A_CONSTANT[name]))(np.int32(0))
    )
    (spec,) = [e.params["spec"] for e in equations if e.primitive is check.check_p]
    assert spec.limits == X.shape[:1]


@pytest.mark.parametrize("call", some("eager"))
@pytest.mark.parametrize("name", SILENT)
@pytest.mark.usefixtures("standard_promotion")
def test_no_false_alarm(name, call):
    program = SILENT[name]
    for indices in (GOOD, bad_for(name), -9 * GOOD):
        assert_same(CALLS[call](program)(X, indices), program(X, indices))


@pytest.mark.parametrize("call", some("checked-of-jit"))
@pytest.mark.parametrize("name", sorted({*READS, *WRITES} - WITHOUT_DERIVATIVES))
def test_no_false_alarm_from_derivatives(name, call):
    """Of those of which JAX has derivatives."""
    program, _ = PROGRAMS[name]

    def loss(x):
        return (program(x, GOOD) ** 2).sum()

    unchecked = jax.grad(loss) if call == "eager" else jax.jit(jax.grad(loss))
    assert_same(CALLS[call](jax.grad(loss))(X), unchecked(X))
    assert_same(jax.grad(CALLS[call](loss))(X), unchecked(X))


GATHERED = lax.GatherDimensionNumbers((0,), (), (0,))
SCATTERED = lax.ScatterDimensionNumbers((0,), (), (0,))
LARGE_WINDOWS = {
    "dynamic_slice": lambda x, i: lax.dynamic_slice(x, (i,), (7,)),
    "dynamic_slice_in_dim": lambda x, i: lax.dynamic_slice_in_dim(x, i, 7),
    "dynamic_update_slice": lambda x, i: lax.dynamic_update_slice(x, jnp.ones(7), (i,)),
    "gather": lambda x, i: lax.gather(x, i[None], GATHERED, (7,)),
    "scatter": lambda x, i: lax.scatter(x, i[None], jnp.ones(7), SCATTERED),
    "at": lambda x, i: x.at[jax.ds(i, 7)].set(1.0),
}


@pytest.mark.parametrize("name", LARGE_WINDOWS)
def test_a_window_larger_than_the_array_is_the_error_of_jax(name):
    x, i = jnp.ones(3), jnp.array(1)
    with pytest.raises((TypeError, AssertionError)) as expected:  # from jax 0.12 on one asserts
        LARGE_WINDOWS[name](x, i)
    with pytest.raises(type(expected.value)) as actual:
        jaxops.checked(LARGE_WINDOWS[name])(x, i)
    assert str(actual.value) == str(expected.value)


SYMBOLIC_WINDOWS = {
    "dynamic_slice": lambda x, i: lax.dynamic_slice(x, (i,), x.shape),
    "dynamic_slice_in_dim": lambda x, i: lax.dynamic_slice_in_dim(x, i, x.shape[0] - 1),
    "dynamic_update_slice": lambda x, i: lax.dynamic_update_slice(x, x[1:], (i,)),
    "gather": lambda x, i: lax.gather(x, i[None], GATHERED, (x.shape[0] // 2,)),
    "scatter": lambda x, i: lax.scatter(x, i[None], x[1:], SCATTERED),
    "one element": lambda x, i: lax.dynamic_slice(x, (i,), (1,)),
    "subscript": lambda x, i: x[i],
}


@pytest.mark.parametrize("name", SYMBOLIC_WINDOWS)
def test_a_window_of_a_symbolic_size(name):
    shapes = [jax.ShapeDtypeStruct(export.symbolic_shape("n"), jnp.float32)]
    shapes.append(jax.ShapeDtypeStruct((), jnp.int32))
    checked = jax.jit(jaxops.checked(SYMBOLIC_WINDOWS[name]))
    stored = export.export(checked, platforms=["tpu"])(*shapes)
    assert stored.out_avals == export.export(jax.jit(SYMBOLIC_WINDOWS[name]))(*shapes).out_avals
