"""Forms that programs for the CPU compute faster. Without this room every value stays.

Each module registers its forms with `_forms.py`, which imports this room at the first call that
may take one.
"""

from jaxops._cpu import column_sums as column_sums
from jaxops._cpu import counting_sort as counting_sort
from jaxops._cpu import even_parts as even_parts
from jaxops._cpu import hash_table as hash_table
from jaxops._cpu import narrow_scatter as narrow_scatter
from jaxops._cpu import parts_in_turn as parts_in_turn
from jaxops._cpu import pieces_by_python as pieces_by_python
from jaxops._cpu import put_in_turn as put_in_turn
from jaxops._cpu import row_copies as row_copies
from jaxops._cpu import row_reads as row_reads
from jaxops._cpu import true_ranks as true_ranks
