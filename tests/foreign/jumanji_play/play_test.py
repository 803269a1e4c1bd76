"""Random legal play in environments of jumanji, whose wheel has no tests."""

# pyright: reportMissingImports=false

import jax
import jax.numpy as jnp
import jumanji
import pytest
from jumanji import specs
from jumanji.wrappers import AutoResetWrapper

ENVIRONMENTS = (
    *("Cleaner-v0", "Connector-v3", "CVRP-v1", "Game2048-v1", "JobShop-v0", "Maze-v0"),
    *("Minesweeper-v0", "MMST-v0", "MultiCVRP-v0", "Snake-v1", "Tetris-v0", "TSP-v1"),
)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_play(name):
    env = AutoResetWrapper(jumanji.make(name))
    spec = env.action_spec

    def step(state_and_timestep, key):
        state, timestep = state_and_timestep
        legal = jnp.where(timestep.observation.action_mask, 0.0, -1e9)
        if isinstance(spec, specs.MultiDiscreteArray) and legal.shape[:-1] != spec.shape:
            place = jax.random.categorical(key, legal.ravel())  # one mask of all components
            action = jnp.stack(jnp.unravel_index(place, legal.shape)).reshape(spec.shape)
        else:
            action = jax.random.categorical(key, legal, axis=-1)
        return env.step(state, action.astype(spec.dtype)), None

    @jax.jit
    def play(key):
        return jax.lax.scan(step, env.reset(key), jax.random.split(key, 60))

    jax.block_until_ready(play(jax.random.key(0)))
