"""Refused calls of every function: what an argument of a kind must not be, by the records' kinds.

Each row of `REFUSED` has values, by their names in `VALUES`, the exception, and what it says after
the function and the argument. A function that is new has these calls by its record.
"""

import functools
import inspect
import itertools
from collections.abc import Iterator
from types import FunctionType

import jax
import jax.numpy as jnp
import numpy as np
from records import FUNCTIONS, KINDS, arguments, operation

from refusals.values import Traced, in_x64, key, slices


class Thing:
    """No array, no number, no sequence."""

    def __repr__(self):
        return "<a thing>"


VALUES = {
    "none": None,
    "true": True,
    "five": 5,
    "minus-one": -1,
    **{"one": 1, "minus-two": -2, "plus-two": 2, "minus-three": -3, "three": 3, "minus-four": -4},
    "huge": 2**70,
    "float": 2.0,
    "nan": float("nan"),
    "complex": 1j,
    "text": "2",
    "word": "no",
    "bytes": b"a",
    "list": [1],
    "floats": [1.0, 2.0],
    "bools": [True, False],
    "texts": ["a"],
    "nones": [None],
    "two": [0, 1],
    "nothing": [],
    "float-in-a-list": [0.0],
    "two-in-a-list": [[0, 1]],
    "matrix": [[1]],
    "ragged": [[1], [2, 3]],
    "dict": {"a": 1},
    "set": {1},
    "thing": Thing(),
    "generator": (n for n in [0, 1]),
    "type": type,
    "class": np.float32,
    "class-int": int,
    "class-text": str,
    "class-longdouble": np.longdouble,
    "class-int16": np.int16,
    "class-float64": np.float64,
    "class-uint64": np.uint64,
    "class-complex64": np.complex64,
    "classes": [np.int32],
    "dtype-of-other-order": ">f4",
    "dtype-of-dates": "M8[s]",
    "dtype-quantised": "qint8",
    "dtype-that-does-not-parse": "(,)f4",
    "array-of-ints": np.array([0, 1]),
    "array-of-texts": np.array(["fill", "ERROR"]),
    "array-of-floats": np.zeros(2, np.float32),
    "array-of-no-floats": np.zeros(0, np.float32),
    "array-of-bools": np.array([True, False]),
    "array-of-objects": np.array([1, None], object),
    "array-of-dates": np.array(["2020-01-01"], "M8[D]"),
    "array-of-times": np.zeros(2, "m8[s]"),
    "time": np.timedelta64(1, "s"),
    "masked": [np.ma.array([0, 1], mask=[True, False])],
    "array-of-records": np.zeros(2, [("n", "i4")]),
    "array-of-longdoubles": np.zeros(2, np.longdouble),
    "rows": np.zeros((2, 2), np.float32),
    "list-of-rows": [np.zeros((2, 2), np.float32)] * 2,
    "rows-of-ints": np.zeros((2, 2), np.int32),
    "traced": Traced(np.int32(1)),
    "traced-vector": Traced(np.array([1, 0], np.int32)),
    "traced-list": Traced([1, 0]),
    # Functions, as they start JAX.
    "jax-array-of-bools": lambda: jnp.array([True, False]),
    "jax-array-of-floats": lambda: jnp.zeros(2),
    "key": lambda: key(),
    "keys-and-number": lambda: [key(), 1],
    "slices": lambda: slices(),
}
OTHER_OBJECTS = "dict set thing generator type class"
OBJECTS = f"{OTHER_OBJECTS} slices"
ODD = "array-of-dates array-of-times array-of-records array-of-longdoubles"

