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
    # No dtype has 7 bits.
    "_cpu/pieces_by_python": ["return _(_[0].dtype) >= [8 -> 7]"],
    # There is no error without it, which a type checker does not know; the test is the caller.
    "_checked/pytest_plugin": [
        "if [_.excinfo and _ -> _]:",
        "_ = [_.of_caller(_.excinfo.tb) or _.excinfo.tb -> _.of_caller(_.excinfo.tb)]",
    ],
    # How keys are mixed: equal keys have equal hashes in each way.
    "_cpu/hash_table": [
        "_ = (_ ^ ...[...]...) * np.uint32(...)",
        "_ = (...) * ...[...]...",
        "_ = [_ ^ _ >> np.uint32(13) -> _] * ...",
    ],
    # The elements behind the table are cut off.
    "_cuda/atomic_sums": ["_ = lax.pad(_, jnp.float32([0 -> 1]), ..."],
    # One bit of a hash fewer: half of the rounds have no rows.
    "_devices/exchange": ["return _ >> 1 >> ([_ - 1 -> _] - _).astype(_.dtype)"],
    # How long the end of a process may wait.
    "_dispatched": ["_ = [10.0 -> ...]"],
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
    # Of no element the number -1 is taken, as for an index that is ignored.
    "_indexing/policy": ["if [_ > 0 -> _ >= 0] and _ == 'clip':"],
    # The places are sorted already.
    "_indexing/first_occurrences": ["..., ... = lax.sort(..., num_keys=[2 -> 3])"],
    # Equal sizes have been returned before.
    "_ops/bitcast": ["_ = _.reshape((1,) * (_.ndim - [_ > _ -> _ >= _]) + (-1,))"],
    # Which of two ways to compute the same numbers is taken.
    "_ops/casting": ["if [not _ or jax.dtypes.canonicalize_dtype(_.dtype) != _.dtype -> True]:"],
    "_ops/ragged_rows": ["if [_ <= _ -> False]:", "if [_ <= _ -> _ < _]:"],
    "_ops/where": [
        "if max(_.size, *_.shape) <= np.iinfo([np.int32 -> np.int16]).max:",
        "if [max(_.size, *_.shape) <= np.iinfo(np.int32).max -> ... < ...]:",
    ],
    # The arrays have one dimension.
    "_ops/segments": ["return (..., jnp.stack(_, [-1 -> 1]), ..."],
    # Numbers of this dtype stay as they are.
    "_ops/setdiff1d": ["if [_.dtype != _.dtype -> True]:"],
    # Of texts of 20 digits and more none fits.
    "_ops/string_to_number": ["if len(...) > [20 -> ...]:"],
    # How much larger than the array the bound of its size is.
    "_run/extents": [
        "_ = sum([sorted(...)[-2:] -> sorted(...)[:]]) + ...",
        "_ = sum(sorted(...)[-[2 -> 3]:]) + ...",
        "_ = ...[sum(sorted(_)[-2:]) + len(_).bit_length() -> sum(sorted(_)[-2:])]",
        "_ = sum(sorted(_)[-2:]) + [len(_).bit_length() -> len(_)]",
        "_ = ... + len([_.get('shape', ()) -> _])",
    ],
    # A number that equals the limit becomes the limit, or stays: both are the same.
    "_sparse/slices/repeated_rows": ["_ = (_ >= 0) & [_ < _ -> _ <= _]"],
    # Either of two loops makes the round.
    "_sparse/slices/owner_rows": ["_ = (_ <= [1 -> 0]).astype(jnp.int32)"],
    # How many times the noise that few differences show is taken for the noise.
    "testing/_numeric": ["return max([2 -> ...] * _, ...", "return max([2 * _ -> _], ..."],
    # Two numbers that are computed in floats are hardly ever equal.
    "testing/_grads": ["...[_.bound <= _ -> _.bound < _]..."],
}
