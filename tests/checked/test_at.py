"""`jaxops.at`: the same as `x.at` where indices are in bounds, and what `mode` says elsewhere."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import raised
from fast import fast_jit
from jax import export

import jaxops

X = jnp.arange(1.0, 17.0).reshape(4, 4)
GOOD = jnp.array([2, -1])
MASK = np.array([True, False, True, False])
MASK_OF_TWO_AXES = [[True, False, True], [False, True, False]]
METHODS = ("set", "add", "subtract", "multiply", "mul", "divide", "power", "min", "max")

# What stands in the brackets, of two indices into an axis of 4 elements.
WITH_INDICES = {
    "row": lambda i: i[0],
    "rows": lambda i: i,
    "rows-by-matrix": lambda i: i[None],
    "elements": lambda i: (i, i),
    "broadcast": lambda i: (i[:, None], i),
    "columns": lambda i: (slice(None), i),
    "ellipsis": lambda i: (..., i),
    "new-axis": lambda i: (None, i),
    "windows": lambda i: (i, slice(1, 3)),
    "reversed": lambda i: (i, slice(None, None, -2)),
    "row-and-mask": lambda i: (i, np.array([False, True, True, False])),
    "element": lambda i: (i[0], i[1]),
    "int16": lambda i: i.astype(jnp.int16),
}
STATIC = {
    "int": -1,
    "numpy-int": np.int64(3),
    "ints": (2, -1),
    "slices": (slice(1, 3), slice(None, None, 2)),
    "mask": MASK,
    "two-masks": (MASK, MASK),
    "list": [0, 3],
    "list-of-bools": [True, False, True, False],
    "array-of-numpy": np.array([0, 3]),
    "all": ...,
    "empty-tuple": (),
    "none-of-them": np.zeros((0,), int),
    "bool": True,
}
READ_AND_WRITTEN = {
    "get": lambda ref: ref.get(),
    "set": lambda ref: ref.set(5.0),
    "add": lambda ref: ref.add(0.5),
}


def array_of(index):
    """A list in the place of an array is NumPy's syntax, and not JAX's."""
    return np.array(index) if isinstance(index, list) else index


@pytest.mark.parametrize("use", READ_AND_WRITTEN)
@pytest.mark.parametrize("name", WITH_INDICES)
def test_indices_are_those_of_jax(name, use):
    index, use = WITH_INDICES[name], READ_AND_WRITTEN[use]
    expected = use(X.at[index(GOOD)])
    for call in (lambda f: f, jax.jit):
        result = call(lambda i: use(jaxops.at(X)[index(i)]))(GOOD)
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", STATIC)
def test_static_indices_are_those_of_jax(name):
    for use in READ_AND_WRITTEN.values():
        np.testing.assert_array_equal(
            use(jaxops.at(X)[STATIC[name]]), use(X.at[array_of(STATIC[name])])
        )


@pytest.mark.parametrize("index", [lambda s: s, lambda s: (..., s), lambda s: (s, GOOD)])
def test_a_slice_with_a_traced_start(index):
    """Eagerly jax 0.12 does not take one."""
    for use in READ_AND_WRITTEN.values():
        ours, of_jax = (
            jax.jit(lambda i, at=at, use=use: use(at(X)[index(jax.ds(i, 2))]))
            for at in (jaxops.at, lambda x: x.at)
        )
        for start in (1, np.int8(1)):
            np.testing.assert_array_equal(ours(start), of_jax(start))
        assert raised(ours, 3).index == 3
        assert raised(ours, -5).index == -5


@pytest.mark.parametrize("start", [2, 9])
def test_a_start_that_is_padding(start):
    def windows(i):
        return jaxops.at(X)[jax.ds(i, 2)].get(fill_value=-5, padding_index=start)

    windows = jax.jit(windows)
    np.testing.assert_array_equal(windows(start), np.full((2, 4), -5.0))
    np.testing.assert_array_equal(windows(1), X[1:3])
    assert raised(windows, 3).index == 3


# What stands before a slice along the last of three axes.
BEFORE = {
    "ellipsis": (...,),
    "numbers": (0, 1),
    "new-axis": (None, 0, 1),
    "slices": (slice(1), slice(None)),
    "arrays": (np.array([0, 1]), np.array([0, 1])),
    "lists": ([0, 1], [0, 1]),
    "masks": (np.array([True, False]), [True, False, False]),
    "mask-of-two-axes": (np.array(MASK_OF_TWO_AXES),),
    "lists-of-bools": (MASK_OF_TWO_AXES,),
    "new-axis-and-ellipsis": (None, ..., 1),
}


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
def test_a_slice_of_a_whole_axis_is_refused(before):
    """Whatever its start is, JAX takes the axis from 0, if it is traced."""
    x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    result = jaxops.at(x)[*before, jax.ds(0, 4)].get()
    np.testing.assert_array_equal(result, x[*before, :4])
    # As long as another axis.
    parts = fast_jit(lambda i: [jaxops.at(x)[*before, jax.ds(i, n)].get() for n in (2, 3)])(1)
    for part in parts:
        np.testing.assert_array_equal(part, x[*before, 1 : 1 + part.shape[-1]])
    ref = jaxops.at(x)[*before, jax.ds(GOOD[0], 4)]
    for use in READ_AND_WRITTEN.values():
        with pytest.raises(ValueError, match=r"a slice of jax.ds must be shorter .* Write ':'"):
            use(ref)


@pytest.mark.parametrize("method", METHODS)
def test_methods_are_those_of_jax(method):
    expected = getattr(X.at[GOOD], method)(jnp.array([[2.0], [3.0]]))
    result = getattr(jaxops.at(X)[GOOD], method)(jnp.array([[2.0], [3.0]]))
    np.testing.assert_array_equal(result, expected)


def test_apply():
    np.testing.assert_array_equal(
        jaxops.at(X)[GOOD, GOOD].apply(jnp.square), X.at[GOOD, GOOD].apply(jnp.square)
    )
    # The function is the caller's: its indices are not those of the call.
    jaxops.at(X)[0].apply(lambda x: jnp.full(3, x)[9])


def test_every_method_of_jax_is_here():
    assert {name for name in dir(X.at[0]) if not name.startswith("_")} <= {
        *dir(jaxops.at(X)[0]),
        *("array", "index"),  # what they are made of
    }


@pytest.mark.parametrize("name", ["int32", "bfloat16", "complex64", "bool"])
def test_dtypes_are_those_of_jax(name, standard_promotion):
    x = jnp.ones((4,), name)
    value = False if name == "bool" else 0
    result, expected = jaxops.at(x)[GOOD].set(value), x.at[GOOD].set(value)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)
    assert jaxops.at(x)[GOOD].get().dtype == x.dtype


def outcome(function):
    try:
        return repr(function())
    except (TypeError, OverflowError) as error:
        return repr(error)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("method", ["set", "add", "min"])
def test_ints_are_those_of_jax(method, dtype):
    """JAX writes 2**31 to an array of uint32, but `jnp.asarray(2**31)` raises while x64 is off."""
    x = jnp.ones((4,), jax.dtypes.canonicalize_dtype(dtype))
    info = jnp.iinfo(x.dtype)
    for value in (info.min, info.max, info.min - 1, info.max + 1):
        result, expected = (
            outcome(functools.partial(getattr(at[1], method), value)) for at in (jaxops.at(x), x.at)
        )
        assert result == expected


@pytest.mark.parametrize("value", [True, np.True_, jnp.array(True), [True], np.array([1])])
@pytest.mark.parametrize(
    "option", ["unique_indices", "indices_are_sorted", "wrap_negative_indices", "unknown"]
)
def test_options_are_those_of_jax(option, value):
    """Some values have no hash, and programs are looked up by hash."""
    for method, args in (("get", ()), ("set", (5,))):
        result, expected = (
            outcome(functools.partial(getattr(at[1], method), *args, **{option: value}))
            for at in (jaxops.at(X), X.at)
        )
        assert result == expected


# --- out of bounds ---

METHODS_AND_GET = ("get", *METHODS)


def called(method, ref, **options):
    return ref.get(**options) if method == "get" else getattr(ref, method)(2.0, **options)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("name", WITH_INDICES)
def test_an_index_out_of_bounds_is_an_error(name, jit):
    index = WITH_INDICES[name]

    def get(i):
        return jaxops.at(X)[index(i)].get()

    def add(i):
        return jaxops.at(X)[index(i)].add(1.0)

    for use, method in ((get, "get"), (add, "add")):
        error = raised(jax.jit(use) if jit else use, jnp.array([4, -5]))
        assert (error.operation, error.index) == (f"at[...].{method}", 4)
        assert error.where.startswith("test_at.py:")
        assert raised(use, jnp.array([-5, 0])).index == -5


@pytest.mark.parametrize("method", [*METHODS_AND_GET, "apply"])
def test_an_index_out_of_bounds_is_an_error_of_every_method(method):
    def use(i):
        ref = jaxops.at(X)[i]
        return ref.apply(jnp.sin) if method == "apply" else called(method, ref)

    error = raised(jax.jit(use), jnp.array([1, 9]))
    assert (error.operation, error.position, error.index) == (
        f"at[...].{'multiply' if method == 'mul' else method}",
        (1,),
        9,
    )
    message = "index 9 at position [1] is out of bounds for axis 0 of an array of shape (4, 4)"
    assert message in str(error)


def test_a_number_out_of_bounds_is_an_error():
    for index in (4, -5, (0, 7), np.int64(2**40), np.array([2**40 + 1])):
        for use in (lambda ref: ref.get(), lambda ref: ref.set(0.0)):
            error = raised(lambda i=index, use=use: use(jaxops.at(X)[i]))
            assert error.index in (4, -5, 7, np.iinfo(np.int32).max)


def by_loops(x, indices, mode, method):
    """The result in a loop over the indices, in NumPy's order."""
    x, n = np.array(x), len(x)
    read = []
    for i in indices:
        k = i + n if i < 0 else i
        if mode == "clip":
            k = min(max(k, 0), n - 1)
        if mode == "wrap":
            k = i % n
        if method == "get":
            read.append(x[k] if 0 <= k < n else np.full(x.shape[1:], -1.0))
        elif 0 <= k < n:
            x[k] = {"set": 2.0, "add": x[k] + 2.0, "multiply": x[k] * 2.0}[method]
    return np.stack(read) if method == "get" else x


