"""What the contenders of a row do in each group of rows, ready to be called."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import programs
from peers import is_installed, tf, torch
from row import PEERS, Row, full, small
from timing import Calls

TF_EAGER, TF_FUNCTION = "tensorflow eager", "tensorflow function"


class Work(NamedTuple):
    calls: Calls  # what is timed
    answers: dict[str, Any]  # what is compared before
    before: Callable[[], Any] | None = None  # what comes, untimed, before each call
    same: tuple[str, ...] = ()  # peers that compile to the program of jaxops


def on_gpu() -> bool:
    return jax.default_backend() != "cpu"


def contenders(row: Row) -> dict[str, Callable[..., Any]]:
    """The functions of the row whose libraries are at hand; on a GPU those that work there."""
    left_out = ("tensorflow", "keras", "numpy", "numba") if on_gpu() else ()
    functions = {name: getattr(row, name) for name in PEERS if name not in left_out}
    return {"jaxops": row.jaxops} | {
        name: function
        for name, function in functions.items()
        if function is not None and (name == "jnp" or is_installed(name))
    }


def convert(arguments: tuple[Any, ...], to_array: Callable[[np.ndarray], Any]) -> tuple[Any, ...]:
    """NumPy arrays, also those in lists, as arrays of a library; ints stay."""

    def leaf(x):
        return to_array(x) if isinstance(x, np.ndarray) else x

    return tuple([leaf(x) for x in a] if isinstance(a, list) else leaf(a) for a in arguments)


def to_jax(x: np.ndarray) -> Any:
    return x if x.dtype.kind == "U" else jnp.asarray(x)  # strings live on the host


def to_tensorflow(x: np.ndarray) -> Any:
    return tf.constant(x.tolist() if x.dtype.kind == "U" else x)


def to_torch(x: np.ndarray) -> Any:
    if x.dtype.name == "bfloat16":
        array = torch.from_numpy(x.astype(np.float32)).bfloat16()
    else:
        array = torch.from_numpy(x.copy())  # in-place functions write to it
    return array.cuda() if on_gpu() else array


def bind(function: Callable[..., Any], arguments: tuple[Any, ...], **options: Any):
    """The function with its ints bound, as they are static, and the other arguments."""

    def bound(*arrays):
        rest = iter(arrays)
        merged = [a if isinstance(a, int) else next(rest) for a in arguments]
        return function(*merged, **options)

    return bound, [a for a in arguments if not isinstance(a, int)]


def jax_call(function: Callable[..., Any], arguments: tuple[Any, ...], eager=False, **options):
    if eager:
        return lambda: jax.block_until_ready(function(*arguments, **options))
    bound, arrays = bind(function, arguments, **options)
    compiled = jax.jit(bound)
    return lambda: jax.block_until_ready(compiled(*arrays))


def tf_function(function: Callable[..., Any]) -> Callable[..., Any]:
    # TensorFlow warns of many functions, one for each row, as if they were one that is traced anew.
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    return tf.function(function, autograph=False)


def tensorflow_calls(function: Callable[..., Any], arguments: tuple[Any, ...], eager_only=False):
    """Eager and, but for tiny calls, as a tf.function; the better one counts."""

    def eager():
        return function(*arguments)

    if eager_only:
        return {"tensorflow": eager}
    bound, arrays = bind(function, arguments)
    compiled = tf_function(bound)
    return {TF_EAGER: eager, TF_FUNCTION: lambda: compiled(*arrays)}


def torch_call(function: Callable[..., Any], arguments: tuple[Any, ...]):
    if not on_gpu():
        return lambda: function(*arguments)

    def call():
        answer = function(*arguments)
        torch.cuda.synchronize()
        return answer

    return call


def contender_calls(row: Row, numpy_arguments: tuple[Any, ...], eager: bool, tiny: bool) -> dict:
    arguments = convert(numpy_arguments, to_jax)
    calls = {}
    for name, function in contenders(row).items():
        if name == "tensorflow":
            theirs = convert(numpy_arguments, to_tensorflow)
            calls.update(tensorflow_calls(function, theirs, eager_only=tiny))
        elif name == "torch":
            calls[name] = torch_call(function, convert(numpy_arguments, to_torch))
        elif name in ("numpy", "numba"):
            calls[name] = partial(function, *numpy_arguments)
        else:
            calls[name] = jax_call(function, arguments, eager)
    return calls


def same_programs(functions: dict[str, Callable[..., Any]], arguments: tuple[Any, ...]):
    """The peers on JAX that compile to the same program as jaxops."""
    ours, arrays = bind(functions["jaxops"], arguments)
    return tuple(
        name
        for name in ("jnp", "keras")
        if name in functions
        and programs.are_same(ours, bind(functions[name], arguments)[0], arrays)
    )


def compared(row: Row, calls: Calls) -> dict[str, Any]:
    return {name: row.comparable(call()) for name, call in calls.items()}


def throughput(row: Row, size=full) -> Work:
    arguments = row.arguments(size)
    calls = contender_calls(row, arguments, row.eager, tiny=False)
    same = () if row.eager else same_programs(contenders(row), convert(arguments, to_jax))
    return Work(calls, compared(row, calls), same=same)


def tiny(row: Row, size=full) -> Work:
    """One small eager call; `size` is that of no tiny row."""
    del size
    calls = contender_calls(row, row.arguments(small), eager=True, tiny=True)
    return Work(calls, compared(row, calls))


def bounds(row: Row, size=full) -> Work:
    arguments = convert(row.arguments(size), to_jax)
    calls = {
        "jaxops": jax_call(row.jaxops, arguments, row.eager),
        "promise": jax_call(row.jaxops, arguments, row.eager, mode="promise_in_bounds"),
    }
    return Work(calls, compared(row, calls))


def compile_times(row: Row, size=full) -> Work:
    """Trace, lower and compile, with nothing cached by an earlier time.

    An op with bounds is compared without a check, as jnp has none; what the check adds is shown.
    """
    arguments = convert(row.arguments(size), to_jax)
    groups = row.groups.split()
    checked = bind(row.jaxops, arguments)
    if "compile-bounds" in groups:
        promise = bind(row.jaxops, arguments, mode="promise_in_bounds")
        functions = {"jaxops": checked, "promise": promise}
    else:
        functions = {"jaxops": checked, "jnp": bind(contenders(row)["jnp"], arguments)}
        if "bounds" in groups:
            functions["jaxops"] = bind(row.jaxops, arguments, mode="promise_in_bounds")
            functions["checked"] = checked

    def to_call(bound, arrays):
        shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), arrays)
        return lambda: jax.jit(bound).lower(*shapes).compile()

    answers = {
        name: row.comparable(jax.jit(bound)(*arrays)) for name, (bound, arrays) in functions.items()
    }
    calls = {name: to_call(*function) for name, function in functions.items()}
    return Work(calls, answers, before=jax.clear_caches)


def pullback(row: Row, function: Any) -> Callable[..., Any]:
    """A function of cotangents and the row's arguments: cotangents of those differentiated."""

    def pull(cotangents, *arguments):
        def of_data(*data):
            merged = list(arguments)
            for place, value in zip(row.differentiated, data, strict=True):
                merged[place] = value
            return jax.tree.leaves(function(*merged))

        data = [arguments[place] for place in row.differentiated]
        return jax.vjp(of_data, *data)[1](cotangents)

    return pull


