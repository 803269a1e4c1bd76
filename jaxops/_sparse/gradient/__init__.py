"""`sparse_value_and_grad`: gradients of the rows that a loss reads of its tables."""