@pytest.mark.parametrize("mode", ["fill", "clip", "wrap"])
@pytest.mark.parametrize("method", ["get", "set", "add", "multiply"])
def test_modes(method, mode):
    indices = np.array([7, -9, 3, -1, 4, -5, 0])
    options = {"fill_value": -1.0} if (mode, method) == ("fill", "get") else {}

    def use(i):
        return called(method, jaxops.at(X)[i], mode=mode, **options)

    expected = by_loops(X, indices, mode, method)
    np.testing.assert_array_equal(use(indices), expected)
    np.testing.assert_array_equal(jax.jit(use)(indices), expected)


@pytest.mark.parametrize("mode", ["fill", "clip", "wrap"])
def test_modes_of_one_index(mode):
    """JAX reads one element by `dynamic_slice`."""
    for index in (7, -9, 3, -2):
        result = jax.jit(lambda i: jaxops.at(X)[i].get(mode=mode))(index)
        expected = by_loops(X, [index], mode, "get")[0]
        np.testing.assert_array_equal(result, np.maximum(expected, 0.0))


@pytest.mark.parametrize(("name", "number"), [*zip(WITH_INDICES, 5 * [-1, 2, 9], strict=False)])
def test_padding(name, number):
    """One number reads the fill value and writes nothing; any other is checked."""
    index = WITH_INDICES[name]

    def use(i, **options):
        ref = jaxops.at(X)[index(i)]
        return ref.get(fill_value=-5, **options), ref.add(1.0, **options)

    padded = jnp.array([number, 1])
    outside = use(jnp.array([99, 1]), mode="fill")
    for call in (use, jax.jit(use, static_argnames="padding_index")):
        results = call(padded, padding_index=number)
        jax.tree.map(np.testing.assert_array_equal, results, outside)
    for method in ("get", "add"):
        with pytest.raises(jaxops.OutOfBoundsError, match="index 77"):
            called(method, jaxops.at(X)[index(jnp.array([77, 1]))], padding_index=number)


