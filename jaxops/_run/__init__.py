"""The way from a caller's arguments to arrays, and the run of an op on them.

Eager, traced, of strings, or with NumPy on the host. Imports `_indexing` and the modules beside the
rooms.
"""
