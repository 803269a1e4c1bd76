"""Whose index it is, and on which line."""

import concurrent.futures
import functools
import inspect
import operator
import threading
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checked.jax_code import BAD, GOOD, X
from checks import printed_by, raised
from jax import lax

import jaxops


def line_of(error):
    return int(error.where.split(":")[1].split()[0])


def by_take(i, j):
    first = jnp.take(X, i, axis=0)
    return first + jnp.take(X, j, axis=0)


def along_axis(i, j):
    first = jnp.take_along_axis(X, i[:, None], 0)
    return first + jnp.take_along_axis(X, j[:, None], 0)


def in_a_branch(i, j):
    first = lax.cond(i[0] > -1, jnp.take, lambda x, i: x[:2], X.ravel(), i + 8)
    return first + lax.cond(i[0] > -1, jnp.take, lambda x, i: x[:2], X.ravel(), j + 8)


def in_a_switch(i, j):
    first = lax.switch(i[0] * 0, [jnp.take, lambda x, i: x[:2]], X.ravel(), i + 8)
    return first + lax.switch(i[0] * 0, [jnp.take, lambda x, i: x[:2]], X.ravel(), j + 8)


def in_a_checkpoint(i, j):
    first = jax.checkpoint(jnp.take)(X.ravel(), i + 8)
    return first + jax.checkpoint(jnp.take)(X.ravel(), j + 8)


def in_a_checkpoint_of_jit(i, j):
    first = jax.checkpoint(jax.jit(jnp.take))(X.ravel(), i + 8)
    return first + jax.checkpoint(jax.jit(jnp.take))(X.ravel(), j + 8)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(
    "function",
    [by_take, along_axis, in_a_branch, in_a_switch, in_a_checkpoint, in_a_checkpoint_of_jit],
)
def test_two_lines_that_call_a_function_of_jax(function, jit):
    """JAX traces that function once for both."""
    checked = jaxops.checked(function)
    call = jax.jit(checked) if jit else checked
    start = inspect.getsourcelines(function)[1]
    for _ in range(2):
        call(GOOD, GOOD)
        assert line_of(raised(call, BAD, GOOD)) == start + 1
        assert line_of(raised(call, GOOD, BAD)) == start + 2


# Functions of JAX, of an array and an index: none calls the caller's code.
OF_JAX = {
    "take": jnp.take,
    "take of jit": jax.jit(jnp.take),
    "take of vmap": jax.vmap(jnp.take, (None, 0)),
    "take of jacrev": jax.jacrev(jnp.take),
    "getitem": operator.getitem,
    "take_along_axis": functools.partial(jnp.take_along_axis, axis=0),
    "put": functools.partial(jnp.put, v=1.0, inplace=False),
    "put_along_axis": functools.partial(jnp.put_along_axis, values=1.0, axis=0, inplace=False),
    "segment_sum": functools.partial(jax.ops.segment_sum, num_segments=4),
    "dynamic_slice": functools.partial(lax.dynamic_slice_in_dim, slice_size=2),
}
# They call one for the second row of arrays, or for each row, transformed.
TRANSFORMED = {
    "jit": lambda f, x, i: jax.jit(f)(x[1], i[1]),
    "jit of jit": lambda f, x, i: jax.jit(jax.jit(f))(x[1], i[1]),
    "jit in jit": lambda f, x, i: jax.jit(lambda *args: jax.jit(f)(*args))(x[1], i[1]),
    "vmap of jit": lambda f, x, i: jax.vmap(jax.jit(f))(x, i),
    "jit of vmap": lambda f, x, i: jax.jit(jax.vmap(f))(x, i),
    "jvp of jit": lambda f, x, i: jax.jvp(lambda x: jax.jit(f)(x, i[1]), (x[1],), (x[1],)),
    "map": lambda f, x, i: lax.map(functools.partial(f, x[1]), i),
    "jit of map": lambda f, x, i: jax.jit(functools.partial(lax.map, functools.partial(f, x[1])))(
        i
    ),
    "checkpoint": lambda f, x, i: jax.checkpoint(f)(x[1], i[1]),
    "cond": lambda f, x, i: lax.cond(i.ravel()[0] == 0, f, f, x[1], i[1]),
    "compiled": lambda f, x, i: jax.jit(f).lower(x[1], i[1]).compile()(x[1], i[1]),
}


