"""Both libraries' outcome of a call, and the comparison of the two."""

import collections
import contextlib
import gc
import logging
from collections.abc import Callable
from typing import Any

import differences
import jax
import jax.numpy as jnp
import numpy as np
from calls import Call, Refused
from draws import dtype_of, is_inexact, is_integer, values
from entries import Entry
from hypothesis import HealthCheck, Phase, given, settings
from peer import tf

import jaxops

# What jaxops documents; under `jit` an index out of bounds may be a JaxRuntimeError too.
OUR_ERRORS = (ValueError, TypeError, IndexError)
THEIR_ERRORS = (tf.errors.OpError, ValueError, TypeError, IndexError)

# Of each size, a dtype that TensorFlow has all kernels for.
STAND_INS = {1: np.uint8, 2: np.float16, 4: np.float32, 8: np.float64}

# Larger ones, in which the results of small dtypes are right but for the bits that do not fit.
WIDER = {"int4": np.int8, "uint4": np.uint8, "float8_e4m3fn": np.float32, "float8_e5m2": np.float32}

WIDE = {"int64", "uint64", "float64", "complex128"}

CLASSES = ("values", "out of bounds", "invalid", "empty", "compiled", "gradients")

logging.getLogger("jax").setLevel(logging.CRITICAL)  # a traceback for each error under jit


class Tally(collections.Counter):
    """How often what was compared.

    Each of the calls is one of "values", "out of bounds" and "invalid", by jaxops' outcome; the
    last two are the "errors". Any of them may be "empty": it has data without elements.
    """

    def __str__(self) -> str:
        return ", ".join(f"{self[key]} {key}" for key in sorted(self))

    def shares(self) -> str:
        """The classes of calls, in percent."""
        calls = max(self["calls"], 1)
        return " ".join(f"{100 * self[key] / calls:13.1f}" for key in CLASSES)


def clear_programs() -> None:
    jax.clear_caches()
    gc.collect()


def check(entry: Entry, call: Call, tally: Tally) -> None:
    """Raises an AssertionError where jaxops differs from TensorFlow, and is not meant to."""
    tally["calls"] += 1
    difference = None if call.known is None else differences.DIFFERENCES[call.known]
    with jax.enable_x64(entry.x64 or needs_x64(call)):
        ours = our_outcome(entry, call)
        theirs = their_outcome(entry, call, tally)
        if call.float_for_int:
            assert isinstance(ours, Refused), f"not refused: {ours}"
            tally["meant differences"] += not isinstance(theirs, Refused)
        elif theirs is None:
            pass
        elif difference is None:
            compare(ours, theirs)
        else:
            tally["meant differences"] += 1
            difference.check(ours, theirs)
        _count(entry, call, ours, tally)
        if call.jit and not _holds_strings(call):
            tally["compiled"] += 1
            compare(our_outcome(entry, call, compiled=True), ours, peer="the eager call")
        if (
            call.gradient
            and not isinstance(ours, Refused)
            and isinstance(theirs, list)
            and difference is None
        ):
            compare_gradients(entry, call, ours, tally)


def _count(entry: Entry, call: Call, ours: Any, tally: Tally) -> None:
    data = jax.tree.leaves([call.args.get(name) for name in entry.data])
    tally["empty"] += any(isinstance(x, np.ndarray) and x.size == 0 for x in data)
    if not isinstance(ours, Refused):
        tally["values"] += 1
        return
    tally["errors"] += 1
    outside = isinstance(ours.error, jaxops.OutOfBoundsError)
    tally["out of bounds" if outside else "invalid"] += 1


def needs_x64(call: Call) -> bool:
    def is_wide(x: Any) -> bool:
        if isinstance(x, np.dtype):
            return x.name in WIDE
        return isinstance(x, np.ndarray) and x.dtype.name in WIDE

    return any(is_wide(leaf) for leaf in jax.tree.leaves(list(call.args.values())))


def _holds_strings(call: Call) -> bool:
    """Which stay on the host."""
    return any(
        isinstance(x, np.ndarray) and x.dtype.kind == "S" for x in jax.tree.leaves(call.args)
    )


