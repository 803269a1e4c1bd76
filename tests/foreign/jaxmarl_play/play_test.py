"""Random play of environments of JaxMARL, whose wheel has no tests of them."""

# pyright: reportMissingImports=false

import jax
import jax.numpy as jnp
import pytest
from jaxmarl import make

ENVIRONMENTS = (
    *("coin_game", "hanabi", "overcooked", "switch_riddle", "MPE_simple_v3"),
    *("MPE_simple_spread_v3", "MPE_simple_adversary_v3", "MPE_simple_push_v3"),
    "MPE_simple_tag_v3",
)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_play(name):
    env = make(name, **({"num_good_agents": 2} if "tag" in name else {}))

    def action(state, agent, key):
        if name != "hanabi":
            return env.action_space(agent).sample(key)
        legal = env.get_legal_moves(state)[agent]
        return jax.random.categorical(key, jnp.where(legal > 0, 0.0, -jnp.inf))

    def step(state, key):
        key, *keys = jax.random.split(key, env.num_agents + 1)
        each = zip(env.agents, keys, strict=True)
        actions = {agent: action(state, agent, key) for agent, key in each}
        _, state, rewards, *_ = env.step(key, state, actions)
        return state, rewards

    @jax.jit
    def play(key):
        _, state = env.reset(key)
        return jax.lax.scan(step, state, jax.random.split(key, 60))

    jax.block_until_ready(play(jax.random.key(0)))
