"""Arrays on an abstract mesh of explicit axes, of which only types are looked at."""

import jax
import jax.numpy as jnp
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

MESH = AbstractMesh((2, 2), ("d", "m"), axis_types=(AxisType.Explicit,) * 2)
WHOLE = P()


def floats(*shape, of=WHOLE):
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(MESH, of))


def ints(*shape, of=WHOLE):
    return jax.ShapeDtypeStruct(shape, jnp.int32, sharding=NamedSharding(MESH, of))


def type_of(function, *args) -> str:
    with jax.sharding.use_abstract_mesh(MESH):
        return str(jax.typeof(jax.eval_shape(function, *args)))
