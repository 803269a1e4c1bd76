"""Mutants of the segment reductions: see mutants.py."""

MUTANTS = {
    "_ops/unsorted_segments": [
        ("return int(kind == \"prod\")", "return 0", "test_products.py"),
        ("return info.max if kind == \"min\" else info.min", "return info.max",
         "test_segments.py -k shared_among"),
        ("wide = dtype if dtype.itemsize >= 4 else np.dtype(np.float32)", "wide = dtype",
         "test_segments.py -k means_of_many"),
        ("wide = dtype.itemsize > 2", "wide = True", "test_segments.py -k means_of_integers"),
        ("jnp.maximum(counts, 1)", "jnp.maximum(counts, 2)", "test_segments.py -k means"),
    ],
    "_ops/segments": [
        ("int(known.max()) + 1", "int(known.max()) + 2", "test_segments.py -k sorted"),
        ("if num_segments < 0:", "if num_segments < -1:", "test_refusals.py -k segment"),
        ("or segment_ids.shape != data.shape[:1]", "", "test_refusals.py -k segment"),
        ("jnp.where(is_empty, jnp.zeros((), rows.dtype), extrema)", "extrema",
         "test_ops.py -k 'values_eager and segment_max'"),
        ("if not np.isnan(infinity):", "if False:", "test_segments.py -k infinities"),
        ("return _rounded_means(sums, counts)", "pass", "test_segments.py -k means_of_sorted"),
        ("ids[1:] - ids[:-1]", "ids[1:] - ids[1:]", "test_refusals.py -k segment"),
        ("sums.dtype.itemsize >= 4", "sums.dtype.itemsize >= 1",
         "test_segments.py -k means_of_sorted"),
    ],
    "_ops/sparse_segments": [
        ("if data.ndim == 0:", "if False:", "test_refusals.py -k sparse_segment"),
        ("indices.ndim != 1 or ", "", "test_refusals.py -k sparse_segment"),
        ('"sum" if kind == "sum" else "sqrt_n"', '"sum"', "test_refusals.py -k sparse_segment"),
        ("mode=mode, deterministic=deterministic\n    )", 'mode="fill"\n    )',
         "test_refusals.py -k sparse_segment"),
    ],
    "compat/_v0_segments": [
        ("sparse_segment_mean(data, indices, segment_ids, name=name)",
         "sparse_segment_sum(data, indices, segment_ids, name=name)", "test_v0_segments.py"),
    ],
    "_indexing/products": [
        ("jnp.where(number == 1, one, ", "jnp.where(number >= 1, one, ",
         "test_products.py"),
        ("jnp.where(number == 2, other, zero)", "zero", "test_products.py"),
        ("- updates\n    zeros_left", "\n    zeros_left", "test_products.py"),
        ("factors = jnp.where(windows.over_result(valid, updates.ndim), factors, zero)", "pass",
         "test_segments.py -k dropped_products"),
    ],
    "_indexing/specs": [
        ("return index < limit", "return (index >= 0) & (index < limit)",
         "test_segments.py -k first_that_is_too_large"),
    ],
    "_indexing/canonical": [
        ("jnp.zeros_like(out) if is_initial else ", "", "test_segments.py -k shared_among"),
        ("attaining = jnp.maximum(attaining, jnp.ones_like(attaining))", "pass",
         "test_segments.py -k shared_among"),
        ("if operand.size or not spec.is_checked_if_empty:", "if operand.size:",
         "test_segments.py -k not_looked_at"),
    ],
    "_indexing/policy": [
        ("jnp.where(negative[..., None], kept, resolved.indices)", "resolved.indices",
         "test_segments.py -k every_mode"),
        ("valid if resolved.valid is None else valid & resolved.valid", "resolved.valid",
         "test_segments.py -k dropped_products"),
    ],
    "_indexing/bounds": [
        ("left, values = left & ~values, left & ~values", "pass", "test_segments.py -k every_mode"),
        ("inside if ignored is None else inside | ignored", "inside",
         "test_segments.py -k first_that_is_too_large"),
    ],
}  # fmt: skip