def cotangents_of(row: Row, arguments: tuple[Any, ...]) -> list[np.ndarray]:
    bound, arrays = bind(row.jaxops, arguments)
    results = jax.tree.leaves(jax.eval_shape(bound, *arrays))
    return [np.full(x.shape, 0.5, x.dtype) for x in results]


def tiny_gradients(row: Row, size=full) -> Work:
    """The gradients of `gradients`, for few elements and without `jit`. `size` is not used."""
    del size
    return gradients(row, small, eager=True)


def gradients(row: Row, size=full, eager: bool = False) -> Work:
    """The cotangent of the result, pulled back to the differentiated arguments."""
    numpy_arguments = row.arguments(size)
    arguments = convert(numpy_arguments, to_jax)
    functions = contenders(row)
    cotangents = cotangents_of(row, arguments)
    pulls = {name: pullback(row, functions[name]) for name in ("jaxops", "jnp")}
    inputs = [*map(jnp.asarray, cotangents)], *arguments
    calls = {name: jax_call(pull, inputs, eager) for name, pull in pulls.items()}
    if "tensorflow" in functions:
        calls |= {"tensorflow": tensorflow_gradient(row, numpy_arguments, cotangents, eager)}
    if "torch" in functions:
        calls |= {"torch": torch_gradient(row, numpy_arguments, cotangents)}
    answers = {name: [*jax.tree.leaves(call())] for name, call in calls.items()}
    return Work(calls, answers, same=() if eager else same_programs(pulls, inputs))


