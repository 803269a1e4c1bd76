"""Forms that programs for the CPU compute faster. Without this room every value stays.

Each module registers its form with `_forms.py`, so nothing imports this room but `jaxops` itself.
"""
