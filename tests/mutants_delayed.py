"""Mutants of what reads rows before a loss computes with its tables: see mutants.py."""

MUTANTS = {
    "_sparse/delayed": [
        (
            "        array = explicit_axes.brought(self.array)\n",
            "        array = self.array\n",
            "test_explicit_meshes.py -k 'a_gather and scaled'",
        ),
        (
            "with explicit_axes.auto_around(jaxprs.mesh_of(x.eqn)):",
            "with explicit_axes.around(None):",
            "test_explicit_meshes.py -k 'a_gather and row and by'",
        ),
        (
            "    if len(memo) > MAX_READ:\n",
            "    if len(memo) > 3:\n",
            "test_delayed_rules.py -k 'steps and normalized'",
        ),
        (
            "moved[0] = jnp.where(valid | is_moved,",
            "moved[0] = jnp.where(valid | True,",
            "test_delayed.py -k 'rows_that_are_read and within'",
        ),
        (
            "across = jnp.where(low, -1, jnp.where(high, dim, start))",
            "across = jnp.full_like(start, dim)",
            "test_delayed_rules.py -k 'lookups and outside'",
        ),
        (
            "else lax.stop_gradient(part)\n",
            "else part\n",
            "test_delayed_rules.py -k 'lookups and outside'",
        ),
        (
            "at = {**at, axis: _ZEROS[next(iter(at.values())).dtype]}",
            "pass",
            "test_delayed.py -k 'rows_that_are_read and stack'",
        ),
        (
            "chosen = [both(valid, index == n) for n in range(len(self.arrays))]",
            "chosen = [valid for n in range(len(self.arrays))]",
            "test_linear_program.py -k branch_chooses",
        ),
        (
            "if axes not in self._can_read:",
            "if False:",
            "test_delayed_rules.py -k 'steps and scaled'",
        ),
    ],
    "_sparse/delayed_rules": [
        (
            "{int(permutation[axis]): c for axis",
            "{axis: c for axis",
            "test_delayed_rules.py -k 'lookups and transposed'",
        ),
        (
            "c.dtype.type(r.shape[axis] - 1) - c",
            "c.dtype.type(r.shape[axis]) - c",
            "test_delayed_rules.py -k 'steps and reversed'",
        ),
        (
            "pieces.append(r.operand(n, {**r.at, dimension: inside}, own == inside))",
            "pieces.append(r.operand(n, {**r.at, dimension: inside}))",
            "test_delayed.py -k 'rows_that_are_read and concatenated'",
        ),
        (
            "jnp.searchsorted(rows, row, side=\"right\") - 1, 0)",
            "jnp.searchsorted(rows, row), 0)",
            "test_delayed_rules.py -k 'the_last_row_that_is_set'",
        ),
        (
            "group[last]].astype",
            "last].astype",
            "test_delayed_rules.py -k 'steps and added'",
        ),
        (
            "is_inside = (indices >= 0) & (indices <= last_start)",
            "is_inside = indices < r.shape[axis]",
            "test_delayed_rules.py -k 'windows_that_are_not_inside'",
        ),
    ],
    "_sparse/delayed_calls": [
        (
            "    _check_linear(derivative, f.types, result_type)\n",
            "",
            "test_delayed_calls.py -k 'refused and linear'",
        ),
        (
            "return of_parts(f.at, operands)\n\n\ndef _custom_vjp",
            "return f.value(f.at, operands)\n\n\ndef _custom_vjp",
            "test_delayed_calls.py -k 'own_derivatives and custom_jvp'",
        ),
    ],
    "_sparse/one_hot_products": [
        (
            "or np.ndim(x) or x != number:",
            "or np.ndim(x):",
            "test_one_hot_products.py -k other_matrices",
        ),
        (
            "begin = indices.ndim if is_first else 0",
            "begin = indices.ndim",
            "test_one_hot_products.py -k transposed",
        ),
    ],
    "_sparse/rows_first": [
        (
            "if eqn.primitive.name in jaxprs.RESHARDS and isinstance(inputs[0], Table):",
            "if False:",
            "test_explicit_meshes.py -k 'stay_where and scaled'",
        ),
        (
            "    with explicit_axes.auto_around(jaxprs.mesh_of(eqn)):\n        rows = _read",
            "    with explicit_axes.around(None):\n        rows = _read",
            "test_explicit_meshes.py -k 'a_gather and scaled'",
        ),
        (
            "part = Part(eqn, 0, inputs)",
            "part = Node(eqn, 0, inputs)",
            "test_rows_first.py -k part_that_is_taken_whole",
        ),
        (
            "if _ends_parts(eqn, inputs):",
            "if False:",
            "test_rows_first.py -k part_that_is_taken_whole",
        ),
        (
            "whole_uses.note_again(body.uses)  # from",
            "# from",
            "test_whole_uses.py -k 'refused and own'",
        ),
        (
            "if only_looks_up(program, is_table) else rows_first",
            "",
            "test_rows_first.py -k 'within and jit'",
        ),
        (
            "if results != passed:  # a table",
            "if False:  # a table",
            "test_linear_program.py -k branch_chooses",
        ),
        (
            "if loop not in loops:\n                raise\n",
            "pass\n",
            "test_rows_first.py -k loop_within_a_loop",
        ),
        (
            "reverse=_jax_internals.param(eqn, \"reverse\"),",
            "reverse=False,",
            "test_delayed_rules.py -k 'lookups and backwards'",
        ),
        (
            "if _jax_internals.says_how_to_share(eqn) or not _is_short(eqn):",
            "if not _is_short(eqn):",
            "test_rows_first.py -k shardings_stay",
        ),
    ],
    "_sparse/whole_uses": [
        (
            "places.append(jaxprs.where(use.eqn))",
            "pass",
            "test_whole_uses.py -k sharded",
        ),
        (
            "lax.neg(lax.neg(dot)) if",
            "dot if",
            "test_whole_uses.py -k 'refused and sorted'",
        ),
        (
            "if use.is_of_table and",
            "if",
            "test_whole_uses.py",
        ),
        (
            "if name == \"while\":",
            "if False:",
            "test_whole_uses.py -k while_loop",
        ),
    ],
}  # fmt: skip
