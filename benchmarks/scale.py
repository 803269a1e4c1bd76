"""One training step on a table that many devices share, compiled for 256 TPU v5e or for 8 H100s.

    python benchmarks/scale.py tpu

Needs the environment of `make accelerators`. Prints what one device holds, what it sends in a step,
and what for: the table of docs/many_devices.md.
"""

from __future__ import annotations

import argparse
import functools

from compilers import Compiler

BATCH, WIDTH = 65_536, 128
SETTINGS = {"tpu": ("v5e:16x16", 10**8), "cuda": ("1x8x1", 4 * 10**7)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("platform", choices=SETTINGS)
    parser.add_argument("--only", default="", help="steps with these words in their name")
    arguments = parser.parse_args()
    platform, only = arguments.platform, arguments.only
    topology, rows = SETTINGS[platform]
    compiler = Compiler(platform, topology)

    import jax
    import jax.numpy as jnp
    import numpy as np
    import optax
    from jax.sharding import NamedSharding, PartitionSpec

    import jaxops

    mesh = jax.sharding.Mesh(np.array(compiler.devices).reshape(-1), "d")
    by_rows, by_batch, whole = (
        NamedSharding(mesh, PartitionSpec(*axes)) for axes in (("d", None), ("d",), ())
    )
    adagrad = jaxops.lazy(optax.adagrad(0.1))

    def loss(table, ids):
        return jnp.mean(jnp.tanh(jaxops.gather(table, ids)) ** 2)

    def dense(table, ids):
        return table - 0.1 * jax.grad(loss)(table, ids)

    def loss_of_owners(table, ids):
        return jnp.mean(jnp.tanh(jaxops.sharded_gather(table, ids, "d", mesh=mesh)) ** 2)

    def sparse(loss, table, ids):
        _, grads = jaxops.sparse_value_and_grad(loss, tables="")(table, ids)
        return (-0.1 * grads).add_to(table)

    def dense_adagrad(table, sums, ids):
        grads = jax.grad(loss)(table, ids)
        sums = sums + grads**2
        return table - 0.1 * grads * jax.lax.rsqrt(sums + 1e-7), sums

    def sparse_adagrad(loss, table, sums, ids):
        state = jax.eval_shape(adagrad.init, table)
        state = jax.tree.map(
            lambda x: sums if x.shape == sums.shape else jnp.zeros(x.shape, x.dtype), state
        )
        _, grads = jaxops.sparse_value_and_grad(loss, tables="")(table, ids)
        if loss is not loss_of_owners:
            grads = jax.tree.map(lambda x: jax.lax.with_sharding_constraint(x, whole), grads)
        table, state = adagrad.apply(grads, state, table)
        return table, next(x for x in jax.tree.leaves(state) if x.shape == sums.shape)

    table = jax.ShapeDtypeStruct((rows, WIDTH), jnp.float32)
    ids = jax.ShapeDtypeStruct((BATCH,), jnp.int32)
    print("| step | temporaries MB | sent MB | of which |\n|---|---|---|---|")
    for name, step, state in (
        ("dense, gradient descent", dense, []),
        ("sparse, gradient descent", functools.partial(sparse, loss), []),
        ("sharded_gather, gradient descent", functools.partial(sparse, loss_of_owners), []),
        ("dense, Adagrad", dense_adagrad, [table]),
        ("sparse, Adagrad", functools.partial(sparse_adagrad, loss), [table]),
        ("sharded_gather, Adagrad", functools.partial(sparse_adagrad, loss_of_owners), [table]),
    ):
        if only not in name:
            continue
        tables = [table, *state]
        compiled = compiler.compile(
            step,
            (*tables, ids),
            in_shardings=(*[by_rows] * len(tables), by_batch),
            out_shardings=tuple([by_rows] * len(tables)) if state else by_rows,
            donate_argnums=tuple(range(len(tables))),
        )
        kinds = ", ".join(f"{kind} {size / 1e6:.1f}" for kind, size in compiled.collectives.items())
        sent = sum(compiled.collectives.values()) / 1e6
        print(f"| {name} | {compiled.temporaries / 1e6:.1f} | {sent:.1f} | {kinds} |", flush=True)


if __name__ == "__main__":
    main()
