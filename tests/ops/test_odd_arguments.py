"""Odd things in the place of each argument of every public function."""
# Some calls are wrong on purpose.
# pyright: reportArgumentType=false, reportCallIssue=false

import inspect
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import assert_equal
from records import CALLS, FUNCTIONS, KINDS, arguments, missing, operation
from records.compat_v0 import adapted

import jaxops

pytestmark = pytest.mark.usefixtures("x32")
NEEDS_X64 = {"to_double", "to_int64", "v0.to_double", "v0.to_int64"}


def test_every_function_is_here():
    assert not missing()


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


def other_forms(kind, value):
    """The same value, and parts of it, as other libraries have it, or Python in other sequences."""
    kind, _, more = kind.partition(", ")
    if kind == "dtype":
        return [OnlyDtype(value)]
    if kind == "word":
        return []
    if kind == "grads":
        return [{"w": OnlyArray(value["w"])}]
    parts = [[*map(OnlyArray, value)]] if kind in ("arrays", "indices", "ints", "pairs") else []
    whole = [] if kind in ("arrays", "indices") else [OnlyArray(value)]
    sequences = {"ints": [value], "pairs": [value]}.get(kind, [])
    if more.startswith("or a list of one"):
        sequences = [[value]]
    forms = [form(x) for x in sequences for form in (list, tuple, np.array, jnp.array, OnlyArray)]
    forms += [[*map(np.int64, value)]] if kind == "ints" else []
    return [*whole, *parts, *forms]


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
        a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
        for a, b in zip(actual, expected, strict=True)
    )


# What takes arrays of JAX and NumPy only.
NOT_FOREIGN = {"IndexedSlices.add_to-dense"}


@pytest.mark.slow
def test_arguments_in_other_forms():
    faults = []
    for name, call in CALLS.items():
        expected = outcome(name, {})
        assert not isinstance(expected, BaseException), name
        for arg, (_, value) in call.items():
            kind = KINDS[name][arg]
            for other in other_forms(kind, value) if f"{name}-{arg}" not in NOT_FOREIGN else []:
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


@pytest.mark.parametrize(
    "function", [jaxops.bitcast, jaxops.cast, jaxops.saturate_cast], ids=lambda f: f.__name__
)
def test_64_bits_of_another_library_are_taken_as_those_of_numpy(function):
    numbers = np.array([2**40, -1])
    assert_equal(function(OnlyArray(numbers), "int16"), function(numbers, "int16"))


def test_an_index_of_another_library():
    index = (OnlyArray(2), slice(OnlyArray(1), None))
    assert jaxops.strided_slice_spec(index) == jaxops.strided_slice_spec(np.s_[2, 1:])


# Without optimizations XLA takes the bytes as they are.
@pytest.mark.optimized
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


# But for those that tests/refusals/kinds.py has.
BAD = {
    "negative": -99,
    "large": 2**70,
    "empty": [],
    "lists": [[[]]],
    "array": np.ones((2, 2, 2, 2, 2)),
}


@pytest.mark.slow
def test_errors_of_v0_have_its_names():
    faults = []
    for name in (name for name in CALLS if name.startswith("v0.")):
        main = getattr(jaxops, {"select": "where"}.get(operation(name), adapted(operation(name))))
        unknown = {*inspect.signature(main).parameters} - {*CALLS[name], "name"}
        for arg, what in ((arg, what) for arg in CALLS[name] for what in BAD):
            error = outcome(name, {arg: BAD[what]})
            if not isinstance(error, BaseException):
                continue
            words = str(error).partition("; received")[0]
            is_bounds = f"[Op:{operation(name)}]" in words
            words = re.sub(r"`\w+` of `jaxops\.\w+`", "", words)
            named = any(re.search(rf"\b{known}\b", words) for known in CALLS[name])
            foreign = [other for other in unknown if re.search(rf"\b{other}\b", words)]
            begins = words.startswith(f"{operation(name)}: ") or is_bounds
            if not begins or not (named or is_bounds) or foreign:
                faults.append(f"{name}-{arg}-{what}: {foreign} {error!r:.300}")
    assert not faults, "\n".join(faults)


