"""`python -m jaxops train.py`: the code of a script runs as under `jaxops.check_everything`.

The pytest plugin imports this module before a run asks for checks, and a script may set environment
variables of JAX before it imports JAX. So the module imports neither JAX nor another room.
"""

from __future__ import annotations

import argparse
import builtins
import contextlib
import functools
import importlib.machinery
import io
import os
import pkgutil
import runpy
import sys
import threading
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any


def _pattern_and_rule(argument: str) -> tuple[str, str]:
    """The pattern and the rule of a `PATTERN=RULE` for `outside=`."""
    pattern, equals, rule = argument.rpartition("=")
    if not equals or rule not in ("any", "padding"):
        raise argparse.ArgumentTypeError(
            f"must be PATTERN=any or PATTERN=padding; received {argument!r}"
        )
    return pattern, rule


def add_options(add_option: Callable[..., Any], prefix: str) -> None:
    """Adds `outside` and `negative`, with a prefix of their names, by a method of a parser."""
    add_option(
        f"--{prefix}outside",
        action="append",
        default=[],
        type=_pattern_and_rule,
        metavar="PATTERN=RULE",
        help="for code that counts on what JAX does with such an index, by file and function: "
        "model.py:lookup=any, or sparse/*.py=padding; the first that fits counts",
    )
    add_option(
        f"--{prefix}negative",
        action="store_true",
        help="negative indices of an array are errors too",
    )


def check_everything(outside: Iterable[tuple[str, str]], negative: bool) -> None:
    """`jaxops.check_everything` with the options of a command line."""
    from jaxops._checked.checked import check_everything

    rules: dict[str, str] = {}
    for pattern, rule in outside:
        rules.setdefault(pattern, rule)
    check_everything(outside=rules, negative="error" if negative else "from_end")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs a script or a module; an index of its JAX code that is out of bounds is an error."""
    parser = argparse.ArgumentParser(
        prog="python -m jaxops",
        description="Runs a script as Python does. An index that is out of bounds, in its JAX code "
        "or in a library that it calls, is an error: jaxops.check_everything.",
    )
    add_options(parser.add_argument, "")
    parser.add_argument("-m", dest="is_module", action="store_true", help="the script is a module")
    # argparse takes a `--` from the arguments of another kind, that of the script as well.
    words = "a file, or the name of a module after -m, and its arguments"
    parser.add_argument("script", nargs=argparse.PARSER, help=words)
    options = parser.parse_args(arguments)
    script = options.script[0]
    if not options.is_module and not os.path.exists(script):
        parser.error(f"no such file: {script}; write -m before the name of a module")

    sys.argv = options.script
    leaving = None
    try:
        with contextlib.ExitStack() as block:

            def begin():
                from jaxops._typed_errors import typed_errors

                check_everything(options.outside, options.negative)
                if threading.current_thread() is threading.main_thread():
                    block.enter_context(typed_errors())

            when_jax_is_imported(begin)
            try:
                _run(script, options.is_module)
            except SystemExit as exit_:
                # The block waits for unread results at its end, but not if an exception leaves it
                # (test_command.py, test_an_error_that_nobody_reads).
                leaving = exit_
    except BaseException:
        sys.excepthook = functools.partial(_print_error, sys.excepthook)
        raise
    if leaving is not None:
        raise leaving


def _print_error(hook: Callable, kind: Any, error: BaseException, traceback: Any) -> None:
    """Prints an error of the script, by the script's hook, without the frames of this command."""
    sys.excepthook = hook
    if "jax" in sys.modules:
        from jaxops import _errors, _frames

        if isinstance(error, _errors.OutOfBoundsError):
            traceback = _frames.of_caller(traceback)
    inner = traceback
    while inner is not None:
        if inner.tb_frame.f_code is _run.__code__:
            traceback = inner.tb_next
        inner = inner.tb_next
    hook(kind, error.with_traceback(traceback), traceback)


def when_jax_is_imported(begin: Callable[[], None]) -> None:
    if "jax" in sys.modules:
        begin()
    else:
        sys.meta_path.insert(0, _JaxFinder(begin))


class _JaxFinder:
    """Finds JAX where the finders behind this one do, and calls `begin` when JAX is imported.

    If a module of this package imports JAX, when that module is imported: `begin` may need it.
    """

    def __init__(self, begin: Callable[[], None]):
        self._begin = begin
        self._depth = 0  # of the modules that are being imported

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "jax" and not name.startswith("jaxops."):
            return None
        finders: list[Any] = sys.meta_path
        # Other code may have removed this one.
        others = finders[finders.index(self) + 1 :] if self in finders else finders
        spec = next(filter(None, (f.find_spec(name, path, target) for f in others)), None)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def exec_module(module):
            self._depth += 1
            try:
                load(module)
            finally:
                self._depth -= 1
            if not self._depth and "jax" in sys.modules and self in sys.meta_path:
                sys.meta_path.remove(self)  # type: ignore[arg-type]
                self._begin()

        # Code may look for JAX and not import it (test_command.py, SCRIPT).
        spec.loader.exec_module = exec_module
        return spec


def _run(script: str, is_module: bool) -> None:
    """Runs a file, a module, or the `__main__.py` of a folder or a zip file, as Python does.

    Its module stays `__main__` until the process ends.
    """
    module: Any = types.ModuleType("__main__")
    module.__builtins__ = builtins
    if "__annotations__" in vars(sys.modules["__main__"]):  # by the version of Python
        module.__annotations__ = {}
    sys.modules["__main__"] = module
    # Python does not normalize the path: the parent of a link may be another folder.
    file = os.path.join(os.getcwd(), script)
    if is_module:
        sys.argv[0] = "-m"
        runpy._run_module_as_main(script)  # type: ignore[attr-defined]
    elif pkgutil.get_importer(file) is not None:
        sys.path[: not sys.flags.safe_path] = [file]
        runpy._run_module_as_main("__main__", alter_argv=False)  # type: ignore[attr-defined]
    else:
        if not sys.flags.safe_path:
            sys.path[0] = os.path.dirname(os.path.realpath(file))
        module.__file__, module.__cached__ = file, None
        module.__loader__ = importlib.machinery.SourceFileLoader("__main__", file)
        with io.open_code(file) as source:
            code = compile(source.read(), file, "exec", dont_inherit=True)
        exec(code, vars(module))