STATIC = (
    "inside jit compute it from Python ints, NumPy arrays, x.shape or jaxops.shape(x) in place of "
    "arrays of jnp, or name it in static_argnums or static_argnames"
)
CAST = "; jaxops.cast({arg}, 'int32') makes integers"
MASK = "; boolean_mask takes a mask, and where(mask) has the places of its true elements"
NUMBERS = "must be an array of numbers or bools; received"
NESTED = "must be an array or nested lists of equal lengths"
INT = "must be a static int; received {received}"
SEQUENCE = "must be a one-dimensional sequence of ints; received {received}"
FIRST = "; the arrays come first, as in TensorFlow 2"
TRACED = f"must be static; received {{received}}; {STATIC}"
DTYPE = "must be a numeric dtype of known width, or bool (JAX has no dtypes for strings or quantised numbers); received {received}"
NO_DTYPES = (
    f"none true float five list text texts bools ragged classes rows key traced {OBJECTS} class-int "
    "class-text class-longdouble dtype-of-other-order dtype-of-dates dtype-quantised "
    "dtype-that-does-not-parse"
).replace(" class ", " ")  # float32 is one
WIDE = "must have 32 bits at most while x64 is off; received {name}; switch 64-bit types on"

SHAPED = [
    (f"none nones {OBJECTS}", TypeError, f"{NUMBERS} {{received}}"),
    ("ragged", ValueError, f"{NESTED}; received {{received}}"),
    ("masked", TypeError, "must be an array without a mask, which would be ignored; received "),
    ("keys-and-number", ValueError, f"{NESTED}, of dtypes that JAX promotes; received [Array("),
]
SLICES = (
    "slices",
    TypeError,
    f"{NUMBERS} {{received}}; IndexedSlices: a sparse gradient has no NumPy",
)
DTYPES = [
    ("array-of-objects", TypeError, f"{NUMBERS} {{received}}"),
    (ODD, TypeError, f"{NUMBERS} dtype {{dtype}}"),
]
DATA = [*SHAPED, *DTYPES]
NO_STRINGS = [("text word bytes texts", TypeError, f"{NUMBERS} dtype {{dtype}}")]
NO_KEYS = [("key", TypeError, "must have a numeric or bool dtype; received key<fry>")]
NO_INT = [
    (f"true float nan complex text bytes time ragged key {OBJECTS}", TypeError, INT),
    ("array-of-ints array-of-floats array-of-dates rows list-of-rows", TypeError, INT + FIRST),
]
TRACED_INT = [("traced traced-vector", TypeError, f"{INT}; {STATIC}")]
NO_INTS = [
    (f"text bytes {OBJECTS}", TypeError, SEQUENCE),
    (
        "floats bools texts nones array-of-bools array-of-objects array-of-dates array-of-times",
        TypeError,
        SEQUENCE,
    ),
    ("matrix ragged", ValueError, SEQUENCE),
    ("rows", TypeError, SEQUENCE + FIRST),
    ("list-of-rows rows-of-ints", ValueError, SEQUENCE + FIRST),
]
NO_SEQUENCE = [
    ("none true float nan complex key", TypeError, SEQUENCE),
    ("five", ValueError, SEQUENCE),
]
TRACED_INTS = [("traced-vector traced-list", TypeError, "must be static; received {received}; ")]

