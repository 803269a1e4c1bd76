"""Refused calls: checked, unchecked, check_everything, and the methods of at."""

# pyright: reportCallIssue=false, reportArgumentType=false

import jax
import jax.numpy as jnp
import numpy as np

import jaxops
from refusals.values import X

# Wrong values of the arguments that `checked` and `check_everything` have, and the words.
OPTIONS = {
    "outside-str": ({"outside": "any"}, TypeError, "must be a mapping or None; received 'any'"),
    "outside-key": ({"outside": {3: "any"}}, TypeError, "must map strings, as 'model.py:embed'"),
    "outside-rule": (
        {"outside": {"a.py": "all"}},
        ValueError,
        "outside['a.py'] must be one of any, padding; received 'all'",
    ),
    "outside-none": ({"outside": {"a.py": None}}, ValueError, "outside['a.py'] must be one of any"),
    "negative-bool": ({"negative": True}, ValueError, "must be one of from_end, error; received T"),
    "negative-wrap": (
        {"negative": "wrap"},
        ValueError,
        "must be one of from_end, error; received 'wrap'",
    ),
    "mode-none": ({"mode": None}, ValueError, "must be one of device, error; received None"),
    "mode-clip": ({"mode": "clip"}, ValueError, "must be one of device, error; received 'clip'"),
    "one_hot-int": ({"one_hot": 1}, TypeError, "must be a static bool; received 1"),
    "repeat-str": ({"repeat": "error"}, TypeError, "must be a static bool; received 'error'"),
}


def _masked(mask, values):
    """A write by a traced mask, whose values are refused."""
    return lambda: jax.jit(lambda m: jaxops.at(jnp.ones((2, 3)))[m].set(values))(mask)


AT = {
    "at-operand-str": (lambda: jaxops.at("abc"), TypeError, "at: operand must be an array"),
    "at-mode-drop": (
        lambda: jaxops.at(X)[0].set(1.0, mode="drop"),
        ValueError,
        "at[...].set: mode must be one of device, error, fill, clip, wrap, promise_in_bounds; "
        "received 'drop'; JAX's mode 'drop' is 'fill' here",
    ),
    "at-fill_value-device": (
        lambda: jaxops.at(X)[0].get(fill_value=1.0),
        ValueError,
        'at[...].get: fill_value is used by mode="fill" and padding_index only; received fill_value=1.0',
    ),
    "at-fill_value-array": (
        lambda: jaxops.at(X)[0].get(mode="fill", fill_value=[1.0]),
        ValueError,
        "at[...].get: fill_value must be a scalar; received shape (1,)",
    ),
    "at-fill_value-dtype": (
        lambda: jaxops.at(jnp.arange(3))[0].get(mode="fill", fill_value=-1.5),
        TypeError,
        "at[...].get: fill_value must fit dtype int32; received -1.5",
    ),
    "at-fill_value-traced": (
        lambda: jax.jit(lambda v: jaxops.at(X)[0].get(mode="fill", fill_value=v))(1.0),
        TypeError,
        "at[...].get: fill_value must be static; received a traced array of shape ()",
    ),
    "at-get-mask": (
        lambda: jax.jit(lambda m: jaxops.at(X)[m].get())(np.ones(1, bool)),
        TypeError,
        "at[...].get: a mask must be known while tracing, as it decides the shape",
    ),
    "at-mask-shape": (
        _masked(np.ones(3, bool), 1.0),
        ValueError,
        "leading dimensions of the operand of shape (2, 3); received a mask of shape (3,)",
    ),
    "at-mask-values": (
        _masked(np.ones(2, bool), np.ones((2, 3))),
        ValueError,
        "values must broadcast to the shape (3,); received shape (2, 3)",
    ),
    "at-apply-func": (
        lambda: jaxops.at(X)[0].apply(1.0),
        TypeError,
        "at[...].apply: func must be callable; received 1.0",
    ),
    "at-option-unknown": (
        lambda: jaxops.at(X)[0].set(1.0, unique=True),
        TypeError,
        "unexpected keyword argument 'unique'",
    ),
    "at-wrap-wide": (
        lambda: jaxops.at(jnp.ones((65537, 0, 65521)))[np.array([0])].get(mode="wrap"),
        ValueError,
        "at[...].get: with mode='wrap' an index must have a dtype of at most 32 bits here",
    ),
}

CALLS = {
    **AT,
    "checked-fun-array": (
        lambda: jaxops.checked(X),
        TypeError,
        "must be callable; received an array of shape",
    ),
    "at-padding_index-float": (
        lambda: jaxops.at(X)[0].get(padding_index=1.0),
        TypeError,
        "at[...].get: padding_index must be a static int; received 1.0",
    ),
    "padding_index-number-text": (
        lambda: jaxops.padding_index("1"),
        TypeError,
        "padding_index: number must be a static int; received '1'",
    ),
    "padding_index-number-large": (
        lambda: jaxops.padding_index(2**64),
        ValueError,
        "padding_index: number must be in [-2**63, 2**64), as indices are; "
        "received 18446744073709551616",
    ),
    "unchecked-fun-none": (
        lambda: jaxops.unchecked(None),
        TypeError,
        "must be callable; received None",
    ),
    **{
        f"{function}-{case}": (lambda f=function, k=kwargs: getattr(jaxops, f)(**k), error, words)
        for case, (kwargs, error, words) in OPTIONS.items()
        for function in ("checked", "check_everything")
    },
}
