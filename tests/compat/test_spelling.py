"""Calls as the releases of TensorFlow 0.x spell them, by names and by position."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportIndexIssue=false

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from records import CALLS, FUNCTIONS, RECORDS, compat_v0
from records.arguments import X
from signatures_v0 import RECORDED, parameters

import jaxops
from jaxops.compat import _spelling, v0

# By function: the names of its arguments in some release, and in the records.
OTHER_NAMES = {
    "squeeze": {"axis": "squeeze_dims"},
    "expand_dims": {"axis": "dim"},
    "reverse_sequence": {"seq_axis": "seq_dim", "batch_axis": "batch_dim"},
    "pad": {"input": "tensor"},
    "concat": {"axis": "concat_dim"},
    "split": {"num_or_size_splits": "num_split", "axis": "split_dim"},
    "where": {"condition": "input"},
}
NAME = "mine"  # no mode, and no dtype
# In 0.12: the second names of arguments that have two.
SECOND = {"squeeze_dims", "dim", "seq_dim", "batch_dim"}


def value_of(function, arg):
    """What the records pass for an argument."""
    if arg == "name":
        return NAME
    if (function, arg) in {("split", "num"), ("where", "x"), ("where", "y")}:
        return {"num": 2, "x": X[:, 0], "y": -X[:, 0]}[arg]
    if (function, arg) == ("reverse", "axis"):
        return [1]
    kind, value = CALLS[f"v0.{function}"][OTHER_NAMES.get(function, {}).get(arg, arg)]
    return np.dtype(value) if kind == "dtype" else value  # a word may be a name


def outcome(call):
    try:
        return [np.asarray(x) for x in jax.tree.leaves(call())]
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def meant(function, given, defaults):
    """The call of the records with these arguments, and the defaults that the release had."""
    own = {OTHER_NAMES.get(function, {}).get(arg, arg): x for arg, x in given.items()}
    for arg, x in defaults.items():
        own.setdefault(OTHER_NAMES.get(function, {}).get(arg, arg), x)
    own.pop("name", None)
    if function == "where" and own.pop("x", None) is not None:
        return lambda: v0.select(own["input"], given["x"], given["y"])
    if function == "where":
        own.pop("y", None)
    if function == "split":
        own.pop("num", None)
    if function == "reverse" and "axis" in own:
        own = {"tensor": own["tensor"], "dims": [False, True]}
    return lambda: FUNCTIONS[f"v0.{function}"](**own)


@pytest.fixture(autouse=True)
def x64(request):
    """For the functions whose results have 64 bits."""
    with jax.enable_x64(request.node.name.partition("[")[2].startswith(("to_double", "to_int64"))):
        yield


SPELLINGS = [
    (function, releases)
    for function, by_release in RECORDED.items()
    for releases in by_release
    if function != "meshgrid"  # whose arguments have no names
]


@pytest.mark.parametrize(("function", "releases"), SPELLINGS, ids=lambda x: x.replace(" ", "-"))
def test_every_call_that_a_release_allows(function, releases):
    """With so many of its arguments, and so many of these without their names."""
    its = parameters(RECORDED[function][releases])
    second = SECOND if releases == "0.12" else set()
    needed = sum(p.default is inspect.Parameter.empty for p in its)
    refused = []
    for count in range(max(needed, 1), len(its) + 1):
        if (function, count) == ("where", 2) and releases == "1.0":
            continue  # x without y, which TensorFlow refuses
        given = {p.name: value_of(function, p.name) for p in its[:count] if p.name not in second}
        left = {p.name: p.default for p in its[count:] if p.name not in second}
        expected = outcome(meant(function, given, left))
        values = [(p.name, given.get(p.name)) for p in its[:count]]
        for unnamed in range(count + 1):
            args, rest = [x for _, x in values[:unnamed]], dict(values[unnamed:])
            result = outcome(lambda args=args, rest=rest: getattr(v0, function)(*args, **rest))
            if isinstance(result, str) and "arguments must be named, as" in result:
                refused.append((args, rest))
            elif isinstance(expected, str):
                assert isinstance(result, str), (args, rest, expected)
            else:
                assert not isinstance(result, str), (args, rest, result)
                for ours, theirs in zip(result, expected, strict=True):
                    np.testing.assert_array_equal(ours, theirs, strict=True)
    # Only what was `name` and became `mode`.
    assert len(refused) == ((function, releases) == ("pad", "0.5 and 0.6")), refused


ADAPTERS = [name for name in RECORDED if compat_v0.adapted(name) in RECORDS]


@pytest.mark.parametrize("name", [n for n in ADAPTERS if f"v0.{n}" not in compat_v0.RECORDS])
def test_an_adapter_gives_what_the_function_that_it_adapts_gives(name):
    names, adapted = compat_v0.spellings(name)[0], FUNCTIONS[compat_v0.adapted(name)]
    given = {arg: value_of(name, arg) for arg in CALLS[f"v0.{name}"]}
    ours = outcome(lambda: FUNCTIONS[f"v0.{name}"](**given))
    theirs = outcome(lambda: adapted(**{names[arg]: value for arg, value in given.items()}))
    assert not isinstance(ours, str), ours
    for x, y in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(x, y, strict=True)


def test_every_function_is_recorded():
    assert {f"v0.{name}" for name in RECORDED} == {name for name in CALLS if name[:3] == "v0."}


@pytest.mark.parametrize(
    ("call", "plain"),
    [
        (lambda n: v0.pack([X], n), lambda n: v0.pack([X], name=n)),
        (lambda n: v0.unpack(X, 4, n), lambda n: v0.unpack(X, 4, name=n)),
        (lambda n: v0.gather(X, [0], n), lambda n: v0.gather(X, [0], name=n)),
        (lambda n: v0.concat([X, X], 0, n), lambda n: v0.concat(0, [X, X], n)),
        (lambda n: v0.split(X, 2, 0, None, n), lambda n: v0.split(0, 2, X, n)),
    ],
)
def test_the_name_is_the_scope(call, plain):
    for f in (call, plain):
        assert "tower" in jax.jit(lambda f=f: f("tower")).lower().as_text(debug_info=True)


def test_a_list_is_a_value_to_split():
    rows = [[1, 2], [3, 4]]
    for pieces in (v0.split(0, 2, rows), v0.split(rows, 2, 0)):
        np.testing.assert_array_equal(pieces, [[[1, 2]], [[3, 4]]])


def test_traced_and_large_values_are_not_read():
    """What an argument is, its type and shape say: nothing is computed or copied to the host."""

    def joined(x, rows):
        pieces = v0.split(0, 2, v0.concat(0, [x, rows]))
        return v0.concat(v0.unpack(v0.reverse(v0.pack(pieces, 1), [0]), 2, 1), 1)

    x = jnp.asarray(X)
    expected = np.concatenate([X, X], 1)[::-1]
    for f in (joined, jax.jit(joined)):
        with jax.transfer_guard_device_to_host("disallow"):
            result = f(x, x)
        np.testing.assert_array_equal(result, expected)


ROW = X[:1]
# Calls and their value: what may be read in more than one way, and axes and sizes of other kinds
# than in test_every_call_that_a_release_allows.
READINGS = {
    "concat": (
        [
            lambda: v0.concat([-2], (X, ROW)),
            lambda: v0.concat((X, ROW), np.array([0])),
            lambda: v0.concat(np.int64(0), [X, ROW], "name"),
            lambda: v0.concat([X, ROW], np.int32(0), name="name"),
        ],
        np.concatenate([X, ROW]),
    ),
    "concat-array": (
        [
            lambda: v0.concat(1, X[None]),
            lambda: v0.concat(X[None], 1),
            lambda: v0.concat([X[None]], 0),
        ],
        X[None],
    ),
    "split": (
        [lambda: v0.split(X, [1, 1, 1], 1), lambda: v0.split_v(X, [1, 1, 1], split_dim=1)],
        np.split(X, 3, 1),
    ),
    "reverse": (
        [lambda: v0.reverse(X, [False, True]), lambda: v0.reverse(X, np.array([-1]))],
        X[:, ::-1],
    ),
    "reverse-nothing": ([lambda: v0.reverse(X, [])], X),  # no axis, and no flag of a dimension
    "reverse-scalar": ([lambda: v0.reverse(1.0, [])], 1.0),
    "pad-name": (
        [lambda: v0.pad(input=X, paddings=[[1, 0], [0, 0]], name="REFLECT")],
        np.concatenate([ROW * 0, X]),
    ),
    "pad": (
        [
            lambda: v0.pad(X, [[0, 0], [1, 1]]),
            lambda: v0.pad(X, [[0, 0], [1, 1]], name=None),
            lambda: v0.pad(X, [[0, 0], [1, 1]], "constant"),
        ],
        np.pad(X, [[0, 0], [1, 1]]),
    ),
    "unique": ([lambda: v0.unique([1, 1], None).y], [1]),
}


@pytest.mark.parametrize("case", READINGS)
def test_readings(case):
    calls, expected = READINGS[case]
    for n, call in enumerate(calls):
        for result in (call(), jax.jit(lambda call=call: call())()):
            np.testing.assert_array_equal(result, expected, err_msg=f"{case}-{n}")


def test_shapes_are_computed_while_tracing():
    """In both orders, as an axis that is known is no value of the program."""

    def filled(x):
        rows, columns = v0.unpack(v0.shape(x))
        shape = v0.concat([[rows], [columns]], 0)
        return jnp.ones(v0.concat(0, [shape, v0.pack([2], 0)]))

    assert jax.jit(filled)(X).shape == (4, 3, 2)


def test_errors_of_bounds_show_the_callers_frames():
    for call in (lambda: v0.gather(X, [9]), lambda: v0.gather(X, [9], None, "lookup")):
        with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[0\] = 9") as info:
            call()
        assert {str(frame.path) for frame in info.traceback} == {__file__}
        assert isinstance(info.value, jaxops.OutOfBoundsError)


def test_none_fits_where_the_annotation_has_it():
    assert [_spelling._fits(kinds, None) for kinds in ("int | None", "int")] == [True, False]
