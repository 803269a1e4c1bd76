"""`python -m jaxops`, in processes of its own."""

import argparse
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import jaxops
from jaxops._checked import command

SCRIPT = """
import os, sys, typing
import importlib.util
assert importlib.util.find_spec("jax") and "jax" not in sys.modules
os.environ["JAX_ENABLE_X64"] = "1"
import jax, jax.numpy as jnp
import atexit, pickle
assert jnp.ones(()).dtype == "float64"
import numbers_of_rows

class Table(typing.NamedTuple):
    rows: int

if __spec__ is None or __spec__.name == "__main__":  # not a module
    atexit.register(lambda: print(len(pickle.dumps(Table(4)))))

def embed(table, ids):
    return jnp.take(table, ids, axis=0)

if __name__ == "__main__":
    print(*sys.argv, numbers_of_rows.NUMBER, sys.modules["__main__"].embed is embed, __file__)
    print(Table.__annotations__, sys.path[0])
    jax.jit(embed)(jnp.ones((4, 3)), jnp.array([1, int(sys.argv[1])]))  # nothing reads the result
    print("after")
    if "--fail" in sys.argv:
        raise KeyError("of the script")
    if "--exit" in sys.argv:
        sys.exit(3)
"""
WORDS = (
    "jaxops.OutOfBoundsError: index 4 at position [1] is out of bounds for axis 0 of an array of "
    "shape (4, 3) [Op:take] at train.py:18 (embed)\n"
)