@pytest.mark.parametrize("transformed", TRANSFORMED)
@pytest.mark.parametrize("function", OF_JAX)
def test_a_function_of_jax_that_is_transformed_outside_of_checked(function, transformed):
    call = functools.partial(TRANSFORMED[transformed], jaxops.checked(OF_JAX[function]))
    x, i = jnp.arange(8.0).reshape(2, 4), jnp.array([[0, 1], [2, 3]])
    bad = i.at[1, 1].set(7)
    if function == "dynamic_slice":
        i, bad = i[:, 0], bad[:, 1]
    if function == "segment_sum":
        x = x[:, :2]
    for _ in range(2):
        jax.block_until_ready(call(x, i))
        error = raised(call, x, bad)
        assert error.index == 7
        assert line_of(error) == inspect.getsourcelines(TRANSFORMED[transformed])[1]


def test_a_method_that_is_transformed_outside_of_checked():
    x, bad = X[:, 0], BAD
    raised(jax.jit(jaxops.checked(x.take)), bad)
    raised(jax.jit(jaxops.checked(x.at[bad].get)))
    raised(jax.jit(jaxops.checked(functools.partial(jnp.add.at, inplace=False))), x, bad, 1.0)


@pytest.mark.parametrize("jit", [False, True])
def test_a_function_of_jax_that_the_caller_hands_to_another(jit):
    def converted(x, i):
        take, constants = jax.closure_convert(functools.partial(jnp.take, x), i)
        return take(i, *constants)

    def of_positions(x, i):
        return jnp.fromfunction(functools.partial(jnp.take, x), (5,), dtype=int)

    for function in (converted, of_positions):
        checked = jaxops.checked(function)
        error = raised(jax.jit(checked) if jit else checked, X[:, 0], BAD)
        lines, start = inspect.getsourcelines(function)
        assert line_of(error) == start + len(lines) - 1


@jax.jit
def _added_later(i, ones):
    for _ in range(4):
        ones = ones @ ones / 1000
    return i + (ones[0, :2] * 0).astype(i.dtype)


def computed_later(i):
    """`i`, of which a program has to wait; XLA runs such a program in a thread of its own."""
    return _added_later(i, jnp.ones((1000, 1000)))


@pytest.mark.parametrize("function", [by_take, along_axis])
def test_a_program_that_runs_in_a_thread_of_its_own(function):
    checked = jaxops.checked(function)
    exempt = jaxops.checked(function, outside={f"*:{function.__name__}": "any"})
    for call in (checked, exempt):
        call(GOOD, GOOD)  # to compile takes longer than the indices
    start = inspect.getsourcelines(function)[1]
    assert line_of(raised(checked, GOOD, computed_later(BAD))) == start + 2
    jax.block_until_ready(exempt(GOOD, computed_later(BAD)))


def test_threads_whose_programs_run_in_threads_of_their_own():
    def padded(i, j):
        with jaxops.padding_index(4):
            return by_take(i, j)

    exempt = jaxops.checked(by_take, outside={"*:by_take": "any"})
    start = inspect.getsourcelines(by_take)[1]
    checked, padded = jaxops.checked(by_take), jaxops.checked(padded)
    for call in (checked, exempt, padded):
        call(GOOD, GOOD)
    numbers = [5, 4, 6, 7]
    arrays = [computed_later(jnp.array([0, number])) for number in numbers]
    ready = threading.Barrier(len(arrays))

    def run(call, i):
        ready.wait()
        with jaxops.typed_errors():
            jax.block_until_ready(call(GOOD, i))

    with concurrent.futures.ThreadPoolExecutor(len(arrays)) as pool:
        calls = [exempt, padded, checked, checked]
        done = [pool.submit(run, call, i) for call, i in zip(calls, arrays, strict=True)]
    assert done[0].exception() is done[1].exception() is None
    errors: list[Any] = [future.exception() for future in done[2:]]
    assert [(line_of(error), error.index) for error in errors] == [(start + 2, 6), (start + 2, 7)]


def test_a_program_of_which_python_calls_another():
    """Both are programs of a function of JAX, by their names: one waits within the other."""

    def read(i):
        return np.asarray(jnp.take(X[:, 0], i))

    @jax.jit
    def take(i):
        return X[i, 0] + jax.pure_callback(read, jax.ShapeDtypeStruct(i.shape, X.dtype), i)

    call = jaxops.checked(take)
    for _ in range(2):
        np.testing.assert_array_equal(call(GOOD), 2 * X[GOOD, 0])
    assert raised(call, BAD).index == 4


