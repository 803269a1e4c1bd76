"""Mutants of casts, of results whose shape depends on values, and of arguments: see mutants.py."""

MUTANTS = {
    "_tensorflow_names": [
        (
            "if module in OTHERS:",
            "if False:",
            "test_public_names.py -k elsewhere",
        ),
    ],
    "__init__": [
        (
            '"_ops.identities": ["guarantee_const", "stop_gradient"]',
            '"_ops.identities": ["stop_gradient"]',
            "test_import.py -k names_are",
        ),
        (
            "if isinstance(value, FunctionType):",
            "if False:",
            "test_refusals.py -k 'test_refused and gather-axis'",
        ),
        (
            "globals().setdefault(name, value)",
            "value",
            "test_frames.py -k as_they_were_written",
        ),
        (
            'return [*_HOMES, *_MODULES, "__version__"]',
            'return [*_HOMES, "__version__"]',
            "test_import.py -k names_are",
        ),
    ],
    "compat/v0": [
        (
            "np.float32 if out_type is None else out_type, name",
            "np.float64 if out_type is None else out_type, name",
            "jaxops/compat/v0.py -k string_to_number",
        ),
        (
            '_one_of("expand_dims", axis=axis, dim=dim)\n    with _under_names(axis=arg)',
            '_one_of("expand_dims", axis=axis, dim=dim)\n    with _under_names(dim=arg)',
            "test_refusals.py -k expand_dims",
        ),
    ],
    "compat/_spelling": [
        ("and len(said) > 1:", "and len(said) > 9:", "test_spelling.py test_refusals.py"),
        ("count == min(faults)", "count >= min(faults)", "test_spelling.py"),
        ("len(args) <= shared and", "len(args) <= shared + 1 and", "test_spelling.py"),
        ("_is_int(x) or (_are_ints(x)", "_is_int(x) and (_are_ints(x)", "test_spelling.py"),
        ("    if value is None and x is not None:", "    if False:", "test_v0.py test_spelling.py"),
    ],
    "compat/_v0_blocks": [
        ("< 2:", "< 1:", "test_refusals.py -k v0"),
        ("if len(shape) != 4:", "if False:", "test_refusals.py -k v0"),
    ],
    "compat/_v0_joining": [
        ("np.flatnonzero(flags)", "np.flatnonzero(flags)[::-1][:1]", "test_v0.py test_spelling.py"),
        (
            'spelled("0.5 to 0.12", (_concat_values, "concat_v2 of 0.12"))',
            'spelled("0.5 to 0.12")',
            "test_v0_joining.py",
        ),
    ],
    "compat/_v0_matrices": [
        ("limit, delta, dtype, name)", "limit, delta, None, name)", "test_v0_matrices.py"),
        ("indexing=indexing, name=name)", "name=name)", "test_v0_matrices.py"),
    ],
    "_run/arguments": [
        (
            "        array = array.copy()  # the caller may",
            "        pass  # the caller may",
            "test_arguments.py -k memory_stays",
        ),
        (
            "return x.dtype.itemsize == 8 and not jax.config",
            "return x.dtype.itemsize == 9 and not jax.config",
            "test_arguments.py -k made_while_x64",
        ),
        (
            "narrows = jnp.issubdtype(dtype, jnp.integer) and not",
            "narrows = jnp.issubdtype(dtype, jnp.floating) and not",
            "test_refusals.py -k fill_value-traced",
        ),
        (
            "        if not isinstance(array.dtype, np.dtype):  # an extended dtype",
            "        if False:  # an extended dtype",
            "test_refusals.py -k 'key'",
        ),
        (
            "    return axis + rank if axis < 0 else axis\n",
            "    return abs(axis)\n",
            "test_shaping.py -k squeeze_axes",
        ),
        (
            "    return not isinstance(x, bool)\n\n\ndef is_scalar",
            "    return True\n\n\ndef is_scalar",
            "test_refusals.py -k 'bool'",
        ),
    ],
    "_ops/casting": [
        (
            "return jnp.where(x < np.array(limit, x.dtype), result, indefinite)",
            "return jnp.where(x <= np.array(limit, x.dtype), result, indefinite)",
            "test_casting.py -k cast_has_the_values",
        ),
        (
            "result = jnp.where(x < 0, lax.convert_element_type(wrapped, dtype), result)",
            "result = +result",
            "test_casting.py -k cast_has_the_values",
        ),
        (
            "return np.nextafter(bound, np.zeros_like(bound)) if",
            "return bound if",
            "test_casting.py -k cast_has_the_values",
        ),
        (
            "        value = lax.complex(_clamp(real, dtype), _clamp(imag, dtype))\n",
            "        value = lax.complex(_clamp(real, dtype), imag)\n",
            "test_casting.py -k saturates_by_parts",
        ),
        (
            'if dtype is float or (isinstance(dtype, str) and dtype == "float"):',
            "if dtype is float:",
            "test_casting.py -k what_names",
        ),
        (
            "with eval_context(), jax.enable_x64(True):",
            "with eval_context():",
            "test_casting.py -k host_values_count",
        ),
    ],
    "_ops/bitcast": [
        (
            "        if shape[-1:] != (ratio,):\n",
            "        if shape[-1] % ratio:\n",
            "test_bitcast.py test_refusals.py -k 'bitcast-input or bitcast_shapes'",
        ),
        (
            "lax.complex(parts[..., 0], parts[..., 1])",
            "lax.complex(parts[..., 1], parts[..., 0])",
            "test_bitcast.py -k bitcast_is_a_view",
        ),
    ],
    "_ops/string_to_number": [
        (
            "            is_plain &= ~is_negative\n",
            "            pass\n",
            "test_string_to_number.py -k one_of_many",
        ),
        (
            "(num_digits <= 15)",
            "(num_digits <= 17)",
            "test_string_to_number.py -k floats",
        ),
        (
            "pick = max if exact > double else min",
            "pick = min if exact > double else max",
            "test_string_to_number.py -k floats",
        ),
        (
            '            return float("-inf" if text[0] == "-" else "inf")\n',
            '            return float("inf")\n',
            "test_string_to_number.py -k floats",
        ),
    ],
    "_run/on_host": [
        (
            "    if size < 0:\n        raise",
            "    if size < -1:\n        raise",
            "test_refusals.py -k 'test_refused and size'",
        ),
    ],
    "_ops/partition": [
        (
            "keys = numbers.astype(np.min_scalar_type(num_partitions))",
            "keys = numbers.astype(np.min_scalar_type(num_partitions - 1))",
            "test_partition.py -k 'partition_exactly or 256'",
        ),
        (
            "        keys = jnp.where(valid, keys, jnp.int32(num_partitions))\n",
            "        keys = jnp.where(valid, keys, jnp.int32(0))\n",
            "test_ops.py -k 'values_eager and dynamic_partition-matrix'",
        ),
        (
            "    if num_partitions < 1:\n",
            "    if num_partitions < 0:\n",
            "test_refusals.py -k 'test_refused and dynamic_partition'",
        ),
    ],
    "_ops/stitch": [
        (
            "place.max(initial=-1)",
            "place[: lists[0].size].max(initial=-1)",
            "test_stitch.py -k 'many_lists or lists'",
        ),
        (
            "places, rows = places[inside], rows[inside]",
            "places, rows = places[inside], rows[inside][::-1]",
            "test_stitch.py -k exact_rows",
        ),
        (
            "at = places[start : start + len(rows)]",
            "at = places[: len(rows)]",
            "test_stitch.py -k exact_rows",
        ),
        (
            "places = np.where(places < 0, limit, places)",
            "places = np.where(places < 0, limit - 1, places)",
            "test_stitch.py -k far_apart",
        ),
        (
            'if size is None and mode in ("clip", "wrap"):',
            'if size is None and mode == "clip":',
            "test_refusals.py -k dynamic_stitch",
        ),
    ],
    "_indexing/row_placement": [
        (
            'at[flat].max(order, mode="drop")',
            'at[flat].min(order, mode="drop")',
            "test_ops.py -k 'adjoint and dynamic_stitch-duplicates'",
        ),
        ("return count // 2 + 1", "return count // 2", "test_put_in_turn.py -k fill_value"),
        (
            "fill_value=-1) == order",
            "fill_value=-1) >= 0",
            "test_row_placement.py -k gradients_go",
        ),
        (
            "jnp.sum(jnp.where(is_empty, cotangent, 0))",
            "jnp.sum(cotangent)",
            "test_row_placement.py -k gradients_go",
        ),
    ],
    "_ops/boolean_mask": [
        (
            "    axis += tensor.ndim if axis < 0 else 0\n",
            "    axis += mask.ndim if axis < 0 else 0\n",
            "test_boolean_mask.py -k exactly",
        ),
        (
            "valid = lax.iota(jnp.int32, size) < total\n",
            "valid = lax.iota(jnp.int32, size) <= total\n",
            "test_boolean_mask.py -k padded_under_jit",
        ),
        (
            "result_size.num_elements(op, size, _NOUN), total, mask.size, mode)",
            "result_size.num_elements(op, size, _NOUN), total, size, mode)",
            "test_result_size.py -k 'too_small and boolean_mask'",
        ),
    ],
    "_ops/unique": [
        (
            "y = take_or_fill(x, firsts, valid, fill_value, axis)",
            "y = take_or_fill(x, firsts, valid, fill_value, 0)",
            "test_unique.py -k slices",
        ),
        (
            "moveaxis(x, axis, 0).reshape(shape)",
            "moveaxis(x, 0, 0).reshape(shape)",
            "test_unique.py -k slices",
        ),
        (
            "rows = np.moveaxis(numbers.reshape(x.shape), axis, 0)",
            "rows = np.moveaxis(numbers.reshape(x.shape), 0, 0)",
            "test_unique.py -k rows_of_strings",
        ),
        (
            "        if number == len(firsts):\n",
            "        if number >= len(firsts) - 1:\n",
            "test_unique.py -k 004",
        ),
        (
            "    order = np.argsort(first)  # ",
            "    order = np.arange(first.size)  # ",
            "test_unique.py -k strings",
        ),
        (
            "valid = lax.iota(jnp.int32, size) < held\n",
            "valid = lax.iota(jnp.int32, size) <= held\n",
            "test_unique.py -k size_under_jit",
        ),
        (
            "    idx += held - total  # 0,",
            "    idx += 0  # 0,",
            "test_result_size.py -k 'every_result and unique'",
        ),
    ],
    "_indexing/result_size": [
        (
            "tuple(min(size + 1, _INT32_MAX) for",
            "tuple(min(size, _INT32_MAX) for",
            "test_result_size.py -k 'too_small and boolean_mask'",
        ),
        (
            "most < min(spec.limits)",
            "most <= min(spec.limits)",
            "test_result_size.py -k position_in_a_batch",
        ),
        (
            '    if fits or not check.raises(mode, "cpu"):\n',
            '    if not check.raises(mode, "cpu"):\n',
            "test_result_size.py -k costs_no_check",
        ),
        (
            "place = (*position, which) if self.is_list else position",
            "place = position",
            "test_result_size.py -k 'too_small and dynamic_partition'",
        ),
        (
            '    if mode in ("clip", "wrap"):\n',
            '    if mode == "clip":\n',
            "test_result_size.py -k say_nothing",
        ),
        (
            'return "fill" if return_size else mode',
            "return mode",
            "test_result_size.py -k 'dropped_on_purpose and unique'",
        ),
    ],
    "_indexing/first_occurrences": [
        (
            "alike, columns = varying_alike(jnp.zeros_like(positions), x.T)",
            "alike, columns = jnp.zeros_like(positions), x.T",
            "test_varying.py -k unique",
        ),
        (
            "places = jnp.where(is_new, run, positions + n)",
            "places = run",
            "test_first_occurrences.py -k by_sort",
        ),
        (
            "jnp.append(start[1:], n)",
            "jnp.append(start[1:], n + 1)",
            "test_first_occurrences.py -k by_sort",
        ),
        (
            "number_of_run = _put(run_of_number, positions, positions)",
            "number_of_run = run_of_number",
            "test_first_occurrences.py -k by_sort",
        ),
        (
            "| is_first | are_nan(keys, dtype)",
            "| is_first",
            "test_first_occurrences.py -k symbolic",
        ),
        (
            "keys = jnp.where(magnitude == 0, magnitude, bits)  # -0 is 0",
            "keys = bits  # -0 is 0",
            "test_first_occurrences.py -k against_numpy",
        ),
        (
            "return x.astype(jnp.uint64 if x.dtype.itemsize == 8 else jnp.uint32)",
            "return x.astype(jnp.uint32)",
            "test_first_occurrences.py -k against_numpy",
        ),
    ],
    "_indexing/positions": [
        (
            "places = jnp.where(mask, jnp.minimum(ranks, size), size)",
            "places = jnp.where(mask, jnp.minimum(ranks, size - 1), size)",
            "test_boolean_mask.py -k 'dropped_and_padding'",
        ),
        (
            'table.at[indices].get(mode="fill", fill_value=0)',
            'table.at[indices].get(mode="clip")',
            "test_lazy_state.py",
        ),
        (
            "histogram(keys, num_keys + 1)[:num_keys]",
            "histogram(keys, num_keys + 1)[1:]",
            "test_forms.py",
        ),
    ],
}
