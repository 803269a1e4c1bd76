"""Refused calls: checked, unchecked and check_everything."""

# pyright: reportCallIssue=false, reportArgumentType=false

import jaxops
from refusals.values import X

# Wrong values of the arguments that `checked` and `check_everything` have, and the words.
OPTIONS = {
    "outside-str": ({"outside": "any"}, TypeError, "must be a mapping or None; received 'any'"),
    "outside-key": ({"outside": {3: "any"}}, TypeError, "must map strings, as 'model.py:embed'"),
    "outside-rule": (
        {"outside": {"a.py": "all"}},
        ValueError,
        "outside['a.py'] must be 'any' or 'padding'; received 'all'",
    ),
    "outside-none": ({"outside": {"a.py": None}}, TypeError, "outside['a.py'] must be a str"),
    "negative-bool": ({"negative": True}, TypeError, "must be a str; received True"),
    "negative-wrap": (
        {"negative": "wrap"},
        ValueError,
        "must be 'from_end' or 'error'; received 'wrap'",
    ),
    "mode-none": ({"mode": None}, TypeError, "must be a str; received None"),
    "mode-clip": ({"mode": "clip"}, ValueError, "must be 'device' or 'error'; received 'clip'"),
    "one_hot-int": ({"one_hot": 1}, TypeError, "must be a bool; received 1"),
    "repeat-str": ({"repeat": "error"}, TypeError, "must be a bool; received 'error'"),
}


CALLS = {
    "checked-fun-array": (
        lambda: jaxops.checked(X),
        TypeError,
        "must be callable; received an array of shape",
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