MANY_DEVICES = """
import jax, jax.numpy as jnp, jaxops
from checks import raised
jax.config.update("jax_num_cpu_devices", 2)
mesh = jax.make_mesh((2,), ("d",), (jax.sharding.AxisType.Auto,))
sharding = jax.NamedSharding(mesh, jax.P("d"))
x, i = jax.device_put((jnp.arange(4.0), jnp.array([4, 5])), sharding)
def take(x, i):
    return jnp.take(x, i)
def padded(x, i):
    with jaxops.padding_index(4):
        return take(x, i)
for _ in range(2):
    jaxops.checked(take)(x, i * 0)
    assert raised(jaxops.checked(take), x, i).where.endswith("(take)")
assert raised(jaxops.checked(padded), x, i).index == 5
jax.block_until_ready(jaxops.checked(padded)(x, i * 0 + 4))
jax.block_until_ready(jaxops.checked(take, outside={"*:take": "any"})(x, i))
print("no error without cause")
"""


@pytest.mark.slow  # starts a process
def test_a_program_on_many_devices_that_is_called_eagerly():
    assert printed_by("-c", MANY_DEVICES) == "no error without cause\n"


def test_an_eager_call_of_a_program_with_lines_of_the_caller():
    """The line of the check in the branch stays, and that of the call is not added."""

    def row(x, i):
        return x[i]

    choose = jax.jit(lax.cond, static_argnums=(1, 2))
    start = inspect.getsourcelines(row)[1]
    error = raised(jaxops.checked(lambda: choose(True, row, jnp.take, X.ravel(), BAD + 8)))
    assert line_of(error) == start + 1
    assert str(error).endswith(error.where)
    assert str(error).count(" at ") == str(error).count(" at position") + 1


def test_a_function_that_jax_jits_called_by_jax_and_by_the_caller():
    def by_jax(x, i):  # calls jnp.take_along_axis for itself, with such arrays
        return jnp.median(x, axis=0), jnp.quantile(x, 0.5, axis=0)

    def by_caller(x, i):
        return jnp.take_along_axis(x, i[:, None], 0)

    for order in ((by_jax, by_caller), (by_caller, by_jax)):
        jax.clear_caches()
        for function in order:
            jaxops.checked(function)(X, GOOD)
            if function is by_jax:
                jaxops.checked(function)(X, BAD)
            else:
                raised(jaxops.checked(function), X, BAD)


def test_a_loop_that_reads_a_reference():
    """JAX lowers the loop in the call of `scan`, and makes slices of the reads there."""

    def reads(x, i):
        ref = jax.new_ref(x)
        return lax.scan(lambda total, j: (total + ref[j].sum(), None), 0.0, i)

    error = raised(jaxops.checked(reads), X, BAD)
    assert error.operation == "x[...]"
    assert error.where.endswith("(<lambda>)")


def test_one_function_unchecked_and_checked_in_turn():
    function = jax.jit(lambda i: X[i])
    for _ in range(2):
        assert function(BAD).shape == (2, 3)
        raised(jaxops.checked(function), BAD)
        assert jaxops.checked(jaxops.unchecked(function))(BAD).shape == (2, 3)


def test_methods_are_named_with_their_class():
    class Encoder:
        def embed(self, i):
            return X[i]

    error = raised(jax.jit(jaxops.checked(Encoder().embed)), BAD)
    assert error.where.endswith("(Encoder.embed)")


def test_a_line_of_a_library_is_followed_by_that_of_the_project(tmp_path):
    path = tmp_path / "site-packages" / "library.py"
    library: dict = {}
    source = "def read(x, i):\n    return x[i]\ndef outer(x, i):\n    return read(x, i)\n"
    exec(compile(source, str(path), "exec"), library)

    def of_project(i):
        return library["outer"](X, i)

    error = raised(jax.jit(jaxops.checked(of_project)), BAD)
    line = inspect.getsourcelines(of_project)[1] + 1
    where = "library.py:2 (read), called at test_whose.py"
    assert error.where.endswith(f"{where}:{line} (of_project)")


def test_a_negative_index_that_does_not_count_from_the_end():
    index = jnp.array([1, -1])
    read = jaxops.checked(lambda i: X.at[i].get(wrap_negative_indices=False))
    assert raised(read, index).index == -1
    assert raised(lambda i: jaxops.at(X)[i].get(wrap_negative_indices=False), index).index == -1
    for allowed in (False, [False, False], [True, False], cast(Any, np.zeros(2, bool))):
        cut = functools.partial(
            lax.dynamic_slice, slice_sizes=(1, 1), allow_negative_indices=allowed
        )
        assert raised(jaxops.checked(lambda i, cut=cut: cut(X, i)), index).index == -1
    read = functools.partial(lax.dynamic_index_in_dim, allow_negative_indices=False)
    assert raised(jaxops.checked(lambda i: read(X, i[1])), index).index == -1
