"""What users see: names, docstrings, the error class."""

import copy
import inspect
import operator
import pickle
from importlib.metadata import version

import jax
import jax.numpy as jnp
import pytest
from records import PUBLIC_FUNCTIONS as FUNCTIONS

import jaxops
from jaxops import _names, testing

CHECKS = {n: f for n, f in vars(testing).items() if n.startswith(("check_", "assert_"))}
SECTIONS = ["Args:", "Returns:", "Raises:", "Gradient:", "Example:", ">>> "]


@pytest.mark.parametrize("name", [*FUNCTIONS, *CHECKS])
def test_docstring_is_complete(name):
    function = (FUNCTIONS | CHECKS)[name]
    doc = inspect.getdoc(function) or ""
    sections = [*SECTIONS, *(["Source: https://"] if name in FUNCTIONS else [])]
    missing = [section for section in sections if section not in doc]
    assert not missing, f"the docstring of {name} lacks {missing}"
    arguments = doc.partition("Args:")[2].partition("Returns:")[0]
    undescribed = [p for p in inspect.signature(function).parameters if f"{p}:" not in arguments]
    assert not undescribed, f"the docstring of {name} lacks {undescribed} in its section Args"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_options_that_tensorflow_lacks_are_keywords(name):
    parameters = dict(inspect.signature(FUNCTIONS[name]).parameters)
    if name == "pad":
        del parameters["mode"]  # TensorFlow's own, of another meaning
    for option in ("mode", "fill_value", "deterministic"):
        if option in parameters:
            assert parameters[option].kind is inspect.Parameter.KEYWORD_ONLY
    if "mode" in parameters:  # TensorFlow's `one_hot` has no error on any device
        assert parameters["mode"].default == ("fill" if name == "one_hot" else "device")


def test_names_of_tensorflow_lead_to_the_functions():
    """`tf.nn.depth_to_space` is `jaxops.nn.depth_to_space`, and so for every function."""
    found = {
        path: name
        for name, entry in _names.TABLE.items()
        for path in entry.tensorflow
        if not path.startswith("compat.")
    }
    assert len(found) > 80
    for path, name in found.items():
        assert operator.attrgetter(path)(jaxops) is getattr(jaxops, name), path


def test_version():
    assert jaxops.__version__ == version("jaxops")


def test_error_survives_pickling():
    with pytest.raises(jaxops.OutOfBoundsError) as info:
        jaxops.gather_nd([[1, 2]], [[0, 0], [0, 5]])
    for error in (pickle.loads(pickle.dumps(info.value)), copy.copy(info.value)):
        assert str(error) == str(info.value)
        assert (error.operation, error.position) == ("gather_nd", (1,))
        assert (error.index, error.bound) == ((0, 5), (1, 2))


def test_name_is_the_scope():
    def op(i):
        return jaxops.gather(jnp.arange(3.0), i, name="lookup")

    # In the locations of what is lowered, from where profilers take it.
    assert "lookup" in jax.jit(op).lower(jnp.array([1])).as_text(debug_info=True)
