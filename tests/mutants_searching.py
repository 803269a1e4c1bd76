"""Mutants of what selects and searches: see mutants.py."""

MUTANTS = {
    "_ops/where": [
        (
            "max(known.size, *known.shape) <=",
            "known.size <=",
            "test_where.py -k long_dimensions",
        ),
        (
            "numbers - left * dim",
            "numbers",
            "test_where.py -k test_positions",
        ),
        (
            'like="y" if _settled(y) > _settled(x) else "x"',
            'like="x"',
            "test_where.py -k test_dtype",
        ),
        (
            "return 0 if jax.typeof(x).weak_type else 2",
            "return 2",
            "test_where.py -k test_dtype",
        ),
        (
            "if x.shape != y.shape or condition.shape not in",
            "if condition.shape not in",
            "test_refusals.py -k v0.select",
        ),
        (
            "not in ((), x.shape[:1], x.shape):",
            "not in ((), x.shape):",
            "test_where.py -k select_of_rows",
        ),
        (
            "    if isinstance(fill_value, jax.Array):\n",
            "    if fill_value is not None:\n",
            "test_where.py -k known_while_tracing",
        ),
        (
            "condition = lax.stop_gradient(condition)",
            "pass",
            "test_where.py -k differentiated",
        ),
        (
            "index_vectors(numbers, condition.shape).astype(dtype)",
            "index_vectors(numbers, condition.shape)",
            "test_where.py -k test_positions",
        ),
    ],
    "_ops/repeating": [
        (
            "np.broadcast_to(counts, (length,)))",
            "np.broadcast_to(counts[..., :1], (length,)))",
            "test_repeating.py -k exactly",
        ),
        (
            "return np.where(spec.inside(known, _MOST), known, 0)",
            "return known",
            "test_repeating.py -k strings",
        ),
        (
            "jnp.clip(counts[..., 0], 0, _MOST)",
            "counts[..., 0]",
            "test_repeating.py -k negative_repeats",
        ),
        (
            " | (sums >> 31)",
            "",
            "test_repeating.py -k beyond_int32",
        ),
        (
            "lax.cummax((sums < counts).astype(jnp.uint32))",
            "(sums < counts).astype(jnp.uint32)",
            "test_repeating.py -k beyond_int32",
        ),
        (
            "lax.iota(jnp.int32, size) < total",
            "lax.iota(jnp.int32, size) <= total",
            "test_repeating.py -k padded",
        ),
        (
            "if repeats.ndim == 1 and repeats.shape[0] not in (1, length):",
            "if repeats.ndim == 1 and repeats.shape[0] < length:",
            "test_repeating.py -k exactly",
        ),
        (
            "shape = (*input.shape[: axis + 1], count,",
            "shape = (*input.shape[:axis], count, *input.shape[axis : axis + 1],",
            "test_repeating.py -k exactly",
        ),
    ],
    "_ops/searching": [
        (
            "return max(0, int(known.max()))",
            "return int(known.max())",
            "test_searching.py -k largest_length",
        ),
        (
            "lengths = index_dtypes.widen(lengths)",
            "pass",
            "test_index_dtypes.py -k sequence_mask",
        ),
        (
            'element < values if side == "left" else ~(values < element)',
            'element < values if side == "left" else element <= values',
            "test_searching.py -k test_places",
        ),
        (
            "half = left >> 1",
            "half = left >> 2",
            "test_searching.py -k 'places or every_length'",
        ),
        (
            "length.bit_length() if",
            "length.bit_length() - 1 if",
            "test_searching.py -k every_length",
        ),
        (
            "is_before &= left > 0",
            "pass",
            "test_searching.py -k every_length",
        ),
        (
            "whole, *_ = varying_alike(jnp.zeros(values.shape, np.uint32), sequence, values)",
            "whole = jnp.zeros(values.shape, np.uint32)",
            "test_varying.py -k varies",
        ),
    ],
    "_run/dispatch": [
        (
            "operands[n].dtype != dtype and arg not in of_own_dtype",
            "operands[n].dtype != dtype",
            "test_where.py -k test_dtype",
        ),
    ],
}
