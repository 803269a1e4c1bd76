"""What in bounds means, for every dtype and limit."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fast import optimized_jit
from jax import lax
from jax.experimental import checkify

import jaxops
from jaxops._indexing import bounds
from jaxops._indexing.specs import IndexSpec, ScalarIndex, SegmentIdsOrNone

LIMITS = [0, 1, 5, 2**31 - 1, 2**31, 2**31 + 5, 2**32 - 1, 2**40, 2**63 - 1]

EDGES = {n + d for n in (0, *LIMITS) for d in (-1, 0, 1)} | {-(2**31), -(2**63), 2**64 - 1}


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("limit", LIMITS)
def test_every_index_is_on_its_side_of_the_limit(limit, dtype):
    info = np.iinfo(dtype)
    with jax.enable_x64(True):
        spec = ScalarIndex("gather", limits=(limit,))
        ignoring = SegmentIdsOrNone("unsorted_segment_sum", limits=(limit,))  # negative indices
        for index in sorted(n for n in EDGES if info.min <= n <= info.max):
            inside = 0 <= index < limit
            indices = jnp.array([[index], [0 if limit else index]], dtype)
            np.testing.assert_array_equal(bounds.in_bounds(indices, spec), [inside, limit > 0])
            for some_spec, is_good in ((spec, inside), (ignoring, index < limit)):
                assert bool(bounds.any_out_of_bounds(indices, some_spec)) != is_good, index
                assert bool(bounds.out_of_bounds_bit(indices, some_spec)[0]) != is_good, index


@pytest.mark.parametrize("active", [None, True, [True, False], [[True, True], [False, True]]])
def test_indices_of_a_mask_count(active):
    """The components of an index vector have a limit each."""
    spec = IndexSpec("gather_nd", limits=(4, 2))
    for bad in np.ndindex(2, 2, 2):  # the last axis is that of the components
        indices = np.zeros((2, 2, 2), np.int32)
        indices[bad] = spec.limits[bad[-1]]
        mask = np.ones((2, 2), bool)
        if active is not None and active is not True:
            mask &= np.reshape(active, np.shape(active) + (1,) * (2 - np.ndim(active)))
        args = jnp.asarray(indices), spec, *([] if active is None else [jnp.array(active)])
        assert bool(bounds.any_out_of_bounds(*args)) == mask[bad[:-1]]
        assert bool(bounds.out_of_bounds_bit(*args)[0]) == mask[bad[:-1]]


@pytest.mark.parametrize(("spec", "first"), [(ScalarIndex, (1, 0)), (SegmentIdsOrNone, (2, 1))])
def test_the_first_index_vector_that_is_out_of_bounds(spec, first):
    indices = jnp.array([[[0], [3]], [[-1], [0]], [[2], [4]]])
    position, index = bounds.first_out_of_bounds(indices, spec("gather", limits=(4,)))
    assert (tuple(position.tolist()), index.tolist()) == (first, indices[first].tolist())


def test_check_is_one_loop_on_a_cpu():
    """XLA makes a tree of loops, by a window, of a reduction with one operand."""

    def program(indices):
        return jaxops.gather(jnp.zeros((1000, 8)), indices)

    compiled = optimized_jit(program).lower(jnp.zeros(65_536, jnp.int32)).compile().as_text()
    assert compiled is not None
    assert len(re.findall(r" reduce\(", compiled)) == 1
    assert "reduce-window" not in compiled


def at(table, *components):
    """Reads at constant indices, which NumPy does not know: it counts no bits for a check."""
    numbers = lax.population_count(jnp.asarray(np.arange(300, dtype=np.int32)[::-1]))
    return jaxops.checked(lambda: table[tuple(numbers % n for n in components)].sum())()


CONSTANTS = {
    "row": lambda x: at(x, 5),
    "element": lambda x: at(x, 5, 3),
    "gradient": jax.grad(lambda x: at(x, 5)),
    "lanes": lambda x: jax.vmap(lambda x: at(x, 5))(x[None]),
    "branch": lambda x: lax.cond(x[0, 0] > 0, lambda: at(x, 5), lambda: 0.0),
    "branch of lanes": lambda x: jax.vmap(lambda y: lax.cond(y > 0, lambda: at(x, 5), lambda: 0.0))(
        x[0]
    ),
    "scan": lambda x: lax.scan(lambda sum_, _: (sum_ + at(x, 5), None), 0.0, length=3)[0],
    "while": lambda x: lax.while_loop(lambda sum_: sum_ < 9, lambda sum_: sum_ + at(x, 5), 0.0),
    "remat": jax.checkpoint(lambda x: at(x, 5)),
    "checkify": checkify.checkify(lambda x: at(x, 5)),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_check_of_constants_is_not_folded(name):
    """XLA takes seconds for a reduction of 100,000 constants when it compiles a program.

    It folds a reduction of few constants too, and has none in the compiled program then.
    """
    args = (jnp.ones((5, 3)),)
    compiled = optimized_jit(CONSTANTS[name]).lower(*args).compile().as_text()
    assert compiled is not None
    of_integers = re.findall(r"= \((?:s32|u32|pred)\[.* reduce\(.*", compiled)
    assert len(of_integers) >= (2 if name == "checkify" else 1)  # that searches the first index too
