"""Mutants of what makes ragged arrays and computes with their rows: see mutants.py."""

MUTANTS = {
    "_ops/ragged": [
        (
            "arguments.to_elements if padding is None else arguments.to_operand",
            "arguments.to_elements",
            "test_keys.py -k beside",
        ),
        (
            "!= self.values.shape[:1]:",
            "== ():",
            "test_refusals.py -k 'RaggedTensor and with_values'",
        ),
        (
            "if np.ndim(self.row_splits) != 1:",
            "if np.ndim(self.row_splits) < 1:",
            "test_refusals.py -k 'RaggedTensor and to_tensor'",
        ),
    ],
    "_ops/ragged_partitions": [
        (
            "return max(int(ids[-1]) + 1, 0) if",
            "return int(ids[-1]) + 1 if",
            "test_ragged_partitions.py -k negative_numbers",
        ),
        (
            "if result not in (np.int32, np.int64):",
            "if result == np.int32:",
            "test_refusals.py -k 'RaggedTensor and from_tensor'",
        ),
        (
            'if dtype is np.int64 and not jax.config.read("jax_enable_x64"):',
            "if dtype is np.int64:",
            "test_ragged_rows.py -k reduced",
        ),
        (
            "limit = nrows + 1 if padded else nrows",
            "limit = nrows + 1",
            "test_ragged_partitions.py test_refusals.py -k 'padded or rowids'",
        ),
        (
            "join(-splits[:1], splits[1:] - splits[:-1])",
            "join(splits[:1], splits[1:] - splits[:-1])",
            "test_refusals.py -k 'RaggedTensor and row_splits'",
        ),
        (
            "    if not padded:\n",
            "    if padded:\n",
            "test_ragged_partitions.py test_refusals.py -k 'padded or from_row'",
        ),
        (
            "inside = ids[(ids >= 0) & (ids < nrows)]",
            "inside = ids.clip(0, nrows - 1)",
            "test_ragged_partitions.py -k without_validation",
        ),
        (
            'ones, FIRST_AXIS, spec, mode="fill")',
            'ones, FIRST_AXIS, spec, mode="clip")',
            "test_ragged_partitions.py -k without_validation",
        ),
        (
            "with eval_context():\n        return jnp.asarray(splits)",
            "with contextlib.nullcontext():\n        return jnp.asarray(splits)",
            "test_ragged_partitions.py -k known_and_traced",
        ),
    ],
    "_ops/ragged_rows": [
        (
            "tensor.shape[1]).all()",
            "tensor.shape[1]).any()",
            "test_ragged_rows.py -k some_rows_are_whole",
        ),
        (
            "row_splits[:-1].clip(0, capacity)",
            "row_splits[:-1].clip(0)",
            "test_ragged_partitions.py -k without_validation",
        ),
        (
            "row_splits[1:].clip(starts, capacity)",
            "row_splits[1:].clip(0, capacity)",
            "test_ragged_partitions.py -k without_validation",
        ),
        (
            "if most <= largest:",
            "if True:",
            "test_ragged_rows.py -k int32_counts",
        ),
        (
            "initial = info.max if kind",
            "initial = info.min if kind",
            "test_ragged_rows.py -k reduced",
        ),
        (
            "totals.astype(wide(dtype)) / counts",
            "totals.astype(wide(dtype)) / jnp.maximum(counts, 1)",
            "test_ragged_rows.py -k reduced",
        ),
        (
            "dtype.itemsize > 2 else np.float32",
            "dtype.itemsize > 4 else np.float32",
            "test_ragged_rows.py -k reduced",
        ),
        (
            "values = values.astype(wide(dtype))",
            "pass",
            "test_sums.py -k many_narrow",
        ),
        (
            'initial = int(kind == "prod")',
            "initial = 0",
            "test_ops.py -k 'values_eager and RaggedTensor.reduce_prod'",
        ),
        (
            "return starts, row_splits[1:].clip(starts, capacity) - starts",
            "return starts, row_splits[1:] - starts",
            "test_ragged_partitions.py -k without_validation",
        ),
        (
            "held = columns < lengths[:, None]",
            "held = columns <= lengths[:, None]",
            "test_ops.py -k 'values_eager and RaggedTensor.to_tensor'",
        ),
        (
            "fill = default if default.ndim == 0 else None",
            "fill = None",
            "test_ops.py -k 'values_eager and RaggedTensor.to_tensor'",
        ),
        (
            "held = jnp.minimum(splits, size) + (total - splits[-1])",
            "held = splits + (total - splits[-1])",
            "test_ragged_rows.py -k 'do_not_fit'",
        ),
        (
            "jnp.where(a > largest - b, largest, a + b)",
            "a + b",
            "test_ragged_rows.py -k int32_counts",
        ),
        (
            "offsets = jnp.pad(starts - splits[:-1], (0, 1))",
            "offsets = jnp.pad(starts, (0, 1))",
            "test_ops.py -k 'values_eager and RaggedTensor.gather'",
        ),
        (
            "tensor != lax.broadcast(padding, (nrows, ncols))",
            "tensor > lax.broadcast(padding, (nrows, ncols))",
            "test_ragged_rows.py -k padding_is_found",
        ),
        (
            "return lengths.clip(0, ncols).astype(dtype)",
            "return lengths.clip(0).astype(dtype)",
            "test_ops.py -k 'values_eager and RaggedTensor.from_tensor'",
        ),
        (
            "np.append(x, x.dtype.type(0)) for x in (starts, lengths)",
            "np.append(x, x[:1]) for x in (starts, lengths)",
            "test_ragged_rows.py -k are_ignored",
        ),
    ],
}
