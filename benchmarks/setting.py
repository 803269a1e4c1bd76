"""What the benchmarks share: TensorFlow if there is one, and how figures are written."""

from __future__ import annotations

import importlib
import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jax

try:
    tf: Any = importlib.import_module("tensorflow")
except ImportError:
    tf = None


def write_figures(path: Path, figures: Mapping[str, object]) -> None:
    """Writes JSON: the machine and the versions, then the figures."""
    machine = {
        "device": jax.devices()[0].device_kind,
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "jax": jax.__version__,
        "tensorflow": None if tf is None else tf.__version__,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine, **figures}, indent=1) + "\n")
