"""Sparse gradients of tables: `IndexedSlices`, `sparse_value_and_grad`, `lazy`.

Imports `_run`, `_indexing` and the modules beside the rooms.
"""
