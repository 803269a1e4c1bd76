"""Mutants by rule: every small change that the rules below make in the syntax tree of a module.

A rule takes a node and gives what may stand in its place. Nothing is changed where no test can or
should look: annotations, docstrings, texts, `raise`, `assert`, decorators, `if TYPE_CHECKING`.
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import itertools
import math
import random
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import mutants_equal
from mutants_tests import PACKAGE, Tests, runs_of

# Builtins that give back much of what they are given: the others fail without the call.
KEEP_THEIR_ARGUMENT = {"max", "min", "abs", "round", "int", "float", "bool", "sorted", "reversed"}
KEEP_THEIR_ARGUMENT |= {"tuple", "list", "set", "dict"}

TURNED: dict[type, type] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is},
    **{ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd},
    **{ast.LShift: ast.RShift, ast.RShift: ast.LShift},
}
PAIRS = [("any", "all"), ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax")]
PAIRS += [("floor", "ceil"), ("zeros", "ones"), ("left", "right"), ("lower", "upper")]
# In place of a word, or of a part of a name: `segment_min`. The others are dtypes, narrowed.
WORDS = dict(PAIRS) | {b: a for a, b in PAIRS}
WORDS |= {f"{u}int{2 * n}": f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32)}
WORDS |= {"float64": "float32", "float32": "float16", "complex128": "complex64"}
MODES = {"fill": "clip", "clip": "fill", "device": "fill"}


def other_word(name: str) -> str | None:
    """`name` with its first part that has another word; dtypes have no parts."""
    parts = [name] if name in WORDS else name.split("_")
    for n, part in enumerate(parts):
        if part in WORDS:
            return "_".join([*parts[:n], WORDS[part], *parts[n + 1 :]])
    return None


def with_fields(node: ast.AST, **fields) -> Any:
    """A copy of `node`, but for these fields."""
    return type(node)(**{**dict(ast.iter_fields(node)), **fields})


def without(items: Sequence, n: int) -> list:
    return [*items[:n], *items[n + 1 :]]


def fewer(node: ast.AST) -> Iterator[ast.AST]:
    """A tuple without each of its elements in turn."""
    elements = node.elts if isinstance(node, ast.Tuple) and len(node.elts) > 1 else []
    for n in range(len(elements)):
        yield with_fields(node, elts=without(elements, n))


def of_constant(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)[: 1 + (value > 0)]
    elif isinstance(value, float):
        yield from (2 * value, value / 2) if value else (1.0,)
    elif isinstance(value, str) and value in WORDS | MODES:
        yield (WORDS | MODES)[value]


def is_text(node: ast.AST) -> bool:
    is_string = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_string or isinstance(node, ast.JoinedStr)


def is_of(node: ast.AST, names: Container[str]) -> bool:
    """Whether it is one of these names, or an attribute of one."""
    node = node.value if isinstance(node, ast.Attribute) else node
    return isinstance(node, ast.Name) and node.id in names


def of_call(node: ast.Call, known: set[str]) -> Iterator[ast.AST]:
    """Without the call, without a keyword, and without the last argument, which may be optional."""
    for n, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            yield with_fields(node, keywords=without(node.keywords, n))
    called: Any = node.func
    is_method = isinstance(called, ast.Attribute) and not is_of(called.value, known)
    if len(node.args) > 1 and (is_method or is_of(node.func, {"np", "jnp", "range"})):
        yield with_fields(node, args=node.args[:-1])
    if getattr(node.func, "attr", "") in ("where", "select") and len(node.args) == 3:
        yield from node.args[1:]
    elif is_method:
        yield called.value  # the object, else the first argument that is data
    elif not is_of(node.func, vars(builtins).keys() - KEEP_THEIR_ARGUMENT):
        data = [arg for arg in node.args if not is_text(arg) and not is_of(arg, {"op"})]
        yield from [arg for arg in data[:1] if not isinstance(arg, ast.Starred)]


def of_expression(node: ast.AST, known: set[str]) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=ops, comparators=others):
            for n, op in enumerate(ops):
                yield with_fields(node, ops=[*ops[:n], TURNED[type(op)](), *ops[n + 1 :]])
            if isinstance(ops[0], (ast.In, ast.NotIn)):
                yield from (with_fields(node, comparators=[some]) for some in fewer(others[0]))
        case ast.BoolOp(op=op, values=values):
            yield with_fields(node, op=TURNED[type(op)]())
            for n in range(len(values)):
                rest = without(values, n)
                yield with_fields(node, values=rest) if len(rest) > 1 else rest[0]
        case ast.BinOp(left=left, op=op, right=right) if not (is_text(left) or is_text(right)):
            if type(op) in TURNED:
                yield with_fields(node, op=TURNED[type(op)]())
            yield left
            if isinstance(op, (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)):
                yield right
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.Constant(value=value):
            yield from map(ast.Constant, of_constant(value))
        case ast.Name(id=name, ctx=ast.Load()) if other_word(name) in known:
            yield with_fields(node, id=other_word(name))
        case ast.Attribute(attr=name, ctx=ast.Load()) if other_word(name):
            yield with_fields(node, attr=other_word(name))
        case ast.Subscript(slice=ast.Slice() as part):
            for field in ("lower", "upper", "step"):
                if getattr(part, field) is not None:
                    yield with_fields(node, slice=with_fields(part, **{field: None}))
        case ast.Call(func=ast.Name(id="isinstance"), args=[value, kinds]):
            yield from (with_fields(node, args=[value, some]) for some in fewer(kinds))
        case ast.Call():
            yield from of_call(node, known)
        case ast.Tuple(elts=elements, ctx=ast.Load()) if all(map(is_text, elements)):
            yield from fewer(node)


def of_statement(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.AugAssign(op=op):
            yield ast.Pass()
            if type(op) in TURNED:
                yield with_fields(node, op=TURNED[type(op)]())
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            reads = (n.id for n in ast.walk(value) if isinstance(n, ast.Name))
            if name in reads and not isinstance(value, ast.Call):  # whose call another rule drops
                yield ast.Pass()


def of_parts(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Parts of a statement or comprehension, and what takes their place."""
    # Each way always needs a test of the other; `not` would need a test of one way only.
    for test in [node.test] if isinstance(node, ast.If) else getattr(node, "ifs", []):
        yield from ((test, ast.Constant(value)) for value in (True, False))
    for item in node.items if isinstance(node, ast.With) else []:
        if item.optional_vars is None and not makes_text(item.context_expr):
            yield item.context_expr, WITHOUT_CONTEXT