def tensorflow_gradient(row: Row, numpy_arguments: tuple[Any, ...], cotangents: list, eager: bool):
    """In a tf.function unless `eager`; IndexedSlices are made dense, as the others' gradients."""
    function: Any = row.tensorflow
    outputs = [tf.constant(c) for c in cotangents]

    def pull(*arguments):
        data = [arguments[place] for place in row.differentiated]
        leaves = [leaf for d in data for leaf in (d if isinstance(d, list) else [d])]
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(leaves)
            result = function(*arguments)
        results = list(result) if isinstance(result, list | tuple) else [result]
        return [
            tf.convert_to_tensor(g)
            for g in tape.gradient(results, leaves, output_gradients=outputs)
        ]

    bound, arrays = bind(pull, convert(numpy_arguments, to_tensorflow))
    compiled = bound if eager else tf_function(bound)
    return lambda: compiled(*arrays)


def torch_gradient(row: Row, numpy_arguments: tuple[Any, ...], cotangents: list):
    function: Any = row.torch
    arguments = convert(numpy_arguments, to_torch)
    data = [arguments[place] for place in row.differentiated]
    leaves = [leaf for d in data for leaf in (d if isinstance(d, list) else [d])]
    for leaf in leaves:
        leaf.requires_grad_(True)
    outputs = [to_torch(c) for c in cotangents]

    def pull():
        result = function(*arguments)
        results = list(result) if isinstance(result, list | tuple) else [result]
        return torch.autograd.grad(results, leaves, outputs)

    return torch_call(pull, ())


def size_in_bytes(tree: Any) -> int:
    leaves = jax.tree.leaves(tree)
    return sum(leaf.size * leaf.dtype.itemsize for leaf in leaves if not isinstance(leaf, int))


def bandwidth(row: Row, size=full) -> Work:
    """Against a jitted `x + 1` that reads and writes as many bytes, of f32.

    XLA removes no such addition, while a plain copy of an argument may be elided.
    """
    arguments = convert(row.arguments(size), to_jax)
    call = jax_call(row.jaxops, arguments)
    answer = call()
    written = size_in_bytes(answer)
    moved = written + (written if row.moves == "part" else size_in_bytes(arguments))
    copied = jnp.zeros(max(1, moved // 8), jnp.float32)
    calls = {"jaxops": call, "copy": jax_call(lambda x: x + 1, (copied,))}
    return Work(calls, compared(row, {"jaxops": call}))


GROUPS: dict[str, Callable[..., Work]] = {
    "throughput": throughput,
    "programs": throughput,
    "tiny": tiny,
    "compile": compile_times,
    "gradients": gradients,
    "tiny_gradients": tiny_gradients,
    "bandwidth": bandwidth,
    "bounds": bounds,
    "checked": throughput,
    "checked_compile": compile_times,
}