@pytest.fixture
def python(tmp_path):
    """Runs Python beside a folder with the script, which imports a module of its folder."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    (folder / "__main__.py").write_text(SCRIPT)
    (folder / "numbers_of_rows.py").write_text("NUMBER = 4")
    shutil.make_archive(str(folder), "zip", folder)
    (tmp_path / "empty").mkdir()

    def run(*arguments, cwd=tmp_path):
        environment = os.environ | {
            "PYTHONPATH": str(Path(jaxops.__file__).parents[1]),
            "JAX_PLATFORMS": "cpu",
            "JAX_ENABLE_COMPILATION_CACHE": "0",  # jax 0.10.0 prints which features of a CPU differ
        }
        return subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, cwd=cwd, env=environment
        )

    return run


WAYS = {
    "file": ["model/train.py"],
    "module": ["-m", "train"],
    "folder": ["model"],
    "zip": ["model.zip"],
}


@pytest.mark.slow  # starts processes
@pytest.mark.parametrize("way", WAYS)
def test_a_script_runs_as_python_runs_it(python, way, tmp_path):
    script, cwd = WAYS[way], tmp_path / "model" if way == "module" else tmp_path
    for arguments in (
        ["3"],
        ["3", "--negative"],
        ["2", "--fail"],
        ["2", "--exit"],
        ["2", "--", "--"],
    ):
        expected = python(*script, *arguments, cwd=cwd)
        actual = python("-m", "jaxops", *script, *arguments, cwd=cwd)
        assert actual.stdout == expected.stdout != ""
        assert actual.returncode == expected.returncode
        assert actual.stderr == expected.stderr
    assert "True" in expected.stdout


SCRIPTS = {
    "globals": """
        import __main__
        number: int = 3
        print(sorted((name, type(value).__name__) for name, value in globals().items()))
        print(__file__, __name__, __builtins__, __main__.number, __annotations__)
    """,
    "globals-without-annotations": """
        print(sorted(globals()))
    """,
    "arguments": """
        import sys
        print(sys.argv)
    """,
    "error": """
        raise KeyError("before JAX is imported")
    """,
    "syntax": """
        def f(:
    """,
    "interrupted": """
        def f():
            raise KeyboardInterrupt
        f()
    """,
    "group": """
        raise BaseExceptionGroup("of", [GeneratorExit(), KeyboardInterrupt()])
    """,
    "text": """
        raise SystemExit("text")
    """,
    "hook": """
        import sys, traceback
        sys.excepthook = lambda kind, error, frames: print(*traceback.extract_tb(frames))
        def f():
            1 / 0
        f()
    """,
    "last": """
        import atexit, sys
        atexit.register(lambda: print(sys.last_value, sys.excepthook is sys.__excepthook__))
        1 / 0
    """,
    "jax": """
        import jax.numpy as jnp
        def f():
            jnp.ones(3)[1, 2]  # JAX shows its own frames here
        f()
    """,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_ends_as_it_ends_in_python(python, name, tmp_path):
    (tmp_path / "script.py").write_text(textwrap.dedent(SCRIPTS[name]))
    arguments = ["model/../script.py", "a b", "", "-5"]
    expected, actual = python(*arguments), python("-m", "jaxops", *arguments)
    assert expected.stdout + expected.stderr
    assert actual.stdout == expected.stdout
    assert actual.stderr == expected.stderr
    assert actual.returncode == expected.returncode


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["empty"], ["-m", "empty"], ["-m", "nothing"]])
def test_nothing_to_run(python, arguments):
    expected, actual = python(*arguments), python("-m", "jaxops", *arguments)
    assert (actual.stderr, actual.returncode) == (expected.stderr, 1)


IMPORTED_FIRST = {
    "public": "jaxops.typed_errors",
    "check": "jaxops.checked(len)",
    "import": "from jaxops import gather, typed_errors",
    "module": "import jaxops.compat.v0, jaxops.nn",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", IMPORTED_FIRST)
def test_jaxops_imported_before_jax(python, name, tmp_path):
    """A module of jaxops imports JAX, and the command needs that module as soon as JAX is there."""
    read = "import jax.numpy as jnp\njnp.arange(3)[jnp.array(7)]"
    (tmp_path / "script.py").write_text(f"import jaxops; {IMPORTED_FIRST[name]}\n{read}")
    failed = python("-m", "jaxops", "script.py")
    assert "jaxops.OutOfBoundsError: index 7 is out of bounds" in failed.stderr
    assert "script.py:3 (<module>)" in failed.stderr


@pytest.mark.slow
def test_an_index_out_of_bounds_is_an_error(python):
    checked = python("-m", "jaxops", "model/train.py", "4")
    assert checked.returncode == 1
    assert checked.stderr.endswith(WORDS)
    assert "jaxops/" not in checked.stderr
    assert "runpy" not in checked.stderr
    negative = python("-m", "jaxops", "--negative", "model/train.py", "-1")
    assert "index -1 at position [1] is negative" in negative.stderr
    rules = ["--outside=model/*:embed=any", "--outside=*.py=padding"]
    assert python("-m", "jaxops", *rules, "model/train.py", "9").returncode == 0
    assert python("-m", "jaxops", *rules[::-1], "model/train.py", "9").returncode == 1


UNREAD = """
import sys
import jax, jax.numpy as jnp

jax.config.update("jax_num_cpu_devices", 2)
mesh = jax.make_mesh((2,), ("rows",), (jax.sharding.AxisType.Auto,))
ids = jax.device_put(jnp.array([1, 4]), jax.NamedSharding(mesh, jax.P("rows")))
jax.jit(lambda x, i: x[i])(jnp.ones(4), ids)
sys.exit(0)
"""


@pytest.mark.slow
def test_an_error_that_nobody_reads(python, tmp_path):
    """On several devices a call returns before its program fails; the script ends with 0."""
    (tmp_path / "unread.py").write_text(UNREAD)
    done = python("-m", "jaxops", "unread.py")
    assert done.returncode == 1
    assert "OutOfBoundsError: index 4 at position [1]" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "the following arguments are required: script"),
        (["nothing.py"], "no such file: nothing.py; write -m before the name of a module"),
        (["--outside=*.py", "x.py"], "must be PATTERN=any or PATTERN=padding; received '*.py'"),
        (["--outside=a=none", "x.py"], "must be PATTERN=any or PATTERN=padding; received 'a=none'"),
    ],
)
def test_refused(arguments, words, capsys):
    with pytest.raises(SystemExit, match="2"):
        command.main(arguments)
    assert words in capsys.readouterr().err


def test_a_pattern_may_have_an_equals_sign():
    assert command._pattern_and_rule("a=b.py=any") == ("a=b.py", "any")
    with pytest.raises(argparse.ArgumentTypeError, match="PATTERN=any"):
        command._pattern_and_rule("any")


def test_a_finder_that_other_code_removes(monkeypatch):
    """Another finder may hold the one that was removed, and ask it."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.delitem(sys.modules, "jax")
    command.when_jax_is_imported(lambda: None)
    finder: Any = sys.meta_path.pop(0)
    assert finder.find_spec("jaxops._names", jaxops.__path__).name == "jaxops._names"
