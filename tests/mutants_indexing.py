"""Mutants of the modules that check bounds, gather and scatter: see mutants.py."""

# By module: what stands there, what takes its place, the tests that are to fail.
MUTANTS = {
    "_indexing/replacing": [
        ("numbers = 1 + ", "numbers = ", "test_replacing.py -k matrices"),
        ("updates_dot, 0)", "updates_dot, updates_dot)", "test_replacing.py -k rows"),
        ("operand_dot, 0)", "operand_dot, operand_dot)", "test_replacing.py -k rows"),
        (
            "operand.shape[d] for d in indexed)",
            "size if d in indexed else 2 for d, size in enumerate(operand.shape))",
            "test_replacing.py -k numbered",
        ),
    ],
    "_indexing/moved_windows": [
        (
            "jnp.clip(begin, low, high)",
            "jnp.clip(begin, 0, high)",
            "test_lowered.py -k 'slice-part'",
        ),
        (
            "return [move_p.bind(cotangent, -begin, size=dims), None]",
            "return [move_p.bind(cotangent, begin, size=dims), None]",
            "test_moved_windows.py -k 'values and none'",
        ),
        (
            "operand, begin = _fitting(operand, begin, size)",
            "operand, _ = _fitting(operand, begin, size)",
            "test_moved_windows.py -k 'values and both'",
        ),
        (
            "if operand_dim is None:",
            "if False:",
            "test_moved_windows.py -k 'values and begins'",
        ),
    ],
    "_indexing/exchange": [
        (
            "slots = owner.astype(jnp.int32) * capacity + rank",
            "slots = owner.astype(jnp.int32) * capacity",
            "test_exchange.py -k 'gather_and_scatter_add and random-2'",
        ),
        (
            "rank = rank % capacity",
            "rank = jnp.minimum(rank, capacity - 1)",
            "test_exchange.py -k 'gather_and_scatter_add and owner-2'",
        ),
        (
            "hashes = _hashes(rows) if row_at_once else rows",
            "hashes = rows.astype(jnp.uint32) % 4",
            "test_exchange.py -k 'a_row_at_once and random-2'",
        ),
        (
            "lambda state: state[1] > capacity",
            "lambda state: state[1] > 2 * capacity",
            "test_exchange.py -k 'a_row_at_once and owner-1'",
        ),
        (
            "numbers = jnp.where(inside, numbers, beyond)",
            "pass",
            "test_exchange.py -k 'gather_and_scatter_add and outside-None'",
        ),
        (
            "allowed = 1 / (_STEPS_WITHOUT_OVERFLOW * num_shards**2)",
            "allowed = 1 / _STEPS_WITHOUT_OVERFLOW",
            "test_exchange.py -k default_capacity",
        ),
    ],
    "_indexing/check": [
        (
            "    _register_checkify_rule()\n    return indices",
            "    return indices",
            "test_check.py -k 'test_checkify and gather'",
        ),
        (
            '_lower(ctx, indices, **params) if params["mode"] == "error" else',
            '_lower(ctx, indices, **params) if params["mode"] == "never" else',
            "test_lowered.py -k mode_error",
        ),
        (
            'return mode == "error" or (mode == "device" and platform == "cpu")',
            'return mode == "device" and platform == "cpu"',
            "test_check.py -k 'on_a_gpu and gather'",
        ),
        (
            "if indices.size == 0:  # a batch of none",
            "if False:  # a batch of none",
            "test_check.py -k 'batches_of_none and gather'",
        ),
        (
            "    indices = jnp.moveaxis(indices, dim, 0)\n    if indices.size == 0:",
            "    if indices.size == 0:",
            "test_check.py -k lanes_along",
        ),
        (
            "flags.append(any_out_of_bounds(indices, spec))",
            "flags.append(jnp.zeros((), bool))",
            "test_check.py -k 'eager_and_jit and gather'",
        ),
        (
            "    return first == first\n",
            "    return first != first\n",
            "test_row_copies.py -k rows_are_numpys",
        ),
        (
            "position, index = args\n",
            "index, position = args\n",
            "test_check.py -k 'test_checkify and gather'",
        ),
    ],
    "_indexing/bounds": [
        ("inside = values < limits", "inside = values <= limits", "test_bounds.py -k 5-int32"),
        (
            "return (seen[0] | seen[1]) >= ",
            "return seen[0] >= ",
            "test_bounds.py -k 'every_index and 5-int32'",
        ),
    ],
    "_indexing/index_dtypes": [
        (
            "return indices.astype(jnp.int32) if bits < 32 else indices",
            "return indices",
            "test_index_dtypes.py -k 'gather and not partition'",
        ),
    ],
    "_indexing/policy": [
        (
            "as_vector([limit - 1 for limit in spec.limits]",
            "as_vector([limit for limit in spec.limits]",
            "test_check.py -k 'are_exported and scatter_nd-elements-clip'",
        ),
        (
            "wrapped = jnp.remainder(indices, ",
            "wrapped = jnp.fmod(indices, ",
            "test_check.py -k modes_of_gather",
        ),
        (
            "        indices = _clip(indices, spec)\n    return Resolved",
            "        pass\n    return Resolved",
            "test_reversing.py -k lowered_for_cuda",
        ),
        (
            "return np.where(spec.inside(wide, limit), wide.astype(np.int64), -1)",
            "return np.where(wide < 0, -1, wide.astype(np.int64))",
            "test_partition.py test_stitch.py -k 'modes_of_exact or ignored'",
        ),
        (
            "wide = indices if indices.dtype == np.uint64 else indices.astype(np.int64)",
            "wide = indices.astype(np.int64)",
            "test_policy.py",
        ),
        (
            'if limit > 0 and mode == "clip"',
            'if mode == "never"',
            "test_policy.py",
        ),
        (
            "if error is not None and check.raises(mode, platform):",
            "if error is not None:",
            "test_policy.py",
        ),
        (
            'if mode not in ("device", asked):',
            'if mode == "never":',
            "test_policy.py -k policies",
        ),
        (
            '"ERROR": "error"',
            '"ERROR": "device"',
            "test_policy.py -k policies",
        ),
        (
            "    if not asked:\n        return mode\n",
            "",
            "test_policy.py -k policies",
        ),
    ],
    "_indexing/masks": [
        (
            "return lax.select(*jnp.broadcast_arrays(condition, x, y))",
            "return jnp.where(condition, x, y)",
            "test_empty.py -k calls_that",
        ),
        (
            "    x_bar = write(cotangent, valid) if",
            "    x_bar = jnp.where(valid, cotangent, 0) if",
            "test_masks.py -k transpose",
        ),
        (
            "    return read(cotangent, jnp.zeros((), cotangent.dtype), valid), None",
            "    return cotangent, None",
            "test_masks.py -k transpose",
        ),
        (
            "            x = x.reshape(x.shape + (1,) * (ndim - x.ndim))\n",
            "            x = x.reshape((1,) * (ndim - x.ndim) + x.shape)\n",
            "test_masks.py -k vmap",
        ),
    ],
    "_indexing/canonical": [
        (
            "    if deterministic:\n        updates",
            "    if deterministic and not deterministic:\n        updates",
            "test_deterministic_sums.py -k order_of_summation",
        ),
        (
            'updates = -updates if kind == "sub" else updates',
            "updates = +updates",
            "test_deterministic_sums.py -k order_of_summation",
        ),
        (
            "masks.read(result, fill, windows",
            "masks.read(result, 0 * fill, windows",
            "test_row_copies.py -k test_modes",
        ),
        (
            "_DROP if drops else _PROMISE",
            "_PROMISE",
            "test_ops.py -k 'adjoint and tensor_scatter_nd_add-elements'",
        ),
        (
            "    out_dot = add_updates(operand_dot * operand_share, "
            "updates_dot * updates_share) / attaining\n",
            "    out_dot = add_updates(operand_dot * operand_share, updates_dot * updates_share)\n",
            "test_scatter.py -k 'extremum_shares or nan_has'",
        ),
        (
            "return (x == out) | ((x != x) & (out != out))",
            "return x == out",
            "test_scatter.py -k 'extremum_shares or nan_has'",
        ),
        (
            'checks = mode != "device" or spec.is_checked_if_empty',
            'checks = mode != "device"',
            "test_canonical.py -k nothing_is_read",
        ),
        (
            "    if indices.size == 0 and _is_empty_along(operand, windows.axes):\n        nothing",
            "    if 0 in shape:\n        nothing",
            "test_empty.py -k calls_that",
        ),
    ],
    "_indexing/explicit_axes": [
        (
            "if of_operand[:b] == of_indices[:b] and not any([*indexed, *of_indices[b:]]):",
            "if of_operand[:b] == of_indices[:b]:",
            "test_explicit_axes.py",
        ),
        (
            "[x or y for x, y in zip(of_operand[:b], of_indices[:b], strict=True)]",
            "of_operand[:b]",
            "test_explicit_axes.py",
        ),
        (
            "[*batch, *kept[b:first], *of_indices[b:-1], *kept[first:]]",
            "[*batch, *of_indices[b:-1], *kept[b:]]",
            "test_explicit_axes.py",
        ),
        (
            "    if is_initial:\n",
            "    if not is_initial:\n",
            "test_explicit_axes.py",
        ),
        (
            "    fits = names and dims[0] %",
            "    fits = names and 0 * dims[0] %",
            "test_explicit_meshes.py -k evenly",
        ),
        (
            "P() if mesh_of(x) is None else P(*_axes(x))",
            "P()",
            "test_explicit_meshes.py -k 'stay_where and rows'",
        ),
        (
            "    return join(rows) if mesh is None else",
            "    return join(rows) if rank else",
            "test_explicit_meshes.py -k 'stay_where and loop'",
        ),
        (
            "    return around(mesh.update_axis_types(auto))\n",
            "    return around(mesh)\n",
            "test_explicit_meshes.py -k 'a_gather and scaled'",
        ),
        (
            "    return jax.sharding.use_abstract_mesh(mesh)\n\n\ndef positions_spec",
            "    return contextlib.nullcontext()\n\n\ndef positions_spec",
            "test_explicit_meshes.py -k tells_the_mesh",
        ),
    ],
    "_indexing/deterministic_sums": [
        (
            "    if indexed and is_widened(",
            "    if is_widened(",
            "test_deterministic_sums.py -k no_components",
        ),
        (
            "jnp.where(right_starts, right_sum, left_sum + right_sum)",
            "left_sum + right_sum",
            "test_deterministic_sums.py -k 'deterministic or order_of'",
        ),
        (
            "order = jnp.argsort(targets, stable=True)",
            "order = jnp.arange(n)",
            "test_deterministic_sums.py -k 'deterministic or order_of'",
        ),
        (
            'mode="drop", unique_indices=True)',
            'mode="drop", unique_indices=False)',
            "test_deterministic_sums.py -k 'deterministic or order_of'",
        ),
        (
            "return result, scatter_add(operand_dot, indices, updates_dot, windows)",
            "return result, operand_dot",
            "test_ops.py -k 'deterministic_values and scatter_nd-elements'",
        ),
    ],
    "_run/keys": [
        ("2**32 - 1, parts", "0, parts", "test_keys.py -k out_of_bounds"),
        (
            'if len({getattr(x, "dtype", None) for x in given}) > 1 or',
            "if",
            "test_keys.py -k beside",
        ),
        ("    start = 1\n", "    start = 0\n", "test_keys.py -k 'moved and gather'"),
    ],
    "_run/known": [
        (
            "nullcontext() if is_traced else",
            "nullcontext() if True else",
            "test_known.py -k stays_known",
        ),
        (
            'setattr(KnownArray, f"__i{_name}__", _by_jax(f"__{_name}__"))',
            "pass",
            "test_known.py -k in_place",
        ),
    ],
    "_run/dispatch": [
        ("if moves_elements is not True or", "if not moves_elements or", "test_keys.py -k strings"),
        (
            "return check.raises(mode, check.platform_of(bad)) and",
            'return check.platform_of(bad) == "cpu" and',
            "test_check.py -k 'on_a_gpu and gather'",
        ),
        (
            'if fill_value is not None and mode != "fill" and not pads:',
            "if False:",
            "test_refusals.py -k 'test_refused and fill_value'",
        ),
        (
            "        with jax.enable_x64(True):\n            arrays = [",
            "        with jax.enable_x64(False):\n            arrays = [",
            "test_arguments.py -k test_indices_made",
        ),
        (
            "    if like is None:\n        return True\n",
            "    if True:\n        return True\n",
            "test_arguments.py -k two_dtypes",
        ),
        (
            "@functools.lru_cache(maxsize=4096)\ndef _compiled(",
            "def _compiled(",
            "test_dispatch.py -k 'second_eager and gather'",
        ),
        (
            "    except OutOfBoundsError:\n        return None",
            "    except OutOfBoundsError:\n        raise",
            "test_dispatch.py -k not_known",
        ),
        (
            "return jax.tree.map(known, result)",
            "return result",
            "test_dispatch.py -k functions_of_jax",
        ),
        (
            "return are_integers and are_known",
            "return are_known",
            "test_dispatch.py -k not_known",
        ),
        (
            "sum(x.size for x in results) <= _MANY",
            "True",
            "test_dispatch.py -k not_known",
        ),
        (
            "with jax.named_scope(scope):\n            return call(",
            "with jax.named_scope(call.op):\n            return call(",
            "test_public_api.py -k name_is_the_scope",
        ),
    ],
    "_run/strings": [
        (
            "        if place:\n",
            "        if place >= 0:\n",
            "test_scatter.py -k joined",
        ),
        (
            "result[place] = nothing.join(piece)",
            "result[place] = piece[-1]",
            "test_scatter.py -k joined",
        ),
        (
            "arrays, start = [], [], 1",
            "arrays, start = [], [], 0",
            "test_strings.py -k strings_out_of_bounds",
        ),
        (
            "if isinstance(moved, tuple):",
            "if False:",
            "test_keys.py -k return_size",
        ),
    ],
    "_indexing/specs": [
        (
            "position[mapped_axes : mapped_axes + self.batch_dims]",
            "position[: self.batch_dims]",
            "test_check.py -k 'vmap_leads and gather'",
        ),
        (
            "return (index >= 0) & (index < limit)",
            "return (index >= 0) & (index <= limit)",
            "test_specs.py",
        ),
        (
            "size = dim - self.limits[axis] + 1",
            "size = dim - self.limits[axis]",
            "test_specs.py",
        ),
        (
            'f"{place} < 0" if length < 0',
            'f"{place} < 0" if length > 0',
            "test_reversing.py -k lengths_out_of_bounds",
        ),
    ],
    "_errors": [
        (
            "return OutOfBoundsError, (self.args[0], *fields)",
            "return OutOfBoundsError, (self.args[0], *fields[::-1])",
            "test_public_api.py -k pickling",
        ),
        (
            "max(found, key=lambda raised: len(str(raised)), default=None)",
            "min(found, key=lambda raised: len(str(raised)), default=None)",
            "test_typed_errors.py -k begin_another",
        ),
    ],
    "_frames": [
        (
            "is_hidden or not _call_sites.is_of_python(code)",
            "is_hidden",
            "test_frames.py -k callbacks",
        ),
        (
            "is_hidden or not _call_sites.is_of_python(code)",
            "not _call_sites.is_of_python(code)",
            "test_frames.py -k library_below",
        ),
        (
            "error.__cause__ or (None if",
            "(None if",
            "test_frames.py -k chain",
        ),
        (
            "(FunctionType, classmethod, property)",
            "(FunctionType, property)",
            "test_frames.py -k members",
        ),
        (
            "module or f.__module__",
            "f.__module__",
            "test_frames.py -k as_they_were_written",
        ),
    ],
    "_typed_errors": [
        (
            "error.__traceback__ = _frames.of_caller(error.__traceback__)",
            "pass",
            "test_typed_errors.py -k frames_are",
        ),
    ],
    "_dispatched": [
        (
            "if not result.is_deleted():",
            "if True:",
            "test_dispatched.py -k donated",
        ),
        (
            "== self._read_before.get(words, 0)",
            "== 0",
            "test_dispatched.py -k caller_has_got",
        ),
        (
            "while self._running and not self.unread():",
            "while self._running:",
            "test_dispatched.py -k first_error",
        ),
    ],
    "_call_sites": [
        (
            "frame.f_lineno",
            "code.co_firstlineno",
            "test_call_sites.py -k 'where_and_name and plain'",
        ),
        (
            "max(inside, key=len",
            "min(inside, key=len",
            "test_call_sites.py -k path_is",
        ),
        (
            "return is_within and not",
            "return False and not",
            "test_call_sites.py -k whose_code",
        ),
    ],
    "_indexing/raising": [
        (
            "        raised.__traceback__ = None\n",
            "        pass\n",
            "test_raising.py -k no_frames",
        ),
        (
            "    _errors.remember(raised)\n",
            "",
            "test_raising.py -k operands_reach",
        ),
    ],
    "_ops/gather": [
        (
            "if validate_indices is not None and not isinstance(",
            "if validate_indices and not isinstance(",
            "test_refusals.py -k 'test_refused and gather-validate_indices'",
        ),
        (
            'mode=policy.mode_of_policy("gather_nd", bad_indices_policy, mode)',
            "mode=mode",
            "test_policy.py -k bad_indices_policy",
        ),
        (
            "    axis += params.ndim if axis < 0 else 0\n",
            "    axis += indices.ndim if axis < 0 else 0\n",
            "test_ops.py -k 'values_eager and gather-last-axis'",
        ),
        (
            "    batch_dims += indices.ndim if batch_dims < 0 else 0\n",
            "    batch_dims += params.ndim if batch_dims < 0 else 0\n",
            "test_ops.py -k 'values_eager and gather and batch'",
        ),
        (
            "    batch_dims = indices.ndim - 1\n",
            "    batch_dims = 0\n",
            "test_check.py -k 'eager_and_jit and gather'",
        ),
        (
            "if params.shape[:batch_dims] != indices.shape[:batch_dims]:",
            "if params.shape[:1] != indices.shape[:1]:",
            "test_refusals.py -k 'test_refused and gather'",
        ),
        (
            "    axes = tuple(range(batch_dims, batch_dims + depth))\n",
            "    axes = tuple(range(depth))\n",
            "test_check.py -k 'eager_and_jit and gather'",
        ),
    ],
    "_ops/scatter": [
        (
            "bad_indices_policy, mode),\n        indexed",
            '"", mode),\n        indexed',
            "test_policy.py -k 'bad_indices_policy and scatter_nd'",
        ),
        (
            "bad_indices_policy, mode),\n        moves",
            '"", mode),\n        moves',
            "test_policy.py -k 'bad_indices_policy and tensor_scatter'",
        ),
        ('reduce("max", 0', 'reduce("add", 0', "test_scatter.py -k trues"),
        (
            "if any(size < 0 for size in shape):",
            "if any(size < -1 for size in shape):",
            "test_refusals.py -k 'test_refused and scatter_nd'",
        ),
        (
            "    if updates_shape != expected:\n",
            "    if len(updates_shape) != len(expected):\n",
            "test_refusals.py -k 'test_refused and scatter_nd'",
        ),
        (
            'if kind in ("min", "max") and jnp.issubdtype',
            'if kind == "min" and jnp.issubdtype',
            "test_refusals.py -k 'test_refused and scatter_nd'",
        ),
        (
            "limits=shape[:depth]",
            "limits=shape[-depth:]",
            "test_ops.py -k 'values_eager and scatter_nd and rows'",
        ),
        (
            "    places = 1 + jnp.arange(",
            "    places = jnp.arange(",
            "test_scatter.py -k joined",
        ),
    ],
    "_indexing/dimension_numbers": [
        (
            "indices = jnp.moveaxis(indices, dims[1], windows.batch_dims)",
            "indices = jnp.moveaxis(indices, dims[1], 0)",
            "test_dimension_numbers.py",
        ),
        (
            "return bind(operand, indices, windows=windows), windows.first",
            "return bind(operand, indices, windows=windows), windows.batch_dims",
            "test_dimension_numbers.py",
        ),
        (
            "windows_before = (1,) * (self.first - b)",
            "windows_before = ()",
            "test_ops.py -k 'jacobians and gather-last-axis'",
        ),
        (
            '"sub": lax.scatter_sub,',
            '"sub": lax.scatter_add,',
            "test_dtypes.py -k test_adds",
        ),
        (
            "if dtype == jnp.float16 or not",
            "if not",
            "test_narrow_scatter.py -k left_to",
        ),
        (
            ".bits in (8, 16)",
            ".bits == 16",
            "test_narrow_scatter.py -k 'memory_of_scatters and float8_e5m2'",
        ),
    ],
    "_indexing/parts": [
        (
            "valid = within < counts[part][:, None]",
            "valid = within <= counts[part][:, None]",
            "test_ops.py -k 'values_eager and dynamic_partition'",
        ),
    ],
    "_indexing/pieces": [
        (
            "count > _TOO_MANY",
            "count > 2 * _TOO_MANY",
            "test_pieces_by_python.py -k more_than",
        ),
    ],
    "_run/sharding": [
        (
            "or not _is_of_sharding(error):",
            "or _is_of_sharding(error):",
            "test_sharding.py",
        ),
        (
            "spec.count(axis) != 1",
            "spec.count(axis) > 1",
            "test_sharding.py",
        ),
        (
            "elif (mesh := _explicit_mesh(arrays)) is None:",
            "elif (mesh := _explicit_mesh(arrays)) is out_sharding:",
            "test_sharding.py",
        ),
    ],
    "_run/extents": [
        (
            "dims = [1 if is_symbolic_dim(dim) else dim for dim in shape]",
            "dims = [2**60 if is_symbolic_dim(dim) else dim for dim in shape]",
            "test_extents.py",
        ),
        (
            "math.prod(dims) * itemsize >= _LARGEST",
            "math.prod(dims) >= _LARGEST",
            "test_extents.py",
        ),
        (
            "before = dims[: dims.index(0)]",
            "before = dims[dims.index(0) + 1 :]",
            "test_extents.py",
        ),
        (
            "or max(dims) >= _COUNTED:",
            "or max(dims) > _COUNTED:",
            "test_extents.py",
        ),
        (
            "[(dim + 2**31) % 2**32 - 2**31 for dim in dims]",
            "[dim for dim in dims]",
            "test_extents.py",
        ),
        (
            "look(batched, arrays)",
            "pass",
            "test_extents.py",
        ),
        (
            "(_SAFE_BITS_OF_EMPTY if is_empty else _SAFE_BITS)",
            "_SAFE_BITS",
            "test_extents.py",
        ),
        (
            "made_empty = (x for arg, x in static.items() if arg in _SHAPING)",
            "made_empty = ()",
            "test_extents.py",
        ),
    ],
    "_symbolic": [
        (
            "np.array(min(max(dim, info.min), info.max), dtype)",
            "np.array(dim).astype(dtype)",
            "test_index_dtypes.py -k test_resolved_indices",
        ),
        (
            "return not any(map(is_symbolic_dim, dims))",
            "return True",
            "test_symbolic_shapes.py -k 'loaded and gather'",
        ),
    ],
    "_jax_internals": [
        (
            'axis_context.num_devices") == 1',
            'axis_context.num_devices") != 0',
            "test_column_sums.py -k only_programs",
        ),
        (
            "return _decisions() if _decisions_are_seen() else [None]",
            "return _decisions()",
            "test_jax_internals.py -k look_at_control_flow",
        ),
        (
            "for d in decisions[: len(decisions) - outside]",
            "for d in decisions",
            "test_jax_internals.py -k around_the_look",
        ),
        (
            "return seen == [{np.dtype(bool)},",
            "return seen != [{np.dtype(int)},",
            "test_jax_internals.py -k around_the_look",
        ),
        (
            'known = known and isinstance(getattr(x, "dtype", None), np.dtype)',
            "known = known",
            "test_jax_internals.py -k concrete_arrays",
        ),
        (
            "return jax.device_put(x, device if committed else None)",
            "return jax.device_put(x, device)",
            "test_jax_internals.py -k public_way",
        ),
        (
            "with jax.enable_x64(True), jax.default_device(device):",
            "with jax.default_device(device):",
            "test_jax_internals.py -k public_way",
        ),
        (
            "    if not jax.sharding.get_abstract_mesh().manual_axes:\n",
            "    if True:\n",
            "test_jax_internals.py -k axes_of_a_type",
        ),
        (
            'varying = _read(aval, "vma")',
            "varying = None",
            "test_jax_internals.py -k axes_of_a_type",
        ),
        (
            "return for_export is not False or platforms is None or",
            "return for_export or platforms is None or",
            "test_jax_internals.py -k context_without",
        ),
        (
            "return for_export is not False or platforms is None or",
            "return for_export is not False or platforms is not None and",
            "test_jax_internals.py -k context_without",
        ),
        (
            'set(params) != {"branches"}',
            '"branches" not in params',
            "test_jax_internals.py -k branches_platforms",
        ),
        (
            "    if not _platforms_are_named() and",
            "    if",
            "test_value_and_grad.py -k 'platform_dependent'",
        ),
        (
            "if check_eqn.primitive not in rules:",
            "if False:",
            "test_jax_internals.py -k checkify_without",
        ),
        (
            "if eqn.effects or not used.isdisjoint(eqn.outvars):",
            "if not used.isdisjoint(eqn.outvars):",
            "test_jax_internals.py -k unused_equations",
        ),
        (
            "used.update(v for v in eqn.invars if not isinstance(v, Literal))",
            "pass",
            "test_jax_internals.py -k unused_equations",
        ),
        (
            "    if unpack is None:\n",
            "    if False:\n",
            "test_jax_internals.py -k counts_of_a_scan",
        ),
        (
            "    raise _unknown(eqn, names)\n",
            "    return None\n",
            "test_jax_internals.py -k without_a_parameter",
        ),
        (
            "except (AttributeError, TypeError):  # only a part",
            "except AttributeError:  # only a part",
            "test_jax_internals.py -k without_its_place",
        ),
        (
            "c | user_checks if",
            "c if",
            "test_check.py -k checkify_of_other",
        ),
        (
            "    _register_exclusion(_HERE)\n",
            "    pass\n",
            "test_call_sites.py -k name_the_callers",
        ),
        (
            "    _hide_frames(_HERE)\n",
            "    pass\n",
            "test_frames.py -k rules",
        ),
        (
            "            if not self.is_expected(error):\n",
            "            if self.is_expected(error):\n",
            "test_raising.py -k token_forgets",
        ),
        (
            "_put(x, device, committed=False)",
            "_put(x, device, committed=True)",
            "test_arguments.py -k as_jaxs",
        ),
    ],
}