# jaxops


def our_outcome(entry: Entry, call: Call, compiled: bool = False) -> Any:
    """Arrays, in a list, or `Refused`."""
    try:
        if compiled:
            traced = _traced(entry, call)

            def function(arrays):
                return _call_ours(entry, call, {**call.args, **arrays})

            result = jax.block_until_ready(jax.jit(function)(traced))
        else:
            args = dict(call.args)
            if call.on_device:
                args |= {n: jax.tree.map(_to_device, args[n]) for n in entry.data if n in args}
            result = _call_ours(entry, call, args)
    except OUR_ERRORS as error:
        return Refused(error)
    except jax.errors.JaxRuntimeError as error:
        if not compiled:
            raise
        return Refused(error)
    return arrays(result)


def _call_ours(entry: Entry, call: Call, args: dict[str, Any]) -> Any:
    given = list(args.items())
    positional, named = given[: call.positional], given[call.positional :]
    return entry.ours(*(x for _, x in positional), **dict(named))


def _to_device(x: Any) -> Any:
    return jnp.asarray(x) if isinstance(x, np.ndarray) and x.dtype.kind != "S" else x


def _traced(entry: Entry, call: Call) -> dict[str, Any]:
    """Data that can be traced: not strings."""
    names = call.traced if call.traced is not None else entry.traced
    if names is None:
        names = entry.data
    chosen = {name: call.args[name] for name in names if name in call.args}
    return {
        name: x
        for name, x in chosen.items()
        if all(isinstance(a, np.ndarray) and a.dtype.kind != "S" for a in jax.tree.leaves(x))
        and jax.tree.leaves(x)
    }


def arrays(result: Any) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in _listed(result)]


# TensorFlow


def their_outcome(entry: Entry, call: Call, tally: Tally) -> Any:
    """Arrays, in a list, or `Refused`; None where there is no kernel, so nothing to compare with.

    A function that moves elements moves others then: of a dtype of the same size, or the parts of
    complex numbers one after the other.
    """
    leaves = [
        leaf for leaf in jax.tree.leaves(call.args) if isinstance(leaf, (np.ndarray, np.dtype))
    ]
    lacking = {name_of(x) for x in leaves} & entry.no_kernel
    outcome = _call_theirs(entry, call.args)
    if not lacking:
        return outcome
    if not isinstance(outcome, Refused) or not _lacks_kernel(outcome):
        return outcome
    tally["without kernel"] += 1
    if entry.widens:
        return _in_wider_dtype(entry, call, lacking)
    if not entry.moves:
        return None
    if any(name.startswith("complex") for name in lacking):
        real, imag = (_with_data(entry, call, _part(part)) for part in (np.real, np.imag))
        if isinstance(real, Refused):
            return real
        return [_complex(*parts) for parts in zip(real, imag, strict=True)]
    (dtype,) = {x.dtype for x in leaves if isinstance(x, np.ndarray) and name_of(x) in lacking}
    stand_in = np.dtype(STAND_INS[dtype.itemsize])
    outcome = _with_data(entry, call, lambda x: x.view(stand_in) if x.dtype == dtype else x)
    if isinstance(outcome, Refused):
        return outcome
    return [x.view(dtype) if x.dtype == stand_in else x for x in outcome]


def _in_wider_dtype(entry: Entry, call: Call, lacking: set[str]) -> Any:
    (name,) = lacking
    narrow, wide = dtype_of(name), np.dtype(WIDER[name])
    outcome = _with_data(entry, call, lambda x: x.astype(wide) if x.dtype == narrow else x)
    if isinstance(outcome, Refused):
        return outcome
    return [x.astype(narrow) if x.dtype == wide else x for x in outcome]


def name_of(x: np.ndarray | np.dtype) -> str:
    dtype = x.dtype if isinstance(x, np.ndarray) else x
    return "bytes" if dtype.kind == "S" else dtype.name


