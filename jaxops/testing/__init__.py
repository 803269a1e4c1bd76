"""Checks for research code: gradients, adjoints, errors out of bounds.

For tests, and for a look at a point where training misbehaves. The checks raise `AssertionError`
with the place and the size of the error, and need no test framework. Import the module by name, as
`from jaxops import testing`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

from jaxops._errors import OutOfBoundsError, find_in
from jaxops._frames import without_frames
from jaxops._run import arguments, static_values
from jaxops.testing import _adjoint, _function, _grads
from jaxops.testing._leaves import dtype_of, first_where, is_inexact, take_apart
from jaxops.testing._numeric import LADDERS, digits

__all__ = ["DerivativeMode", "assert_out_of_bounds", "check_adjoint", "check_grads"]

DerivativeMode: TypeAlias = Literal["fwd", "rev"]


def __dir__() -> list[str]:
    return __all__


@without_frames
def check_grads(
    f: Callable[..., Any],
    *args: Any,
    order: int = 1,
    modes: DerivativeMode | Sequence[DerivativeMode] = ("fwd", "rev"),
    directions: int = 3,
    seed: int = 0,
    rtol: float | None = None,
    numeric_dtype: DTypeLike | None = None,
    jit: Callable[..., Any] | None = jax.jit,
) -> None:
    """Checks the derivatives that JAX finds for `f` against central differences.

    The derivatives are compared along a few random directions, so that an argument of ten million
    elements costs as many evaluations of `f` as one of three elements. Only if a derivative is
    wrong are more evaluations made, to find the wrong element, by halving.

    The differences are taken with steps from wide to narrow, in proportion to each element (for an
    element that is 0, to its array). The step whose slope agrees best with those of other steps is
    used. The rest of the disagreement is part of the tolerance, and so is the noise that tiny steps
    show. So three cases are told apart: a wrong derivative; a kink of `f`, where there is no
    derivative; and a function whose differences say nothing, as it is not smooth or rounds too
    coarsely.

    One wrong element among `n` is noticed if it is wrong by more than about `rtol * sqrt(n)` times
    a typical element. Elements weigh in proportion to their size, as their steps do. An argument
    or a result that counts for little among the others is looked at alone as well.

    A kink that some elements reach does not hide the others: these are checked by steps that reach
    none, in at most 1,400 more evaluations. A warning names the elements that could not be checked.

    Args:
        f: function of `args` that returns arrays, or a pytree of them.
        *args: the point. Arrays, numbers or pytrees of them; each leaf of dtype `bfloat16`,
            `float16`, `float32`, `float64`, `complex64` or `complex128` is differentiated, one at
            least. Other arrays are passed to `f` as they are. So are other objects, such as a
            Python int, which stays static.
        order: static int, 1 or more: derivatives up to that order are checked, of every order each
            combination of `modes`.
        modes: static; `"fwd"` (`jax.jvp`), `"rev"` (`jax.vjp`), or a sequence of them. A function
            with a `custom_vjp` has no forward mode, and needs `"rev"`.
        directions: static int, 1 or more: how many random directions. The second has the signs of
            the gradient by reverse mode, so that nothing cancels: along other directions the slope
            of a mean over a million elements is lost in rounding.
        seed: static int, 0 or more; for the random directions and cotangents.
        rtol: static; between 0 and 1, the relative error that a right derivative may have. By
            default the square root of the `eps` of the coarsest dtype among arguments and results:
            1.5e-8 in float64, 3.5e-4 in float32, 0.03 in float16, 0.09 in bfloat16. The error of
            the differences comes on top.
        numeric_dtype: static; a dtype, such as `float32`, in which `f` is evaluated for the
            differences: narrower arguments are cast to it, and `f` must compute in the dtype of its
            arguments. Sharpens the check of a bfloat16 function, where otherwise only gross errors
            are seen, such as a factor of 2 or a wrong sign.
        jit: static; the function that compiles `f` and its derivatives: `jax.jit`, or another with
            the same call. None calls them uncompiled, for functions that need concrete values.

    Returns:
        None.

    Raises:
        AssertionError: a derivative is wrong, not finite, or comes with another value than `f`
            returns; `f` has a kink at `args`; or the differences say nothing. For a wrong
            derivative and a kink with the place: the element of the argument, by its path, and in
            forward mode the element of the result.
        TypeError: wrong type of an argument; no argument or no result has a floating-point dtype.
        ValueError: wrong value of an argument; `args` or the result hold an infinity or a NaN.

    Gradient: of complex arguments both parts are moved. Cotangents are paired with results
    without a conjugate, and the real part counts, as in `jax.vjp`.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from jaxops import testing
        >>> testing.check_grads(jnp.sin, jnp.arange(3.0), order=2)

        >>> @jax.custom_vjp
        ... def f(x):
        ...     return x * x
        >>> f.defvjp(lambda x: (x * x, x), lambda x, cotangent: (x * cotangent,))
        >>> testing.check_grads(f, 3.0, modes="rev")
        Traceback (most recent call last):
            ...
        AssertionError: check_grads: the gradient of f by reverse mode (vjp) is wrong at args[0]:
          expected 6 (by central differences), received 3; difference 3, tolerance 0.002...
          1 of 1 elements looked at are wrong
          order 1, seed=0, rtol=0.00035
    """
    op = _function.OP
    _check_callable(f, op, "f")
    order = _count(order, op, "order", 1)
    directions = _count(directions, op, "directions", 1)
    seed = _count(seed, op, "seed", 0)
    chosen = _modes(modes, op)
    _check_rtol(rtol, op)
    if jit is not None:
        _check_callable(jit, op, "jit")
    if numeric_dtype is not None:
        numeric_dtype = _numeric_dtype(numeric_dtype, op)
    problem = take_apart(f, args, op, is_inexact)
    _check_operands(problem, op)
    settings = _function.Settings(_name_of(f), chosen, directions, seed, rtol, numeric_dtype, jit)
    for message in _grads.check(problem, settings, order):
        warnings.warn(message, stacklevel=3)  # 2 is `_frames.without_frames`


@without_frames
def check_adjoint(
    f: Callable[..., Any],
    *args: Any,
    by: Literal["linear_transpose", "vjp"] = "linear_transpose",
    seed: int = 0,
    jit: Callable | None = jax.jit,
) -> None:
    """Checks that the transpose of a linear function is its adjoint: `<f(x), y> == <x, f^T(y)>`.

    `x` and `y` are random small whole numbers. A function that moves, adds and subtracts elements
    gives whole numbers too. As long as all results are whole and exact in their dtype, the identity
    must hold exactly; otherwise within a tolerance of a few rounding errors. For integers it must
    always hold exactly, modulo 2 to the bits of the dtype.

    That `f` is linear is checked too: `f(0)` is 0, and `f(x + z)` is `f(x) + f(z)`.
    It takes four evaluations of `f` and three of the transpose, for arrays of any size; only if
    the identity fails it takes more, to find the wrong element by halving.

    Args:
        f: function that is linear in all its floating-point arguments together.
        *args: arrays, numbers or pytrees of them, whose shapes and dtypes `x` takes; their
            values do not matter. Leaves of a floating-point or complex dtype are the operands;
            where there are none, the integer arrays are. All other leaves, such as indices, are
            passed to `f` as they are.
        by: static; the transformation that transposes `f`: `"linear_transpose"`
            (`jax.linear_transpose`), or `"vjp"` (`jax.vjp`), which also takes functions with a
            `custom_vjp` or `custom_jvp`.
        seed: static int, 0 or more; for the random numbers.
        jit: static; the function that compiles `f` and its transpose: `jax.jit`, or another with
            the same call. None calls them uncompiled.

    Returns:
        None.

    Raises:
        AssertionError: `f` is not linear, or JAX cannot transpose it, or the identity does not
            hold; with the element of the argument where it does not.
        TypeError: wrong type of an argument; no argument or result to pair; `by="vjp"` of integers.
        ValueError: wrong value of an argument.

    Gradient: of complex numbers the pairing takes no conjugate: JAX's transpose is the adjoint
    without it.

    Example:
        >>> import jax, jax.numpy as jnp, jaxops
        >>> from jaxops import testing
        >>> def pool(rows, segments):
        ...     return jaxops.scatter_nd(segments[:, None], rows, [2, 3])
        >>> testing.check_adjoint(pool, jnp.ones((4, 3)), jnp.array([0, 1, 1, 0]))
        >>> testing.check_adjoint(lambda x: x + 1, jnp.ones(2))
        Traceback (most recent call last):
            ...
        AssertionError: check_adjoint: <lambda> is not linear: at 0 it is 1 in result[0]
          seed=0
    """
    op = _adjoint.OP
    _check_callable(f, op, "f")
    seed = _count(seed, op, "seed", 0)
    static_values.check_choice(by, _adjoint.TRANSPOSES, op, "by")
    if jit is not None:
        _check_callable(jit, op, "jit")
    leaves = jax.tree.leaves(args)
    of_integers = not any(is_inexact(dtype_of(leaf)) for leaf in leaves)
    if of_integers and by == "vjp":
        raise TypeError(f"{op}: args must hold a floating-point array for by='vjp'; received none")
    problem = take_apart(f, args, op, _is_integer if of_integers else is_inexact)
    if not problem.operands:
        raise TypeError(f"{op}: args must hold an array of numbers; received none")
    _adjoint.Check(problem, _name_of(f), by, seed, jit).run()


@without_frames
def assert_out_of_bounds(
    f: Callable[..., Any], *args: Any, match: str | None = None, jit: Callable[..., Any] = jax.jit
) -> OutOfBoundsError:
    """Asserts that `f(*args)` raises out of bounds, called as it is and under `jit`.

    The two raise different exceptions: an eager call `jaxops.OutOfBoundsError`, a compiled program
    JAX's exception for a failed computation, with the same text in it. The program raises only when
    its result is waited for, as is done here.

    By default the functions of jaxops raise on the CPU only: elsewhere pass `mode="error"` to
    them, or expect this to fail.

    Args:
        f: function, which may be compiled already, or call compiled functions.
        *args: arrays or pytrees of them, which are traced under `jit`. Close over what is static.
        match: static; a regular expression that is searched for in both texts. By default the
            text of the first error must stand in that of the second; where several indices are
            out of bounds in different calls, either may be found first.
        jit: static; the function that compiles `f`: `jax.jit`, or another with the same call.

    Returns:
        The error of the first call, with its `operation`, `position`, `index`, `bound`, `where`
        and `name`.

    Raises:
        AssertionError: one of the two calls does not raise, or raises something else.
        TypeError: wrong type of an argument.
        ValueError: `match` is no regular expression.

    Gradient: none: `f` is called, not differentiated. `jax.grad(f)` may be passed as `f`.

    Example:
        >>> import jax.numpy as jnp, jaxops
        >>> from jaxops import testing
        >>> def last(table, lengths):
        ...     return jaxops.gather(table, lengths)  # should be lengths - 1
        >>> error = testing.assert_out_of_bounds(last, jnp.ones((4, 2)), jnp.array([1, 4]))
        >>> error.position, error.index, error.bound
        ((1,), 4, 4)
    """
    op = "assert_out_of_bounds"
    _check_callable(f, op, "f")
    _check_callable(jit, op, "jit")
    if match is not None and not isinstance(match, str):
        raise TypeError(f"{op}: match must be a regular expression as str; received {match!r}")
    try:
        re.compile(match or "")
    except re.error as error:
        raise ValueError(
            f"{op}: match must be a regular expression; received {match!r}: {error}"
        ) from None
    name = _name_of(f)
    errors = {}
    for how, call in {"as it is": f, "under jit": jit(f)}.items():
        raised = _exception_of(call, args)
        errors[how] = find_in(raised)
        if errors[how] is None:
            raise AssertionError(
                f"{op}: {name} called {how} must raise out of bounds; {_outcome(raised)}"
            ) from raised
    first = errors["as it is"]
    expected = str(first) if match is None else match
    for how, error in errors.items():
        if not re.search(re.escape(expected) if match is None else match, str(error)):
            raise AssertionError(
                f"{op}: {name} called {how} must raise with {expected!r}; {_outcome(error)}"
            ) from error
    return first


def _exception_of(f: Callable, args: tuple) -> Exception | None:
    try:
        jax.block_until_ready(f(*args))
    except Exception as error:
        return error
    return None


def _outcome(error: Exception | None) -> str:
    if error is not None:
        return f"it raised {type(error).__name__}: {error}"
    platform = jax.default_backend()
    hint = "" if platform == "cpu" else f' (on {platform} only mode="error" raises)'
    return f"it raised nothing{hint}"


def _check_callable(f: Any, op: str, arg: str) -> None:
    if not callable(f):
        raise TypeError(f"{op}: {arg} must be callable; received {f!r}")


def _count(x: Any, op: str, arg: str, least: int) -> int:
    count = static_values.static_int(x, op, arg)
    if count < least:
        raise ValueError(f"{op}: {arg} must be an int, {least} or more; received {x!r}")
    return count


def _name_of(f: Callable) -> str:
    return getattr(f, "__name__", None) or repr(f)


def _modes(modes: Any, op: str) -> tuple[str, ...]:
    chosen = (modes,) if isinstance(modes, str) else modes
    if not isinstance(chosen, Sequence):
        raise TypeError(f"{op}: modes must be a str or a sequence of them; received {modes!r}")
    known = list(_function.MODES)
    if not chosen or any(mode not in known or chosen.count(mode) > 1 for mode in chosen):
        raise ValueError(f"{op}: modes must be 'fwd', 'rev' or both; received {modes!r}")
    return tuple(chosen)


def _check_rtol(rtol: Any, op: str) -> None:
    if rtol is None:
        return
    if isinstance(rtol, bool) or not isinstance(rtol, (int, float, np.integer, np.floating)):
        raise TypeError(f"{op}: rtol must be a number; received {arguments.brief(rtol)}")
    if not 0 < rtol < 1:
        raise ValueError(f"{op}: rtol must be between 0 and 1; received {rtol!r}")


def _is_integer(dtype: Any) -> bool:
    return dtype is not None and jnp.issubdtype(dtype, jnp.integer)


def _numeric_dtype(dtype: Any, op: str) -> np.dtype:
    try:
        wide = np.dtype(dtype)
    except TypeError:
        wide = None
    if wide is None or wide not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"{op}: numeric_dtype must be float32 or float64; received {dtype!r}")
    if jax.dtypes.canonicalize_dtype(wide) != wide:
        raise ValueError(f"{op}: numeric_dtype is {wide}; {arguments.X64_HINT}")
    return wide


def _check_operands(problem, op: str) -> None:
    if not problem.operands:
        raise TypeError(f"{op}: args must hold an array of a floating-point dtype; received none")
    for x, name in zip(problem.operands, problem.names, strict=True):
        if digits(x.dtype) not in LADDERS:
            raise TypeError(
                f"{op}: {name} must have 16 bits or more in its dtype; received {x.dtype}"
            )
    place = first_where(problem.names, problem.operands, lambda x: ~np.isfinite(x))
    if place is not None:
        raise ValueError(
            f"{op}: args must be finite; received a value that is not: {place}. "
            "Close over what is not to be moved"
        )
