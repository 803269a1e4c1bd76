"""Rows of the casts."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from peers import keras, tf, torch
from row import Row, bools, floats, ints

import jaxops

TINY = "throughput tiny"


def vector(make):
    return lambda n: (make(n(4_000_000, 4)),)


def to_row(name, dtype, make, **options):
    return Row(
        f"to_{name}",
        f"4M {make.__name__}",
        vector(make),
        jaxops=lambda x: getattr(jaxops, f"to_{name}")(x),
        tensorflow=lambda x: tf.cast(x, dtype),
        jnp=lambda x: x.astype(dtype),
        keras=lambda x: keras.ops.cast(x, dtype),
        torch=lambda x: x.to(getattr(torch, dtype)),
        groups=TINY,
        **options,
    )


def int32(size):
    return ints(1000, size)


def strings(size):
    return np.array([str(number / 4) for number in range(size)])


ROWS = [
    Row(
        "cast",
        "4M int32 to f32",
        vector(int32),
        jaxops=lambda x: jaxops.cast(x, "float32"),
        tensorflow=lambda x: tf.cast(x, "float32"),
        jnp=lambda x: x.astype("float32"),
        keras=lambda x: keras.ops.cast(x, "float32"),
        torch=lambda x: x.float(),
        groups=f"{TINY} compile",
    ),
    Row(
        "cast",
        "4M f32 to bool",
        vector(floats),
        jaxops=lambda x: jaxops.cast(x, "bool"),
        tensorflow=lambda x: tf.cast(x, "bool"),
        jnp=lambda x: x.astype("bool"),
        keras=lambda x: keras.ops.cast(x, "bool"),
        torch=lambda x: x.bool(),
    ),
    Row(
        "saturate_cast",
        "4M f32 to uint8",
        lambda n: ((floats(n(4_000_000, 4)) - 4) * 99,),
        jaxops=lambda x: jaxops.saturate_cast(x, "uint8"),
        tensorflow=lambda x: tf.saturate_cast(x, "uint8"),
        jnp=lambda x: jnp.clip(x, 0, 255).astype("uint8"),
        keras=lambda x: keras.ops.saturate_cast(x, "uint8"),
        torch=lambda x: torch.clamp(x, 0, 255).to(torch.uint8),
        groups=TINY,
    ),
    Row(
        "bitcast",
        "4M f32 to int32",
        vector(floats),
        jaxops=lambda x: jaxops.bitcast(x, jnp.int32),
        tensorflow=lambda x: tf.bitcast(x, tf.int32),
        jnp=lambda x: jax.lax.bitcast_convert_type(x, jnp.int32),
        keras=lambda x: keras.ops.view(x, "int32"),
        groups=f"{TINY} bandwidth",
        shares_memory=("tensorflow",),
    ),
    Row(
        "bitcast",
        "4M f32 to 4 uint8 each",
        vector(floats),
        jaxops=lambda x: jaxops.bitcast(x, jnp.uint8),
        tensorflow=lambda x: tf.bitcast(x, tf.uint8),
        jnp=lambda x: jax.lax.bitcast_convert_type(x, jnp.uint8),
        shares_memory=("tensorflow",),
    ),
    to_row("double", "float64", floats, x64=True),
    to_row("float", "float32", bools),
    to_row("bfloat16", "bfloat16", floats),
    to_row("int32", "int32", floats),
    to_row("int64", "int64", floats, x64=True),
    Row(
        "string_to_number",
        "4 strings",
        lambda n: (strings(4),),
        jaxops=lambda x: jaxops.string_to_number(x),
        tensorflow=lambda x: tf.strings.to_number(x),
        jnp=lambda x: jnp.asarray(x.astype(np.float32)),
        groups="tiny",
    ),
    Row(
        "string_to_number",
        "100,000 strings",
        lambda n: (strings(n(100_000, 4)),),
        jaxops=lambda x: jaxops.string_to_number(x),
        tensorflow=lambda x: tf.strings.to_number(x),
        jnp=lambda x: jnp.asarray(x.astype(np.float32)),
        eager=True,
        note="strings live on the host: NumPy's casting is the idiom",
    ),
]
