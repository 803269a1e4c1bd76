"""TensorFlow, set up for the comparison; `Any` to the type checker, which may not have it."""

import importlib
import os
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"  # jax, if imported before, has set it to 1
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

tf: Any = importlib.import_module("tensorflow")


def prepare() -> None:
    """The settings of both libraries, once a process."""
    import jax

    # One thread each: the calls are small, and the tests run in parallel.
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    # As in tests/conftest.py.
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    jax.config.update("jax_numpy_rank_promotion", "raise")
