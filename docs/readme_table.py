"""Writes the table of functions of README.md, and how many they are."""

from __future__ import annotations

import re
from pathlib import Path

from records import RECORDS

README = Path(__file__).parents[1] / "README.md"
SECTIONS = ("Casting", "Shapes and shaping", "Slicing and joining", "Indexing", "Embeddings")
HEAD = "| function | TensorFlow 2 | v0 | differs under `jit` | gradient | bounds |\n"
HEAD += "|---|---|---|---|---|---|\n"


def table() -> str:
    lines = []
    for section in SECTIONS:
        lines.append(f"| **{section}** | | | | | |")
        lines += [
            f"| `{name}` | {record.readme} |"
            for name, record in sorted(RECORDS.items())
            if record.section == section
        ]
    return HEAD + "\n".join(lines) + "\n"


def page(text: str) -> str:
    """The README with its table and its number of functions made again."""
    text = re.sub(rf"{re.escape(HEAD)}(\|.*\n)+", lambda _: table(), text)
    named = text.partition("with TensorFlow 2's exact meaning")[0].count("`") // 2
    number = sum(1 for record in RECORDS.values() if record.section)
    return re.sub(r"and \d+ more", f"and {number - named} more", text, count=1)


if __name__ == "__main__":
    README.write_text(page(README.read_text()))
