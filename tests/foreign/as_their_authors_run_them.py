"""A plugin of pytest for the suites of other packages, which their authors start in another way."""

import os
import types
from pathlib import Path


def pytest_configure():
    import jax
    import jax.lib
    from absl import flags
    from jax.extend.backend import get_backend

    # `absltest.main` reads the flags before the first test.
    flags.FLAGS(["pytest"])
    # Names of JAX that are gone, by which jraph's tests call it.
    jax.__dict__.update(tree_map=jax.tree.map, tree_leaves=jax.tree.leaves)
    jax.lib.__dict__.update(xla_bridge=types.SimpleNamespace(get_backend=get_backend))


def pytest_collection_modifyitems(items):
    """Leaves out the tests that are not asked for.

    As arguments their names would end the run if one is gone: haiku has a test for each module that
    the process has imported.
    """
    names = Path(os.environ["ONLY_TESTS_OF"]).read_text().splitlines()
    if names:
        items[:] = [item for item in items if item.nodeid in names]
