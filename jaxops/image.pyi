# Written by `make names` from _names.py, for type checkers and editors.

from jaxops import (extract_patches)
__all__ = ["extract_patches"]
