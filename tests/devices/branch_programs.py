"""Checks in branches and loops that the shards of a `shard_map` come by differently, on 4 devices.

The argument says whether types tell along which axes values vary.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from checks import raised
from jax import lax
from jax.experimental import io_callback
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

import jaxops

jax.config.update("jax_num_cpu_devices", 4)

MESH = jax.make_mesh((2, 2), ("d", "m"), axis_types=(AxisType.Auto,) * 2)
TABLE = jnp.arange(8.0)
GOOD = jnp.array([2, 1, 4, 5])  # an index for each shard; the even ones take the branch
BAD = {
    "one shard": jnp.array([2, 1, 44, 5]),
    "another shard": jnp.array([20, 1, 4, 5]),
    "all shards": jnp.array([20, 30, 44, 50]),
    "a shard that takes no branch": jnp.array([2, 1, 4, 50]),
}
ROUNDS = jnp.arange(3)
IS_TRACKED = sys.argv[1] == "tracked"


def varying(x, axes=("d", "m")):
    return lax.pcast(x, axes, to="varying") if IS_TRACKED else x


def even(function):
    """A program whose shards with an even index compute `function(read, x, i)`; all of them meet.

    Others read too where that is no error, so that each of `BAD` is one.
    """

    def program(read, x, i):
        y = lax.cond(i % 2 == 0, lambda: function(read, x, i), lambda: read(x, i))
        return lax.psum(y, "d")

    return program


def in_switch(read, x, i):
    branches = [lambda: read(x, i), lambda: read(x, i) + 1, lambda: read(x, i) * 2]
    return lax.psum(lax.switch(i, branches), "d")


def in_while(read, x, i):
    """Each shard takes as many steps as its index says."""
    step = lambda carry: (carry[0] - 1, read(carry[1], carry[0]))  # noqa: E731
    return lax.psum(lax.while_loop(lambda carry: carry[0] > 0, step, (i, x))[1], "m")


def in_counted_while(read, x, i):
    step = lambda carry: (carry[0] + 1, read(carry[1], i))  # noqa: E731
    return lax.while_loop(lambda carry: carry[0] < 3, step, (0, x))[1]


def in_while_with_a_collective(read, x, i):
    def step(carry):
        return carry[0] + 1, varying(lax.psum(read(carry[1], i), "d"), "d")

    return lax.while_loop(lambda carry: carry[0] < 3, step, (0, x))[1]


def in_while_whose_condition_reads(read, x, i):
    """The number that JAX reads out of bounds ends the loop."""

    def step(carry):
        return carry[0] + 1, varying(lax.psum(carry[1], "d"), "d")

    return lax.while_loop(lambda carry: (carry[0] < 3) & (read(x, i)[0] < 7), step, (0, x))[1]


def in_while_with_ppermute(read, x, i):
    def step(carry):
        return carry[0] + 1, lax.ppermute(read(carry[1], i), "d", [(0, 1), (1, 0)])

    return lax.while_loop(lambda carry: carry[0] < 3, step, (0, x))[1]


def in_while_of_groups(read, x, i):
    """Groups of shards along an axis take different numbers of steps."""

    def step(carry):
        parts = lax.all_gather(read(carry[1], i), "d", axis_index_groups=[[0], [1]])
        return carry[0] - 1, parts.sum(0)

    return lax.while_loop(lambda carry: carry[0] > 0, step, (lax.axis_index("d") + 1, x))[1]


def in_scan(read, x, i):
    return lax.scan(lambda carry, _: (read(carry, i), None), x, ROUNDS)[0]


def in_scan_with_a_collective(read, x, i):
    def step(carry, _):
        return read(carry, i) + varying(lax.psum(carry, "d").sum(), "d"), None

    return lax.scan(step, x, ROUNDS)[0]


def in_custom_jvp(read, x, i):
    function = jax.custom_jvp(lambda x: read(x, i))
    function.defjvp(lambda primals, tangents: (read(*primals, i), tangents[0]))
    return jax.jvp(function, (x,), (x,))[0]


def in_lanes(read, x, i):
    """Branches within branches, whose types JAX refuses when it evaluates this program again."""

    def take(i):
        inner = lambda: lax.cond(i % 3 == 1, lambda: read(x, i), lambda: x.at[i % 8].mul(0.5))  # noqa: E731
        return lax.cond(i % 2 == 0, lambda: in_scan(read, inner(), i), lambda: x)

    return read(x, i) + jax.vmap(take)(i + 2 * ROUNDS - ROUNDS.sum()).sum(0)


def in_while_of_lanes(read, x, i):
    def count_down(i):
        """No more than 9 steps: their number is the same on all shards."""
        goes_on = lambda carry: (carry[0] > 0) & (carry[2] < 9)  # noqa: E731
        step = lambda carry: (carry[0] - 1, read(carry[1], carry[0]), carry[2] + 1)  # noqa: E731
        return lax.while_loop(goes_on, step, (i, x, 0))[1]

    return lax.psum(jax.vmap(count_down)(i + ROUNDS).sum(0), "d")


def gradient(read, x, i):
    return jax.grad(lambda x: (read(x, i) ** 2).sum())(x)


def gradient_of_scan(read, x, i):
    def loss(x):
        step = jax.checkpoint(lambda carry: read(carry, i) ** 2)
        return lax.scan(lambda carry, _: (step(carry), None), x, ROUNDS)[0].sum()

    return jax.grad(loss)(x)


def solve(read, x, i):
    matvec = lambda y: 2 * y  # noqa: E731
    return lax.custom_linear_solve(matvec, x, lambda _, b: read(b, i), symmetric=True)


def in_custom_vmap(read, x, i):
    function = jax.custom_batching.custom_vmap(read)
    function.def_vmap(lambda size, batched, x, i: (jax.vmap(read)(x, i), True))
    return function(x, i)


def with_callbacks(read, x, i):
    jax.debug.callback(lambda _: None, i)
    one = io_callback(lambda _: np.float32(1), jax.ShapeDtypeStruct((), np.float32), i)
    return read(x, i) * varying(one)


def by_platform(read, x, i):
    return lax.platform_dependent(x, i, cpu=read, default=lambda x, i: x)


PROGRAMS = {
    "cond": even(lambda read, x, i: read(x, i) + 1),
    "switch": in_switch,
    "while": in_while,
    "while that meets": in_while_with_a_collective,
    "while whose condition reads": in_while_whose_condition_reads,
    "while with ppermute": in_while_with_ppermute,
    "while of groups": in_while_of_groups,
    "scan": lambda read, x, i: lax.psum(in_scan(read, x, i), "d"),
    "scan that meets": in_scan_with_a_collective,
    "scan in cond": even(in_scan),
    "while in cond": even(in_counted_while),
    "while in lanes": even(
        lambda read, x, i: in_lanes(lambda x, i: in_counted_while(read, x, i), x, i)
    ),
    "jit": even(lambda read, x, i: jax.jit(lambda x, i: read(x, i))(x, i)),
    "checkpoint": even(lambda read, x, i: jax.checkpoint(lambda x: read(x, i))(x)),
    "custom_jvp": even(in_custom_jvp),
    "lanes": even(in_lanes),
    "while of lanes": in_while_of_lanes,
    "gradient": even(gradient),
    "gradient of a scan": even(gradient_of_scan),
    "solve": even(solve),
    "custom_vmap": even(in_custom_vmap),
    "callbacks": even(with_callbacks),
    "platform": even(by_platform),
}


def of_jax(x, i):
    return x * 0.5 + x[i]


def of_jaxops(x, i):
    return x * 0.5 + jaxops.gather(x, i)


def over_shards(program, read):
    def of_shard(x, i):
        return program(read, varying(x), i[0])[None]

    axes = P(("d", "m"))
    return jax.shard_map(
        of_shard, mesh=MESH, in_specs=(P(), axes), out_specs=axes, check_vma=IS_TRACKED
    )


for name, program in PROGRAMS.items():
    plain = over_shards(program, of_jax)
    expected = jax.jit(plain)(TABLE, GOOD)
    for checked in (jaxops.checked(plain), over_shards(program, of_jaxops)):
        compiled = jax.jit(checked)
        for which, bad in BAD.items():
            error = raised(compiled, TABLE, bad)
            assert np.max(error.index) >= len(TABLE), (name, which, error)
            np.testing.assert_allclose(compiled(TABLE, GOOD), expected, rtol=1e-6, err_msg=name)
