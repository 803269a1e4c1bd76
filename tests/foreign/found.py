"""Tests of other packages that read out of bounds, each with its proof (`make foreign`)."""

# By package and test.
FOUND: dict[str, dict[str, str]] = {
    "chex": {
        "chex/_src/asserts_chexify_test.py::AssertsChexifyTest::test_checkify_errors": (
            "index 10 of axis 0 of an array (2,): the test is about `checkify.index_checks`, which "
            "is to find it."
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
    "mctx": {
        "mctx/_src/tests/policies_test.py::PoliciesTest::test_stochastic_muzero_policy": (
            "index 4 of axis 1 of `rewards` (2, 4): `_make_stochastic_recurrent_fn` in policies.py "
            "calls the functions of both kinds of nodes for every node, and drops one result. A "
            "chance outcome, whose numbers begin at num_actions = 4, comes to `rewards[i, action]`."
        ),
    },
}
