"""What is known of the functions of `_ops/string_to_number.py`."""

import jaxops
from records.casting import constant_case
from records.record import Export, Record

RECORDS = {
    "string_to_number": Record(
        call={"input": ("text", ["1", "2.5"]), "out_type": ("dtype", "float32")},
        cases={
            "": constant_case(
                lambda: jaxops.string_to_number([["2", " -3 ", "0x1p-1"]]), [2, -3, 0.5]
            )
        },
        of_dtype=("input",),
        exports=[Export("(x)", jaxops.string_to_number, ("n",), refused="string_to_number: ")],
        row="Casting | `string_to_number` | constants only: strings live on the host | - | -",
    )
}
