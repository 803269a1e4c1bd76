"""Words under which the search of the site finds a page although the page says them otherwise.

The search shows these words beside its results. Pages of functions are found by their names: see
`function_pages.front_matter`. tests/site/test_search_of_the_site.py asks for such words.
"""

from __future__ import annotations

from typing import Any

WORDS = {
    "accelerators.md": "GPU TPU CUDA H100",
    "checked.md": "existing code, pytest, sanitizer, debug",
    "contributing.md": "pull request, develop",
    "examples.md": "scripts",
    "faq.md": "negative index, nan, vocabulary, troubleshooting",
    "frameworks.md": "flax nnx linen equinox haiku",
    "from_jnp.md": "jax.numpy, migrate",
    "many_devices.md": "multi GPU, sharding, mesh, distributed",
    "out_of_bounds.md": "out of bounds, negative index, IndexError, vocabulary",
    "performance.md": "speed, benchmark",
    "porting.md": "migrate, tf, import jaxops as tf, partition_strategy",
    "sharp_bits.md": "gotchas, pitfalls, nan, donate",
    "sparse_gradients.md": "sparse gradients, embedding",
    "start.md": "getting started, quickstart",
    "tutorial.md": "notebook, Jupyter",
    "versioning.md": "upgrade, migrate, deprecation, release",
}


def meta(page: str) -> dict[str, Any]:
    """For the search, by the page's path in the site."""
    if page not in WORDS:
        return {}
    return {"tags": [word.strip() for word in WORDS[page].split(",")]}
