"""Random play of Craftax-Classic, whose wheel has no tests."""

# pyright: reportMissingImports=false

import jax
import jax.numpy as jnp
from craftax.craftax_env import make_craftax_env_from_name


def test_play():
    env = make_craftax_env_from_name("Craftax-Classic-Symbolic-v1", auto_reset=True)
    params = env.default_params
    num_actions = env.action_space(params).n

    def step(state, key):
        key, key_of_action = jax.random.split(key)
        action = jax.random.randint(key_of_action, (), 0, num_actions)
        observation, state, *_ = env.step(key, state, action, params)
        return state, jnp.sum(observation)

    @jax.jit
    def play(key):
        _, state = env.reset(key, params)
        return jax.lax.scan(step, state, jax.random.split(key, 60))

    jax.block_until_ready(play(jax.random.key(0)))
