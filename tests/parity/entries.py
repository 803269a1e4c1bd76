"""The functions that are compared, each with the calls to compare it by.

`entries_*.py` register what draws the arguments of their functions. All else that is known of a
function comes from its record and from `jaxops/_names.py`, unless an entry says otherwise. Options
whose kind says all (a bool, a word, a dtype of indices) are drawn here by their kinds, and so is
what is wrong with an argument of a kind; an option that is drawn as its default may go unsaid.
"""

import inspect
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Any, TypeVar

import draws
import numpy as np
from calls import Call
from differences import DIFFERENCES
from draws import Args, Draw, chance, integer, pick
from hypothesis import strategies as st
from peer import tf
from records import FUNCTIONS, KINDS

from jaxops import _names

RARE = frozenset(draws.RARE)
Empty = inspect.Parameter.empty
# Options of which the two libraries take other values.
OF_OTHER_VALUES = ("mode", "sparse_gradient")


@dataclass(frozen=True)
class Entry:
    """A public function of jaxops, TensorFlow's, and the calls to compare them by.

    Attributes:
        ours: the function of jaxops.
        theirs: TensorFlow's, with the argument names of `ours`; gets tensors and static values.
        calls: strategy of `Call`s.
        data: the arguments that are arrays of data or lists of them; `jit` traces them.
        indices: those of `data` that are indices: the difference "index dtype".
        widest: the dtype that TensorFlow gets for indices of another one than int32.
        traced: those of `data` that `jit` can trace; by default all.
        differentiable: those of `data` that have a gradient.
        moves: whether each element of the result is one of the data, bit for bit. Where
            TensorFlow has no kernel for a dtype, it moves another of that size.
        widens: whether TensorFlow computes in a larger dtype where it has no kernel for one of
            4 bits or a float8, and the result is converted back.
        bounded: whether there are indices that may be out of bounds.
        no_kernel: names of the dtypes for which TensorFlow's CPU may have no kernel.
        group: what shares compiled programs with it.
        x64: whether it needs 64-bit types, whatever it is called with.
        never_refused: whether it takes all that is drawn.
        floats_for_indices: whether TensorFlow takes floats for them.
        options: of both libraries; by its name what an option may be, and what both refuse.
        divides: whether TensorFlow's gradient is a quotient of products: the difference "gradient
            of complex products".
        lists: the arguments that are arrays of one dtype.
        vectors: the static arguments that are ints in a row.
    """

    ours: Callable
    theirs: Callable
    data: tuple[str, ...]
    calls: st.SearchStrategy[Call] = field(default_factory=st.nothing)
    indices: tuple[str, ...] = ()
    widest: str = "int64"
    traced: tuple[str, ...] | None = None
    differentiable: tuple[str, ...] = ()
    moves: bool = False
    widens: bool = False
    bounded: bool = False
    no_kernel: frozenset[str] = RARE
    group: str = ""
    never_refused: bool = False
    x64: bool = False
    floats_for_indices: bool = False
    options: Mapping[str, tuple[list, list]] = field(default_factory=dict)
    divides: bool = False
    lists: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()


ENTRIES: dict[str, Entry] = {}

# What draws a call, or only its arguments.
Drawing = TypeVar("Drawing", bound=Callable[..., Call | Args])


def compared(*names: str, **fields: Any) -> Callable[[Drawing], Drawing]:
    """The decorated function draws the calls by which the functions of these names are compared.

    A function may have several entries: "unique-axis" is a second one of `unique`.
    """

    def register(drawing: Drawing) -> Drawing:
        for name in names:
            entry = Entry(**{"group": names[0], **_known(name.partition("-")[0], fields)})
            ENTRIES[name] = replace(entry, calls=_calls(drawing, entry))
        return drawing

    return register


def _known(name: str, fields: Mapping[str, Any]) -> Args:
    """The fields of an entry; those that are not given are from the record of the function."""
    kinds = {arg: kind.split(", ") for arg, kind in KINDS.get(name, {}).items()}

    def of_kinds(broad: str, but: str = "") -> tuple[str, ...]:
        return tuple(arg for arg, k in kinds.items() if k[0] in broad.split() and but not in k)

    known: Args = {
        "data": of_kinds("data integers bools text scalar arrays indices"),
        "indices": of_kinds("integers indices", but="data"),
        "differentiable": of_kinds("data arrays", but="anything"),
        "lists": of_kinds("arrays", but="anything"),
        "vectors": tuple(arg for arg, k in kinds.items() if k == ["ints"]),
        **fields,
    }
    if "ours" not in known:
        known["ours"] = FUNCTIONS[name]
    if "theirs" not in known:
        path = _names.TABLE[name].tensorflow[0]
        known["theirs"] = operator.attrgetter(path.removeprefix("tf."))(tf)
    common = inspect.signature(known["theirs"]).parameters
    of_both = [arg for arg in kinds if arg in common and arg not in OF_OTHER_VALUES]
    known["options"] = {arg: _choices(*kinds[arg]) for arg in of_both}
    return known


def _choices(broad: str, finer: str = "", *others: str) -> tuple[list, list]:
    """What an option of a kind may be, and what it must not be; nothing of most kinds."""
    if finer.startswith("one of "):
        return [finer.removeprefix("one of "), *others], ["no", ""]
    if finer in ("of indices", "of shapes"):
        return [*map(np.dtype, ("int32", "int64"))], [*map(np.dtype, ("float32", "int8", "bool"))]
    return ([False, True] if finer == "bool" else []), []


