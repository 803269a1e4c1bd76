"""Mutants by rule that change no meaning, by module, in the words of `make mutants`.

A line is the statement with the change in brackets, and with `_` for the names of the module's own;
"..." stands for anything.
"""

EQUAL: dict[str, list[str]] = {
    # In every module: NumPy takes any negative size for the one that is left to it, and sequences
    # of one length are what `zip` gets.
    "": [
        "...reshape(-[1 -> 2])...",
        "...zip(..., strict=[True -> False])...",
        "...[zip(..., strict=True) -> zip(...)]...",
    ],
    # The size from which on the call of Python is faster, as measured.
    "_cpu/narrow_scatter": ["return _.prod(_) > _ + [32768 -> ...]"],
    # One bit of a hash fewer: half of the rounds have no rows.
    "_devices/exchange": ["return _ >> 1 >> ([_ - 1 -> _] - _).astype(_.dtype)"],
    # An array on no mesh has the specification of one that every device has.
    "_indexing/explicit_axes": ["return _() if [_(_) -> _] is None else _(*_(_))"],
    # How much is looked at, and what is kept: either way the values are the same.
    "_indexing/sources": [
        "_ = [64 -> ...]",
        "_ = [1024 -> ...]",
        "...[_.prod(_) <= _ -> _.prod(_) < _]...",
        "_ = [id(_) if isinstance(_, _) else _ -> _]",
        "_ = [list(...) -> ...]",
    ],
    # Equal sizes have been returned before.
    "_ops/bitcast": ["_ = _.reshape((1,) * (_.ndim - [_ > _ -> _ >= _]) + (-1,))"],
    # Which of two ways to compute the same numbers is taken.
    "_ops/casting": ["if [not _ or jax.dtypes.canonicalize_dtype(_.dtype) != _.dtype -> True]:"],
    "_ops/ragged_rows": ["if [_ <= _ -> False]:", "if [_ <= _ -> _ < _]:"],
    "_ops/where": [
        "if max(_.size, *_.shape) <= np.iinfo([np.int32 -> np.int16]).max:",
        "if [max(_.size, *_.shape) <= np.iinfo(np.int32).max -> ... < ...]:",
    ],
    # A number that equals the limit becomes the limit, or stays: both are the same.
    "_sparse/slices/repeated_rows": ["_ = (_ >= 0) & [_ < _ -> _ <= _]"],
    # Either of two loops makes the round.
    "_sparse/slices/owner_rows": ["_ = (_ <= [1 -> 0]).astype(jnp.int32)"],
    # The array is a tracer or not: `jax.jit` of the same function is for speed.
    "_sparse/slices/row_numbers": ["return [_(_) if isinstance(_, _) else _(_) -> _(_)]"],
    # Two numbers that are computed in floats are hardly ever equal.
    "testing/_grads": ["...[_.bound <= _ -> _.bound < _]..."],
}
