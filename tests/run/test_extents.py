"""_run/extents: shapes that XLA cannot count. Only traced here, as others may end XLA."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops
from jaxops._run import extents

(N,) = jax.export.symbolic_shape("n")
LARGE, COUNTED, WALKED = (
    "2**56 bytes",
    "2**63 bytes by the dimensions before a 0",
    "2**26 places before a 0",
)
LIMITS = [
    ((), np.float32, None),
    ((2**54 - 1,), np.float32, None),
    ((2**54,), np.float32, LARGE),
    ((2**53, 7), np.float32, LARGE),
    ((2**53, 7), np.int8, None),
    ((2**31, 2**32, 0), np.int8, COUNTED),
    ((2**31, 2**30, 0), np.float32, COUNTED),
    ((0, 2**31, 2**32), np.float32, None),
    ((0, 2**63 - 1), np.float32, None),
    ((0, 2**63), np.float32, COUNTED),
    ((2**26, 0), np.float32, WALKED),
    ((2**13, 2**13, 0), np.float32, WALKED),
    ((2**26 - 1, 0, 2**40), np.float32, None),
    # In 32 bits these are less than 0, 0 and 5.
    ((2**31, 0), np.float32, None),
    ((2**32, 0), np.float32, None),
    ((2**32 + 5, 0), np.float32, None),
    ((N, 3), np.float32, None),
    ((N, 2**54), np.float32, LARGE),
]


@pytest.mark.parametrize(("shape", "dtype", "passed"), LIMITS)
def test_limits(shape, dtype, passed):
    assert extents.limit(shape, dtype) == passed


def rest(x):
    return jaxops.boolean_mask(x, jnp.ones(1, bool), axis=1, size=0)


# Of arrays of a legal shape.
REFUSED = {
    "transpose": (jaxops.transpose, (0, 2**28), (2**28, 0), WALKED),
    "boolean_mask": (rest, (2**27, 1), (2**27, 0), WALKED),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    function, shape, made, passed = REFUSED[name]
    with pytest.raises(ValueError) as info:
        jax.eval_shape(function, jax.ShapeDtypeStruct(shape, np.float32))
    assert f"must make arrays of less than {passed}; received" in str(info.value)
    assert str(info.value).endswith(f", which make one of shape {made}")


def test_of_many_dimensions():
    x = jax.ShapeDtypeStruct((1,) * 128, np.int32)
    for call in (lambda x: jaxops.gather(x, x), lambda x: jaxops.reshape(x, [1] * 254)):
        with pytest.raises(ValueError, match="must make arrays of less than 254 dimensions"):
            jax.eval_shape(call, x)
