"""Parts taken one after the other are those of one gather, whatever their sizes are.

A program for a TPU has nothing of its platform in it, so it runs on the CPU of this machine.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import exported_for

from jaxops._cpu import parts_in_turn
from jaxops._indexing.parts import take_at_once, take_parts

ROWS, FILL = np.arange(40_000.0, dtype=np.float32).reshape(10_000, 4), np.float32(-1)
ORDER = np.random.default_rng(0).permutation(10_000).astype(np.int32)
PARTS = {  # starts, counts, sizes
    "full": ([0, 4000], [4000, 6000], (4000, 6000)),
    "filled-up": ([0, 10, 9990], [10, 9980, 10], (9000, 9980, 30)),
    "none": ([0, 0, 10_000], [0, 10_000, 0], (1, 9999, 9000)),
}


def test_small_and_very_many_parts_are_one_gather():
    args = (jnp.zeros((10, 4)), FILL, jnp.arange(10), jnp.array([0]), jnp.array([3]))
    assert not parts_in_turn._is_for(*args, sizes=(3,))
    assert not parts_in_turn._is_for(jnp.asarray(ROWS), *args[1:], sizes=(30,) * parts_in_turn.MANY)


def loss(rows, fill, order, starts, counts, sizes):
    parts = take_parts(rows, fill, order, starts, counts, sizes=sizes)
    return sum(((n + 1) * part).sum() for n, part in enumerate(parts))


@pytest.mark.parametrize("platform", ["cpu", "tpu"])
@pytest.mark.parametrize("name", PARTS)
def test_against_numpy(name, platform):
    starts, counts, sizes = PARTS[name]
    args = ROWS, FILL, *(jnp.array(x, jnp.int32) for x in (ORDER, starts, counts))
    assert parts_in_turn._is_for(*args, sizes=sizes)

    def call(function, *args):
        return exported_for(platform, functools.partial(function, sizes=sizes), *args).call(*args)

    parts, of_reference = call(take_parts, *args), call(take_at_once, *args)
    of_rows, of_fill = np.zeros_like(ROWS), 0
    for n, (part, start, count, size) in enumerate(zip(parts, starts, counts, sizes, strict=True)):
        held = ORDER[start : start + min(count, size)]
        np.testing.assert_array_equal(part[: held.size], ROWS[held])
        np.testing.assert_array_equal(part[held.size :], np.full((size - held.size, 4), FILL))
        np.testing.assert_array_equal(of_reference[n], part)
        of_rows[held] += n + 1
        of_fill += (n + 1) * (size - held.size) * ROWS.shape[1]
    actual = call(jax.grad(loss, (0, 1)), *args)
    np.testing.assert_array_equal(actual[0], of_rows)
    assert actual[1] == of_fill


def test_a_tpu_reads_positions_by_slices():
    """A gather of them moves as many bytes as that of the rows."""
    starts, counts, sizes = PARTS["full"]
    args = ROWS, FILL, *(jnp.array(x, jnp.int32) for x in (ORDER, starts, counts))
    for function in (take_parts, lambda *a, sizes: jax.grad(loss)(*a, sizes)):
        text = exported_for("tpu", lambda *a, f=function: f(*a, sizes=sizes), *args).mlir_module()
        gathers = [line for line in text.splitlines() if "stablehlo.gather" in line]
        assert not [line for line in gathers if "xi32>, tensor<" in line and "x4xf32" not in line]
        assert "stablehlo.dynamic_slice" in text
