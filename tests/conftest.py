import jax
import pytest

# Rank and dtype promotion hide mistakes in the library's own code.
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture(params=[False, True], ids=["x32", "x64"])
def x64(request):
    """Runs the test without and with 64-bit types."""
    with jax.enable_x64(request.param):
        yield request.param
