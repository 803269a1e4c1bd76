"""Mutants of what looks up embeddings: see mutants.py."""

MUTANTS = {
    "_ops/embeddings": [
        ("{f\"{arg}[{n}]\": table for n, table in enumerate(tables)}",
         "{f\"{arg}[{n}]\": table for n, table in enumerate(tables[:1])}",
         "test_embeddings.py -k parts_of_one"),
        ("rows != [each + (n < more)", "rows != [each + (n <= more)",
         "test_embeddings.py -k parts_of_one"),
        ("is_positive, squares, 1)", "True, squares, 1)", "test_embeddings.py -k no_gradient"),
        ("counts = ids >= 0", "counts = ids >= -1", "test_embeddings.py -k leaves_out"),
        ("counts &= weights > 0", "counts &= weights >= -1", "test_embeddings.py -k leaves_out"),
        ("return jnp.where(counts[:, None], places, nowhere), limits", "return places, limits",
         "test_embeddings.py -k leaves_out"),
        ("(*counts.shape, 1), jnp.int32)", "(*counts.shape, 1), jnp.int32) + 1",
         "test_embeddings.py -k one_dimension"),
        ("dtype = wide(table.dtype)", "dtype = table.dtype", "test_sums.py -k many_narrow"),
        ("rows = rows.astype(wide(dtype))", "pass", "test_sums.py -k norms_of_rows"),
        ("by = jnp.where(is_nothing, 1, by)", "by = jnp.where(is_nothing, by, by)",
         "test_embeddings.py -k no_gradient"),
        ("else weights**2", "else weights", "test_embeddings.py -k combiners"),
        ("masks.where(is_empty, row", "masks.where(~is_empty, row",
         "test_embeddings.py -k leaves_out"),
        ('if mode_of_places != "error":', "if True:", "test_embeddings.py -k asked_for"),
        ("parts[2:] != ids[2:]", "False", "test_refusals.py -k embedding_lookup"),
    ],
    "_ops/sparse_tensor": [
        ("places != (*values, len(shape))", "False", "test_refusals.py -k embedding_lookup"),
        ("any(dim < 0 for dim in shape)", "False", "test_refusals.py -k embedding_lookup"),
    ],
}  # fmt: skip
