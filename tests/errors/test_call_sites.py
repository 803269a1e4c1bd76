"""An error names the line of the caller's code and the caller's name, whatever JAX made of it."""

import contextlib
import re
import sys
import traceback
from pathlib import Path

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np
import pytest
from checked.transformed import TRANSFORMATIONS
from records import joined

import jaxops
from jaxops import _call_sites, testing

PACKAGE = str(Path(jaxops.__file__).parent)
CASES = joined("out_of_bounds")
TABLE = jnp.arange(10.0)
BAD = jnp.array([1, 99])


def decoder(table, words, name=None):
    return jaxops.gather(table, words, name=name)


WHERE = f"test_call_sites.py:{decoder.__code__.co_firstlineno + 1} (decoder)"

# The first is outermost.
PROGRAMS = [
    *((name,) for name in TRANSFORMATIONS),
    *(("vmap", "vmap"), ("grad", "scan"), ("grad", "cond"), ("vjp", "checkpoint")),
]


@pytest.mark.parametrize("name", [None, "token_embedding"])
@pytest.mark.parametrize("names", [(), *PROGRAMS], ids="-".join)
def test_where_and_name(names, name):
    def program(table, number):
        return decoder(table, number, name) ** 2

    for transformation in reversed(names):
        program = TRANSFORMATIONS[transformation](program)
    error = testing.assert_out_of_bounds(program, TABLE, jnp.int32(99))
    assert (error.where, error.name) == (WHERE, name)
    named = "" if name is None else ', name="token_embedding"'
    assert str(error).endswith(f"= 99 is not in [0, 10) [Op:gather] at {WHERE}{named}")


def test_the_call_that_is_wrong_is_named():
    def model(table, words):
        first = jaxops.gather(table, words * 0)
        second = jaxops.gather(table, words)
        return first + second + jaxops.gather(table, words * 0)

    error = testing.assert_out_of_bounds(model, TABLE, BAD)
    line = model.__code__.co_firstlineno + 2
    assert error.where == f"test_call_sites.py:{line} (model)"


class Decoder:
    def __call__(self, table, words):
        return jaxops.gather(table, words)


def test_a_method_is_named_with_its_class():
    error = testing.assert_out_of_bounds(Decoder(), TABLE, BAD)
    line = Decoder.__call__.__code__.co_firstlineno + 1
    assert error.where == f"test_call_sites.py:{line} (Decoder.__call__)"


def test_a_function_that_is_jitted_as_it_is_names_the_caller():
    lookup = jax.jit(jaxops.gather)
    with jaxops.typed_errors(), pytest.raises((jax.errors.JaxRuntimeError, ValueError)) as info:
        lookup(TABLE, BAD)
    assert "at test_call_sites.py:" in str(info.value)
    assert "(test_a_function_that_is_jitted" in str(info.value)


@pytest.mark.parametrize("call", CASES)
@pytest.mark.parametrize("make", [jnp.array, np.array], ids=["jax", "numpy"])
def test_frames_end_at_the_caller(call, make):
    case = CASES[call]
    with pytest.raises(jaxops.OutOfBoundsError) as info:
        case.call(make(case.bad))
    *others, caller = [frame.filename for frame in traceback.extract_tb(info.value.__traceback__)]
    assert "/records/" in caller
    assert not [file for file in others if file.startswith((PACKAGE, _jax_folder()))]
    assert re.fullmatch(r"records/\w+\.py:\d+ \(\S+\)", info.value.where)


def _jax_folder():
    return str(Path(jax.__file__).parent)


ON_HOST = {
    "boolean_mask": lambda **name: jaxops.boolean_mask(["a", "b"], [True, True], size=1, **name),
    "unique": lambda **name: jaxops.unique(["a", "b"], size=1, **name),
    "dynamic_partition": lambda **name: jaxops.dynamic_partition(TABLE[:2], BAD, 3, **name),
    "dynamic_stitch": lambda **name: jaxops.dynamic_stitch([[0, -1]], [["a", "b"]], **name),
    "gather": lambda **name: jaxops.gather(["a", "b"], [2], **name),
    "slice": lambda **name: jaxops.slice(np.arange(3), [2], [2], **name),
}


