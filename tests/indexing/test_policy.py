"""_indexing/policy: the policy in compiled code and its twin in NumPy decide alike."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from long_axes import DTYPES, LENGTHS, as_mode_has_it, indices_of, is_refused
from records import CALLS, joined

import jaxops
from jaxops._indexing import policy
from jaxops._indexing.specs import ScalarIndex

LIMITS = [1, 127, 128, 255, 256, *LENGTHS]


@pytest.mark.parametrize(("dtype", "x64"), DTYPES, indirect=["x64"])
@pytest.mark.parametrize("mode", ["fill", "clip", "wrap", "promise_in_bounds"])
def test_modes_without_errors(mode, dtype, x64):
    """On the host: -1 for an index that is ignored. Compiled: a mask of those that are not."""
    indices = indices_of(dtype)
    on_host = np.array(indices, dtype)
    for limit in LIMITS:
        spec = ScalarIndex("gather", limits=(limit,))
        expected = [as_mode_has_it(index, limit, mode) for index in indices]
        or_ignored = [-1 if place is None else place for place in expected]
        received = policy.resolve_on_host(spec, on_host, mode, "cpu")
        np.testing.assert_array_equal(received, or_ignored, f"{limit}")
        if mode == "fill":
            received = policy.resolve_on_host(spec, on_host, "device", "gpu")
            np.testing.assert_array_equal(received, or_ignored, f"{limit}")
        if mode == "wrap" and is_refused(dtype, limit, x64):
            with pytest.raises(ValueError, match=f"positions among {limit} take 64 bits"):
                policy.resolve(spec, jnp.array(on_host)[:, None], mode)
            continue
        resolved, valid = policy.resolve(spec, jnp.array(on_host)[:, None], mode)
        assert resolved.dtype != np.uint64  # not what XLA should gather with
        inside = [place is not None for place in expected]
        if mode == "fill":
            np.testing.assert_array_equal(valid, inside, f"{limit}")
        received = np.asarray(resolved)[inside, 0]
        np.testing.assert_array_equal(received, [x for x in expected if x is not None], f"{limit}")


@pytest.mark.parametrize("dtype", [dtype for dtype, x64 in DTYPES if x64])
@pytest.mark.parametrize(
    ("mode", "platform"), [("error", "gpu"), ("error", "cpu"), ("device", "cpu")]
)
def test_errors(mode, platform, dtype):
    spec = ScalarIndex("gather", limits=(5,))
    for index in indices_of(dtype):
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
