"""Mutants of the forms that programs for the CPU compute faster: see mutants.py."""

MUTANTS = {
    "_cpu/row_copies": [
        ("return 60 <= operand", "return 61 <= operand", "test_row_copies.py -k rows_are_numpys"),
        (
            "sign = indices[..., 0] < 0",
            "sign = indices[..., 0] > 0",
            "test_row_copies.py -k rows_are_numpys",
        ),
        (
            "    batch=bind_gather_to_batch,\n",
            "",
            "test_row_copies.py -k gathered_so_too",
        ),
    ],
    "_cpu/column_sums": [
        (
            "return rows >= 8 and gathered >= 256",
            "return rows >= 8 and gathered >= 255",
            "test_column_sums.py -k gradient_is_numpys",
        ),
        (
            "of_row = Windows(tuple(axis - first for axis in windows.axes), 0)",
            "of_row = Windows(tuple(axis - 1 for axis in windows.axes), 0)",
            "test_column_sums.py -k gradient_is_numpys",
        ),
    ],
    "_cpu/hash_table": [
        (
            "first = jnp.where(is_alone, positions, jnp.int32(-1))",
            "first = jnp.where(is_alone, jnp.int32(-1), jnp.int32(-1))",
            "test_first_occurrences.py -k nan_is_distinct",
        ),
        (
            'return first.at[jnp.where(waits, places, n)].set(places[found], mode="drop")',
            'return first.at[jnp.where(waits, places, n)].set(found, mode="drop")',
            "test_hash_table.py -k 'stages and 8'",
        ),
        ("jnp.all(is_same, axis=1)", "is_same[:, 0]", "test_hash_table.py -k alike"),
        ("jnp.any(is_first[FEW:])", "jnp.any(is_first[2 * FEW :])", "test_hash_table.py -k stages"),
    ],
    "_cuda/atomic_sums": [
        ("jnp.float32(-0.0)", "jnp.float32(0.0)", "test_atomic_sums.py -k rows"),
        ("^ np.uint32(1 << 31)", "^ np.uint32(1 << 30)", "test_atomic_sums.py"),
        (
            "length + _VECTOR - 2) // _VECTOR + 1",
            "length + _VECTOR - 2) // _VECTOR",
            "test_atomic_sums.py -k rows",
        ),
        (
            'updates = _negated(updates) if kind == "sub" else updates',
            'updates = updates if kind == "sub" else updates',
            "test_atomic_sums.py -k subtraction",
        ),
        (
            "constant_values=num_vectors)",
            "constant_values=0)",
            "test_atomic_sums.py -k rows",
        ),
        (
            'return [scatter_windows("add", zeros, indices, cotangent, windows), None]',
            'return [lax_scatter("add", zeros, indices, cotangent, windows), None]',
            "test_atomic_sums.py -k gradients",
        ),
    ],
    "_forms": [
        (
            "lower(form if is_one and not is_apart else",
            "lower(form if not is_apart else",
            "test_column_sums.py -k only_programs",
        ),
        (
            "is_apart = calls_python and ",
            "is_apart = False and ",
            "test_narrow_scatter.py -k only_programs",
        ),
        (
            "forms.sort(key=lambda form: form.platforms)",
            "forms.sort(key=lambda form: form.platforms, reverse=True)",
            "test_forms.py -k gather",
        ),
        (
            "return _references.get(primitive)",
            "return None",
            "test_column_sums.py -k sparse_gradient",
        ),
        (
            "maps=(*maps, tuple(dims))",
            "maps=(tuple(dims), *maps)",
            "test_positions.py -k batches_of",
        ),
    ],
    "_primitives": [
        (
            "_jax_internals.varying_over(bar, _jax_internals.varying_axes(x.aval))",
            "bar",
            "test_varying.py -k 'dynamic_stitch and derivatives'",
        ),
        (
            "linear = map(ad.instantiate_zeros, tangents[:count])",
            "linear = primals[:count]",
            "test_row_copies.py -k test_transformed",
        ),
        (
            "union = frozenset().union(*map(_jax_internals.varying_axes, arrays))",
            "union = _jax_internals.varying_axes(arrays[0])",
            "test_column_sums.py -k shared_by_shards",
        ),
    ],
    "_cpu/row_reads": [
        (
            "math.prod(table.shape[1:]) >= _LEAST_NUMBERS",
            "True",
            "test_row_reads.py -k narrow",
        ),
        (
            "jnp.where(of_row < table.shape[0],",
            "jnp.where(of_row <= table.shape[0],",
            "test_row_reads.py -k numpy",
        ),
    ],
    "_cpu/counting_sort": [
        (
            "constant_values=num_keys)",
            "constant_values=0)",
            "test_counting_sort.py",
        ),
        (
            "starts = starts.at[counters].set(at + 1, **options)",
            "starts = starts.at[counters].set(at, **options)",
            "test_forms.py -k stable_order",
        ),
    ],
    "_cpu/parts_in_turn": [
        (
            "order = resize(order, order.shape[0] + max(sizes))",
            "pass",
            "test_parts_in_turn.py -k numpy",
        ),
        (
            "valid = lax.iota(jnp.int32, size) < counts[n]",
            "valid = lax.iota(jnp.int32, size) <= counts[n]",
            "test_parts_in_turn.py -k numpy",
        ),
        (
            'platforms=("cpu", "tpu"),',
            'platforms=("cpu",),',
            "test_parts_in_turn.py -k by_slices",
        ),
        (
            "tpu=functools.partial(transposed, _take_in_turn)",
            "tpu=functools.partial(transposed, take_at_once)",
            "test_parts_in_turn.py -k by_slices",
        ),
    ],
    "_cpu/put_in_turn": [
        (
            "pairs = zip(places, lists, strict=True)",
            "pairs = zip(places[::-1], lists[::-1], strict=True)",
            "test_put_in_turn.py -k small_lists",
        ),
        (
            "rows.nbytes < _SMALL",
            "True",
            "test_put_in_turn.py -k small_lists",
        ),
        (
            "_symbolic.are_known(rows.shape) and ",
            "",
            "test_symbolic_shapes.py -k 'loaded and dynamic_stitch'",
        ),
    ],
    "_cpu/narrow_scatter": [
        (
            "numbers = jnp.where(first == lax.iota(first.dtype, first.size), numbers, nowhere)",
            "numbers = +numbers",
            "test_narrow_scatter.py -k 'values_are_numpys and bfloat16'",
        ),
        (
            "inside = numbers < table.size",
            "inside = numbers <= table.size",
            "test_narrow_scatter.py -k 'values_are_numpys and bfloat16'",
        ),
        (
            '    if kind in ("add", "sub"):\n',
            "    if True:\n",
            "test_narrow_scatter.py -k 'transformed and jit'",
        ),
        (
            "> costs + 32_768",
            "> costs - 32_768",
            "test_narrow_scatter.py -k left_to",
        ),
        (
            "    if not size or rows",
            "    if rows",
            "test_narrow_scatter.py -k no_rows",
        ),
    ],
    "_cpu/pieces_by_python": [
        (
            "return is_known and not is_sharded and _bits(arrays[0].dtype) >= 8",
            "return is_known and not is_sharded",
            "test_pieces.py -k 'dtypes and int4'",
        ),
        (
            "pieces = bind(jnp.moveaxis(operand, dim, 0), axis=axis + 1, **static)",
            "pieces = bind(jnp.moveaxis(operand, dim, 0), axis=axis, **static)",
            "test_pieces.py -k batched",
        ),
        (
            "jnp.broadcast_to(x, (size, *x.shape)) if dim is None else jnp.moveaxis(x, dim, 0)",
            "x if dim is None else jnp.moveaxis(x, dim, 0)",
            "test_pieces.py -k batched",
        ),
        (
            "if len(sizes) < MANY and not results:",
            "if True:",
            "test_pieces_by_python.py -k programs_are_short",
        ),
        (
            "    if not arguments:\n        return by_xla(*arrays)\n",
            "",
            "test_pieces_by_python.py -k fused",
        ),
        (
            'static = {"axis": axis, "arguments": True}',
            'static = {"axis": axis, "arguments": False}',
            "test_pieces_by_python.py -k more_than",
        ),
        (
            "_split_p.def_impl(_split_eagerly)",
            "_split_p.def_impl(_compiled_split)",
            "test_pieces_by_python.py -k more_than",
        ),
        (
            "start, end = end, end + piece.shape[axis]",
            "start, end = 0, piece.shape[axis]",
            "test_pieces.py -k values",
        ),
    ],
    "_cpu/true_ranks": [
        (
            "(np.uint32(1) << np.arange(_WORD, dtype=np.uint32)) - np.uint32(1)",
            "(np.uint32(2) << np.arange(_WORD, dtype=np.uint32)) - np.uint32(1)",
            "test_positions.py -k against_numpy",
        ),
    ],
}
