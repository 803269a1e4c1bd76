"""One record for each public function of arrays: what tests, documents and benchmarks know of it.

A module for each of `jaxops/_ops`, with the oracles of its functions. `record.py` says what a
record holds; `arguments.py` and `loops.py` have what several modules share. `RECORDS` joins the
records; so do the tables below, each of one field.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Mapping
from types import FunctionType, ModuleType

import jax
import numpy as np

import jaxops
from jaxops import _names
from jaxops.compat import v0
from jaxops.typing import Mode
from records import compat_v0
from records.loops import padded
from records.record import Case, Record


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(f"records.{name}")
    except AttributeError as error:
        if error.obj is jaxops:
            error.add_note(f"jaxops/_names.py wants a line of {error.name}, where it is public")
        raise


_MODULES = [_module(m.name) for m in pkgutil.iter_modules(__path__)]
RECORDS: dict[str, Record] = {
    name: record for m in _MODULES for name, record in getattr(m, "RECORDS", {}).items()
}
RECORDS |= compat_v0.adapters(RECORDS)


def joined(field: str) -> dict:
    """The entries of a field that maps `what` to an entry, as `function-what`."""
    return {
        f"{name}-{what}".rstrip("-"): entry
        for name, record in RECORDS.items()
        for what, entry in getattr(record, field).items()
    }


# Each argument's kind, which may say more than is asked of most tests: "data, numbers" is data.
KINDS = {
    name: {arg: kind for arg, (kind, _) in record.call.items()}
    for name, record in RECORDS.items()
    if record.call
}
CALLS = {
    name: {arg: (kind.split(",")[0], RECORDS[name].call[arg][1]) for arg, kind in kinds.items()}
    for name, kinds in KINDS.items()
}
CASES: dict[str, Case] = joined("cases")


def has_elements(case: Case) -> bool:
    """In data and result: a test of arrays without elements sees no value."""
    return all(d.size for d in case.data) and case.oracle(*case.args).size > 0


def first_of_each_op(cases: Mapping[str, Case]) -> dict[str, str]:
    """By name of the op the name of its first case that has elements."""
    names = [name for name, case in cases.items() if has_elements(case)]
    return {name.split("-")[0]: name for name in reversed(names)}


# Of each op that takes padding its first case once more: what is no index, and what may be one.
CASES |= {
    f"{name}-padded-{number}": padded(CASES[first], number)
    for name, first in first_of_each_op(CASES).items()
    if "padding_index" in CALLS.get(name, ())
    for number in (-1, 0)
}

# --- how the functions are called ---

# Public functions that are no array operations.
TRANSFORMATIONS = {"lazy", "rowwise_adagrad", "sparse_value_and_grad"}
TRANSFORMATIONS |= {"sharded_gather"}  # of arrays that a mesh of devices shares
CHECKS = {"at", "checked", "unchecked", "check_everything", "padding_index"}  # of code of JAX
TRANSFORMATIONS |= CHECKS
TRANSFORMATIONS |= {"psum", "pmean", "sum_stacked", "global_norm", "clip_by_global_norm"}
# Of functions and specifications, not of arrays; and what is not called by users.
OF_NO_ARRAYS = {"lazy", "sparse_value_and_grad", "strided_slice_spec", "sharded_gather"} | CHECKS
OF_NO_ARRAYS |= {"rowwise_adagrad"}
CLASSES = {"OutOfBoundsError", "LazyOptimizer", "StridedSliceSpec", "TiedGradient", "typed_errors"}
CLASSES |= {"RaggedTensor"}  # its methods have records
CLASSES |= {"SparseTensor"}  # which functions look at, that it is given to

PUBLIC = {
    **{n: f for n, f in inspect.getmembers(jaxops) if isinstance(f, (FunctionType, type))},
    **{f"v0.{n}": f for n, f in inspect.getmembers(v0)},
}
PUBLIC_FUNCTIONS = {  # of jaxops itself
    n: f for n, f in PUBLIC.items() if isinstance(f, FunctionType) and "." not in n
}


def _add_to(values, indices, dense_shape, dense):
    return jaxops.IndexedSlices(values, indices, dense_shape).add_to(dense)


def _sum_duplicates(values, indices, dense_shape, size=None, mode: Mode = "device"):
    return jaxops.IndexedSlices(values, indices, dense_shape).sum_duplicates(size, mode=mode)


def _ragged(name):
    """A method of RaggedTensor, as a function of its values and splits too."""
    method = getattr(jaxops.RaggedTensor, name)
    if inspect.ismethod(method):  # of the class
        return method

    def call(values, row_splits, *args, **kwargs):
        x = jaxops.RaggedTensor.from_row_splits(values, row_splits)
        return method(x, *args, **kwargs)

    own, *rest = inspect.signature(method).parameters.values()
    parts = [own.replace(name=part) for part in ("values", "row_splits")]
    call.__signature__ = inspect.Signature([*parts, *rest])
    return call


def _over_devices(function):
    """`psum` or `pmean` of gradients, on one device."""

    def call(grads, axis_name):
        return jax.vmap(
            lambda _: function(grads, axis_name), axis_name="batch", axis_size=1, out_axes=None
        )(np.zeros(1))

    return call


def _meshgrid(args, indexing="xy", name=None):
    return jaxops.meshgrid(*args, indexing=indexing, name=name)


FUNCTIONS = {
    **{name: PUBLIC[name] for name in CALLS if name in PUBLIC},
    "meshgrid": _meshgrid,
    "IndexedSlices.add_to": _add_to,
    "IndexedSlices.sum_duplicates": _sum_duplicates,
    **{name: _ragged(name[13:]) for name in CALLS if name.startswith("RaggedTensor.")},
    "psum": _over_devices(jaxops.psum),
    "pmean": _over_devices(jaxops.pmean),
    **{name: f for m in _MODULES for name, f in getattr(m, "FUNCTIONS", {}).items()},
}


def arguments(name):
    """Those of a valid call."""
    return {arg: value for arg, (_, value) in CALLS[name].items()}


def needed(name):
    """Those of a valid call that are no options, with their kinds."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    return {
        arg: (kind, value)
        for arg, (kind, value) in CALLS[name].items()
        if parameters[arg].default is inspect.Parameter.empty
        or (kind in ("int", "ints") and parameters[arg].kind is not inspect.Parameter.KEYWORD_ONLY)
        or arg in RECORDS[name].of_dtype
    }


def wanted(names: Iterable[str], what: str) -> list[str]:
    """Sentences that say which file lacks what of each function."""
    return [f"{_file_of(name)}: the record of {name} wants {what}" for name in sorted(names)]


def _file_of(name: str) -> str:
    for module in _MODULES:
        if name in getattr(module, "RECORDS", {}):
            return f"tests/{module.__name__.replace('.', '/')}.py"
    home = "compat_v0" if name.startswith("v0.") else _names.TABLE[name].home.rpartition(".")[2]
    return f"tests/records/{home}.py"


def missing():
    """What the records lack: functions, and arguments of functions."""
    names = {name for name in PUBLIC if name not in {*CALLS, *OF_NO_ARRAYS, *CLASSES}}
    found = wanted(names, "`call`, its arguments by their names")
    for name, call in CALLS.items():
        parameters = [
            p
            for p in inspect.signature(FUNCTIONS[name]).parameters
            if p not in ("name", "out_sharding")
        ]
        for parameter in {*parameters} ^ {*call}:
            found += wanted(
                [name], f"`call` with the parameters of {name}: {parameter} is in one only"
            )
    return found


def operation(name):
    """What stands at the start of an error of that function."""
    return name.removeprefix("v0.")
