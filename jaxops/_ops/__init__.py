"""The public ops, one family a file: static arguments, shapes and axes, and a few calls of `lax`.

Imports `_run`, `_indexing` and the modules beside the rooms. Imported by the surfaces alone:
`jaxops` and `jaxops.compat`.
"""