@pytest.mark.slow
@pytest.mark.parametrize("number", [-1, 0, 2, 3, 4, 9])
def test_padding_of_several_arrays(number):
    """As of index vectors: where some axis has no element of the number, only such axes count."""
    x = jnp.arange(15.0).reshape(5, 3)
    i, j = jnp.array([0, 3, 1, number, 4]), jnp.array([1, 2, number, 0, 2])
    expected = jaxops.gather_nd(x, jnp.stack([i, j], -1), mode="fill", padding_index=number)
    for index in ((i, j), (..., i, j), (i, None, j), (i, j, ...)):
        read = jaxops.at(x)[index].get
        result = fast_jit(lambda read=read: read(mode="fill", padding_index=number))()
        np.testing.assert_array_equal(result.reshape(-1), expected)
    cubes = jnp.stack([x, x])
    result = jaxops.at(cubes)[..., i, j].get(mode="fill", padding_index=number)
    np.testing.assert_array_equal(result[1], expected)
    one = np.zeros((1, 5), bool)
    one[0, 4] = True
    many = jnp.broadcast_to(x, (1, 5, 5, 3))
    result = jaxops.at(many)[one, i, j].get(mode="fill", padding_index=number)
    np.testing.assert_array_equal(result, expected)
    mask = np.array([True, True, False, True, True])
    masked = jaxops.at(x)[mask, j[1:]].get(mode="fill", padding_index=number)
    column = jaxops.gather(x[mask], j[1:, None], axis=1, batch_dims=1, mode="fill",
                           padding_index=number)  # fmt: skip
    np.testing.assert_array_equal(masked, column[:, 0])


