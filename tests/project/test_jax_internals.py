"""Without one of JAX's private names jaxops works: one feature is slower, or refused in words."""

import ast
import functools
import itertools
import json
import os
import re
import types

import jax
import jax.numpy as jnp
import numpy as np
import private_names
import pytest
from checks import printed_by, raised
from jax import lax
from jax.experimental import checkify
from jax.extend.core import primitives
from row_wise_steps import Stateless

import jaxops
from jaxops import _jax_internals

PACKAGE = private_names.SOURCE.parent


def modules():
    return {str(path.relative_to(PACKAGE)): path.read_text() for path in PACKAGE.rglob("*.py")}


# --- names of modules, attributes, frames ---


@pytest.mark.slow  # a process for each name
def test_without_a_name():
    env = {"PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), str(PACKAGE.parent / "tests")])}
    outcomes = json.loads(printed_by(private_names.__file__, env=env))
    assert outcomes.keys() == private_names.CASES.keys()
    assert {name: text for name, text in outcomes.items() if text} == {}


def strings_of(function: str) -> set[str]:
    """The strings that calls of a function in `_jax_internals.py` are given."""
    return strings_in_calls(private_names.SOURCE.read_text(), function)


def strings_in_calls(text: str, function: str) -> set[str]:
    calls = [x for x in ast.walk(ast.parse(text)) if isinstance(x, ast.Call)]
    calls = [x for x in calls if ast.unparse(x.func).split(".")[-1] == function]
    return {str(x.value) for call in calls for x in call.args if isinstance(x, ast.Constant)}


@pytest.mark.parametrize("function", ["_find", "_read"])
def test_each_name_is_taken_away(function):
    taken = tuple(private_names.CASES.keys() - {""})
    names = strings_of(function) - {"unpack"}  # of a parameter: `test_counts_of_a_scan`
    assert len(names) >= 5
    assert not [name for name in names if not name.endswith(taken)]


def test_names_are_known_in_this_version():
    """Else the slower way is taken, and nobody notices."""
    assert not [name for name in strings_of("_find") if _jax_internals._find(name) is None]
    assert _jax_internals._find("jax._src.nothing.of.this.name") is None


def test_no_other_module_has_private_names():
    for path, text in modules().items():
        if path != "_jax_internals.py":
            assert not re.search(r"jax\._src|manual_axis_type|\.vma\b|_getframe", text), path
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Attribute) and node.attr == "params":
                    assert isinstance(node.value, ast.Name), path
                    assert node.value.id == "self", f"{path}:{node.lineno}: `_jax_internals.param`"


# --- parameters of primitives ---


def gone(monkeypatch, primitive: str, *names: str) -> None:
    """Equations of `primitive` have other names for these parameters."""

    def params(eqn):
        gone = names if eqn.primitive.name == primitive else ()
        return {f"{key}_gone" if key in gone else key: x for key, x in eqn.params.items()}

    monkeypatch.setattr(_jax_internals, "params_of", params)


I = jnp.array([3, 0])  # noqa: E741
TABLE = jnp.arange(12.0).reshape(4, 3)


def rows(t):
    return jnp.sum(t[I] ** 2)


def in_scan(t):
    return lax.scan(lambda c, i: (c + jnp.sum(t[i]), None), 0.0, I)[0]


def in_while():
    """A lookup in a loop, in a branch that one call of a batch does not take."""

    def read(i):
        return lax.while_loop(
            lambda c: c[0] < i, lambda c: (c[0] + 1, jaxops.gather(TABLE, i)), (i - 1, TABLE[0])
        )[1]

    return jax.vmap(lambda i: lax.cond(i < 4, read, lambda i: TABLE[0], i))(jnp.array([3, 9]))


def in_cond(t):
    return lax.cond(t[0, 0] > 1, lambda: rows(t), lambda: 0.0)


def by_platform(t):
    return lax.platform_dependent(t, cpu=rows, default=lambda t: 2 * rows(t))


def remat(t):
    return jax.checkpoint(rows)(t)


def grad(fun):
    return lambda: jaxops.sparse_value_and_grad(fun, tables="")(TABLE)


def step(fun):
    slices = jaxops.IndexedSlices(jnp.ones((2, 3)), I, (4, 3))
    return lambda: jaxops.lazy(Stateless(fun)).apply(slices, (), TABLE)


def in_lanes(rule):
    return lambda: private_names.in_lanes(rule)


