"""The arguments of `checked`, kept while the checked code runs."""

from __future__ import annotations

import dataclasses
import fnmatch
import functools

import jax

from jaxops import _call_sites


@dataclasses.dataclass(frozen=True, eq=False)
class AtCall:
    """A call of a method of `jaxops.at(x)[index]`; a part of the keys of JAX's caches."""

    operation: str  # "at[...].set"
    mode: str
    fill_value: bool | int | float | complex
    padding: int | None  # of indices as JAX makes them of the caller's
    wraps: bool  # whether JAX counts negative indices from the end

    # Compared by their words, as no NaN equals itself, and 0.0 equals -0.0 (test_setting.py,
    # test_a_second_read_with_a_fill_value_compiles_nothing).
    def __eq__(self, other: object) -> bool:
        return isinstance(other, AtCall) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


@dataclasses.dataclass(frozen=True)
class Setting:
    """The arguments of `checked`; a part of the keys of JAX's caches."""

    outside: tuple[tuple[str, str], ...] = ()
    mode: str = "device"
    negative: bool = False  # whether a negative index is an error
    one_hot: bool = False
    repeat: bool = False
    padding: int | None = None  # an index of this number is no error: by `jaxops.padding_index`
    at: AtCall | None = None  # while a method of `jaxops.at(x)[index]` runs JAX's


@functools.lru_cache(maxsize=4096)
def rule_of(outside: tuple[tuple[str, str], ...], file: str, function: str) -> str | None:
    """The rule of `outside` for the indices of a function: "any", "padding" or None."""
    # A user copies the function's name from an error, which has it without the outer function.
    names = (file, f"{file}:{function}", f"{file}:{_call_sites.without_outer(function)}")
    for pattern, rule in outside:
        if any(fnmatch.fnmatchcase(name, f"*{pattern}") for name in names):
            return rule
    return None


# The setting; False within `unchecked`; None outside of both. JAX's caches of traced and of
# compiled programs have its value in their keys, so a function that was called before is traced
# again.
within = jax.make_user_context(None)
_everywhere: list[Setting] = []  # of the process: by `check_everything`


def current() -> Setting | None:
    """The setting for the code that runs; None if it is not checked."""
    value = within.value
    if value is None:
        return _everywhere[-1] if _everywhere else None
    return value or None


def set_everywhere(setting: Setting) -> None:
    """Applies a setting to all code of this process outside of `checked` and `unchecked`."""
    _everywhere[:] = [setting]
    # One more value in the keys of the caches: code that was traced before is not checked.
    jax.make_user_context(setting)
