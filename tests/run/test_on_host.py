"""Results of exact shapes, which the host computes."""

import types
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import assert_equal

import jaxops
from jaxops._run import on_host


@pytest.mark.parametrize("num_partitions", [3, 300])
def test_large_parts_are_not_copied(num_partitions, monkeypatch):
    """JAX takes over the memory into which the host writes them."""
    addresses = []

    def empty(shape, dtype):
        addresses.append((memory := make(shape, dtype)).ctypes.data)
        return memory

    make = on_host.empty
    monkeypatch.setattr(on_host, "empty", empty)
    data = jnp.arange(6000.0)
    numbers = np.arange(6000) % 3
    parts = jaxops.dynamic_partition(data, numbers, num_partitions)[:3]
    assert [part.unsafe_buffer_pointer() for part in parts] == addresses
    for n, part in enumerate(parts):
        assert_equal(part, np.arange(n, 6000, 3))


def test_results_stay_on_the_device_of_the_data():
    data = jax.device_put(jnp.arange(3.0), jax.devices()[0])
    assert jaxops.boolean_mask(data, [True, False, True]).committed
    assert not jaxops.boolean_mask(jnp.arange(3.0), [True, False, True]).committed


def test_empty_arrays_that_numpy_does_not_hold():
    """NumPy refuses sizes beside a 0 whose product takes more than 63 bits of bytes."""
    shape = (2**31, 0, 2**31)
    for dtype, is_on_host in ((np.int8, True), (np.float32, False)):
        x = jnp.zeros(shape, dtype)
        assert on_host.is_on_host(x) == is_on_host
        assert jaxops.boolean_mask(x, np.zeros(0, bool), axis=1).shape == shape


def test_results_too_large_for_memory_name_the_function():
    many = 2**16
    empty = jaxops.SparseTensor(np.zeros((0, 2), int), [], (2**50, 1))
    calls = {
        "repeat": lambda: jaxops.repeat(np.zeros(many), np.full(many, 2**31 - 2)),
        "edit_distance": lambda: jaxops.edit_distance(empty, empty),
    }
    for name, call in calls.items():
        with pytest.raises(MemoryError, match=f"^{name}: Unable to allocate"):
            call()


class Sharding(NamedTuple):
    is_fully_addressable: bool
    platforms: tuple[str, ...]

    @property
    def device_set(self):
        return [types.SimpleNamespace(platform=platform) for platform in self.platforms]


def test_memory_that_the_host_reads():
    """That of CPUs, all of them of this process."""
    of = [(True, ("cpu", "cpu")), (False, ("cpu",)), (True, ("gpu",)), (True, ("cpu", "gpu"))]
    found = [on_host._is_in_host_memory(Sharding(*fields)) for fields in of]  # type: ignore[arg-type]
    assert found == [True, False, False, False]


def test_positions_have_few_bits(x64):
    dtypes = [on_host.to_positions(np.array([7]), 2**31 - n).dtype for n in (0, 1)]
    assert dtypes == [np.uint64 if x64 else np.uint32, np.int32]
    assert on_host.to_positions(np.array([2**31 - 2]), 2**31 - 1) == 2**31 - 2