def _with_data(entry: Entry, call: Call, change: Any) -> Any:
    def changed(x: Any) -> Any:
        return change(x) if isinstance(x, np.ndarray) else x

    return _call_theirs(entry, jax.tree.map(changed, call.args))


def _part(part: Any) -> Any:
    return lambda x: np.ascontiguousarray(part(x)).reshape(x.shape) if x.dtype.kind == "c" else x


def _complex(real: np.ndarray, imag: np.ndarray) -> np.ndarray:
    result = np.empty(real.shape, f"complex{real.dtype.itemsize * 16}")
    result.real, result.imag = real, imag
    return result


def _lacks_kernel(outcome: Refused) -> bool:
    absent = (tf.errors.NotFoundError, tf.errors.UnimplementedError)
    text = str(outcome.error)
    return (
        isinstance(outcome.error, absent)
        or "is not in the list of allowed values" in text
        or ("Error while casting" in text and "is not supported" in text)
    )


def _call_theirs(entry: Entry, args: dict[str, Any]) -> Any:
    try:
        return tensors_to_arrays(entry.theirs(**_to_tensors(entry, args)))
    except THEIR_ERRORS as error:
        return Refused(error)


def _to_tensors(entry: Entry, args: dict[str, Any]) -> dict[str, Any]:
    def convert(x: Any) -> Any:
        return tf.constant(x) if isinstance(x, np.ndarray) else x

    def widened(x: Any) -> Any:
        if not isinstance(x, np.ndarray) or not is_integer(x.dtype) or x.dtype.name == "int32":
            return x
        return x.astype(entry.widest)

    def static(x: Any) -> Any:
        if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and x.size):
            return x.tolist()  # what jaxops takes as NumPy's ints TensorFlow gets as Python's
        return tf.as_dtype(x.name) if isinstance(x, np.dtype) else x

    args = {n: jax.tree.map(widened, x) if n in entry.indices else x for n, x in args.items()}
    return {
        name: jax.tree.map(convert, x) if name in entry.data else static(x)
        for name, x in args.items()
    }


def tensors_to_arrays(result: Any) -> list[np.ndarray]:
    return [_from_tensor(x) for x in _listed(result)]


def _listed(result: Any) -> list:
    return list(result) if isinstance(result, (list, tuple)) else [result]


def _from_tensor(x: Any) -> np.ndarray:
    array = np.asarray(x.numpy() if hasattr(x, "numpy") else x)
    return array.astype("S") if array.dtype == object else array


# The comparison


def compare(ours: Any, theirs: Any, peer: str = "TensorFlow") -> None:
    """Both refused, or equal in number, dtype, shape and bits; NaN is equal to NaN."""
    if isinstance(ours, Refused) or isinstance(theirs, Refused):
        both = isinstance(ours, Refused) and isinstance(theirs, Refused)
        assert both, f"one refuses:\n  jaxops: {ours}\n  {peer}: {theirs}"
        return
    assert len(ours) == len(theirs), f"jaxops: {len(ours)} arrays\n  {peer}: {len(theirs)}"
    for number, (x, y) in enumerate(zip(ours, theirs, strict=True)):
        where = f" of array {number}" if len(ours) > 1 else ""
        dtypes = [np.dtype("S2") if a.dtype.kind == "S" else a.dtype for a in (x, y)]
        assert dtypes[0] == dtypes[1], f"dtype{where}: jaxops {x.dtype}, {peer} {y.dtype}"
        assert x.shape == y.shape, f"shape{where}: jaxops {x.shape}, {peer} {y.shape}"
        assert same_bits(x, y), f"values{where}:\n  jaxops: {x.tolist()}\n  {peer}: {y.tolist()}"


def same_bits(x: np.ndarray, y: np.ndarray) -> bool:
    if x.dtype.kind == "S":
        return bool((x == y).all())
    if x.dtype.kind == "c":
        return same_bits(np.real(x), np.real(y)) and same_bits(np.imag(x), np.imag(y))
    nan = (x != x) & (y != y)
    same = _bytes(x) == _bytes(y)
    return bool((same.all(axis=-1) | nan).all())


