"""Odd things in the place of each argument of every public function."""

import inspect
import re

import every_argument
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from every_argument import CALLS, FUNCTIONS, arguments, operation

import jaxops

pytestmark = pytest.mark.usefixtures("x32")
NEEDS_X64 = {"to_double", "to_int64", "v0.to_double", "v0.to_int64"}


def test_every_function_is_here():
    assert not every_argument.missing()


def outcome(name, changed):
    """The result of a call with other arguments, or its error."""
    with jax.enable_x64(name in NEEDS_X64):
        try:
            return jax.block_until_ready(FUNCTIONS[name](**{**arguments(name), **changed}))
        except BaseException as error:
            return error


def fault(name, arg, error):
    """What is wrong with an error about that argument; None where nothing is."""
    words = str(error).partition("; received")[0]
    names = {"grads": "(grads|gradient)"}.get(arg, arg)
    named = re.match(rf"{operation(name).split('.')[0]}(\.\w+)?: .*\b{names}\b", words)
    if type(error) not in (TypeError, ValueError) or not named:
        return f"{name}-{arg}: {error!r:.300}"
    return None


def nested(depth, leaf=()):
    deep = leaf
    for _ in range(depth):
        deep = [deep]
    return deep


@pytest.mark.parametrize("leaf", ["nothing", "jax-array"])
def test_lists_nested_deeper_than_pythons_stack(leaf):
    deep = nested(100_000, () if leaf == "nothing" else jnp.zeros(()))
    faults = []
    for name, call in CALLS.items():
        for arg, (kind, value) in call.items():
            faults.append(fault(name, arg, outcome(name, {arg: deep})))
            if kind in ("arrays", "indices", "ints", "pairs"):
                faults.append(fault(name, arg, outcome(name, {arg: [*value[:-1], deep]})))
    assert not [*filter(None, faults)]


class OnlyArray:
    """An array of another library, of which NumPy can read what it holds."""

    def __init__(self, array):
        self.array = np.asarray(array)

    def __array__(self, dtype=None, copy=None):
        return self.array


class OnlyDtype:
    """A dtype of another library."""

    def __init__(self, dtype):
        self.as_numpy_dtype = np.dtype(dtype).type


def foreign(kind, value):
    """The same value, and parts of it, as another library has it."""
    if kind == "dtype":
        return [OnlyDtype(value)]
    if kind == "word":
        return []
    if kind == "grads":
        return [{"w": OnlyArray(value["w"])}]
    parts = [[*map(OnlyArray, value)]] if kind in ("arrays", "indices", "ints", "pairs") else []
    whole = [] if kind in ("arrays", "indices") else [OnlyArray(value)]
    return [*whole, *parts]


def arrays_of(result):
    def is_sparse(x):
        return isinstance(x, jaxops.IndexedSlices)

    leaves = jax.tree.leaves(result, is_leaf=is_sparse)
    return [
        x for leaf in leaves for x in ([leaf.values, leaf.indices] if is_sparse(leaf) else [leaf])
    ]


def differs(actual, expected):
    """Whether two results, or a result and an error, are not the same."""
    if isinstance(actual, BaseException) or isinstance(expected, BaseException):
        return repr(actual) != repr(expected)
    actual, expected = arrays_of(actual), arrays_of(expected)
    return len(actual) != len(expected) or not all(
        a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(actual, expected, strict=True)
    )


# What takes arrays of JAX and NumPy only.
NOT_FOREIGN = {"IndexedSlices.add_to-dense"}


def test_arrays_and_dtypes_of_other_libraries():
    faults = []
    for name, call in CALLS.items():
        expected = outcome(name, {})
        assert not isinstance(expected, BaseException), name
        for arg, (kind, value) in call.items():
            for other in foreign(kind, value) if f"{name}-{arg}" not in NOT_FOREIGN else []:
                result = outcome(name, {arg: other})
                if differs(result, expected):
                    faults.append(f"{name}-{arg}: {result!r:.300}")
    assert not faults, "\n".join(faults)


ODD = np.frombuffer(bytes([2, 0, 255, 1]), bool)
CLEAN = np.array([True, False, True, True])


def of_bools(kind, value):
    """An argument made of bools of odd bytes, and of the same ones of bytes 0 and 1."""
    pairs = []
    for flags in (ODD, CLEAN):
        if kind in ("data", "bools"):
            shape = np.shape(value)
            size = np.size(value)
            pairs.append(np.resize(flags.view(np.uint8), size).view(bool).reshape(shape))
        elif kind == "scalar":
            pairs.append(flags[0])
        elif kind == "arrays":
            pairs.append([*(of_bools("data", x)[flags is CLEAN] for x in value)])
    return pairs


def test_bools_of_odd_bytes():
    faults = []
    for name, call in CALLS.items():
        made = {arg: of_bools(*kind_and_value) for arg, kind_and_value in call.items()}
        made = {arg: pair for arg, pair in made.items() if pair}
        odd, clean = ({arg: pair[n] for arg, pair in made.items()} for n in (0, 1))
        only_bools = [{arg for arg in made if call[arg][0] == "bools"}, {*made}]
        for args in only_bools:
            changed, expected = ({a: x[a] for a in args} for x in (odd, clean))

            def jitted(arrays, name=name):
                return jax.jit(lambda arrays: FUNCTIONS[name](**{**arguments(name), **arrays}))(
                    arrays
                )

            for how in (lambda arrays, name=name: outcome(name, arrays), jitted):
                results = []
                for arrays in (changed, expected):
                    try:
                        results.append(how(arrays))
                    except (TypeError, ValueError) as error:
                        results.append(error)
                if args and differs(*results):
                    faults.append(f"{name}-{args}: {results!r:.400}")
    assert not faults, "\n".join(faults)


MAIN_NAMES = {"pack": "stack", "unpack": "unstack"}
BAD = {
    "object": object(),
    "text": "no",
    "negative": -99,
    "large": 2**70,
    "float": 0.5,
    "empty": [],
    "lists": [[[]]],
    "ragged": [[1], [1, 2]],
    "array": np.ones((2, 2, 2, 2, 2)),
}


def test_errors_of_v0_have_its_names():
    faults, refused = [], set()
    for name in (name for name in CALLS if name.startswith("v0.")):
        main = getattr(jaxops, MAIN_NAMES.get(operation(name), operation(name)))
        unknown = {*inspect.signature(main).parameters} - {*CALLS[name], "name"}
        for arg, what in ((arg, what) for arg in CALLS[name] for what in BAD):
            error = outcome(name, {arg: BAD[what]})
            if not isinstance(error, BaseException):
                continue
            refused.add(f"{name}-{arg}")
            words = str(error).partition("; received")[0]
            is_bounds = f"[Op:{operation(name)}]" in words
            words = re.sub(r"`\w+` of `jaxops\.\w+`", "", words)
            named = any(re.search(rf"\b{known}\b", words) for known in CALLS[name])
            foreign = [other for other in unknown if re.search(rf"\b{other}\b", words)]
            begins = words.startswith(f"{operation(name)}: ") or is_bounds
            if not begins or not (named or is_bounds) or foreign:
                faults.append(f"{name}-{arg}-{what}: {foreign} {error!r:.300}")
    assert not faults, "\n".join(faults)
    # What has no values that are wrong.
    never = {f"{name}-{arg}" for name in CALLS if name[:3] == "v0." for arg in CALLS[name]}
    assert never - refused == set()