WITHOUT_CONTEXT = ast.parse("__import__('contextlib').nullcontext()", mode="eval").body
# Exceptions and their texts, what type checkers read, and names of scopes.
SKIPPED = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.arg, ast.Global)
TEXTS = re.compile(r"Error$|^brief$|^warn$|^cast$|^TypeVar$|named_scope$|^without_frames$")
BRANCHES = (ast.If, ast.IfExp, ast.While, ast.For, ast.Compare, ast.BoolOp, ast.comprehension)


def makes_text(node: ast.AST) -> bool:
    if isinstance(node, ast.IfExp):
        return isinstance(node.body, ast.JoinedStr) or isinstance(node.orelse, ast.JoinedStr)
    called = getattr(node, "func", None)
    return TEXTS.search(getattr(called, "attr", getattr(called, "id", ""))) is not None


def unparse(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(node))


class Marked(ast.NodeTransformer):
    """Puts the change as `[before -> after]` in place of `node`."""

    def __init__(self, node: ast.AST, new: ast.AST):
        self.node, self.new = node, new

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.node:
            return ast.Name(f"[{unparse(node)} -> {unparse(self.new)}]")
        return self.generic_visit(node)


class Change:
    """`new` in place of `node`, which stands in `statement`, within `function`."""

    def __init__(self, module: Module, function: str, statement, node, new):
        self.of, self.function, self.statement = module, function, statement
        self.node, self.new = node, new
        self.module, self.path, self.line = module.name, module.path, node.lineno

    @property
    def runs(self) -> list[Tests]:
        return runs_of(self.module)

    @functools.cached_property
    def name(self) -> str:
        of = f" {self.function}" if self.function else ""
        return f"{self.module}:{self.line}{of}: {unparse(self.node)}  ->  {unparse(self.new)}"

    @functools.cached_property
    def shape(self) -> str:
        """The change within its statement."""
        copies: dict[int, Any] = {}
        statement = copy.deepcopy(self.statement, copies)
        for field in ("body", "orelse", "finalbody", "handlers", "decorator_list"):
            if isinstance(getattr(statement, field, None), list):
                setattr(statement, field, [])
        return unparse(Marked(copies[id(self.node)], self.new).visit(statement))

    @functools.cached_property
    def text(self) -> str:
        """The source with the change."""
        atoms = (type(self.node), ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Pass)
        new = unparse(self.new)
        new = new if isinstance(self.new, atoms) else f"({new})"
        start, end = self.of.start(self.node), self.of.end(self.node)
        return (self.of.source[:start] + new.encode() + self.of.source[end:]).decode()