def test_padding_of_an_axis_that_jax_reads_whole():
    """JAX reads an element of it by `dynamic_slice`, at 0 of the other axis."""
    x = jnp.arange(1.0, 5.0)[:, None]
    for index in (2, jnp.int32(2)):
        assert jaxops.at(x)[index].get(padding_index=0) == 3
    assert jaxops.at(x)[jnp.int32(0)].get(padding_index=0) == 0


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint32"])
@pytest.mark.parametrize("number", [-1, 3, 2**31 - 1])
def test_padding_where_others_wrap(dtype, number):
    most = np.iinfo(dtype).max
    indices = np.array([most, 2, 6, 3], dtype)
    if np.iinfo(dtype).min <= number <= most:
        indices[1] = number
    expected = [0 if i == number else X[int(i) % 4, 0] for i in indices]
    result = jaxops.at(X)[indices].get(mode="wrap", padding_index=number)
    np.testing.assert_array_equal(result[:, 0], expected)


def test_padding_of_an_axis_that_int32_does_not_count():
    large = jax.ShapeDtypeStruct((2**31 + 9,), bool)
    with pytest.raises(ValueError, match="padding_index must be None where an axis is longer"):
        jax.eval_shape(lambda x: jaxops.at(x)[jnp.array([1])].get(padding_index=-1), large)


def test_padding_where_no_period_fits():
    x = jax.ShapeDtypeStruct((50021, 50023), bool)  # the least common multiple is beyond int32
    with pytest.raises(ValueError, match="must have a dtype of at most 16 bits"):
        jax.eval_shape(lambda x: jaxops.at(x)[jnp.array([5])].get(mode="wrap", padding_index=-1), x)


