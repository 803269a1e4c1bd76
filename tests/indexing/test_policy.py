"""_indexing/policy: the policy in compiled code and its twin in NumPy decide alike."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from records import CALLS, joined

import jaxops
from jaxops._indexing import check, policy
from jaxops._indexing.specs import ScalarIndex

LIMITS = [1, 5, 127, 128, 255, 256, 2**31 - 1]
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


def edges(dtype, limits):
    """Indices of `dtype` beside 0, the limits and the ends of every integer dtype."""
    ends = [end for each in INTEGERS for end in (np.iinfo(each).min, np.iinfo(each).max)]
    numbers = {n + d for n in (0, *limits, *ends) for d in (-1, 0, 1)}
    info = np.iinfo(dtype)
    return np.array(sorted(n for n in numbers if info.min <= n <= info.max), dtype)


def compiled(spec, indices, mode):
    """By `resolve`, as `resolve_on_host` has it: -1 for an index that is ignored."""
    resolved, valid = jax.jit(lambda i: policy.resolve(spec, i, mode))(jnp.array(indices)[:, None])
    resolved = np.asarray(resolved)[:, 0].astype(np.int64)
    return resolved if valid is None else np.where(valid, resolved, -1)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("limit", LIMITS)
def test_modes_without_errors(limit, dtype):
    indices = edges(dtype, LIMITS)
    spec = ScalarIndex("gather", limits=(limit,))
    with jax.enable_x64(True):
        for mode in ("fill", "clip", "wrap"):
            on_host = policy.resolve_on_host(spec, indices, mode, "cpu")
            np.testing.assert_array_equal(on_host, compiled(spec, indices, mode), mode)
    inside = [0 <= int(i) < limit for i in indices]
    ignored = policy.resolve_on_host(spec, indices, "device", "gpu")
    np.testing.assert_array_equal(ignored, np.where(inside, indices.astype(np.int64), -1))
    np.testing.assert_array_equal(policy.resolve_on_host(spec, indices, "fill", "cpu"), ignored)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(
    ("mode", "platform"), [("error", "gpu"), ("error", "cpu"), ("device", "cpu")]
)
def test_errors(mode, platform, dtype):
    assert check.raises(mode, platform)
    indices = edges(dtype, [5])
    spec = ScalarIndex("gather", limits=(5,))
    for index in indices:
        one = np.array([3, index], dtype)
        if 0 <= index < 5:
            np.testing.assert_array_equal(policy.resolve_on_host(spec, one, mode, platform), one)
            continue
        with pytest.raises(jaxops.OutOfBoundsError) as on_host:
            policy.resolve_on_host(spec, one, mode, platform)
        with jax.enable_x64(True), pytest.raises(jaxops.OutOfBoundsError) as by_primitive:
            policy.resolve(spec, jnp.array(one)[:, None], "error")
        texts = [str(info.value).split(" at test_policy.py:") for info in (on_host, by_primitive)]
        assert texts[0][0] == texts[1][0]
        assert [len(text) for text in texts] == [2, 2]


def test_where_nothing_is_an_error():
    for mode in policy.MODES:
        assert check.raises(mode, "gpu") == (mode == "error")
        assert check.raises(mode, None) == (mode == "error")
        assert check.raises(mode, "cpu") == (mode in ("error", "device"))


WITH_POLICY = {
    what: entry
    for what, entry in joined("out_of_bounds").items()
    if "bad_indices_policy" in CALLS[what.split("-")[0]]
}


@pytest.mark.parametrize("name", WITH_POLICY)
def test_bad_indices_policy(name):
    entry = WITH_POLICY[name]

    def call(words, **options):
        return entry.call(jnp.array(entry.bad), bad_indices_policy=words, **options)

    ignored = call("", mode="fill")
    np.testing.assert_array_equal(call("IGNORE"), ignored)
    np.testing.assert_array_equal(call("IGNORE", mode="fill"), ignored)
    for words, options in [("", {}), ("DEFAULT", {}), ("ERROR", {"mode": "error"})]:
        with pytest.raises(jaxops.OutOfBoundsError, match=re.escape(entry.text)):
            call(words, **options)


def test_modes_of_policies():
    for words, mode, expected in [
        ("", "device", "device"),
        ("", "wrap", "wrap"),
        ("", "unknown", "unknown"),  # refused where modes are
        ("DEFAULT", "device", "device"),
        ("ERROR", "device", "error"),
        ("ERROR", "error", "error"),
        ("IGNORE", "device", "fill"),
        ("IGNORE", "fill", "fill"),
    ]:
        assert policy.mode_of_policy("gather_nd", words, mode) == expected
    for words, mode in [("DEFAULT", "error"), ("ERROR", "fill"), ("IGNORE", "clip")]:
        with pytest.raises(ValueError, match="gather_nd: bad_indices_policy must agree with mode"):
            policy.mode_of_policy("gather_nd", words, mode)
