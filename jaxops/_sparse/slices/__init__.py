"""Gradients of which some rows are there: what they are, their sums and their norms."""
