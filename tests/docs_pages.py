"""The scripts in `docs/make`, which make tables and pages for the site."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def load(name: str) -> ModuleType:
    for folder in ("docs/make", "examples"):
        if str(ROOT / folder) not in sys.path:
            sys.path.append(str(ROOT / folder))
    return importlib.import_module(name)
