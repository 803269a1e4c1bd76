"""Rows of the functions of matrices."""

from __future__ import annotations

import jax.numpy as jnp
from peers import tf, torch
from row import Row, floats

import jaxops


def matrices(n):
    return (floats(n(16, 2), n(256, 4), n(256, 4)),)


ROWS = [
    Row(
        "matrix_band_part",
        "lower triangles of 16 x 256 x 256 f32",
        matrices,
        jaxops=lambda x: jaxops.matrix_band_part(x, -1, 0),
        tensorflow=lambda x: tf.linalg.band_part(x, -1, 0),
        jnp=jnp.tril,
        torch=lambda x: torch.tril(x),
        groups="throughput gradients",
    ),
    Row(
        "matrix_transpose",
        "16 x 256 x 256 f32",
        matrices,
        jaxops=jaxops.matrix_transpose,
        tensorflow=lambda x: tf.linalg.matrix_transpose(x),
        jnp=jnp.matrix_transpose,
        torch=lambda x: x.mT.contiguous(),
        groups="throughput gradients",
    ),
    Row(
        "matrix_diag",
        "4,096 of 64 f32",
        lambda n: (floats(n(4096, 4), n(64, 3)),),
        jaxops=jaxops.matrix_diag,
        tensorflow=lambda x: tf.linalg.diag(x),
        jnp=lambda x: x[..., None] * jnp.eye(x.shape[-1], dtype=x.dtype),
        torch=lambda x: torch.diag_embed(x),
        groups="throughput gradients",
    ),
    Row(
        "matrix_diag_part",
        "of 16 x 256 x 256 f32",
        matrices,
        jaxops=jaxops.matrix_diag_part,
        tensorflow=lambda x: tf.linalg.diag_part(x),
        jnp=lambda x: jnp.diagonal(x, axis1=-2, axis2=-1),
        torch=lambda x: torch.diagonal(x, dim1=-2, dim2=-1).contiguous(),
        groups="throughput gradients",
    ),
    Row(
        "matrix_set_diag",
        "of 16 x 256 x 256 f32",
        lambda n: (*matrices(n), -matrices(n)[0][..., 0, : n(256, 4)]),
        jaxops=jaxops.matrix_set_diag,
        tensorflow=lambda x, y: tf.linalg.set_diag(x, y),
        jnp=lambda x, y: jnp.where(jnp.eye(x.shape[-1], dtype=bool), y[..., None], x),
        torch=lambda x, y: torch.diagonal_scatter(x, y, dim1=-2, dim2=-1),
        groups="throughput gradients",
    ),
    Row(
        "tensor_diag",
        "of 32 x 32 f32",
        lambda n: (floats(n(32, 3), n(32, 3)),),
        jaxops=jaxops.tensor_diag,
        tensorflow=lambda x: tf.linalg.tensor_diag(x),
        jnp=lambda x: jnp.diag(x.reshape(-1)).reshape(x.shape * 2),
        torch=lambda x: torch.diag(x.reshape(-1)).reshape(x.shape * 2),
        groups="throughput gradients",
    ),
    Row(
        "tensor_diag_part",
        "of 32 x 32 x 32 x 32 f32",
        lambda n: (floats(*[n(32, 3)] * 4),),
        jaxops=jaxops.tensor_diag_part,
        tensorflow=lambda x: tf.linalg.tensor_diag_part(x),
        jnp=lambda x: jnp.diagonal(x.reshape(x.shape[0] * x.shape[1], -1)).reshape(x.shape[:2]),
        groups="throughput gradients",
    ),
]
