"""Sizes around 2^31, 2^32, 2^62 and 2^63 in every argument of every public function.

Run by test_sizes.py in a process of its own, as what it looks for ends the process. It prints each
call before it makes it, and what is wrong with its outcome after.
"""

import itertools
import math
import resource
import sys
import time
import warnings

import every_argument
import jax
import jax.numpy as jnp
import numpy as np
from every_argument import CALLS, FUNCTIONS, operation

SIZES = [2**31 - 1, 2**31, 2**32 + 1, 2**62, 2**63]
DIMS = SIZES[:-1]  # JAX has none of 2**63
ARRAYS = {"data", "integers", "bools", "arrays", "indices", "grads"}
MEMORY = 10 * 2**30  # bytes of addresses; JAX and XLA take half of it
ALLOWED = (ValueError, TypeError, MemoryError, IndexError)


def leaves_of(call):
    """The arrays of a call, by the path of each."""
    arrays = {arg: value for arg, (kind, value) in call.items() if kind in ARRAYS}
    is_array = {arg for arg, (kind, _) in call.items() if kind in ("data", "integers", "bools")}
    arrays = {arg: np.asarray(x) if arg in is_array else x for arg, x in arrays.items()}
    return jax.tree.flatten(arrays)


def can_be(shape):
    """Whether there is such an array without elements, and a quick way to make it."""
    if 0 not in shape:
        return False
    by_numpy = math.prod(dim for dim in shape if dim) < 2**60  # 8 bytes each
    by_jax = math.prod(shape[: shape.index(0)]) < 2**20  # XLA walks through them
    return by_numpy or by_jax


def of_shapes(leaves):
    """Lists of shapes for the arrays of a call, some of them empty and of large dimensions."""
    shapes = [x.shape for x in leaves]
    yield shapes
    dims = sorted({dim for shape in shapes for dim in shape})
    for empty in dims:
        yield [tuple(0 if dim == empty else dim for dim in shape) for shape in shapes]
    for (empty, large), size in itertools.product(itertools.permutations(dims, 2), DIMS):
        names = {empty: 0, large: size}
        yield [tuple(names.get(dim, dim) for dim in shape) for shape in shapes]
    for n, shape in enumerate(shapes):
        for place, size in itertools.product(range(len(shape) + 1), DIMS):
            alone = [size] * (len(shape) + 1)
            alone[place] = 0
            for longer in (alone, alone[:-1], alone[1:]):
                yield [*shapes[:n], tuple(longer), *shapes[n + 1 :]]


def of_sizes(call):
    """Static arguments of a call, some of them large."""
    static = {arg: value for arg, (kind, value) in call.items() if kind not in ARRAYS}
    yield static
    for size in SIZES:
        large = {}
        for arg, (kind, value) in call.items():
            if kind == "int":
                large[arg] = [size]
            elif kind == "ints":
                large[arg] = [[size] * len(value), [size, *value[1:]], [*value[:-1], size]]
            elif kind == "pairs":
                large[arg] = [[[0, size]] * len(value), [[size, size], *value[1:]]]
        for arg, values in large.items():
            for value in values:
                yield {**static, arg: value}
        if len(large) > 1:
            yield {**static, **{arg: values[0] for arg, values in large.items()}}


def calls_of(call):
    """Shapes of arrays and static arguments: each variation of one with a few of the other."""
    leaves, _ = leaves_of(call)
    all_shapes, all_sizes = [*of_shapes(leaves)], [*of_sizes(call)]
    seen = set()
    few_shapes = all_shapes[:3]
    few_sizes = all_sizes[:1] + all_sizes[-1:]
    for shapes, static in [
        *itertools.product(few_shapes, all_sizes),
        *itertools.product(all_shapes, few_sizes),
    ]:
        key = repr((shapes, static))
        given = [shape for shape, x in zip(shapes, leaves, strict=True) if shape != x.shape]
        if key not in seen and all(map(can_be, given)):
            seen.add(key)
            yield shapes, static


def zeros(shape, dtype):
    try:
        return jax.device_put(np.zeros(shape, dtype))
    except ValueError:  # NumPy counts the dimensions behind the 0 too
        return jnp.zeros(shape, dtype)


def arrays_of(call, shapes):
    leaves, structure = leaves_of(call)
    made = [x if x.shape == s else zeros(s, x.dtype) for x, s in zip(leaves, shapes, strict=True)]
    return structure.unflatten(made)


def fault(name, arguments, call):
    """What is wrong with the outcome of a call; None where nothing is."""
    try:
        jax.block_until_ready(call())
    except ALLOWED as error:
        text = str(error).partition("; received")[0]
        named = [arg for arg in arguments if arg in text]
        begins = text.startswith(f"{operation(name)}: ")
        is_bounds = f"[Op:{operation(name)}]" in text
        if not named or not (begins or is_bounds):
            return repr(error)
    except jax.errors.JaxRuntimeError as error:
        if f"[Op:{operation(name)}]" not in str(error) and "RESOURCE_EXHAUSTED" not in str(error):
            return repr(error)
    except BaseException as error:
        return repr(error)
    return None


def text_of(name, mode, shapes, static):
    given = [f"{arg}={value!r}" for arg, value in static.items()]
    return f"{mode} {name} of {shapes}, {', '.join(given)}"


def sweep(name):
    function, call = FUNCTIONS[name], CALLS[name]
    for shapes, static in calls_of(call):
        arrays = arrays_of(call, shapes)

        def of_arrays(arrays, static=static):
            return function(**arrays, **static)

        for mode, run in {"eager": of_arrays, "jit": jax.jit(of_arrays)}.items():
            text = text_of(name, mode, shapes, static)
            print(text, flush=True)
            start = time.time()
            wrong = fault(name, call, lambda run=run, arrays=arrays: run(arrays))
            print("SECONDS", round(time.time() - start, 2), flush=True)
            if wrong:
                print(f"FAULT {wrong[:300]} :: {text}", flush=True)


if __name__ == "__main__":
    import time
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    jax.config.update("jax_enable_x64", sys.argv[1] == "x64")
    warnings.simplefilter("ignore")
    for name in sys.argv[2:] or CALLS:
        t = time.time()
        sweep(name)
        print("TIME", name, time.time() - t, flush=True)
