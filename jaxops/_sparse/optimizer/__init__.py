"""`lazy`: optimizers that update some rows of a table, and how it is judged which ones may."""
