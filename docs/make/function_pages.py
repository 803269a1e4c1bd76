"""The pages of the public functions, made of their records, of benchmarks/results and of what
`make docs` found out by running them; mkdocstrings adds signatures and docstrings."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import accelerators_report
import figures
import see_also
from gallery_table import EXAMPLES
from records import CHECKS, RECORDS, TRANSFORMATIONS

import jaxops
from jaxops import _names, testing
from jaxops.compat import v0

FOUND = Path(__file__).parents[2] / "build" / "docs"  # by `make docs`
NAMES = {"IndexedSlices", "TiedGradient", "LazyOptimizer"}
SECTIONS = {
    "Casting": set(),
    "Shapes and shaping": set(),
    "Slicing and joining": set(),
    "Indexing": set(),
    "Embeddings": set(),
    "Sparse gradients": (TRANSFORMATIONS - CHECKS) | NAMES,
    "Checked code of JAX": CHECKS,
    "Errors": {"OutOfBoundsError", "typed_errors"},
    "Ragged and sparse tensors": {"RaggedTensor", "SparseTensor"},
    "Arguments": set(),  # what is left: classes and types that arguments have
}
FIELDS = ("TensorFlow 2", "TensorFlow 0.x", "differs under `jit`", "gradient", "bounds")


def public_names(module: ModuleType) -> list[str]:
    """What a module has for its users, but the modules in it."""
    own = {
        name
        for name, value in inspect.getmembers(module)
        if isinstance(value, (FunctionType, type))
        and not name.startswith("_")
        and value.__module__.startswith("jaxops")
    }
    listed = {n for n in getattr(module, "__all__", ()) if not n.startswith("__")}
    return sorted(own | {n for n in listed if not isinstance(getattr(module, n), ModuleType)})


@functools.cache
def by_section() -> dict[str, list[str]]:
    """The public names of jaxops."""
    found = {section: [] for section in SECTIONS}
    for name in public_names(jaxops):
        of_record = RECORDS[name].section if name in RECORDS else ""
        named = [section for section, names in SECTIONS.items() if name in names]
        found[of_record or next(iter(named), "Arguments")].append(name)
    return found


@functools.cache
def found(name: str) -> Any:
    """What one of the scripts beside this file found out."""
    return json.loads((FOUND / f"{name}.json").read_text())


def fields(name: str) -> list[str]:
    """The cells of the table of functions: see FIELDS."""
    paths = [f"`tf.{path}`" for path in _names.TABLE[name].tensorflow] or ["-"]
    return [paths[0], *RECORDS[name].readme.split(" | ")]


def v0_names(name: str) -> list[str]:
    """The names of a function in TensorFlow 0.x."""
    cell = fields(name)[1] if name in RECORDS and RECORDS[name].readme else "-"
    return [] if cell == "-" else cell.strip("`").split("`, `")


def signature(function: Any) -> str:
    """Without the types."""
    parameters = inspect.signature(function).parameters.values()
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
    return str(inspect.Signature(plain))


def also_as(name: str) -> list[str]:
    """Where else it is public."""
    return [
        f"`jaxops.{module}.{theirs}`"
        for module, names in _names.NAMESPACES.items()
        for theirs, ours in names.items()
        if ours == name
    ]


def at_a_glance(name: str) -> Iterator[str]:
    if not (name in RECORDS and RECORDS[name].readme):
        return
    yield "## At a glance { data-search-exclude }"
    rows = [(f, c) for f, c in zip(FIELDS, fields(name), strict=True) if f != "TensorFlow 0.x"]
    rows += [
        ("`jaxops.compat.v0`", linked_v0(n, f"`{n}{signature(getattr(v0, n))}`"))
        for n in v0_names(name)
    ]
    if places := also_as(name):
        rows.append(("also as", ", ".join(places)))
    yield figures.joined(("", ""), rows)


def pictures(name: str) -> Iterator[str]:
    examples = [e for e in EXAMPLES if e.name.partition("-")[0] == name]
    if examples:
        heading = "Pictures" if len(examples) > 1 else "Picture"
        yield f"## {heading} {{ data-search-exclude }}"
    for example in examples:
        yield example.caption
        yield f"```python\n{example.code}\n```"
        yield f"![{name}: a photograph before and after](../pictures/{example.name}.jpg)"


def dtypes(name: str) -> Iterator[str]:
    if name not in found("dtypes"):
        return
    cells = found("dtypes")[name]
    yield "## Dtypes { data-search-exclude }"
    yield figures.joined(cells, [("no" if c == "." else c for c in cells.values())])
    yield "On the CPU, with 64-bit types; *no* is a `TypeError`. [All functions](../dtypes.md)."


def symbolic_shapes(name: str) -> Iterator[str]:
    calls = [cells for function, *cells in found("symbolic_shapes") if function == name]
    if calls:
        yield "## Sizes that are not known yet { data-search-exclude }"
        yield (
            "The table shows calls that `jax.export` accepts or refuses "
            "[with symbolic shapes](../symbolic_shapes.md):"
        )
        yield figures.joined(("call", "arrays", "constraints"), calls)


def times(name: str) -> Iterator[str]:
    if figures.has_function(name):
        yield "## Times on a CPU { data-search-exclude }"
        yield figures.of_function(name)
        yield (
            f"Ratios are times of jaxops / times of the peer, with quartiles, so below 1 jaxops is "
            f"faster; `=`: the same program. {figures.machine()}. [Performance](../performance.md) "
            "describes the measurements."
        )


def accelerators(name: str) -> Iterator[str]:
    table = accelerators_report.table(name)
    if table.count("\n") > 1:
        yield "## Programs for a GPU and a TPU { data-search-exclude }"
        yield table
        yield (
            "Compiled for an H100 and a TPU v5e, beside the idiom of `jnp` (jaxops / idiom, one "
            "number where both are the same); nothing was run on either. "
            "[GPUs and TPUs](../accelerators.md) explains the columns."
        )


def page(name: str) -> str:
    """The page of a public name of jaxops."""
    parts = [f"::: jaxops.{name}"]
    sections = (at_a_glance, pictures, dtypes, symbolic_shapes, times, accelerators)
    for made in (*sections, see_also.section):
        parts += made(name)
    return front_matter(name) + "\n\n".join(parts) + "\n"


def front_matter(title: str) -> str:
    """The title, and a boost by which a search for the name finds this page first."""
    return f"---\ntitle: {title}\nsearch:\n  boost: {60 / len(title):.1f}\n---\n\n"


def testing_page(name: str) -> str:
    guide = "A guide to these checks: [Checking gradients](../gradient_checks.md)."
    return front_matter(name) + f"::: jaxops.testing.{name}\n\n{guide}\n"


def is_adapter(name: str) -> bool:
    """Whether a function of `compat.v0` is another than that of jaxops with its name."""
    return getattr(v0, name).__module__ == v0.__name__


def linked_v0(name: str, text: str) -> str:
    return f"[{text}][jaxops.compat.v0.{name}]" if is_adapter(name) else text


def v0_page() -> str:
    """All names of `compat.v0`; those that are jaxops' own functions stand in the table alone."""
    names = public_names(v0)
    current = {n: name for name in RECORDS if "." not in name for n in v0_names(name)}
    rows = [
        (
            linked_v0(n, f"`{n}`"),
            f"`{n}{signature(getattr(v0, n))}`",
            f"[`{current[n]}`]({current[n]}.md)" if n in current else "",
        )
        for n in names
    ]
    return "\n\n".join(
        [
            "---\ntitle: compat.v0\n---\n\n# jaxops.compat.v0",
            "These functions have the names and argument orders of TensorFlow 0.5 to 0.12. They "
            "call the functions in the column *today*, whose pages describe results, errors and "
            "gradients. [Porting code](../porting.md#from-tensorflow-0x) has an example.",
            figures.joined(("0.x", "call", "today"), rows),
            *(
                f"::: jaxops.compat.v0.{n}\n    options:\n      heading_level: 2"
                for n in filter(is_adapter, names)
            ),
        ]
    )


