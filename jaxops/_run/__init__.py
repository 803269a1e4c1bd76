"""From the arguments that a caller passed to arrays, and how an op runs on them.

Eager, traced, of strings, or with NumPy on the host. Imports `_indexing` and the modules beside the
rooms.
"""
