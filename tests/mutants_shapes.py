"""Mutants of what shapes, slices, joins, pads, reverses and cuts into blocks: see mutants.py."""

MUTANTS = {
    "_ops/slice": [
        (
            "limits = tuple(dim - s + 1 for",
            "limits = tuple(dim - s for",
            "test_check.py -k 'eager_and_jit and slice'",
        ),
        (
            "remaining = (max(dim - b, 0) for",
            "remaining = (max(dim - b - 1, 0) for",
            "test_symbolic_shapes.py test_v0.py -k slice",
        ),
        (
            "return lax.platform_dependent(input_, begin, cpu=window, default=elsewhere)",
            "return window(input_, begin)",
            "test_lowered.py -k 'slice-part'",
        ),
        (
            'jnp.where(before, jnp.uint32(0), positions) if mode == "clip" else positions',
            "positions",
            "test_slice.py -k windows_that_reach",
        ),
    ],
    "_ops/strided_slice": [
        (
            "    if var is not None:\n",
            "    if var:\n",
            "test_refusals.py -k 'test_refused and strided_slice-var'",
        ),
        (
            "entries = (*entries, _Entry(",
            "entries = (_Entry(",
            "test_symbolic_shapes.py -k 'loaded and strided'",
        ),
        (
            "            if stride < 0:\n                raise",
            "            if stride < -1:\n                raise",
            "test_refusals.py -k 'test_refused and strided_slice'",
        ),
        (
            "if ellipsis_mask & (ellipsis_mask - 1):",
            "if ellipsis_mask < 0:",
            "test_refusals.py -k 'test_refused and strided_slice'",
        ),
        (
            "strides.append(positions.step if len(positions) > 1 else 1)",
            "strides.append(1)",
            "test_dtypes.py test_ops.py -k 'values_eager and strided_slice-ranges'",
        ),
        (
            "        if entry.stride < 0:\n            place = dim - 1 - place\n",
            "",
            "test_symbolic_shapes.py -k 'loaded and strided'",
        ),
    ],
    "_ops/shaping": [
        (
            "if any(dim < -1 for dim in shape) or shape.count(-1) > 1:",
            "if any(dim < -1 for dim in shape):",
            "test_refusals.py -k reshape-shape",
        ),
        (
            "    if math.prod(resolved) != tensor.size:\n",
            "    if math.prod(resolved) > tensor.size:\n",
            "test_refusals.py -k reshape-shape",
        ),
        (
            "        if input.shape[axis] != 1:\n",
            "        if input.shape[axis] == 0:\n",
            "test_refusals.py -k squeeze-axis",
        ),
        (
            "    if conjugate and jnp.issubdtype(a.dtype, jnp.complexfloating):\n",
            "    if jnp.issubdtype(a.dtype, jnp.complexfloating):\n",
            "test_shaping.py -k 'conjugates'",
        ),
        (
            "(canonical_axis(axis, input.ndim + 1, op),)",
            "(canonical_axis(axis, input.ndim, op),)",
            "test_shaping.py -k 'document'",
        ),
    ],
    "_ops/copies": [
        (
            "return lax.concatenate([many, _join_copies(x, rest, axis)], axis) if rest else many",
            "return many",
            "test_copies.py -k many",
        ),
        ("_FEW = 32 ", "_FEW = 10**9 ", "test_copies.py -k many"),
        ("and size > 1]", "]", "test_copies.py -k none"),
        (">= _LONG)", ">= 0)", "test_copies.py -k short"),
        ("if d in dims else 1", "if d not in long else 1", "test_copies.py -k 'short'"),
    ],
    "_ops/joining": [
        (
            "isinstance(value, (np.ndarray, np.generic))",
            "isinstance(value, np.ndarray)",
            "test_joining.py -k meet",
        ),
        ("        if rank > best_rank:\n", "        if not best:\n", "test_joining.py -k meet"),
        ("sizes.count(-1) > 1 or", "", "test_refusals.py -k num_or_size_splits"),
        ("    order.insert(axis, 0)\n", "    order.insert(0, 0)\n", "test_joining.py -k 'values'"),
    ],
    "_ops/padding": [
        (
            '    if mode == "CONSTANT":\n        data |=',
            "    if True:\n        data |=",
            "test_padding.py -k look_at_no_constant",
        ),
        (
            'border = int(filling == "REFLECT")',
            'border = int(filling == "SYMMETRIC")',
            "test_padding.py -k document",
        ),
        (
            "        if max(pair) > dim - border:\n",
            "        if max(pair) > dim:\n",
            "test_refusals.py -k pad-paddings",
        ),
        (
            "    if any(min(pair) < 0 for pair in paddings):\n",
            "    if any(max(pair) < 0 for pair in paddings):\n",
            "test_refusals.py -k pad-paddings",
        ),
    ],
    "_ops/reversing": [
        (
            "    if seq_axis == batch_axis:\n",
            "    if False:\n",
            "test_refusals.py -k reverse_sequence",
        ),
    ],
    "_indexing/reversed_prefixes": [
        (
            "batch_axes = (0, *batch_axes)",
            "batch_axes = (*batch_axes, 0)",
            "test_reversing.py -k maps",
        ),
        (
            "jnp.where(positions < lengths, lengths - 1 - positions, positions)",
            "jnp.where(positions <= lengths, lengths - 1 - positions, positions)",
            "test_reversing.py -k 004",
        ),
    ],
    "_ops/space_to_batch": [
        (
            "start[axis], stop[axis] = low, result.shape[axis] - high",
            "start[axis], stop[axis] = high, result.shape[axis] - low",
            "test_space_to_batch.py test_space_to_depth.py -k against_loops",
        ),
        (
            "    if any(min(pair) < 0 for pair in pairs):\n",
            "    if any(max(pair) < 0 for pair in pairs):\n",
            "test_refusals.py -k 'space_to_batch or space_to_depth'",
        ),
        (
            "zero = np.zeros((), input.dtype) if fill_value is None else fill_value",
            "zero = np.zeros((), input.dtype)",
            "test_space_to_batch.py -k strings",
        ),
    ],
    "_ops/space_to_depth": [
        (
            '"NCHW": (4, 2, 1)',
            '"NCHW": (4, 1, 2)',
            "test_ops.py -k 'values_eager and space_to_depth'",
        ),
        (
            "    if block_size < 2:\n",
            "    if block_size < 1:\n",
            "test_refusals.py -k 'space_to_batch or space_to_depth'",
        ),
    ],
    "_ops/patches": [
        ("linear(*tangents)", "function(*tangents)", "test_patches.py -k one_loop"),
        (
            "starts = (0, i * rows.rate,",
            "starts = (0, i,",
            "test_patches.py -k one_loop",
        ),
        (
            "rate, missing // 2)",
            "rate, -(-missing // 2))",
            "test_patches.py -k odd_zeros",
        ),
        (
            "zero = np.zeros((), images.dtype) if fill_value is None else fill_value",
            "zero = np.zeros((), images.dtype)",
            "test_patches.py -k strings",
        ),
        (
            "reach = (size - 1) * rate + 1\n",
            "reach = size * rate\n",
            "test_patches.py -k 'against_loops or rates'",
        ),
        (
            "if windows.joined > _MOST_JOINED:",
            "if False:",
            "test_patches.py -k does_not_grow",
        ),
        (
            "lax.iota(jnp.int32, size)[None] * rate",
            "lax.iota(jnp.int32, size)[None]",
            "test_patches.py -k large_windows",
        ),
    ],
    "_ops/one_hot": [
        (
            "not (dtype is None or (strings and _is_dtype_of_strings(dtype)))",
            "dtype is not None",
            "test_one_hot.py -k dtypes_of_strings",
        ),
        (
            "not (dtype is None or (strings and _is_dtype_of_strings(dtype)))",
            "False",
            "test_refusals.py -k one_hot-dtype",
        ),
        (
            "if dtype == np.bool_ and len(given) < 2:",
            "if False:",
            "test_refusals.py -k one_hot",
        ),
        (
            'mode = "promise_in_bounds" if mode == "fill" else mode',
            'mode = "promise_in_bounds"',
            "test_one_hot.py -k errors",
        ),
        (
            "    axis = indices.ndim if axis == -1 else axis\n",
            "    axis = 0 if axis == -1 else axis\n",
            "test_one_hot.py -k values_and",
        ),
    ],
}