REFUSED = {
    "data": DATA,
    "tables": DATA,
    "anything": [*SHAPED[:2], SHAPED[3]],
    "no strings": DATA + NO_STRINGS,
    "numbers": DATA + NO_STRINGS + NO_KEYS,
    "bools": DATA + NO_STRINGS,
    "scalar": [*SHAPED[:3], *DTYPES, *NO_STRINGS, ("list", ValueError, "must be a scalar; received shape (1,)")],
    "or text": [*SHAPED[:3], *DTYPES, ("list", ValueError, "must be a scalar; received shape (1,)")],
    "of any shape": DATA,
    "integers": [
        (f"none nones array-of-objects {OTHER_OBJECTS}", TypeError, "must have an integer dtype; received {received}"),
        SLICES,
        ("text bytes texts " + ODD, TypeError, "must have an integer dtype; received {dtype}"),
        ("key", TypeError, "must have an integer dtype; received key<fry>"),
        ("float nan complex floats array-of-floats array-of-no-floats jax-array-of-floats", TypeError, "must have an integer dtype; received {dtype}" + CAST),
        ("true bools array-of-bools jax-array-of-bools", TypeError, "must have an integer dtype; received bool" + MASK + CAST),
        *SHAPED[1:3],
    ],
    "or ints": [*NO_INTS[:3], ("none true float", TypeError, SEQUENCE), ("five", ValueError, SEQUENCE)],
    "int": [("none list", TypeError, INT), *NO_INT, *TRACED_INT],
    "or a list of one": [("none two nothing float-in-a-list two-in-a-list", TypeError, INT), *NO_INT, *TRACED_INT],
    "or traced": [("none list", TypeError, INT), *NO_INT],
    "number": [
        (f"none true complex text bytes key list floats {OTHER_OBJECTS}", TypeError, "must be a static number; received {received}"),
        SLICES,
        *SHAPED[1:3],
        ("traced traced-vector", TypeError, TRACED),
    ],
    "real number": [
        (f"none nones true complex text bytes texts key array-of-objects {OTHER_OBJECTS} {ODD}", TypeError, "must be a real number; received {received}"),
        SLICES,
        *SHAPED[1:],
    ],
    "ints": NO_INTS + NO_SEQUENCE + [*TRACED_INTS, ("traced", TypeError, TRACED)],
    "int or ints": [("none", TypeError, SEQUENCE), ("true float nan complex key", TypeError, INT), *NO_INTS, *TRACED_INTS],
    "slots": [("none", TypeError, SEQUENCE), *NO_INTS[:1]],
    "pairs": [
        (f"none true float text bytes key array-of-floats {OBJECTS}", TypeError, "must have shape {kind}; received {received}"),
        ("five list floats bools array-of-ints", ValueError, "must have shape {kind}; received {received}"),
        ("traced traced-vector", TypeError, TRACED),
    ],
    "dtype": [(NO_DTYPES, TypeError, DTYPE), ("class-float64 class-uint64", ValueError, WIDE)],
    "of indices": [
        (NO_DTYPES, TypeError, DTYPE),
        ("class-float64 class-uint64", ValueError, WIDE),
        ("class class-int16 class-complex64", TypeError, "must be int32 or int64; received {name}"),
    ],
    "of shapes": [
        (f"{NO_DTYPES} class class-int16 class-float64 class-complex64", TypeError, "must be int32 or int64; received {received}"),
    ],
    "bool": [
        (f"none five float text list rows array-of-bools key {OBJECTS}", TypeError, "must be a static bool; received {received}"),
        ("traced", TypeError, f"must be a static bool; received {{received}}; {STATIC}"),
    ],
    "one of": [(f"none true five word bytes texts list array-of-texts rows key traced {OBJECTS}", ValueError, "must be {kind}; received {received}")],
    "policy": [
        (f"none true five list array-of-floats array-of-texts {OBJECTS}", TypeError, 'must be one of "", DEFAULT, ERROR, IGNORE; received {received}'),
        ("word", ValueError, 'must be one of "", DEFAULT, ERROR, IGNORE; received {received}'),
    ],
    "name": [(f"true five float bytes texts array-of-floats rows key traced {OBJECTS}", TypeError, "must be a str; received {received}")],
    "out_sharding": [
        (f"true five word texts rows traced {OBJECTS}", TypeError, "must be a PartitionSpec or a NamedSharding; received {received}"),
    ],
    # Of one of nested arrays.
    "grads": [("set thing type class", TypeError, f"{NUMBERS} {{received}}"), *DTYPES, *NO_KEYS],
    # Whatever a function refuses of these kinds is its own.
    "word": [],
    "text": [],
    "own": [],
}  # fmt: skip
# What a kind says at its end is refused besides.
BESIDES = {
    "with rows": [("float", ValueError, "must have rank 1 at least; received a scalar")],
    "no scalar": [("five", ValueError, "must have rank 1 at least; received a scalar")],
    "a vector": [
        ("five", ValueError, "must be a vector; received shape ()"),
        ("matrix", ValueError, "must be a vector; received shape (1, 1)"),
    ],
    "in [-1, 1)": [("one minus-two", ValueError, "must be in [-1, 1)")],
    "in [-2, 2)": [("plus-two minus-three", ValueError, "must be in [-2, 2)")],
    "in [-3, 3)": [("three minus-four", ValueError, "must be in [-3, 3)")],
    "an index": [
        ("huge", ValueError, "must be in [-2**63, 2**64), as indices are; received {received}")
    ],
    "at least 0": [("minus-one", ValueError, "must be at least 0; received -1")],
    "of that dtype": [("complex", TypeError, "must fit dtype ")],
}
# Where None is good, though no default.
GOOD = {
    f"{function}-{arg}-none"
    for function, args in {
        "sequence_mask": ["dtype"],
        "v0.sequence_mask": ["dtype"],
        "embedding_lookup_sparse": ["combiner", "max_norm"],
        "safe_embedding_lookup_sparse": ["default_id", "max_norm"],
        "take_along_axis": ["axis"],
    }.items()
    for arg in args
}