@pytest.mark.parametrize("function", ON_HOST)
def test_what_the_host_computes(function):
    for name in (None, "mine"):
        with pytest.raises(jaxops.OutOfBoundsError) as info:
            ON_HOST[function](name=name)
        assert (info.value.operation, info.value.name) == (function, name)
        assert info.value.where.startswith("test_call_sites.py:")
        assert len(traceback.extract_tb(info.value.__traceback__)) == 2  # this one, the lambda


def test_no_program_is_compiled_or_traced_again():
    traced = []

    @jax.jit
    def step(table, words):
        traced.append(1)
        return decoder(table, words)

    for _ in range(2):
        step(TABLE, BAD * 0)
    assert step(TABLE, BAD * 0).shape == (2,)
    assert (len(traced), step._cache_size()) == (1, 1)  # type: ignore[attr-defined]


@pytest.mark.parametrize("transform", [lambda f: f, jax.grad], ids=["value", "gradient"])
def test_programs_name_the_callers_code(transform):
    """In the locations of what is lowered, and of what XLA makes of it."""

    def model(x, i):
        parts = jaxops.dynamic_partition(x, i, 3, size=2)
        y = jaxops.tensor_scatter_nd_max(x, i[:, None], parts[0])
        return jnp.sum(y * jaxops.unique(x, size=2).y) + jnp.sum(jaxops.gather(x, i, name="emb"))

    lowered = jax.jit(transform(model)).lower(jnp.arange(2.0), jnp.array([1, 0]))
    (module,) = lowered.compile().runtime_executable().hlo_modules()  # type: ignore[union-attr]
    for text in (lowered.as_text(debug_info=True), str(module.as_serialized_hlo_module_proto())):
        assert "test_call_sites.py" in text
        assert PACKAGE not in text


def test_the_path_is_that_of_imports(tmp_path, monkeypatch):
    (tmp_path / "layers").mkdir()
    path = tmp_path / "layers" / "embed.py"
    path.write_text("import jaxops\n\ndef embed(t, i):\n    return jaxops.gather(t, i)\n")
    space: dict = {}
    exec(compile(path.read_text(), path, "exec"), space)
    _call_sites._short.cache_clear()
    for folder, where in ((tmp_path, "layers/embed.py"), (tmp_path / "layers", "embed.py")):
        monkeypatch.syspath_prepend(folder)
        _call_sites._short.cache_clear()
        with pytest.raises(jaxops.OutOfBoundsError) as info:
            space["embed"](TABLE, BAD)
        assert info.value.where == f"{where}:4 (embed)"


def test_a_path_of_odd_things(monkeypatch):
    """Python ignores what is no string; the working directory may be gone."""
    monkeypatch.setattr(sys, "path", [Path("/"), b"/", None, "", "/a", "/a/b"])
    for file, short in {"/a/b/c.py": "c.py", "/a/c.py": "c.py", "/d/c.py": "/d/c.py"}.items():
        assert _call_sites._short.__wrapped__(file) == short

    def gone(path):
        raise FileNotFoundError

    monkeypatch.setattr(_call_sites.os.path, "abspath", gone)
    assert _call_sites._short.__wrapped__("/a/b/c.py") == "/a/b/c.py"


def test_whose_code_it_is():
    for theirs in (decoder, pytest.raises):  # the second in site-packages
        assert _call_sites.is_of_caller(theirs.__code__.co_filename)
    for other in (jaxops.gather, contextlib.suppress.__exit__, jax.make_jaxpr):
        assert not _call_sites.is_of_caller(other.__code__.co_filename)
    for module in (jaxops, jax, jaxlib, contextlib):
        folder = str(Path(str(module.__file__)).parent)
        assert not _call_sites.is_of_caller(f"{folder}/a.py")
        assert _call_sites.is_of_caller(f"{folder}_md/a.py")  # such as jax_md