def index() -> str:
    """The table of all functions, by section."""
    parts = [
        "---\ntitle: All functions\n---\n\n# All functions",
        "All are flat in `jaxops`, with TensorFlow 2's argument names, order and defaults, and in "
        "[`jaxops.compat.v0`](compat_v0.md) with those of TensorFlow 0.x. A function without a "
        "TensorFlow name follows `jax.numpy`. `name=` becomes a `jax.named_scope`. The column "
        "*bounds* names the arguments whose indices may be [out of bounds](../out_of_bounds.md).",
    ]
    for section, names in by_section().items():
        recorded = [name for name in names if name in RECORDS and RECORDS[name].readme]
        others = [name for name in names if name not in recorded]
        parts.append(f"## {section}")
        if recorded:
            rows = [(f"[`{name}`]({name}.md)", *fields(name)) for name in recorded]
            parts.append(figures.joined(("function", *FIELDS), rows))
        if others:
            parts.append(listing(jaxops, others))
    parts += ["## Checking gradients", "In `jaxops.testing`:"]
    parts.append(listing(testing, public_names(testing), prefix="testing."))
    return "\n\n".join(parts) + "\n"


def listing(module: ModuleType, names: list[str], prefix: str = "") -> str:
    """Each with the first line of its docstring."""
    rows = []
    for name in names:
        first_line = (inspect.getdoc(getattr(module, name)) or "").partition("\n")[0]
        rows.append((f"[`{prefix}{name}`]({prefix}{name}.md)", first_line))
    return figures.joined(("name", "meaning"), rows)


def pages() -> dict[str, str]:
    """All pages of the folder `functions`, by their paths."""
    made = {name: page(name) for names in by_section().values() for name in names}
    made |= {f"testing.{name}": testing_page(name) for name in public_names(testing)}
    made |= {"compat_v0": v0_page(), "index": index()}
    return {f"functions/{name}.md": text for name, text in made.items()}


def navigation() -> list[dict[str, Any]]:
    """As mkdocs.yml has it."""
    sections = [
        {section: [f"functions/{name}.md" for name in names]}
        for section, names in by_section().items()
        if names
    ]
    checks = [f"functions/testing.{name}.md" for name in public_names(testing)]
    return [
        "functions/index.md",
        *sections,
        {"Checking gradients": checks},
        "functions/compat_v0.md",
    ]
