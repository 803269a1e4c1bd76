"""Mutants of what makes arrays of a shape, and of what passes them on: see mutants.py."""

MUTANTS = {
    "_ops/filling": [
        ("if any(dim < 0 for dim in shape):", "if any(dim < -1 for dim in shape):",
         "test_refusals.py -k fill-dims"),
        ("d in (1, s) and (d == s or s >= 0)", "d in (1, s)", "test_refusals.py -k broadcast_to"),
        ("for dim in shape[: max(new, 0)]", "for dim in shape[:0]",
         "test_refusals.py -k broadcast_to"),
        ("first <= end if step > 0 else first >= end", "True", "test_refusals.py -k range"),
        ("if math.isinf(x)]", "if False]", "test_refusals.py -k range"),
        ("return -((first - end) // step)", "return (end - first) // step",
         "test_filling.py -k counts"),
        ("float(np.ceil(", "float(np.floor(", "test_filling.py -k counts"),
        ("key=_NUMBERS.index", "key=lambda dtype: dtype.itemsize", "test_filling.py -k dtype_of"),
        ("(as_tensorflow_takes(readable(x)), op, arg)", "(readable(x), op, arg)",
         "test_filling.py -k python_numbers"),
    ],
    "_ops/identities": [
        ("return lax.stop_gradient(input)", "return input", "test_filling.py -k no_gradient"),
        ("return input\n", "return -input\n", "test_ops.py -k 'values_eager and guarantee_const'"),
    ],
}  # fmt: skip