def _kinds(function):
    parameters = inspect.signature(FUNCTIONS[function]).parameters
    return KINDS[function] | {arg: arg for arg in ("name", "out_sharding") if arg in parameters}


def _operation(function, arg):
    """Records have the parts of objects, which other functions make, as arguments."""
    if function.startswith("RaggedTensor.") and arg in ("values", "row_splits"):
        return function if ".from_" in function else "RaggedTensor.from_row_splits"
    if function.startswith("IndexedSlices.") and arg in ("values", "indices", "dense_shape"):
        return "IndexedSlices"
    return operation(function)


def _placed(function, arg, kind):
    """Where a value goes: the name of that place, and a function that puts a value there."""
    if kind == "grads":
        return "gradient 'w'", lambda x: {"w": x}
    if kind == "data, tables":
        return f"{arg}[0]", lambda x: [x]
    if kind.split(",")[0] in ("arrays", "indices"):
        *good, _ = arguments(function)[arg]
        return f"{arg}[{len(good)}]", lambda x: [*good, x]
    return arg, lambda x: x


def _value(what):
    return VALUES[what]() if isinstance(VALUES[what], FunctionType) else VALUES[what]


# The words for those of which the errors show less than `repr`.
SHOWN = {
    "rows": "an array of shape (2, 2) and dtype float32",
    "rows-of-ints": "an array of shape (2, 2) and dtype int32",
    "list-of-rows": "a list of 2, the first an array of shape (2, 2) and dtype float32",
    "traced": "a traced array of shape ()",
    "traced-vector": "a traced array of shape (2,)",
    "traced-list": "a list with a traced value in it",
    "key": "an array of dtype key<fry>",
    "slices": "IndexedSlices(values=float32[2,3], indices=int32[2], dense_shape=(4, 3))",
}


@functools.cache
def _described(what):
    """A value in the words of errors. Without JAX, which no table may start by being imported."""
    x = VALUES[what]
    is_array = not isinstance(x, FunctionType) and what not in ("ragged", *SHOWN)
    dtype = np.asarray(x).dtype if is_array else "float32"
    return {
        "received": SHOWN.get(what, repr(x)),
        "dtype": dtype,
        "name": getattr(x, "__name__", ""),
    }


def _call(function, arg, what, put):
    x, others, take = _value(what), arguments(function), FUNCTIONS[function]
    if operation(function) in ("to_double", "to_int64"):
        take = functools.partial(in_x64, take)
    if isinstance(x, Traced):
        return jax.eval_shape(lambda x: take(**{**others, arg: put(x)}), x.value)
    return take(**{**others, arg: put(x)})


def _rows(function: str, arg: str, kind: str) -> Iterator[tuple[str, tuple]]:
    besides = next((end for end in BESIDES if kind.endswith(f", {end}")), "")
    broad, _, finer = kind.removesuffix(f", {besides}").partition(", ")
    if finer.startswith("one of "):
        key = "one of"
    elif broad == "pairs":
        key = broad
    else:
        key = finer or {"arrays": "data", "indices": "integers"}.get(broad, broad)
    place, put = _placed(function, arg, kind)
    default = inspect.signature(FUNCTIONS[function]).parameters[arg].default
    for values, exception, template in [*REFUSED[key], *BESIDES.get(besides, [])]:
        for what in values.split():
            case = f"{function}-{arg}-{what}"
            if what == "none" and place == arg and (default is None or case in GOOD):
                continue
            words = template.format(arg=place, kind=finer, **_described(what))
            call = functools.partial(_call, function, arg, what, put)
            yield case, (call, exception, f"{_operation(function, arg)}: {place} {words}")


CALLS = dict(
    itertools.chain.from_iterable(
        _rows(function, arg, kind) for function in KINDS for arg, kind in _kinds(function).items()
    )
)
