"""What the harness does not see of `_ops/diagonals.py`: default names."""

import jax
import numpy as np
import pytest

import jaxops


@pytest.mark.parametrize("name", ["matrix_diag", "matrix_diag_part", "matrix_set_diag"])
def test_the_name_that_tensorflow_gives_by_default_is_no_scope(name):
    x = np.ones((3, 3), np.float32)
    args = [x, x[0]] if name == "matrix_set_diag" else [x]
    program = jax.jit(lambda *args: getattr(jaxops, name)(*args))
    assert f'"jit(<lambda>)/{name}' in program.lower(*args).as_text(debug_info=True)
