"""Mutants by rule that change no meaning, by module, as `make mutants` prints them."""

EQUAL: dict[str, list[str]] = {"": []}
