"""Each operation that rows of a table go through, and element-wise primitives, all that JAX has."""

# pyright: reportIndexIssue=false, reportArgumentType=false, reportCallIssue=false

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from sparse_checks import eagerly
from sparse_patterns import (
    INDICES,
    LOOKUPS,
    PATTERNS,
    STEPS,
    assert_rows_first,
    composed,
    params,
    polynomial,
)

from jaxops._sparse import row_rules
from jaxops._sparse.gradient import delayed_rules

pytestmark = pytest.mark.usefixtures("x32")


@pytest.mark.parametrize("name", STEPS)
def test_steps(name):
    grads = assert_rows_first(composed(name), params())
    # Pieces and branches that are not chosen get no gradient.
    valid = grads["t"].indices < params()["t"].shape[0]
    assert valid.sum() <= INDICES.size * (2 if name == "differences" else 1)


@pytest.mark.parametrize("name", LOOKUPS)
def test_lookups(name):
    assert_rows_first(composed("scaled by rows", lookup=name), params())


@pytest.mark.slow
def test_many_rows_that_are_set_or_added_to():
    rows = jnp.arange(3000) * 11 % 29 - 3  # some are outside
    numbers = jnp.arange(3000.0)[:, None] % 7

    def loss(p, _):
        added = p["t"].at[rows].add(numbers * p["c"][None])
        return polynomial((2 * added.at[rows[:1500]].set(numbers[:1500] * p["c"][None]))[INDICES])

    assert_rows_first(loss, params())


@pytest.mark.parametrize("mode", ["fill", "clip"])
def test_windows_that_are_not_inside(mode):
    """Two rows each are added to: [16, 17] is not all inside, nor is [-1, 0]."""

    def loss(p, _):
        numbers = lax.ScatterDimensionNumbers((1, 2), (), (0,))
        updates = jnp.stack([jnp.outer(jnp.array([n, 2 * n]), p["c"]) for n in (1.0, 2.0, 4.0)])
        indices = jnp.array([[16], [2], [-1]])
        t = lax.scatter_add(p["t"], indices, updates, numbers, mode=mode)
        return polynomial(t[INDICES])

    assert_rows_first(loss, params())


# Each operation is compiled by itself.
SOON = {"scaled by rows", "row set", "updated", "tensor_scatter_nd_update", "of two, traced"}
OF_BFLOAT16 = [
    pytest.param(name, marks=pytest.mark.slow if name in SOON else pytest.mark.stress)
    for name in PATTERNS
]


@pytest.mark.parametrize("name", OF_BFLOAT16)
def test_bfloat16(name):
    """The same operations round in the same places, so that eager values are the same."""
    loss = composed(name) if name in STEPS else composed(lookup=name)
    assert_rows_first(loss, params(jnp.bfloat16), run=eagerly, tolerance=2e-2)


# --- every element-wise function ---

SPECIAL = {  # others have one operand, or two of the same dtype
    "clamp": lambda x, y: lax.clamp(-y, x, y),
    "complex": lambda x, y: lax.real(lax.complex(x, y)),
    "conj": lambda x, y: lax.real(lax.conj(lax.complex(x, y))),
    "convert_element_type": lambda x, y: x.astype(jnp.bfloat16).astype(x.dtype),
    "imag": lambda x, y: lax.imag(lax.complex(x, y)),
    "integer_pow": lambda x, y: lax.integer_pow(x, 3),
    "real": lambda x, y: lax.real(lax.complex(x, y)),
    "reduce_precision": lambda x, y: lax.reduce_precision(x, 8, 7),
    "regularized_incomplete_beta": lambda x, y: lax.betainc(
        jnp.ones_like(x), jnp.ones_like(x), lax.logistic(x)
    ),
    "select_n": lambda x, y: lax.select_n(x > y, x, y),
    "igamma": lambda x, y: lax.igamma(jnp.ones_like(x), jnp.abs(x)),
    "igammac": lambda x, y: lax.igammac(jnp.ones_like(x), jnp.abs(x)),
    "igamma_grad_a": lambda x, y: lax.igamma(jnp.abs(x) + 1, jnp.ones_like(x)),
    "polygamma": lambda x, y: lax.polygamma(jnp.ones_like(x), jnp.abs(x) + 1),
    "zeta": lambda x, y: x * lax.zeta(jnp.abs(lax.stop_gradient(x)) + 2, jnp.ones_like(y)),
    "acosh": lambda x, y: lax.acosh(jnp.abs(x) + 2),
    "atanh": lambda x, y: lax.atanh(x / 8),
    "acos": lambda x, y: lax.acos(x / 8),
    "asin": lambda x, y: lax.asin(x / 8),
    "erf_inv": lambda x, y: lax.erf_inv(x / 8),
    "pow": lambda x, y: lax.pow(jnp.abs(x) + 1, y),
    "add_any": lambda x, y: jax.vjp(lambda a: (a * y, a + y), x)[1]((x, y))[0],
    **{
        name: lambda x, y, name=name: getattr(lax, name)(jnp.abs(x) + 1)
        for name in ("log", "log1p", "sqrt", "rsqrt", "lgamma", "digamma", "cbrt")
    },
}
# Their results are integers or bools, or their operands.
DISCRETE = {"and", "or", "xor", "not", "eq", "ne", "lt", "le", "gt", "ge", "is_finite", "clz"}
DISCRETE |= {"population_count", "shift_left", "shift_right_arithmetic", "shift_right_logical"}
DISCRETE |= {"mulhi", "nextafter"}