def test_padding_of_numbers_and_of_dtypes():
    for index in (-1, [-1], np.int8(-1), jnp.array([-1], jnp.int16)):
        assert not jaxops.at(X)[index].get(padding_index=-1).any()
        assert (jaxops.at(X)[index].set(9.0, padding_index=-1) == X).all()
    most = np.iinfo(np.int32).max
    for index in (np.array([most]), jnp.array([most]), most):
        raised(lambda i=index: jaxops.at(X)[i].get(padding_index=-1))
    gradient = jax.grad(lambda x: jaxops.at(x)[jnp.array([1, 1, 0])].get(padding_index=1).sum())
    np.testing.assert_array_equal(gradient(X)[:, 0], [1, 0, 0, 0])
    assert not jaxops.at(X[:0])[jnp.array([3])].get(padding_index=3).any()


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.uint32])
@pytest.mark.parametrize("mode", ["device", "fill", "clip", "wrap"])
def test_an_index_that_int32_does_not_hold(mode, dtype):
    """JAX converts indices to int32: it makes 2 of 2**32 + 2."""
    info = np.iinfo(dtype)
    large = [n for n in (2**32 + 2, -(2**32) + 2, 2**31 + 2) if info.min <= n <= info.max]
    with jax.enable_x64(True):
        for number in large:
            for indices in (np.array([number], dtype), jnp.array([number], dtype)):
                for call in (lambda f: f, jax.jit):
                    use = call(lambda i: jaxops.at(X)[i].get(mode=mode))
                    if mode == "device":
                        raised(use, indices)
                    else:
                        np.testing.assert_array_equal(
                            use(indices), np.maximum(by_loops(X, [number], mode, "get"), 0.0)
                        )


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8"])
def test_an_index_of_few_bits(dtype):
    """JAX adds 200 to a negative int8 in int8, and reads another element."""
    x = jnp.arange(200.0)
    numbers = [5, -1, -128] if dtype.startswith("i") else [5, 199]
    for indices in (np.array(numbers, dtype), jnp.array(numbers, dtype)):
        np.testing.assert_array_equal(jaxops.at(x)[indices].get(), np.arange(200.0)[numbers])
        for number in indices:  # JAX reads one element by another primitive
            assert jax.jit(lambda i: jaxops.at(x)[i].get())(number) == int(number) % 200


def test_python_does_not_iterate_for_ever():
    ref: Any = jaxops.at(X)
    with pytest.raises(TypeError, match="not iterable"):
        iter(ref)


def test_sizes_that_are_not_known():
    shapes = export.symbolic_shape("n, 3, m", constraints=["n >= 1", "m >= 1"])
    x, i = jax.ShapeDtypeStruct(shapes[:2], X.dtype), jax.ShapeDtypeStruct(shapes[2:], "int32")
    modes: list[jaxops.Mode] = ["fill", "clip", "wrap"]
    for mode in modes:

        def use(x, i, mode: jaxops.Mode = mode):
            ref = jaxops.at(x)[i]
            return ref.get(mode=mode), ref.set(2.0, mode=mode), jaxops.at(x)[i[0]].get(mode=mode)

        stored = export.export(jax.jit(use))(x, i)
        indices = np.array([7, -9, 3, -1], np.int32)
        expected = [by_loops(X[:, :3], indices, mode, method) for method in ("get", "set")]
        read, written, row = stored.call(X[:, :3], indices)
        np.testing.assert_array_equal(read, np.maximum(expected[0], 0.0))
        np.testing.assert_array_equal(written, expected[1])
        np.testing.assert_array_equal(row, read[0])


def test_an_axis_without_elements():
    x, i = jnp.zeros((0, 3)), jnp.array([0])
    raised(lambda: jaxops.at(x)[i].get())
    assert jaxops.at(x)[i[:0]].get().shape == (0, 3)
    np.testing.assert_array_equal(jaxops.at(x)[i].get(mode="fill"), np.zeros((1, 3)))
    assert jaxops.at(x)[i].set(1.0, mode="fill").shape == (0, 3)
    for mode in ("clip", "wrap"):
        with pytest.raises(ValueError, match="must have an index to choose"):
            jaxops.at(x)[i].get(mode=mode)


def test_off_the_cpu_it_reads_zero():
    function = jax.jit(lambda i: jaxops.at(X)[i].get())
    text = function.trace(GOOD).lower(lowering_platforms=("cuda",)).as_text()
    assert "stablehlo.select" in text.partition("stablehlo.gather")[2]
    assert "custom_call" not in text


