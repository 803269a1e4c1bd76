"""What is known of the functions of `_ops/identities.py`."""

import jaxops
from records.arguments import DATA
from records.loops import floats
from records.record import Case, Export, Record

RECORDS = {
    "guarantee_const": Record(
        call={"input": DATA},
        cases={"": Case(jaxops.guarantee_const, lambda x: x, (floats(2, 3),))},
        exports=[Export("(x)", jaxops.guarantee_const, ("a, b",))],
        row="Shapes and shaping | - | - | the cotangent | -",
    ),
    "stop_gradient": Record(
        call={"input": DATA},
        exports=[Export("(x)", jaxops.stop_gradient, ("a, b",))],
        row="Shapes and shaping | `stop_gradient` | - | 0 | -",
    ),
}
