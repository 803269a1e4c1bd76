"""Forms that programs for a GPU of NVIDIA compute faster. Without this room every value stays.

Nothing of it ran on a GPU: what its forms gain is read from what XLA's compiler emits
(docs/accelerators.md).
"""

from jaxops._cuda import atomic_sums as atomic_sums