def _calls(drawing: Callable[..., Call | Args], entry: Entry) -> st.SearchStrategy[Call]:
    @st.composite
    def calls(draw: Draw) -> Call:
        drawn = drawing(draw)
        call = drawn if isinstance(drawn, Call) else Call(drawn)
        return _finished(draw, call, entry)

    return calls()


def _finished(draw: Draw, call: Call, entry: Entry) -> Call:
    """The call in the order of the signature, spoilt now and then, and made in one of the ways."""
    parameters = inspect.signature(entry.ours).parameters
    order = [name for name, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    takes_more = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    if not takes_more and not call.args.keys() <= parameters.keys():  # spelled in another way
        order = list(call.args)
    given, options = _by_kinds(draw, call, entry)
    args = {name: given[name] for name in order if name in given}
    ints = [name for name in args if name not in entry.data and are_ints(args[name])]
    indices = [name for name in entry.indices if _arrays(args.get(name))]
    if chance(draw, 15):
        args |= {name: _as_numpy(draw, args[name]) for name in ints}
    elif ints and call.known is None and not options and chance(draw, 4):
        name = pick(draw, ints)
        args[name] = _spoilt(args[name], pick(draw, [1.0, 0.5, "1"]))
        options["float_for_int"] = True
    elif indices and not (call.known or entry.floats_for_indices) and chance(draw, 7):
        name = pick(draw, indices)
        args[name] = _as_no_indices(draw, args[name])
    in_place = 0  # arguments with none left out before them can go by position
    while in_place < len(args) and list(args)[in_place] == order[in_place]:
        in_place += 1
    ways = ["eager", "eager", "eager", "jit"]
    if any(draws.is_inexact(array.dtype) for x in args.values() for array in _arrays(x)):
        ways = ["eager", "eager", "jit", "gradient", "gradient"]
    positional, way = integer(draw, 0, in_place), pick(draw, ways)
    options["on_device"] = options.get("on_device", call.on_device) or chance(draw, 30)
    return replace(
        call,
        args=args | {name: x for name, x in given.items() if name not in args},
        positional=positional,
        jit=call.jit and way == "jit",
        gradient=call.gradient and way == "gradient",
        **options,
    )


def _by_kinds(draw: Draw, call: Call, entry: Entry) -> tuple[Args, Args]:
    """The arguments with what their kinds say, and what else is to be known of the call then."""
    parameters = inspect.signature(entry.ours).parameters
    args, also, spoils = dict(call.args), Args(), call.known is None
    for arg, (good, bad) in entry.options.items():
        if arg in args or not good or not (parameters[arg].default is Empty or chance(draw, 60)):
            continue
        is_bad = bad and spoils and chance(draw, 7)
        args[arg] = pick(draw, bad if is_bad else good)
        if is_bad and f"{arg} of {entry.group}" in DIFFERENCES:
            also["known"] = f"{arg} of {entry.group}"
    lists = [arg for arg in entry.lists if len(args.get(arg, ())) > 1]
    vectors = [arg for arg in entry.vectors if are_ints(args.get(arg))]  # [[]] may be good
    if spoils and lists and chance(draw, 5):
        *others, last = args[lists[0]]
        args[lists[0]] = [*others, draws.array(draw, last.shape, draws.other(last.dtype))]
        also["on_device"] = True  # from the host they would take the other dtype
    elif spoils and vectors and chance(draw, 4):
        arg = pick(draw, vectors)
        args[arg] = [args[arg]]
    unsaid = {a for a, x in args.items() if _is_default(x, parameters.get(a)) and chance(draw, 50)}
    return {arg: x for arg, x in args.items() if arg not in unsaid}, also


def _is_default(x: Any, parameter: inspect.Parameter | None) -> bool:
    """Whether the argument, which is no array, says what the function does without it."""
    default = Empty if parameter is None else parameter.default
    return type(x) is type(default) and isinstance(x, (int, str, NoneType)) and x == default


def are_ints(x: Any) -> bool:
    """Whether it is an int, or a list of ints or of lists of ints."""
    return x != [] and all(map(are_ints, x)) if isinstance(x, list) else type(x) is int


def _as_numpy(draw: Draw, x: Any) -> Any:
    """Static ints as NumPy has them."""
    exact = np.array(x, object)
    if not all(isinstance(i, int) for i in exact.flat):  # a ragged list, as of wrong paddings
        return x
    fits = all(abs(i) < 2**31 for i in exact.flat)
    return exact.astype(pick(draw, ["int32", "int64"]) if fits else np.int64)[()]


def _spoilt(x: Any, wrong: Any) -> Any:
    """With a float or a text for one of the ints, which is an error."""
    if isinstance(x, list):
        return [*x[:-1], _spoilt(x[-1], wrong)]
    return float(x) if wrong == 1.0 else wrong


def _as_no_indices(draw: Draw, x: Any) -> Any:
    """Floats or bools, which are no indices, or a list that has some."""
    if isinstance(x, list):
        return [draws.no_indices(draw, x[0]), *x[1:]]
    return draws.no_indices(draw, x)


def _arrays(x: Any) -> list[np.ndarray]:
    """The arrays of an argument."""
    return [leaf for leaf in (x if isinstance(x, list) else [x]) if isinstance(leaf, np.ndarray)]
