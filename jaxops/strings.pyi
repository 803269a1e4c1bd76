# Written by `make names` from _names.py, for type checkers and editors.

from jaxops import (string_to_number as to_number)
__all__ = ["to_number"]
