"""Writes the names of all functions into README.md, by section, and how many they are."""

from __future__ import annotations

import re
from pathlib import Path

from records import RECORDS

README = Path(__file__).parents[2] / "README.md"
SECTIONS = ("Casting", "Shapes and shaping", "Slicing and joining", "Indexing", "Embeddings")


def names() -> dict[str, list[str]]:
    """By section."""
    return {
        section: sorted(name for name, record in RECORDS.items() if record.section == section)
        for section in SECTIONS
    }


def page(text: str) -> str:
    """The README with its names and their number made again."""
    for section, found in names().items():
        line = f"**{section}**: {', '.join(f'`{name}`' for name in found)}."
        text, count = re.subn(rf"^\*\*{section}\*\*: .*$", line, text, flags=re.MULTILINE)
        assert count == 1, section
    number = sum(map(len, names().values()))
    return re.sub(r"\b\d+ functions\b", f"{number} functions", text)


if __name__ == "__main__":
    README.write_text(page(README.read_text()))
