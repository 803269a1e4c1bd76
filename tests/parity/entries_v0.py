"""The functions of `jaxops.compat.v0`, by the calls of the functions that they adapt.

The draws are the same, so that the programs are compiled already. Where TensorFlow still has the
0.x kernel (`Reverse` of bools, `SpaceToBatch` of a block size) the functions are compared with
that, in entries of their own.
"""

import dataclasses
from collections.abc import Mapping

from calls import Call
from draws import Args, Draw, pick
from entries import ENTRIES, Entry
from hypothesis import strategies as st
from peer import tf
from records import FUNCTIONS, RECORDS
from records.compat_v0 import ADAPTED, spellings

from jaxops.compat import v0

# In TensorFlow 2 these have more arguments between those of 0.x.
BY_NAME = {"shape", "size"}


def adapter(name: str) -> Entry:
    """The entry of a function of v0, made from that of the function that it adapts."""
    base = ENTRIES[ADAPTED.get(name, name)]
    ways = spellings(name)
    names = {arg: new for way in ways for arg, new in way.items()}

    def theirs(**args):
        return base.theirs(**{names[arg]: x for arg, x in args.items()})

    def ours(new: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(arg for arg, its in names.items() if its in new)

    return dataclasses.replace(
        base,
        ours=FUNCTIONS["v0.meshgrid"] if name == "meshgrid" else getattr(v0, name),
        theirs=_gather if name == "gather" else theirs,
        calls=_spelled(base.calls, name),
        data=ours(base.data),
        indices=ours(base.indices),
        traced=None if base.traced is None else ours(base.traced),
        differentiable=ours(base.differentiable),
    )


def _gather(params, indices, validate_indices=None):
    del validate_indices  # True asks for what TensorFlow 2 always does
    return tf.gather(params, indices)


def _can_say(name: str, way: Mapping[str, str], call: Call) -> bool:
    """Whether a spelling has all arguments of the call: v0 has fewer options."""
    if name == "split" and "num_split" in way and type(call.args["num_or_size_splits"]) is not int:
        return False
    return {*call.args} <= {*way.values()}


@st.composite
def _spelled(draw: Draw, calls: st.SearchStrategy[Call], name: str) -> Call:
    ways = spellings(name)
    call = draw(calls.filter(lambda call: any(_can_say(name, way, call) for way in ways)))
    way = pick(draw, [way for way in ways if _can_say(name, way, call)])
    said = dict(call.args)
    if "split_dim" in way and name == "split":  # which has no default
        said.setdefault("axis", 0)
    args: Args = {arg: said[its] for arg, its in way.items() if its in said}
    if args.get("validate_indices") is False:  # in 0.x a promise, which bad indices would break
        args["validate_indices"] = True
    in_place = 0
    while in_place < len(args) and [*args][in_place] == [*way][in_place]:
        in_place += 1
    positional = min(call.positional, 1 if name in BY_NAME else in_place)
    if positional and "input" in args and name == "pad":  # which has no place of its own
        positional = 0
    return dataclasses.replace(call, args=args, positional=positional)


def adapt_others() -> None:
    """Those that have no entry of their own."""
    for full_name in RECORDS:
        if full_name.startswith("v0.") and full_name not in ENTRIES:
            ENTRIES[full_name] = adapter(full_name.removeprefix("v0."))
