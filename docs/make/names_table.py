"""Where each public name of TensorFlow's array_ops is: the table of docs/tensorflow_names.md."""

from __future__ import annotations

import operator
from collections.abc import Mapping

import jaxops
from jaxops import _tensorflow_names
from jaxops.compat import v0

# TensorFlow 2.21's, of array_ops, array_ops_stack and gen_array_ops; `make parity` compares them.
_NAMES = """
batch_to_space bitcast boolean_mask broadcast_dynamic_shape broadcast_static_shape broadcast_to
concat debugging.check_numerics edit_distance expand_dims extract_volume_patches fill fingerprint
gather gather_nd guarantee_const identity identity_n image.extract_patches linalg.band_part
linalg.diag linalg.diag_part linalg.matrix_transpose linalg.set_diag linalg.tensor_diag
linalg.tensor_diag_part math.invert_permutation meshgrid newaxis nn.depth_to_space nn.space_to_batch
nn.space_to_depth one_hot ones ones_like pad parallel_stack quantization.dequantize
quantization.fake_quant_with_min_max_args quantization.fake_quant_with_min_max_args_gradient
quantization.fake_quant_with_min_max_vars quantization.fake_quant_with_min_max_vars_gradient
quantization.fake_quant_with_min_max_vars_per_channel
quantization.fake_quant_with_min_max_vars_per_channel_gradient quantization.quantize
quantization.quantize_and_dequantize quantization.quantize_and_dequantize_v2
quantization.quantized_concat rank repeat required_space_to_batch_paddings reshape reverse
reverse_sequence scatter_nd searchsorted sequence_mask shape shape_n size slice space_to_batch
space_to_batch_nd sparse.mask split squeeze stack stop_gradient strided_slice tensor_scatter_nd_add
tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update tile
transpose unique unique_with_counts unravel_index unstack where zeros zeros_like
"""
NAMES = _NAMES.split()


def is_here(name: str) -> bool:
    try:
        operator.attrgetter(name)(jaxops)
    except AttributeError:
        return False
    return True


def table() -> str:
    old = _tensorflow_names.OLD
    others = sorted({*_tensorflow_names.TABLE} - {*NAMES}, key=str.lower)
    paths = {n: f"`jaxops.{n}`" if is_here(n) else _tensorflow_names.answer(n) for n in NAMES}
    return (
        f"{_rows(paths)}\n\n"
        "For functions of `tf`, `tf.math`, `tf.nn`, `tf.linalg` and other modules that jaxops "
        "lacks, the AttributeError says the same as this table:\n\n"
        f"{_rows({n: _tensorflow_names.TABLE[n] for n in others})}\n\n"
        "Names of TensorFlow 0.x and 1.x that are neither in TensorFlow 2 nor in "
        "`jaxops.compat.v0`:\n\n"
        f"{_rows({n: old[n] for n in sorted({*old} - {*dir(v0)}, key=str.lower)})}"
    )


def _rows(answers: Mapping[str, str | None]) -> str:
    rows = [f"| `tf.{n}` | {answer} |" for n, answer in answers.items()]
    return "| TensorFlow | in jaxops, or its replacement |\n|---|---|\n" + "\n".join(rows)
