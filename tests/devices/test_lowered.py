"""What is lowered for a GPU and a TPU, run on the CPU of this machine: every function and gradient.

A program that has nothing of its platform in it runs anywhere. So it shows what becomes of values
there; the compilers of these platforms come later, and nothing here is theirs.
"""

import jax
import numpy as np
import pytest
from checked.jax_code import GOOD, PROGRAMS, X, bad_for
from checks import NIGHTLY, SLOW, exported_for
from records import CASES, first_of_each_op

import jaxops

PLATFORMS = ["cuda", "tpu"]
FIRST = set(first_of_each_op(CASES).values())


def lowered(platform, function, *args):
    """`function` of these arguments as it is on `platform`, to be called on this machine."""
    exported = exported_for(platform, function, *args)
    text = exported.mlir_module()
    assert "callback" not in text
    if "chlo.scan" in text:
        pytest.skip("jax 0.12 sums up by an operation that ends the process on the CPU")
    return exported.call


def cases(which):
    """The platforms and cases that each target of make lowers for.

    `make test` lowers the first case of every other op for a GPU, `make test-slow` the others.
    Nightly the first ones are lowered for a TPU, and by `make stress` the others: the same code of
    jaxops runs for both.
    """
    stress = [pytest.mark.slow, pytest.mark.stress]
    soon = [name for name in which if name in FIRST][::2]
    marks = {"cuda": lambda name: [] if name in soon else SLOW}
    marks["tpu"] = lambda name: NIGHTLY if name in FIRST else stress
    return [
        pytest.param(platform, name, marks=marks[platform](name))
        for platform in PLATFORMS
        for name in which
    ]


@pytest.mark.slow  # in `make test` what reads 0 is compiled for others in the same way
@pytest.mark.parametrize(("platform", "name"), cases(CASES))
def test_values_and_gradients(platform, name):
    case = CASES[name]

    def both(*args):
        return case.op(*args), case.gradients()(*args)

    result, grads = lowered(platform, both, *case.args)(*case.args)
    np.testing.assert_array_equal(result, case.oracle(*case.args))
    for actual, expected in zip(grads, jax.jit(case.gradients())(*case.args), strict=True):
        np.testing.assert_allclose(actual, expected, 1e-6, 1e-6)


FILLED = {name: case for name, case in CASES.items() if "fill" in case.modes}


@pytest.mark.parametrize(("platform", "name"), cases(FILLED))
def test_what_is_out_of_bounds_reads_0_or_is_ignored(platform, name):
    case = CASES[name]

    def both(*args):
        return case.op(*args), case.gradients()(*args)

    call = lowered(platform, both, *case.args)
    filled = jax.jit(case.gradients(mode="fill"))
    for by in (-2, 3):
        args = (*case.data, *(i + np.int32(by) for i in case.indices))
        result, grads = call(*args)
        np.testing.assert_array_equal(result, case.oracle(*args, mode="fill"))
        for actual, expected in zip(grads, filled(*args), strict=True):
            np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(
    "platform", [pytest.param("cuda", marks=SLOW), pytest.param("tpu", marks=NIGHTLY)]
)
def test_checked_code_is_what_jax_makes_of_it(platform, name):
    """Without a callback, and with JAX's values where an index is out of bounds."""
    program = PROGRAMS[name][0]
    checked = lowered(platform, jaxops.checked(program), X, GOOD)
    unchecked = lowered(platform, program, X, GOOD)
    for indices in (GOOD, bad_for(name)):
        jax.tree.map(
            np.testing.assert_array_equal, checked(X, indices), unchecked(X, indices)
        )  # NaN is equal to NaN
