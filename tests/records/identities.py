"""What is known of the functions of `_ops/identities.py`."""

import jaxops
from records.record import DATA, Case, Export, Record, floats

RECORDS = {
    "guarantee_const": Record(
        call={"input": DATA},
        cases={"": Case(jaxops.guarantee_const, lambda x: x, (floats(2, 3),))},
        exports=[Export("(x)", jaxops.guarantee_const, ("a, b",))],
        section="Shapes and shaping",
        readme="- | - | the cotangent | -",
    ),
    "stop_gradient": Record(
        call={"input": DATA},
        exports=[Export("(x)", jaxops.stop_gradient, ("a, b",))],
        section="Shapes and shaping",
        readme="`stop_gradient` | - | 0 | -",
    ),
}