def _bytes(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x).reshape(*x.shape, 1).view(np.uint8)


def compare_gradients(entry: Entry, call: Call, ours: list[np.ndarray], tally: Tally) -> None:
    names = [
        name
        for name in entry.differentiable
        if name in call.args
        and jax.tree.leaves(call.args[name])
        and all(
            isinstance(x, np.ndarray) and is_inexact(x.dtype) and name_of(x) not in entry.no_kernel
            for x in jax.tree.leaves(call.args[name])
        )
    ]
    if not names or not all(is_inexact(x.dtype) for x in ours[:1]):
        return
    random = np.random.default_rng(0)
    # Integer results, as the `idx` of `unique`, have no cotangent.
    cotangents = [values(random, x.shape, x.dtype, "finite") for x in ours if is_inexact(x.dtype)]
    arrays = {name: call.args[name] for name in names}

    def function(arrays):
        results = _listed(_call_ours(entry, call, {**call.args, **arrays}))
        return [x for x in results if jnp.issubdtype(x.dtype, jnp.inexact)]

    @jax.jit
    def our_gradients(arrays, cotangents):
        results, transpose = jax.vjp(function, arrays)
        return results, transpose(cotangents)[0]

    mine = jax.tree.map(np.asarray, our_gradients(arrays, cotangents)[1])

    try:
        found = _their_gradients(entry, call, names, cotangents)
    except tf.errors.InvalidArgumentError:
        if not call.their_gradient_fails:
            raise
        tally["gradients refused"] += 1
        return
    tally["gradients"] += 1
    assert mine.keys() == set(names)
    for name, gradient in zip(names, found, strict=True):
        pairs = zip(jax.tree.leaves(mine[name]), tf.nest.flatten(gradient), strict=True)
        for x, y in pairs:
            y = _from_tensor(tf.convert_to_tensor(y))
            if name in call.overwritten:
                tally["overwritten"] += 1
                y = np.where(x == 0, x, y)
            if call.nan_gradient:
                y = np.where(y == y, y, x)
            if entry.divides and y.dtype.kind == "c":
                # The exact one is a multiple of a small power of 1/2, as the factors are.
                y = np.round(y * 256) / 256
            compare_sums(x, y, f"gradient of {name}")


def _their_gradients(
    entry: Entry, call: Call, names: list[str], cotangents: list[np.ndarray]
) -> list:
    tensors = _to_tensors(entry, call.args)
    watched = [tensors[name] for name in names]
    with tf.GradientTape() as tape:
        tape.watch(watched)
        results = _listed(entry.theirs(**tensors))
        results = [y for y in results if y.dtype.is_floating or y.dtype.is_complex]
    return tape.gradient(
        results,
        watched,
        output_gradients=[tf.constant(c) for c in cotangents],
        unconnected_gradients=tf.UnconnectedGradients.ZERO,
    )


def compare_sums(x: np.ndarray, y: np.ndarray, what: str) -> None:
    """Cotangents are small multiples of 1/2, so that their sums are exact in any order."""
    assert x.dtype == y.dtype, f"dtype of {what}: jaxops {x.dtype}, TensorFlow {y.dtype}"
    assert x.shape == y.shape, f"shape of {what}: jaxops {x.shape}, TensorFlow {y.shape}"
    with contextlib.suppress(RuntimeWarning):
        same = (x == y) | ((x != x) & (y != y))
    assert same.all(), f"{what}:\n  jaxops: {x.tolist()}\n  TensorFlow: {y.tolist()}"


# The search

OPTIONS = settings(
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    # They are about speed, and most of the time goes to XLA.
    suppress_health_check=tuple(HealthCheck),  # type: ignore[arg-type]
)


def examples(entry: Entry, tally: Tally, options: settings) -> Callable[[], None]:
    """A function that raises where an example differs; the error's notes tell the call."""

    @options
    @given(entry.calls)
    def same_as_tensorflow(call: Call):
        check(entry, call, tally)

    return same_as_tensorflow