def in_lanes_of_a_solve():
    """One call of a batch reads 3; another would read 9 in a branch that it does not take."""

    def solve(x, i):
        matvec = lambda y: y * jaxops.gather(x, i)  # noqa: E731
        return lax.custom_linear_solve(matvec, 1.0, lambda matvec, b: b / matvec(1.0))

    one = lambda i: lax.cond(i < 4, lambda: solve(TABLE[:, 0], i), lambda: 0.0)  # noqa: E731
    return jax.vmap(one)(jnp.array([3, 9]))


REMAT = primitives.remat_p.name

# What reads the parameter, by the primitive and the parameter.
READS = {
    ("jit", "jaxpr"): grad(jax.jit(rows)),
    ("scan", "num_consts", "num_carry", "ft_in"): grad(in_scan),
    ("scan", "jaxpr"): grad(in_scan),
    ("scan", "length"): grad(in_scan),
    ("scan", "reverse"): grad(in_scan),
    ("scan", "unroll"): grad(in_scan),
    ("cond", "branches"): grad(in_cond),
    ("cond", "branches_platforms"): grad(jax.jit(by_platform)),
    (REMAT, "jaxpr", "call_jaxpr", "call"): grad(remat),
    (REMAT, "prevent_cse"): grad(remat),
    (REMAT, "policy"): grad(remat),
    ("gather", "dimension_numbers"): grad(rows),
    ("gather", "slice_sizes"): grad(rows),
    ("gather", "mode"): grad(rows),
    ("slice", "strides"): grad(lambda t: jnp.sum(lax.slice(t, (1, 0), (3, 3)))),
    ("slice", "start_indices"): grad(lambda t: jnp.sum(lax.slice(t, (1, 0), (3, 3)))),
    ("slice", "limit_indices"): grad(lambda t: jnp.sum(t[:, 1][I])),
    ("gather", "fill_value"): grad(lambda t: jnp.sum(jnp.take(2 * t, I, axis=0))),
    ("pad", "padding_config"): grad(lambda t: jnp.sum(jnp.pad(t, 1)[I])),
    ("tile", "reps"): grad(lambda t: jnp.sum(jnp.tile(t, (2, 1))[I])),
    ("device_put", "devices"): grad(lambda t: jnp.sum(jax.device_put(2 * t)[I])),
    ("fft", "fft_lengths"): grad(lambda t: jnp.sum(jnp.abs(jnp.fft.fft(t, axis=1))[I])),
    ("reduce_sum", "axes"): step(lambda g, p: g - jnp.sum(g, 1, keepdims=True)),
    ("integer_pow", "y"): step(lambda g, p: g**3),
    ("cumsum", "axis"): grad(lambda t: jnp.sum(jnp.cumsum(t, 1)[I])),
    ("sort", "dimension"): grad(lambda t: jnp.sum(jnp.sort(t, 1)[I])),
    ("split", "sizes"): grad(lambda t: jnp.sum(jnp.split(2 * t, [1])[1][I % 2])),
    ("rev", "dimensions"): grad(lambda t: jnp.sum(jnp.flip(t, 0)[I])),
    ("concatenate", "dimension"): grad(lambda t: jnp.sum(jnp.concatenate([t, t])[I])),
    ("transpose", "permutation"): grad(lambda t: jnp.sum(t.T[:, I])),
    ("squeeze", "dimensions"): grad(lambda t: jnp.sum(lax.squeeze(t[None], [0])[I])),
    ("while", "cond_nconsts"): in_while,
    ("while", "body_nconsts"): in_while,
    ("custom_jvp_call", "jvp_jaxpr_fun"): in_lanes("custom_jvp"),
    ("custom_jvp_call", "num_consts"): in_lanes("custom_jvp"),
    ("custom_jvp_call", "symbolic_zeros"): in_lanes("custom_jvp"),
    ("custom_linear_solve", "const_lengths"): in_lanes_of_a_solve,
    ("custom_linear_solve", "jaxprs"): in_lanes_of_a_solve,
    ("custom_vjp_call", "fwd_jaxpr_thunk"): in_lanes("custom_vjp"),
    ("custom_vjp_call", "bwd"): in_lanes("custom_vjp"),
    ("custom_vjp_call", "out_trees"): in_lanes("custom_vjp"),
    ("custom_vjp_call", "num_consts"): in_lanes("custom_vjp"),
    ("broadcast_in_dim", "broadcast_dimensions"): step(lambda g, p: lax.squeeze(g[:, None], [1])),
}


@pytest.mark.parametrize("names", READS, ids="-".join)
def test_without_a_parameter(names, monkeypatch):
    primitive, *keys = names
    gone(monkeypatch, primitive, *keys)
    words = rf"{primitive} must have a parameter .*'{keys[-1] if len(keys) < 3 else keys[0]}'"
    with pytest.raises(NotImplementedError, match=words) as error:
        READS[names]()
    assert jax.__version__ in str(error.value)


