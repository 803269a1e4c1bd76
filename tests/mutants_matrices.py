"""Mutants of the functions of matrices: see mutants.py."""

MUTANTS = {
    "_ops/band_part": [
        ("if number > dim:", "if number > dim + 1:", "test_refusals.py -k band_part"),
        ("return distance <= number", "return distance < number",
         "test_ops.py -k 'values_eager and band_part'"),
        ("_within(-below, num_upper", "_within(below, num_upper",
         "test_ops.py -k 'values_eager and band_part'"),
        ("limits=(dim + 1,)", "limits=(dim,)", "test_band_part.py -k traced"),
        (" | (number < 0)", "", "test_band_part.py -k traced"),
        ("a = lax.conj(a)", "a = +a", "test_band_part.py -k complex"),
    ],
    "_ops/diagonals": [
        ("self.columns - max(self.low, 0)", "self.columns",
         "test_ops.py -k 'values_eager and diag'"),
        ("jnp.where(d > 0, above, below)", "jnp.where(d > 0, below, above)",
         "test_ops.py -k 'values_eager and diag'"),
        ("        if size < least:", "        if size < least - 1:",
         "test_refusals.py -k matrix_diag"),
        ("if sizes[0] != rows and sizes[1] != columns:", "if False:",
         "test_refusals.py -k matrix_diag"),
        ("sizes = [max(sizes)] * 2", "pass", "test_ops.py -k 'values_eager and diag'"),
        ("(n >= 0) & (n < lengths)", "(n < lengths)", "test_ops.py -k 'values_eager and diag'"),
        ("(d >= band.low) & (d <= band.high)", "(d >= band.low)",
         "test_ops.py -k 'values_eager and diag'"),
        ("before = max(-band.low, 0)", "before = 0", "test_ops.py -k 'values_eager and diag'"),
        ("d == 0 or -rows < d < columns", "-rows <= d < columns", "test_refusals.py -k diag"),
        ("numbers[0] > numbers[-1]", "False", "test_refusals.py -k diag"),
    ],
    "_ops/tensor_diagonals": [
        ("if diagonal.ndim == 0:", "if False:", "test_refusals.py -k tensor_diag"),
        ("((0, 0), (0, size))", "((0, 0), (0, size - 1))",
         "test_ops.py -k 'values_eager and tensor_diag'"),
        ("if input.shape != shape * 2:", "if False:", "test_refusals.py -k tensor_diag"),
        ("rows[:, 0]", "rows[:, -1]", "test_ops.py -k 'values_eager and tensor_diag'"),
    ],
}  # fmt: skip
