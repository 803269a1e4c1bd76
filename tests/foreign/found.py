"""Tests of other packages that read out of bounds, each with its proof (`make foreign`)."""

# By package and test.
FOUND: dict[str, dict[str, str]] = {
    "chex": {
        "chex/_src/asserts_chexify_test.py::AssertsChexifyTest::test_checkify_errors": (
            "index 10 of axis 0 of an array (2,): the test is about `checkify.index_checks`, which "
            "is to find it."
        ),
    },
    "craftax": {
        "craftax_play/play_test.py::test_play": (
            "an index of a creature beyond axis 0 or 1 of the map of the view (7, 9, 4), which JAX "
            "drops in `_add_mob_to_map`. It counts -1 to -7 from the end: a creature above the "
            "view writes False where another one may stand."
        ),
    },
    "flax": {
        # The combinations in which num_embeddings is 7; with 1 `Embed` looks nothing up.
        f"tests/nnx/nn/embed_test.py::TestLinenConsistency::test_nnx_linen_equivalence{number}": (
            "index 10 of axis 0 of the embedding (7, 32): the test looks up `ones(10) * 10`. The "
            "results are NaN, in nnx as in linen, and so equal."
        )
        for number in (4, 5, 6, 7, 12, 13, 14, 15)
    },
    "haiku": {
        f"haiku/_src/integration/{test}": (
            "index 7 of axis 0 of the embedding (6, 12): `descriptors.py` has "
            "`hk.Embed(vocab_size=6)`, and the tests look up `randint(rng, (8,), 0, 8)`."
        )
        for test in (
            *(
                f"hk_transforms_test.py::HaikuTransformsTest::test_{name}"
                for name in (
                    *("hk_jit_Embed_init", "hk_jit_Embed_not_init", "hk_remat_Embed"),
                    *("hk_scan_Embed_init", "hk_scan_Embed_not_init"),
                    *("optimize_rng_use_under_jit_Embed", "vmap_Embed"),
                )
            ),
            "jax_transforms_test.py::JaxTransformsTest::test_jit_Embed",
        )
    },
    "jaxmarl": {
        "jaxmarl_play/play_test.py::test_play[MPE_simple_tag_v3]": (
            "index 3 of axis 0 of `collisions`, with a row for each of 2 good agents: `rewards` "
            "takes the number among all agents, of which 3 are adversaries. Both good agents read "
            "the last row: one that is caught has no penalty, unless the other one is caught."
        ),
    },
    "jumanji": {
        f"jumanji_play/play_test.py::test_play[{name}]": proof
        for name, proof in {
            "MMST-v0": (
                "index 2 of axis 0 of `merge_graph_keys`, of num_agents - 1 = 2 keys: "
                "`multi_random_walk` counts the merges from 1. Key 0 is never used, and both "
                "merges have key 1."
            ),
            "Tetris-v0": (
                "start -1 of a window of 4 in the padded grid (13, 13): `place_tetromino` takes "
                "`argmin(possible_positions) - 1` where all are possible. JAX counts it from the "
                "end, to 12, and moves it to 9, which is the bottom row."
            ),
            "JobShop-v0": (
                "index 20 of axis 0 of `op_ids` (20,): the job of a machine that does nothing. A "
                "`where` drops the duration."
            ),
            "Connector-v3": (
                "index 10 of axis 1 of a mask (10, 10): the cell beside the last column. JAX drops "
                "it, as the comment wants; the cell at -1 is the last one, and set to False."
            ),
            **dict.fromkeys(
                ("Cleaner-v0", "Maze-v0", "Snake-v1"),
                "the cell beside the last row or column: the program reads the last one, and an "
                "`&` with the bounds drops it.",
            ),
        }.items()
    },
    "mctx": {
        "mctx/_src/tests/policies_test.py::PoliciesTest::test_stochastic_muzero_policy": (
            "index 4 of axis 1 of `rewards` (2, 4): `_make_stochastic_recurrent_fn` in policies.py "
            "calls the functions of both kinds of nodes for every node, and drops one result. A "
            "chance outcome, whose numbers begin at num_actions = 4, comes to `rewards[i, action]`."
        ),
    },
    "pgx": {
        f"pgx_play/play_test.py::test_play[{game}]": proof
        for game, proof in {
            "sparrow_mahjong": (
                "index 3 of axis 0 of `state._hands` (3, 11): `_check_tsumo` takes `_turn`, which "
                "counts on, without `% N_PLAYER`. From turn 3 on it looks at the hand of the last "
                "player: in 2,048 random games it saw 86 of the 357 hands that a draw completed."
            ),
            "minatar-seaquest": (
                "an index of a bullet beyond axis 1 of the board (11, 11, 10): "
                "`_remove_out_of_bound` asks for `(x < 0) & (y > 9)`, which no bullet has. Those "
                "of enemies to the right fly on for ever, and `_observe` writes them nowhere."
            ),
            "othello": (
                "index 64 of axis 0 of the board (64,): the action to pass, which JAX drops, as "
                "the comment says."
            ),
            "animal_shogi": (
                "index 6 of axis 0 of `CAN_MOVE` (5, 12, 12): a piece of the opponent. An `&` "
                "drops what is read."
            ),
        }.items()
    },
}
