"""`checked`: an error for each index out of bounds in JAX code that already exists."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, ParamSpec, TypeVar, overload

from jaxops import _frames
from jaxops._checked import primitives
from jaxops._checked import setting as settings
from jaxops._checked.setting import Setting
from jaxops._errors import brief, check_runs_at_once
from jaxops._run.arguments import Int
from jaxops._run.static_values import check_bool, check_choice, static_padding_index

_P = ParamSpec("_P")
_R = TypeVar("_R")


@overload
def checked(
    fun: Callable[_P, _R],
    *,
    outside: Mapping[str, str] | None = None,
    negative: Literal["from_end", "error"] = "from_end",
    one_hot: bool = False,
    repeat: bool = False,
    mode: Literal["device", "error"] = "device",
) -> Callable[_P, _R]: ...


@overload
def checked(
    fun: None = None,
    *,
    outside: Mapping[str, str] | None = None,
    negative: Literal["from_end", "error"] = "from_end",
    one_hot: bool = False,
    repeat: bool = False,
    mode: Literal["device", "error"] = "device",
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...


def checked(
    fun=None, *, outside=None, negative="from_end", one_hot=False, repeat=False, mode="device"
):
    """The function `fun`, unchanged, with an error for each index out of bounds.

    `jaxops.checked(fun)` computes what `fun` computes. Each index that its code takes is checked,
    also in libraries that it calls: `x[i]`, `x.at[i].set` and its sisters, `jnp.take`,
    `jnp.take_along_axis`, `jnp.put`, `jnp.put_along_axis`, `jnp.add.at` and that of other ufuncs,
    `jax.ops.segment_sum` and its sisters, `lax.gather`, `lax.scatter`, `lax.dynamic_slice`,
    `lax.dynamic_update_slice`, `ref[i]` of `jax.new_ref`. `fun` may be jitted, and `checked(fun)`
    may be: under `jit`, `vmap`, `grad`, `shard_map` and in loops and branches an index is checked
    as often as the program takes it. In a `vmap` a call raises only for the branch that it takes.
    As a decorator: `@jaxops.checked`, or `@jaxops.checked(outside=...)`.

    Out of bounds has JAX's meaning: negative indices count from the end. An index with an
    explicit `mode=` that states the outcome ("clip", "wrap", "fill", "drop"), or with a
    `fill_value` that `jnp.take` reads, is not checked; one that is promised to be in bounds is
    checked. Indices that functions of JAX make for themselves (in `jnp.nonzero`, `jnp.unique`,
    `jnp.searchsorted`) are not checked.

    Args:
        fun: a function, of any arguments and results, but no generator and no coroutine.
        outside: for code that relies on JAX's behaviour at an index out of bounds: a mapping from
            patterns of files and functions to a rule, as in `{"jax_md/partition.py": "padding",
            "*:lookup": "any"}`. "any": no index of these functions is checked. "padding": the index
            may be the size of the axis. A pattern is the end of a path, or of path and
            function, which has the name that errors give; `*` fits anything, and a method has its
            class, as in "model.py:Encoder.embed". The first pattern that fits counts.
        negative: "from_end", or "error": then an array of indices may have no negative ones. A
            number that stands in the source, as in `x[-1]`, may be negative.
        one_hot: bool; whether a class that is not among the `num_classes` of `jax.nn.one_hot` is an
            error; JAX makes zeros of it.
        repeat: bool; whether a `total_repeat_length` of `jnp.repeat` that is not the sum of the
            repeats is an error; JAX drops or fills the rest.
        mode: "device": an error on a CPU, and elsewhere what JAX does. "error": an error on every
            platform.

    Returns:
        A function with the arguments and results of `fun`. Derivatives, donation and static
        arguments are those of `fun`.

    Raises:
        OutOfBoundsError: for an index out of bounds; in a compiled program in the words of JAX's
            exception, which `jaxops.typed_errors` turns into this one. The message has the index as
            the code writes it, its position, the axis, the function of JAX, and the line.
        TypeError: `fun` is not callable, or a generator or coroutine; wrong type of an argument.
        ValueError: an unknown rule, `negative` or `mode`; on a call: an index is checked where
            `jax.export` stores the program for a CPU.

    Gradient: the gradient of `fun`. An index in a backward rule of `jax.custom_vjp` is checked.

    Example:
        >>> import jax, jax.numpy as jnp, jaxops
        >>> def embed(table, words):
        ...     return jnp.take(table, words, axis=0)
        >>> table = jnp.ones((4, 2))
        >>> step = jaxops.typed_errors()(jax.jit(jaxops.checked(embed)))
        >>> step(table, jnp.array([3, -1])).shape
        (2, 2)
        >>> try:
        ...     step(table, jnp.array([1, 7]))
        ... except jaxops.OutOfBoundsError as error:
        ...     print(str(error).partition(" [Op")[0])
        index 7 at position [1] is out of bounds for axis 0 of an array of shape (4, 2)

    Source: https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html, "Out-of-bounds
    indexing"
    """
    setting = _setting("checked", outside, negative, one_hot, repeat, mode)
    if fun is None:
        return functools.partial(_within, "checked", setting)
    return _within("checked", setting, fun)


def unchecked(fun: Callable[_P, _R]) -> Callable[_P, _R]:
    """The function, whose indices are not checked even if `jaxops.checked` calls it.

    Args:
        fun: a function, of any arguments and results, but no generator and no coroutine.

    Returns:
        A function with the arguments and results of `fun`.

    Raises:
        TypeError: `fun` is not callable, or a generator or coroutine.

    Gradient: the gradient of `fun`.

    Example:
        >>> import jax.numpy as jnp, jaxops
        >>> last = jaxops.unchecked(lambda x, i: x[i])
        >>> jaxops.checked(last)(jnp.arange(3), jnp.array(9))  # as JAX has it: the last one
        Array(2, dtype=int32)

    Source: https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html, "Out-of-bounds
    indexing"
    """
    return _within("unchecked", False, fun)


def check_everything(
    *,
    outside: Mapping[str, str] | None = None,
    negative: Literal["from_end", "error"] = "from_end",
    one_hot: bool = False,
    repeat: bool = False,
    mode: Literal["device", "error"] = "device",
) -> None:
    """Checks all code of this process from now on, as `jaxops.checked` does.

    Functions that were jitted before are traced again. Code inside a `jaxops.checked` or
    `jaxops.unchecked` of its own follows that one. With the environment variable
    `JAXOPS_CHECK_EVERYTHING=1` a process that imports jaxops does the same, with default arguments,
    when JAX is imported. `python -m jaxops train.py` checks a script that does not import jaxops,
    and `pytest --jaxops-checked` the tests of a project; `outside` and `negative` are their
    options.

    Args:
        outside: the mapping that `jaxops.checked` takes, from patterns to rules.
        negative: "from_end", or "error" for negative indices of arrays.
        one_hot: bool; whether a class beyond those of `jax.nn.one_hot` is an error.
        repeat: bool; whether another length of `jnp.repeat` than the sum of repeats is an error.
        mode: "device", or "error" for errors on every platform.

    Returns:
        None.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: an unknown rule, `negative` or `mode`.

    Gradient: the gradient of the code.

    Example:
        >>> import jaxops
        >>> jaxops.check_everything(outside={"jax_md/partition.py": "padding"})  # doctest: +SKIP

    Source: https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html, "Out-of-bounds
    indexing"
    """
    setting = _setting("check_everything", outside, negative, one_hot, repeat, mode)
    primitives.wrap_primitives()
    settings.set_everywhere(setting)


def padding_index(number: Int) -> contextlib.AbstractContextManager[None]:
    """A block of checked code in which one number is no error as an index.

    For code whose arrays of indices are padded, with -1 or with a number that no element has. Such
    an index reads and writes what JAX reads and writes; any other index is checked. Without
    `jaxops.checked` around it the block has no effect. `jaxops.at` and the functions of jaxops take
    the same number as an argument, and read a fill value there.

    Args:
        number: static int: the index as the code writes it, before JAX counts it from the end.

    Returns:
        A context manager, for `with`.

    Raises:
        TypeError: `number` is no static int.
        ValueError: no dtype of indices holds `number`.

    Gradient: the gradient of the code.

    Example:
        >>> import jax.numpy as jnp, jaxops
        >>> @jaxops.checked(negative="error")
        ... def neighbours(x, table):
        ...     with jaxops.padding_index(-1):
        ...         return jnp.where(table == -1, 0, x[table])
        >>> neighbours(jnp.arange(3) + 5, jnp.array([2, -1, 0]))
        Array([7, 0, 5], dtype=int32)
        >>> try:
        ...     neighbours(jnp.arange(3) + 5, jnp.array([2, -2, 0]))
        ... except jaxops.OutOfBoundsError as error:
        ...     print(str(error).partition(" [Op")[0])
        index -2 at position [1] is negative, which negative='error' refuses

    Source: https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html, "Out-of-bounds
    indexing"
    """
    return _padded(static_padding_index(number, "padding_index", "number"))


@contextlib.contextmanager
def _padded(number: int) -> Iterator[None]:
    setting = settings.current()
    padded = setting and dataclasses.replace(setting, padding=number)
    with settings.within(padded or settings.within.value):
        yield


def _within(op: str, setting: Setting | bool, fun: Callable[_P, _R]) -> Callable[_P, _R]:
    check_runs_at_once(op, "fun", fun, f"Write jaxops.{op} around the functions that it calls")
    primitives.wrap_primitives()

    @_frames.without_frames
    @functools.wraps(fun)
    def function(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with settings.within(setting):
            return fun(*args, **kwargs)

    return function


def _setting(op: str, outside, negative, one_hot, repeat, mode) -> Setting:
    """The setting of arguments that the caller passed."""
    if outside is not None and not isinstance(outside, Mapping):
        raise TypeError(f"{op}: outside must be a mapping or None; received {brief(outside)}")
    for pattern, rule in (outside or {}).items():
        if not isinstance(pattern, str):
            raise TypeError(
                f"{op}: outside must map strings, as 'model.py:embed'; received {brief(pattern)}"
            )
        check_choice(rule, ("any", "padding"), op, f"outside[{pattern!r}]")
    check_choice(negative, ("from_end", "error"), op, "negative")
    check_choice(mode, ("device", "error"), op, "mode")
    options = {"negative": negative == "error"}
    options["one_hot"] = check_bool(one_hot, op, "one_hot")
    options["repeat"] = check_bool(repeat, op, "repeat")
    for name, is_on in options.items():
        if is_on:
            primitives.wrap_for_option(name)
    return Setting(tuple((outside or {}).items()), mode, **options)