X = np.arange(6, dtype=np.float32).reshape(2, 3)
NEGATIVE_ZERO = {
    "python": -0.0,
    "numpy-scalar": np.float32(-0.0),
    "numpy": np.array(-0.0, np.float32),
    "jax": jnp.float32(-0.0),
}
FILL = {"mode": "fill"}
# Of TensorFlow 2.21: `tf.pad` takes a 0 of Python or NumPy for no value, `tf.one_hot` and what
# casts and moves elements keep the sign, and `tf.unique` keeps what comes first.
KEEPS_THE_SIGN = {
    "pad": lambda x: jaxops.pad(X[0], [[0, 1]], constant_values=x)[-1],
    "one_hot-on": lambda x: jaxops.one_hot([0], 1, on_value=x, off_value=1.0, dtype="float32"),
    "one_hot-off": lambda x: jaxops.one_hot([1], 1, on_value=1.0, off_value=x),
    "gather": lambda x: jaxops.gather(X, [9], fill_value=x, **FILL),
    "gather_nd": lambda x: jaxops.gather_nd(X, [[9, 9]], fill_value=x, **FILL),
    "batch_gather": lambda x: jaxops.batch_gather(X[0], [9], fill_value=x, **FILL),
    "slice": lambda x: jaxops.slice(X[0], [3], [2], fill_value=x, **FILL),
    "strided_slice": lambda x: jaxops.strided_slice(
        X[0], [9], [9], shrink_axis_mask=1, fill_value=x, **FILL
    ),
    "boolean_mask": lambda x: jaxops.boolean_mask(X[0], [False] * 3, size=1, fill_value=x),
    "unique": lambda x: jaxops.unique(X[0], size=4, fill_value=x).y[-1],
    "dynamic_partition": lambda x: jaxops.dynamic_partition(X[0], [0] * 3, 2, size=3, fill_value=x)[
        1
    ],
    "dynamic_stitch": lambda x: jaxops.dynamic_stitch([[1]], [X[0, :1]], fill_value=x)[0],
    "dynamic_stitch-size": lambda x: jaxops.dynamic_stitch([[1]], [X[0, :1]], size=3, fill_value=x)[
        ::2
    ],
    "cast": lambda x: jaxops.cast(x, "float16"),
    "saturate_cast": lambda x: jaxops.saturate_cast(x, "float16"),
    "to_bfloat16": jaxops.to_bfloat16,
    "unique-first": lambda x: jaxops.unique(jaxops.stack([x, 0.0]), size=1).y,
    "string_to_number": lambda x: jaxops.string_to_number(str(float(x))),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", NEGATIVE_ZERO)
def test_negative_zero(kind):
    zero = NEGATIVE_ZERO[kind]
    in_programs = {name: f for name, f in KEEPS_THE_SIGN.items() if name != "string_to_number"}
    eager = {name: function(zero) for name, function in KEEPS_THE_SIGN.items()}
    traced = jax.jit(lambda: {name: function(zero) for name, function in in_programs.items()})()
    for name, value in [*eager.items(), *traced.items()]:
        result = np.asarray(value).astype(np.float32)
        assert (np.signbit(result) != (name == "pad" and kind != "jax")).all(), name
        assert not result.any(), name


def test_a_single_index_beyond_64_bits():
    def single(x, index, **options):
        return jaxops.strided_slice(x, [index], [0], shrink_axis_mask=1, **options)

    for index in (2**63, 2**70, -(2**63) - 1, 2**31, 2**63 - 1):
        with pytest.raises(jaxops.OutOfBoundsError, match=r"slice index .* out of bounds"):
            single(X, index)
        with pytest.raises((jax.errors.JaxRuntimeError, ValueError), match="out of bounds"):
            jax.block_until_ready(jax.jit(lambda x, i=index: single(x, i))(X))
        filled = jax.jit(lambda x, i=index: single(x, i, mode="fill"))(X)
        np.testing.assert_array_equal(filled, np.zeros(3))


@pytest.mark.parametrize("tied", [False, True])
def test_tables_of_no_rows(tied):
    def loss(table):
        padded = jaxops.pad(table, [[1, 0], [0, 0]])  # no lookup
        return padded.sum() + jaxops.gather(table, np.zeros(0, np.int32)).sum()

    for rows in (0, 3):
        table = jnp.ones((rows, 2))
        gradient = jaxops.sparse_value_and_grad(loss, tables="", tied=tied)
        if rows and not tied:
            with pytest.raises(ValueError, match="table '' must be used by lookups of rows only"):
                gradient(table)
            continue
        value, slices = gradient(table)
        assert float(value) == 2 * rows
        np.testing.assert_array_equal(slices.to_dense(), jax.grad(loss)(table))


ODD_BYTES = np.arange(5000, dtype=np.uint16).astype(np.uint8) * (np.arange(5000) % 3 > 0)
COUNTS = {
    "boolean_mask": lambda flags: jaxops.boolean_mask(
        np.arange(flags.size), flags, size=5000, return_size=True
    ),
    "unique": lambda flags: jaxops.unique(flags, size=3, return_size=True),
    "unique_with_counts": lambda flags: jaxops.unique_with_counts(flags, size=3, return_size=True),
    "cast": lambda flags: jaxops.cast(flags, "int32"),
}


@pytest.mark.optimized
@pytest.mark.parametrize("name", COUNTS)
def test_many_bools_of_odd_bytes(name):
    """Enough of them that they are counted in words of bits."""
    odd, clean = ODD_BYTES.astype(np.uint8).view(bool), ODD_BYTES != 0
    expected = COUNTS[name](clean)
    assert not differs(COUNTS[name](odd), expected)
    assert not differs(jax.jit(lambda: COUNTS[name](odd))(), expected)
    assert not differs(jax.jit(COUNTS[name])(odd), expected)