class Module:
    """A module of the package and all its changes."""

    def __init__(self, path: Path):
        self.path, self.source = path, path.read_bytes()
        self.name = str(path.relative_to(PACKAGE).with_suffix(""))
        lines = self.source.splitlines(keepends=True)
        self.starts = [0, *itertools.accumulate(map(len, lines))]
        self.tree = ast.parse(self.source)
        nodes = [*ast.walk(self.tree)]
        functions = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        imports = (n.names for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom)))
        names = {(a.asname or a.name).split(".")[0] for aliases in imports for a in aliases}
        self.known = names | functions | {"any", "all", "min", "max"}
        branches = [node for node in nodes if isinstance(node, BRANCHES)]
        # No change is made of a branch for type checkers, which no test runs.
        tests = [ast.unparse(node.test) for node in branches if isinstance(node, ast.If)]
        self.branches = len(branches) - sum(test.endswith("TYPE_CHECKING") for test in tests)

    def start(self, node: Any) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: Any) -> int:
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def changes(self) -> Iterator[Change]:
        """Each once, in the order of the source."""
        seen = set()
        for function, statement, node, new in self._visit(self.tree, "", None):
            key = self.start(node), self.end(node), unparse(new)
            if key not in seen:
                seen.add(key)
                yield Change(self, function, statement, node, new)

    def _visit(self, node: Any, function: str, statement: Any) -> Iterator[tuple]:
        if isinstance(node, SKIPPED) or makes_text(node):
            return
        if isinstance(node, ast.If) and "TYPE_CHECKING" in unparse(node.test):
            return
        if isinstance(node, ast.stmt):
            statement = node
        for new in itertools.chain(of_statement(node), of_expression(node, self.known)):
            yield function, statement, node, new
        for part, new in of_parts(node):
            yield function, statement, part, new
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            function = f"{function}.{node.name}".lstrip(".")
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list"):
                continue
            for child in value if isinstance(value, list) else [value]:
                is_docstring = isinstance(child, ast.Expr) and is_text(child.value)
                if isinstance(child, ast.AST) and not is_docstring:
                    yield from self._visit(child, function, statement)


def changes_no_meaning(change: Change) -> bool:
    """Whether `mutants_equal.py` lists its shape, where "..." stands for anything."""
    patterns = mutants_equal.EQUAL.get("", []) + mutants_equal.EQUAL.get(change.module, [])
    return any(fits(pattern, change.shape) for pattern in patterns)


def fits(pattern: str, shape: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\.\.\.", ".*"), shape, re.DOTALL) is not None


def sample(of: Iterable[Module], count: int, seed: str, only: str = "") -> list[Change]:
    """So many, of each module in proportion to its branches, from lines that differ."""
    changes = {module: [c for c in module.changes() if not only or only in c.name] for module in of}
    branches = sum(module.branches for module, some in changes.items() if some)
    chosen = []
    # Of modules whose share is less than one, the seed says which are left out.
    share = random.Random(seed).random()
    for module, some in changes.items():
        share += count * module.branches / max(branches, 1) if some else 0
        draw = random.Random(f"{seed} {module.name}")  # other modules do not change the sample
        draw.shuffle(some)
        by_line: dict[int, list[Change]] = {}
        for change in some:
            by_line.setdefault(change.line, []).append(change)
        one_of_each_line_first = itertools.chain(*itertools.zip_longest(*by_line.values()))
        fitting = (c for c in one_of_each_line_first if c and not changes_no_meaning(c))
        chosen += itertools.islice(fitting, math.floor(share))
        share %= 1
    return chosen
