"""Mutants by rule that change no meaning, by module, in the words of `make mutants`.

A line is the statement with the change in brackets; "..." stands for anything.
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
    "_cpu/narrow_scatter": ["return math.prod(shape) > costs + [32768 -> ...]"],
    # No dtype has 7 bits.
    "_cpu/pieces_by_python": ["return itemsize_bits(arrays[0].dtype) >= [8 -> 7]"],
    # How far out a frame is looked for, which takes time alone.
    "_checked/whose": ["while [frame is not None and depth < _DEEPEST -> frame is not None]:"],
    # There is no error without it, which a type checker does not know; the test is the caller.
    "_checked/pytest_plugin": [
        "if [call.excinfo and error -> error]:",
        "frames = [... or call.excinfo.tb -> _frames.of_caller(call.excinfo.tb)]",
    ],
    # How many elements are searched first. How keys are mixed: equal keys have equal hashes in each
    # way.
    "_cpu/hash_table": [
        "FEW = [1 -> 2] << 16",
        "FEW = 1 << [16 -> ...]",
        "h = (h ^ ...[...]...) * np.uint32(...)",
        "h = (...) * ...[...]...",
        "h = [h ^ h >> np.uint32(13) -> h] * ...",
        "return [h ^ h >> np.uint32(16) -> h]",
        "return h ^ h >> np.uint32([16 -> ...])",
    ],
    # The elements behind the table are cut off.
    "_cuda/atomic_sums": ["table = lax.pad(table, jnp.float32([0 -> 1]), ..."],
    # One bit of a hash fewer: half of the rounds have no rows.
    "_devices/exchange": ["return hashes >> 1 >> ([width - 1 -> width] - ..."],
    # How long the end of a process may wait.
    "_dispatched": ["_LONGEST_WAIT = [10.0 -> ...]"],
    # An array on no mesh has the specification of one that every device has.
    "_indexing/explicit_axes": ["return P() if [mesh_of(x) -> x] is None else ..."],
    # A sum beyond int32 is negative, and `lax.dynamic_slice` then takes the zeros in front.
    "_indexing/moved_windows": ["... = varying_alike(operand, [jnp.clip(..., high) -> ...])"],
    # How many elements a step seems to compute; a loop of more raises in the step.
    "_indexing/loops": ["return [0 -> 1]"],
    # How much is looked at, and what is kept: either way the values are the same.
    "_indexing/sources": [
        "_MOST = [128 -> ...]",
        "_LARGEST_CONSTANT = [1024 -> ...]",
        "...[math.prod(shape) <= _LARGEST_CONSTANT -> ... < _LARGEST_CONSTANT]...",
        "axes = [list(...) -> ...]",
        "permutation = [list(...) -> ...]",
        "sources = [list(numbers) -> numbers]",
        "sources, numbered = ([list(values) -> values], ...",
        "sources, numbered = (..., [list(range(len(values))) -> ...])",
    ],
    # Of no element the number -1 is taken, as for an index that is ignored. In 64 bits no axis is
    # longer than an index reaches, so the select that follows changes nothing.
    "_indexing/policy": [
        "if [limit > 0 -> limit >= 0] and mode == 'clip':",
        "if not are_long(spec.limits) or indices.dtype.itemsize == [8 -> 7]:",
    ],
    # The places are sorted already.
    "_indexing/first_occurrences": ["..., ... = lax.sort(..., num_keys=[2 -> 3])"],
    # Equal sizes have been returned before.
    "_ops/bitcast": [
        "places = places.reshape((1,) * (x.ndim - [new_bits > bits -> ... >= bits]) + ..."
    ],
    # Which of two ways to compute the same numbers is taken.
    "_ops/casting": ["if [not is_eager or ... -> True]:"],
    "_ops/where": [
        "if max(known.size, *known.shape) <= np.iinfo([np.int32 -> np.int16]).max:",
        "if [max(known.size, *known.shape) <= np.iinfo(np.int32).max -> ... < ...]:",
    ],
    # The arrays have one dimension.
    "_ops/segments": ["return (..., jnp.stack(components, [-1 -> 1]), ..."],
    # Numbers of this dtype stay as they are.
    "_ops/setdiff1d": ["if [others.dtype != data.dtype -> True]:"],
    # Of texts of 20 digits and more none fits; the other ways compute the same numbers.
    "_ops/string_to_number": [
        "if len(match['digits']) > [20 -> ...]:",
        "if [_jax_internals.is_eager() -> False]:",
        "is_plain &= (signed >= info.min) & (signed <= [info.max -> info.min])",
    ],
    # The same slice, of an array that is reversed as a whole.
    "_ops/strided_slice": ["if [is_symbolic_dim(dim) -> True]:"],
    # How much larger than the array the bound of its size is.
    "_run/extents": [
        "... = sum([sorted(...)[-2:] -> sorted(...)[:]]) + ...",
        "... = sum(sorted(...)[-[2 -> 3]:]) + ...",
        "bits = [... + len(shapes).bit_length() -> sum(sorted(shapes)[-2:])]",
        "bits = ... + [len(shapes).bit_length() -> len(shapes)]",
        "dims = ... + len([static.get('shape', ()) -> static])",
    ],
    # After how many reads a lookup gives up.
    "_sparse/gradient/delayed": ["MAX_READ = [1000 -> ...]"],
    # Which of two ways to compute the same numbers is taken.
    "_sparse/gradient/walk": ["return all(([size == 1 -> size != 1] or ..."],
    # Of that axis there is no coordinate here.
    "_sparse/gradient/delayed_rules": ["at = {d - [d > axis -> d >= axis]: c for ..."],
    # A number that equals the limit becomes the limit, or stays: both are the same.
    "_sparse/slices/repeated_rows": ["valid = (indices >= 0) & [indices < num_rows -> ...]"],
    # Without this fact the steps are compared, which show the same.
    "_sparse/optimizer/scaled": ["... (name in ... and [shapes[0][:1] -> shapes[0][:]] == ..."],
    # Where two sizes become one, and the program is another, the next sizes are tried.
    "_sparse/optimizer/probe": ["dims = {d: [limit + 1 + n -> limit + 1] for ..."],
    # How far states and parameters go beyond those of a few steps. Complex numbers hold real ones.
    "_sparse/optimizer/runner": [
        "for leaves, most in ((self.probe.states, 5), (self.probe.parameters, [3 -> 2])):",
        "return x.astype([complex if np.iscomplexobj(x) else float -> complex])",
    ],
    # Either of two loops makes the round.
    "_sparse/slices/owner_rows": ["is_one = (rounds <= [1 -> 0]).astype(jnp.int32)"],
    # How many differences show the noise, how many times what they show is taken for it, and how
    # many times the estimated error is allowed.
    "testing/_numeric": [
        "SAFETY = [4.0 -> ...]",
        "for n in range(-[3 -> 2], 4):",
        "noise = jitter if step > min(line.steps) else [2 -> ...] * jitter",
        "noise = jitter if step > min(line.steps) else [2 * jitter -> jitter]",
    ],
    # Two numbers that are computed in floats are hardly ever equal. A second start is as the first.
    # There are no comparisons where the default counts.
    "testing/_grads": [
        "...[found.bound <= allowed -> ...]...",
        "...[found.bound <= smooth -> ...]...",
        "if [n == 0 -> True]:",
        "scale = max([...], default=[0.0 -> 1.0])",
    ],
}
