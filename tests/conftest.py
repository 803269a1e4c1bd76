import gc
import importlib.util
import os
import shutil
import tempfile

import fast
import jax
import pytest
from checks import rest_of_sweeps, share_of_each_function

from jaxops import _forms

# Rank and dtype promotion hide mistakes in the library's own code.
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

# Most of the time goes to XLA, and many tests compile the same small programs: as transformations
# of one op, in each worker of xdist, in the processes of the examples. So they share what they
# compiled. The directory is new in each run, as no run may rely on another's programs.
CACHE = "JAX_COMPILATION_CACHE_DIR"
CACHE_EVERY_PROGRAM = {
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}
# Programs of their own processes, which set up JAX or read their arguments first, and hold no test.
# Of the calls as users write them many are wrong: type checkers read them.
collect_ignore_glob = ["*/*_programs.py", "typing/*.py"]

# `make test` runs these tests with all parameters, which are the functions of the library or cost
# little.
WHOLE = ("tests/ops/test_ops.py::test_values_eager_and_jit", "tests/project/", "tests/compat/")
WHOLE += ("tests/site/",)  # `make docs-test` runs those of the built site

# Compiled programs are kept as long as their functions are; a worker would grow to 4 GB.
TESTS_BETWEEN_CLEARING = 800


def pytest_configure(config):
    if not hasattr(config, "workerinput"):  # the first process; workers inherit what it sets
        folder = tempfile.mkdtemp(prefix="jaxops-tests-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        os.environ.update({CACHE: folder, **CACHE_EVERY_PROGRAM})
        # Programs of their own processes import what the tests share.
        paths = [os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        if os.environ.get("JAXOPS_TESTS_SOON") or os.environ.get("JAXOPS_TESTS_FAST"):
            fast.set_flags()
    if os.environ.get("JAXOPS_TESTS_SOON"):  # `make test`; each worker selects its tests itself
        config.option.markexpr += " and not slow and not optimized"
    fast.share_contexts()
    # Python's collector went through the programs that JAX keeps again and again: 6,000 times in
    # tests/checked and tests/sparse, a tenth of their time.
    gc.set_threshold(100_000)
    # Lowering writes the stack of each operation's caller into MLIR, which takes a twentieth of the
    # time. No test reads more than the innermost frame.
    jax.config.update("jax_include_full_tracebacks_in_locations", False)
    if os.environ.get("JAXOPS_TESTS_WITHOUT_FORMS"):  # `make test-without-forms`
        _forms.switch_off()
    jax.config.update("jax_compilation_cache_dir", os.environ[CACHE])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    config.pluginmanager.register(Sweeps(), "sweeps")
    config.pluginmanager.register(Doctests())  # hooks of this file are not for tests beside it


class Sweeps:
    """A test function with many parameters runs the square root of their number in `make test`.

    `make test-slow` runs the rest.
    """

    @pytest.hookimpl(tryfirst=True)  # before tests are selected by their markers
    def pytest_collection_modifyitems(self, items):
        if not os.environ.get("JAXOPS_TESTS_SOON") or not os.environ.get("JAXOPS_TESTS_SHARE"):
            for item in rest_of_sweeps([i for i in items if not i.nodeid.startswith(WHOLE)]):
                item.add_marker(pytest.mark.slow)


class Doctests:
    """Doctests of Python 3.11.2 compare the note that JAX adds to an error, not its message."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        before = jax.config.jax_traceback_filtering  # type: ignore[attr-defined]
        if isinstance(item, pytest.DoctestItem):
            jax.config.update("jax_traceback_filtering", "tracebackhide")  # adds no note
        try:
            return (yield)
        finally:
            jax.config.update("jax_traceback_filtering", before)


@pytest.hookimpl(trylast=True)  # when the tests with other markers are gone
def pytest_collection_modifyitems(config, items):
    if share := os.environ.get("JAXOPS_TESTS_SHARE"):  # "1/5", of `make test-versions SHARE=5`
        taken = share_of_each_function(items, *map(int, share.split("/")))
        config.hook.pytest_deselected(items=list({*items} - {*taken}))
        items[:] = taken
    # These pages need packages of the extra `frameworks`.
    missing = [name for name in ("equinox", "flax") if importlib.util.find_spec(name) is None]
    for item in items:
        if missing and item.path.name in ("frameworks.md", "sharp_bits.md"):
            reason = f"{' and '.join(missing)} missing: pip install '.[frameworks]'"
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Held to SSE4.2 (`make test-versions`) XLA compiles no float16: such a test says nothing."""
    try:
        return (yield)
    except jax.errors.JaxRuntimeError as error:
        held = "--xla_cpu_max_isa=SSE4_2" in os.environ.get("XLA_FLAGS", "")
        if held and "Failed to materialize symbols" in str(error):
            pytest.skip("XLA compiles no float16 for SSE4.2")
        raise


@pytest.fixture(scope="session")
def counted():
    return iter(range(1, 10**9))


@pytest.fixture(autouse=True)
def programs_are_dropped(counted):
    """Now and then, between two tests."""
    yield
    if next(counted) % TESTS_BETWEEN_CLEARING == 0:
        jax.clear_caches()


@pytest.fixture
def standard_promotion():
    """As optax relies on it."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@pytest.fixture
def x32():
    """Runs the test without 64-bit types, also where all tests run with them (JAX_ENABLE_X64=1)."""
    with jax.enable_x64(False):
        yield


@pytest.fixture(params=[False, True], ids=["x32", "x64"])
def x64(request):
    """Runs the test without and with 64-bit types."""
    with jax.enable_x64(request.param):
        yield request.param


@pytest.fixture(params=["eager", "jit"])
def run(request):
    """Makes of a function one that runs eagerly, and one that is compiled."""
    return jax.jit if request.param == "jit" else lambda function: function


@pytest.fixture
def traceback_filtering():
    """Sets which frames of an error JAX shows, for the test."""
    before = jax.config.jax_traceback_filtering  # type: ignore[attr-defined]
    yield lambda mode: jax.config.update("jax_traceback_filtering", mode)
    jax.config.update("jax_traceback_filtering", before)
