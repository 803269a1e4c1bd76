"""Mutants of what makes and applies sparse gradients: see mutants.py."""

MUTANTS = {
    "_indexed_slices": [
        (
            "jnp.concatenate([i.astype(widest) for i in indices])",
            "jnp.concatenate([i.astype(indices[0].dtype) for i in indices])",
            "test_indexed_slices.py -k 'sum or addition or dtype'",
        ),
        (
            "    valid = (indices >= 0) & (indices < num_rows)\n",
            "    valid = indices < num_rows\n",
            "test_indexed_slices.py -k sum_duplicates",
        ),
        (
            "return self + -other if isinstance",
            "return self + other if isinstance",
            "test_indexed_slices.py -k 'scaling or addition or refused'",
        ),
        (
            "nowhere = jnp.full(size, slices.num_rows, indices.dtype)",
            "nowhere = jnp.full(size, 0, indices.dtype)",
            "test_indexed_slices.py -k sum_duplicates",
        ),
        (
            "indices = rows * count + lax.iota(dtype, count)[None]",
            "indices = rows + lax.iota(dtype, count)[None]",
            "test_indexed_slices.py -k parts_of_rows",
        ),
    ],
    "_lazy": [
        (
            "sum(number in result.inputs for result in results) == 1",
            "sum(number in result.inputs for result in results) >= 1",
            "test_lazy.py -k 'reduces'",
        ),
        (
            "and program.out_avals[n].dtype == leaves[n].dtype",
            "and True",
            "test_lazy_state.py -k another_dtype",
        ),
        (
            'rows.at[indices].get(mode="fill", fill_value=0)',
            'rows.at[indices].get(mode="clip")',
            "test_lazy_state.py",
        ),
        (
            "return rows.at[slices.indices].set(",
            "return rows.at[slices.indices].add(",
            "test_lazy_state.py",
        ),
        (
            "ones = (indices < slices.num_rows).astype(rows.dtype)",
            "ones = (indices > slices.num_rows).astype(rows.dtype)",
            "test_lazy_state.py",
        ),
        (
            "gradient = flat[n] = gradient.to_dense()",
            "gradient = flat[n] = gradient.dense",
            "test_lazy.py -k dense_and_tied",
        ),
    ],
    "_scaling": [
        (
            "old.itemsize <= new.itemsize",
            "True",
            "test_scaling.py",
        ),
        ("        return dependent == [0]\n", "        return True\n", "test_scaling.py"),
        (
            "if len(dependent) != 1 or not inputs[dependent[0]].is_multiple:",
            "if len(dependent) != 1:",
            "test_scaling.py",
        ),
        ("bool(jnp.issubdtype(new, jnp.inexact))", "True", "test_scaling.py"),
    ],
    "_programs": [
        (
            "union = frozenset().union(*varying)",
            "union = varying[0]",
            "test_column_sums.py -k shared_by_shards",
        ),
        (
            "if numbers[n] == num_consts + n:",
            "if numbers[n] is not None:",
            "test_sparse_grad_refused.py -k change_places",
        ),
        (
            "numbers[0] if len(set(numbers)) == 1 else None for",
            "numbers[0] for",
            "test_sparse_grad_refused.py -k 'branch'",
        ),
    ],
    "_linear_program": [
        (
            'dataclasses.replace(table, dtypes=(*table.dtypes, eqn.params["new_dtype"]))',
            "table",
            "test_sparse_grad.py -k 'passed_on and cast'",
        ),
        (
            "masked=access.mode != lax.GatherScatterMode.CLIP",
            "masked=False",
            "test_sparse_grad_transformed.py -k 'out_of_bounds'",
        ),
        (
            '        reverse=eqn.params["reverse"],\n        unroll',
            '        reverse=not eqn.params["reverse"],\n        unroll',
            "test_sparse_grad.py -k 'passed_on and scan'",
        ),
    ],
    "_lookups": [
        (
            "result = result * self.shape[axis] + coordinate",
            "result = result + coordinate",
            "test_sparse_grad.py -k lookups",
        ),
        (
            "inside = [(s >= 0) & (s <= last) for",
            "inside = [(s >= 0) for",
            "test_sparse_grad_transformed.py -k 'out_of_bounds'",
        ),
        (
            "return not self._reads_all(0) or self.shape[0] == 1",
            "return True",
            "test_sparse_grad_refused.py -k other_uses",
        ),
        (
            "coordinate = coordinate + offset * self.strides[axis]",
            "coordinate = coordinate + offset",
            "test_sparse_grad.py -k lookups",
        ),
        (
            "    _deterministic.gather_p: (_gather_access, _gather_starts),\n",
            "",
            "test_sparse_grad.py -k lookups",
        ),
        (
            "starts = [jnp.clip(s, 0, last) for",
            "starts = [jnp.clip(s, 0, last + 1) for",
            "test_sparse_grad_transformed.py test_sparse_grad.py -k 'out_of_bounds or lookups'",
        ),
    ],
    "_sparse_grad": [
        (
            "    return number % num_args\n",
            "    return abs(number)\n",
            "test_sparse_grad.py -k argnums",
        ),
        (
            "jnp.asarray(leaf) if isinstance(leaf, float) else array",
            "array",
            "test_sparse_grad.py -k weakly_typed",
        ),
        (
            "        if len(set(places)) < len(places):\n",
            "        if False:\n",
            "test_bad_input.py test_sparse_grad_refused.py -k 'argnums'",
        ),
        (
            "        used_otherwise.add(table.number)\n",
            "        pass\n",
            "test_sparse_grad_refused.py -k 'other_uses'",
        ),
    ],
}
