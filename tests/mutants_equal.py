"""Mutants by rule that change no meaning, by module, in the words of `make mutants`.

A line is the statement with the change in brackets, and with `_` for the names of the module's own;
"..." stands for anything.
"""

EQUAL: dict[str, list[str]] = {
    # One bit of a hash fewer: half of the rounds have no rows.
    "_indexing/exchange": ["return _ >> 1 >> ([_ - 1 -> _] - _).astype(_.dtype)"],
    # An array on no mesh has the specification of one that every device has.
    "_indexing/explicit_axes": ["return _() if [_(_) -> _] is None else _(*_(_))"],
    # Which of two ways to compute the same numbers is taken.
    "_ops/ragged_rows": ["if [_ <= _ -> False]:", "if [_ <= _ -> _ < _]:"],
    "_ops/where": [
        "if max(_.size, *_.shape) <= np.iinfo([np.int32 -> np.int16]).max:",
        "if [max(_.size, *_.shape) <= np.iinfo(np.int32).max -> ... < ...]:",
    ],
    # A number that equals the limit becomes the limit, or stays: both are the same.
    "_sparse/duplicates": ["_ = (_ >= 0) & [_ < _ -> _ <= _]"],
    # The array is a tracer or not: `jax.jit` of the same function is for speed.
    "_sparse/row_numbers": ["return [_(_) if isinstance(_, _) else _(_) -> _(_)]"],
    # Two numbers that are computed in floats are hardly ever equal.
    "testing/_grads": ["...[_.bound <= _ -> _.bound < _]..."],
}
