"""Sizes around 2^31, 2^32, 2^62 and 2^63 in every argument of every public function.

So do large numbers in the arrays of integers, of which an eager result may have as many rows.
Run by test_sizes.py in a process of its own, as what it looks for ends the process. It prints each
call before it makes it, and what is wrong with its outcome after.
"""

import itertools
import math
import resource
import sys
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from records import CALLS, FUNCTIONS, operation

SIZES = [2**31 - 1, 2**31, 2**32 + 1, 2**62, 2**63]
DIMS = SIZES[:-1]  # JAX has none of 2**63
ARRAYS = {"data", "integers", "bools", "arrays", "indices", "grads"}
MEMORY = 7 * 2**30  # bytes of addresses; JAX and XLA take half of it
DONE, FAULT = "done", "fault: "
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


def text_of(way, name, shapes, static):
    given = [f"{arg}={value!r}" for arg, value in static.items()]
    return f"{way} {name} of shapes {shapes}, {', '.join(given)}"


def of_batch(shapes, size):
    """The shapes of a batch, where there is one; and which arrays have it."""
    batched = [0 if 0 in shape else None for shape in shapes]
    shapes = [(size, *s) if n == 0 else s for s, n in zip(shapes, batched, strict=True)]
    is_large = all(can_be(s) for s, n in zip(shapes, batched, strict=True) if n == 0)
    return (shapes, batched) if is_large and 0 in batched else None


def eager(function, leaves):
    return function(*leaves)


def jit(function, leaves):
    return jax.jit(function)(*leaves)


def call(name, run, shapes, static):
    leaves, structure = leaves_of(CALLS[name])
    arrays = [x if x.shape == s else zeros(s, x.dtype) for x, s in zip(leaves, shapes, strict=True)]

    def function(*leaves):
        return FUNCTIONS[name](**structure.unflatten(leaves), **static)

    jax.block_until_ready(run(function, arrays))


def fault(name, *args):
    """What is wrong with the outcome of a call; None where nothing is."""
    op = operation(name)
    of_class = op.partition(".")[0]  # whose method may be given what another one makes
    makers = (f"[Op:{op}]", f"[Op:{of_class}.")
    try:
        call(name, *args)
    except ALLOWED as error:
        words, _, received = str(error).partition("; received")
        words = str(error) if isinstance(error, MemoryError) else words
        begins = words.startswith((f"{op}: ", f"{of_class}: ", f"{of_class}."))
        is_bounds = any(maker in received or maker in words for maker in makers)
        named = [*CALLS[name], *(["gradient"] if "grads" in CALLS[name] else [])]
        named.append("`jaxops.")  # what compat.v0 has no argument for
        # TensorFlow's words for an index out of bounds may name a dimension and no argument.
        if not is_bounds and not (begins and any(arg in words for arg in named)):
            return repr(error)
    except jax.errors.JaxRuntimeError as error:
        if not any(maker in str(error) for maker in makers) and "RESOURCE_EXHAUSTED" not in str(
            error
        ):
            return repr(error)
    except BaseException as error:
        return repr(error)
    return None


def ways(name, shapes, n):
    """How to make a call: function, name, shapes."""
    yield "eager", eager, shapes
    yield "jit", jit, shapes
    batch = of_batch(shapes, DIMS[n % len(DIMS)])
    # Of gradients only what they hold is looked at: a batch of them is no more than JAX's own
    # arithmetic can end the process with.
    if batch and "grads" not in CALLS[name] and "dense_shape" not in CALLS[name]:
        shapes, axes = batch
        yield (
            "jit of vmap",
            lambda function, leaves: jit(jax.vmap(function, in_axes=tuple(axes)), leaves),
            shapes,
        )


# XLA folds a constant as large as a batch of 2^32 here, and ends the process: not mended yet.
ENDED = {("RaggedTensor.from_row_lengths", "jit of vmap")}


def sweep(share, names):
    """One of `share` calls, each in a way of its own; where that is 1, all calls in all ways."""
    n = 0
    for name in names:
        for shapes, static in calls_of(CALLS[name]):
            n += 1
            if n % share:
                continue
            chosen = [*itertools.product(ways(name, shapes, n), (False, True))]
            for (way, run, given), x64 in chosen if share == 1 else [chosen[n % len(chosen)]]:
                if (name, way) in ENDED:
                    continue
                text = text_of(f"{way}, x64 {x64}:", name, given, static)
                print(text, flush=True)
                with jax.enable_x64(x64):
                    wrong = fault(name, run, given, static)
                if wrong:
                    print(f"{FAULT}{text}: {wrong}", flush=True)


LARGE_ID = 2_000_000_000  # fits int32; memory holds no result with so many rows


def sweep_ids():
    """Each array of integers with one large number: eager results may be as long as it says."""
    for name, arguments in CALLS.items():
        static = {arg: value for arg, (kind, value) in arguments.items() if kind not in ARRAYS}
        leaves, _ = leaves_of(arguments)
        shapes = [x.shape for x in leaves]
        for n, leaf in enumerate(leaves):
            if leaf.dtype.kind not in "iu" or leaf.size == 0 or leaf.dtype.itemsize < 4:
                continue

            def run(function, arrays, n=n):
                large = np.array(arrays[n])
                large.flat[-1] = LARGE_ID
                return function(*arrays[:n], large, *arrays[n + 1 :])

            text = text_of(f"eager, {LARGE_ID} in array {n}:", name, shapes, static)
            print(text, flush=True)
            wrong = fault(name, run, shapes, static)
            if wrong:
                print(f"{FAULT}{text}: {wrong}", flush=True)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    if sys.argv[1] == "ids":
        sweep_ids()
    else:
        sweep(int(sys.argv[1]), sys.argv[2:] or CALLS)
    print(DONE)
