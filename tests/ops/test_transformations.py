"""Every function under the transformations that the harness leaves out, and our primitives.

`jit`, `vmap`, both modes of differentiation and the transpose: test_ops.py. `export`: the records.
`shard_map`: tests/devices/test_varying.py.
"""

import functools
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify, jet
from jax.extend.core import jaxpr_as_fun
from records import CASES, first_of_each_op

import jaxops
from jaxops import _forms, _primitives
from jaxops._indexing import products

pytestmark = pytest.mark.slow

_forms.load()
PACKAGE = Path(jaxops.__file__).parent
FIRST = [*first_of_each_op(CASES).values()]
close = functools.partial(jax.tree.map, functools.partial(np.testing.assert_allclose, rtol=1e-5))


def of_data(case):
    """The function of the data alone, and the data."""
    data = [jnp.asarray(x) for x in case.args[: len(case.data)]]
    return (lambda *data: case.op(*data, *case.args[len(case.data) :])), *data


@pytest.mark.parametrize("name", FIRST)
def test_evaluated_equation_by_equation(name):
    case = CASES[name]
    args = [*map(jnp.asarray, case.args)]
    expected = case.op(*args)
    program = jax.make_jaxpr(case.op)(*args)
    close(jax.tree.leaves(expected), jaxpr_as_fun(program)(*args))
    with jax.disable_jit():
        close(expected, case.op(*args))
        close(jax.tree.leaves(expected), jaxpr_as_fun(program)(*args))


@pytest.mark.parametrize("name", FIRST)
def test_checkify(name):
    case = CASES[name]
    args = [*map(jnp.asarray, case.args)]
    error, results = checkify.checkify(case.op)(*args)
    assert error.get() is None
    close(case.op(*args), results)


def second_derivative(function, data, terms):
    """Of the function along a parabola."""

    def along(t):
        return function(*(x + t * v + t**2 / 2 * w for x, (v, w) in zip(data, terms, strict=True)))

    def first(t):
        return jax.jvp(along, [t], [jnp.ones_like(t)])[1]

    zero = jnp.zeros((), data[0].dtype)
    return first(zero), jax.jvp(first, [zero], [jnp.ones_like(zero)])[1]


def is_float(case):
    arrays = [*case.data, case.oracle(*case.args)] if case.data else [0]
    return all(jnp.issubdtype(jnp.result_type(x), jnp.floating) for x in arrays)


JETS = [name for name in FIRST if is_float(CASES[name])]
OUR_RULES = (_primitives._jet, _primitives._no_jet)
OURS = {p for p, rule in jet.jet_rules.items() if getattr(rule, "func", None) in OUR_RULES}


@pytest.mark.nightly
@pytest.mark.parametrize("name", JETS)
def test_jet(name):
    function, *data = of_data(CASES[name])
    rng = np.random.default_rng(0)
    terms = [[jnp.asarray(rng.normal(size=x.shape), x.dtype) for _ in range(2)] for x in data]
    try:
        _, series = jet.jet(function, data, terms)
    except KeyError as error:
        if error.args[0] in OURS:
            raise
        pytest.skip(f"jax.experimental.jet has no rule for {error} of JAX")
    except jax.errors.UnexpectedTracerError:
        # As for every function with a `custom_jvp`.
        with pytest.raises(jax.errors.UnexpectedTracerError):
            jet.jet(jax.nn.relu, (1.0,), ((1.0, 1.0),))
        pytest.skip("jax.experimental.jet has no rule for a custom_jvp")
    results = jax.eval_shape(function, *data)
    series = jax.tree.structure(results).flatten_up_to(series)
    expected = [jax.tree.leaves(x) for x in second_derivative(function, data, terms)]
    for first, second, terms in zip(*expected, series, strict=True):
        close([first, second], terms)


def test_every_primitive_of_ours_has_a_rule_for_jet():
    """One function makes them all, but for `raise_p`, which stands in lowered programs only."""
    made = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if re.search(r"\bPrimitive\(", path.read_text())
    }
    assert made == {"_primitives.py", "_indexing/raising.py"}
    assert len(OURS) > 20


def test_jet_of_a_primitive_that_is_not_linear():
    ids = jnp.array([0, 0, 1])

    def others(x):
        """The pullback alone, as `jet` refuses the `custom_jvp` of a product."""
        primal = jnp.array([2.0, 3.0, 5.0])
        program = jax.make_jaxpr(jax.grad(lambda x: jaxops.unsorted_segment_prod(x, ids, 2).sum()))
        (equation,) = [e for e in program(primal).eqns if e.primitive is products.weighted_p]
        return products.weighted_p.bind(x, jnp.ones_like(x), ids[:, None], **equation.params)

    x, tangent = jnp.array([2.0, 3.0, 5.0]), jnp.array([1.0, 10.0, 100.0])
    with pytest.raises(NotImplementedError, match="weighted_products_of_others"):
        jet.jet(others, (x,), ([tangent, tangent],))
    np.testing.assert_array_equal(jax.jvp(others, [x], [tangent])[1], [10, 1, 0])