def test_export():
    function = jax.jit(lambda i: jaxops.at(X)[i].get(mode="fill"))
    stored = export.deserialize(export.export(function)(GOOD).serialize())
    np.testing.assert_array_equal(stored.call(jnp.array([3, 4]))[1], np.zeros(4))
    with pytest.raises(ValueError, match=r"cannot store.* at test_at.py:\d+ \(<lambda>\)$"):
        export.export(jax.jit(lambda i: jaxops.at(X)[i].get()))(GOOD)


# --- transformations ---


@pytest.mark.parametrize("method", ["get", "set", "add"])
def test_under_vmap(method):
    indices = jnp.array([[0, -1], [3, 3]])

    def use(i):
        return called(method, jaxops.at(X)[i])

    expected = np.stack([by_loops(X, i, "device", method) for i in np.asarray(indices)])
    np.testing.assert_array_equal(jax.vmap(use)(indices), expected)
    assert raised(jax.jit(jax.vmap(use)), indices + 1).position == (1, 0)


@pytest.mark.parametrize("method", ["get", "set", "add", "divide"])
def test_derivatives(method):
    def use(x, i):
        return called(method, jaxops.at(x)[i], mode="fill") ** 2

    def of_jax(x, i):
        return called(method, x.at[i]) ** 2

    i, expected = jnp.array([1, 3, -2]), fast_jit(jax.jacrev(of_jax))
    for derivative in (jax.jacfwd, jax.jacrev):
        np.testing.assert_allclose(fast_jit(derivative(use))(X, i), expected(X, i))
        # An index that is out of bounds counts for nothing.
        with_bad = fast_jit(derivative(lambda x: use(x, jnp.array([9, 1, -9])).sum()))(X)
        np.testing.assert_allclose(with_bad, expected(X, i[:1]).sum((0, 1)))


def test_inside_checked_and_unchecked():
    def use(i):
        return jaxops.at(X)[i].get(mode="clip") + X[i]

    assert raised(jaxops.checked(use), jnp.array([4])).operation == "x[...]"
    jaxops.unchecked(use)(jnp.array([4]))
    raised(jaxops.unchecked(lambda i: jaxops.at(X)[i].get()), jnp.array([4]))


def test_a_table_read_by_it_is_looked_up():
    def loss(table, i):
        return (jaxops.at(table)[i].get() ** 2).sum()

    _, grad = jaxops.sparse_value_and_grad(loss, tables="")(X, GOOD)
    assert isinstance(grad, jaxops.IndexedSlices)
    np.testing.assert_allclose(grad.to_dense(), jax.grad(loss)(X, GOOD))
    np.testing.assert_array_equal(grad.indices, [2, 3])


# --- masks that are traced ---


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["rows", "elements", "all", "none"])
def test_a_traced_mask(kind, method):
    masks = {"rows": MASK, "elements": X % 3 == 0, "all": np.array(True), "none": np.array(False)}
    mask = masks[kind]
    for values in (2.0, *([jnp.arange(1.0, 5.0)] if kind == "rows" else [])):
        result = jax.jit(lambda m, v=values: getattr(jaxops.at(X)[m], method)(v))(mask)
        np.testing.assert_array_equal(result, getattr(X.at[np.asarray(mask)], method)(values))


def test_a_traced_mask_with_apply():
    result = jax.jit(lambda m: jaxops.at(X)[m].apply(jnp.square))(MASK)
    np.testing.assert_array_equal(result, X.at[MASK].apply(jnp.square))


@pytest.mark.parametrize("use", READ_AND_WRITTEN)
def test_an_eager_call_is_one_program(use, caplog):
    """The second call has other numbers, and compiles nothing."""
    jnp.asarray(1.0)  # may be a program too
    x = jnp.ones((3, 5, 7))  # a shape of which no other test makes programs
    with jax.log_compiles():
        for i in (0, -1):
            READ_AND_WRITTEN[use](jaxops.at(x)[i, :, [i, 2]])
    compiled = [r.message for r in caplog.records if r.message.startswith("Compiling")]
    assert [message.split()[1] for message in compiled] == [f"jit(at[...].{use})"]