def function_of(name):
    if name in SPECIAL:
        return SPECIAL[name]
    function = getattr(lax, name)
    operands = [
        p for p in inspect.signature(function).parameters.values()
        if p.default is p.empty and p.kind is not p.VAR_KEYWORD
    ]  # fmt: skip
    return (lambda x, y: function(x)) if len(operands) == 1 else function


@pytest.mark.parametrize("name", sorted(row_rules.ELEMENTWISE - DISCRETE))
def test_elementwise(name):
    function = function_of(name)

    def loss(p, _):
        t = p["t"]
        return polynomial(function(t, jnp.broadcast_to(p["c"][None], t.shape))[INDICES])

    p = {**params(), "c": jnp.array([2.0, 1.0, 0.5])}
    jaxpr = jax.make_jaxpr(lambda t: function(t, t))(p["t"])
    assert f" {name}" in str(jaxpr) or name in ("igamma_grad_a", "square"), jaxpr
    assert_rows_first(loss, p, tolerance=1e-4)


@pytest.mark.parametrize("name", sorted(DISCRETE))
def test_what_has_no_derivative_may_take_the_whole_table(name):
    """And its result a part in what is looked up."""
    if name == "mulhi" and not hasattr(lax, "mulhi"):
        pytest.skip("jax 0.10.0 has no mulhi")
    function = getattr(lax, {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
                             "not": "bitwise_not"}.get(name, name))  # fmt: skip

    def loss(p, _):
        t = p["t"]
        x = lax.stop_gradient(t)
        x = x if name in ("nextafter", "is_finite") or len(name) == 2 else t.astype(jnp.int32)
        x = t.astype(jnp.int32) if name == "or" else x
        one = ["is_finite", "not", "clz", "population_count"]
        result = function(x) if name in one else function(x, jnp.ones_like(x))
        return polynomial((t * lax.stop_gradient(result.astype(t.dtype)))[INDICES])

    assert_rows_first(loss, params())


@pytest.mark.slow
def test_every_differentiable_elementwise_primitive_of_jax_has_a_rule():
    """Found by calling all functions of `lax`."""
    x = jnp.array([[0.25, 0.5], [0.75, 0.125]])
    found = set()
    for name in dir(lax):
        function = getattr(lax, name)
        if name.startswith("_") or not callable(function) or inspect.isclass(function):
            continue
        for operands in ((x,), (x, x), (x, x, x)):
            try:
                rows = jax.make_jaxpr(function)(*operands)
                assert rows.out_avals[0].shape == x.shape
                single = function(*(o[:1, :1] for o in operands))
                np.testing.assert_allclose(function(*operands)[:1, :1], single, rtol=1e-6)
                several = [e.primitive.name for e in rows.eqns]
            except Exception:  # other arguments, no array, or not element-wise
                continue
            found |= {*several} if len(several) == 1 else set()
    calls = {name for name in found if "call" in name or name in ("jit", "pjit")}
    assert {"sin", "add", "tanh", "logistic", "erf"} <= found
    assert not {name for name in found - calls if name not in delayed_rules._RULES}
