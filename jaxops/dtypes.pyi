# Written by `make names` from _names.py, for type checkers and editors.

from jaxops import (cast, saturate_cast)
__all__ = ["cast", "saturate_cast"]
