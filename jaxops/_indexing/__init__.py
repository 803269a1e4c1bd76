"""The canonical gather and scatter, and all that indices are: dtypes, bounds, errors, positions.

Imports the modules beside the rooms.
"""
