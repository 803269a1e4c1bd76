"""Random play of the games of pgx, to the end and on: its wheel has no tests of the games."""

# pyright: reportMissingImports=false

import jax
import jax.numpy as jnp
import pgx
import pytest

GAMES = (
    *("tic_tac_toe", "connect_four", "2048", "kuhn_poker", "leduc_holdem", "hex", "go_9x9"),
    *("othello", "animal_shogi", "sparrow_mahjong", "minatar-breakout", "minatar-seaquest"),
)


@pytest.mark.parametrize("game", GAMES)
def test_play(game):
    env = pgx.make(game)

    def step(state, key):
        key, key_of_step = jax.random.split(key)
        keys = jax.random.split(key_of_step, 16)
        legal = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        actions = jax.random.categorical(key, legal, axis=-1)
        state = jax.vmap(env.step)(state, actions, keys)
        return state, state.observation

    @jax.jit
    def play(key):
        state = jax.vmap(env.init)(jax.random.split(key, 16))
        return jax.lax.scan(step, state, jax.random.split(key, 300))

    jax.block_until_ready(play(jax.random.key(0)))
