"""Mutants by rule that change no meaning, by module, in the words of `make mutants`.

A line is the statement with the change in brackets, and with `_` for the names of the module's own;
"..." stands for anything.
"""

EQUAL: dict[str, list[str]] = {
    # Which of two ways to copy or number the same elements is taken.
    "_cpu/narrow_scatter": ["_ = np.dtype(... if [_ in (1, 2, 4, 8) -> ...] else ...)"],
    "_ops/where": [
        "if max(_.size, *_.shape) <= np.iinfo([np.int32 -> np.int16]).max:",
        "if [max(_.size, *_.shape) <= np.iinfo(np.int32).max -> ... < ...]:",
    ],
    # What is equal to the limit becomes the limit.
    "_sparse/duplicates": ["_ = (_ >= 0) & [_ < _ -> _ <= _]"],
    # Two numbers that are computed in floats are hardly ever equal.
    "testing/_grads": ["...[_.bound <= _ -> _.bound < _]..."],
}