@pytest.mark.parametrize(
    ("primitive", "name"), [("while", "cond_jaxpr"), ("while", "body_jaxpr"), ("scan", "jaxpr")]
)
def test_a_loop_that_is_not_known_raises_in_the_step(primitive, name, monkeypatch):
    gone(monkeypatch, primitive, name)
    read = lambda i: jaxops.gather(I, i)  # noqa: E731
    raised(jax.jit(lambda i: lax.while_loop(lambda i: i != 0, read, i)), 9)
    raised(jax.jit(lambda i: lax.map(read, i)), I + 1)


def test_all_parameters_are_taken_away():
    """Those that are named in a call of `param`, or in a table of names."""
    named = set()
    for text in modules().values():
        named |= strings_in_calls(text, "param")
    assert len(named) > 15
    own = {"windows", "sharding", "spec", "site"}  # of primitives of jaxops
    assert named - own <= {key for _, *keys in READS for key in keys}


def test_counts_of_a_scan(monkeypatch):
    (eqn,) = jax.make_jaxpr(in_scan)(TABLE).jaxpr.eqns[-1:]
    monkeypatch.setattr(_jax_internals, "params_of", lambda _: {"ft_in": object()})
    with pytest.raises(NotImplementedError, match="scan must have a parameter 'num_consts'"):
        _jax_internals.scan_counts(eqn)


def test_checkify_without_a_rule_for_its_own_check(monkeypatch):
    rules = _jax_internals._find("jax._src.checkify.error_checks")
    (own,) = [primitive for primitive in rules if primitive.name == "check"]
    monkeypatch.delitem(rules, own)
    with pytest.raises(NotImplementedError, match="must have a rule for the primitive of checkify"):
        checkify.checkify(lambda i: jaxops.gather(TABLE, i))(I)


def test_concrete_arrays():
    seen = []
    jax.jit(lambda x: seen.append(_jax_internals.is_concrete(x)))(1.0)
    others = [np.zeros(2), 1.0, jax.random.key(0), [jnp.zeros(2)]]
    assert [*seen, *map(_jax_internals.is_concrete, others)] == [False] * 5
    assert _jax_internals.is_concrete(jnp.zeros(2, jnp.bfloat16))


@pytest.mark.parametrize("around", [lambda f: f, jax.jit, jax.checkpoint])
def test_equations_that_are_dropped(around):
    """Each subset of three: the next equation, or the program, has the operand of the first."""
    functions = {"sin": jnp.sin, "cos": jnp.cos, "tan": jnp.tan}

    def composed(names):
        return lambda x: functools.reduce(lambda x, name: functions[name](x), names, x)

    program = jax.make_jaxpr(around(composed(functions)))(2.0)
    subsets = (itertools.compress(functions, n) for n in itertools.product([0, 1], repeat=3))
    for kept in map(list, subsets):
        dropped = {*functions} - {*kept}
        changed = _jax_internals.map_equations(
            program, lambda e, dropped=dropped: None if e.primitive.name in dropped else e
        )
        (result,) = jax.jit(_jax_internals.jaxpr_as_fun(changed))(2.0)
        np.testing.assert_allclose(result, composed(kept)(2.0), rtol=1e-6)


def test_arrays_put_by_the_public_way(monkeypatch, x32):
    monkeypatch.setattr(_jax_internals, "_batched_device_put", None)
    device = jax.devices()[-1]
    for like in (jnp.zeros(()), jax.device_put(0.0, device)):
        x = _jax_internals.put_like(np.arange(2), like)
        assert (x.dtype, x.committed, x.devices()) == (np.int64, like.committed, like.devices())


def test_arrays_put_on_the_default_device():
    x, theirs = _jax_internals.put_on_default_device(np.arange(2.0)), jnp.arange(2.0)
    assert (x.committed, x.devices()) == (theirs.committed, theirs.devices())


def test_axes_of_a_type():
    typed = types.SimpleNamespace
    assert _jax_internals.varying_axes(typed(manual_axis_type=typed(varying={"e"}))) == {"e"}
    assert _jax_internals.varying_axes(typed()) == set()


@pytest.mark.parametrize("platforms", [("cpu",), ("cpu", "cuda")])
def test_programs_for_elsewhere(platforms):
    """A program for several platforms is one, even if JAX does not tell whether it is exported."""
    ctx = types.SimpleNamespace(module_context=types.SimpleNamespace(platforms=platforms))
    assert _jax_internals.is_for_elsewhere(ctx) == (len(platforms) > 1)
    assert not _jax_internals.is_for_one_device(ctx)
