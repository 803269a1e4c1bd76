"""Programs that are exported for sizes not known yet: the `exports` of the records."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from docs_pages import load
from jax import export
from jax.experimental import checkify
from records import PUBLIC_FUNCTIONS, TRANSFORMATIONS

import jaxops
from jaxops._indexing import policy
from jaxops._indexing.specs import IndexSpec

table = load("symbolic_table")
CALLS = {f"{function}{call.how}": call for function, call in table.CALLS}
TAKEN = {name: call for name, call in CALLS.items() if not call.refused}


@pytest.mark.parametrize("name", TAKEN)
def test_loaded_program_gives_what_the_call_gives(name):
    assert table.differences(TAKEN[name]) == []


def test_every_result_has_elements():
    """Of empty ones any program gives what the call gives."""
    for name, call in TAKEN.items():
        results = jax.eval_shape(call.call, *table.arguments(call, table.SIZES[-1]))
        assert all(result.size for result in jax.tree.leaves(results)), name


@pytest.mark.parametrize("name", [name for name in CALLS if name not in TAKEN])
def test_refused(name):
    assert CALLS[name].refused in table.refusal(CALLS[name])


def test_rows_of_the_table():
    """One that is exported, with a constraint, and one that is refused."""
    taken = next(call for call in TAKEN.values() if call.constraints)
    refused = next(call for call in CALLS.values() if call.refused)
    rows = [table.row("first", taken), table.row("second", refused)]
    assert rows[0][:2] == ["first", f"`{taken.how}`"]
    assert rows[0][3] == ", ".join(f"`{c}`" for c in taken.constraints)
    assert rows[1] == ["second", f"`{refused.how}`", "refused", ""]
    assert table.table(rows).splitlines()[3].startswith("| [`second`](functions/second.md) | `")


CONSTRAINED = [name for name, call in TAKEN.items() if call.constraints]


@pytest.mark.parametrize("name", CONSTRAINED)
def test_constraints_are_needed(name):
    with pytest.raises(Exception, match="is inconclusive"):
        table.exported(CALLS[name]._replace(constraints=()))


def test_the_table_has_every_function():
    elsewhere = {"required_space_to_batch_paddings"}
    elsewhere |= {"strided_slice_spec", "to_double", "to_int64", *TRANSFORMATIONS}  # the last: x64
    assert {function for function, _ in table.CALLS} == {*PUBLIC_FUNCTIONS} - elsewhere


WITH_BOUNDS = {
    "gather": lambda x, i: jaxops.gather(x, i),
    "scatter_nd": lambda x, i: jaxops.scatter_nd(i[:, None], x[: i.shape[0]], x.shape),
    "reverse_sequence": lambda x, i: jaxops.reverse_sequence(x, i, 1, 0),
    "mode-error": lambda x, i: jaxops.gather(x, i, mode="error"),
}


def arguments():
    scope = export.SymbolicScope()
    shapes = export.symbolic_shape("n, b", scope=scope), export.symbolic_shape("n", scope=scope)
    return [
        jax.ShapeDtypeStruct(shape, dtype)
        for shape, dtype in zip(shapes, (np.float32, np.int32), strict=True)
    ]


@pytest.mark.parametrize("name", WITH_BOUNDS)
@pytest.mark.parametrize("platforms", [["cpu"], ["cuda", "cpu"]])
def test_check_that_needs_python_is_refused(name, platforms):
    words = (
        r"mode must be one that needs no Python .* jax\.export.* \[Op:\w+\] at test_symbolic_shapes"
    )
    with pytest.raises(ValueError, match=words):
        export.export(jax.jit(WITH_BOUNDS[name]), platforms=platforms)(*arguments())


@pytest.mark.parametrize("mode", ["device", "error"])
def test_refusal_names_another_platform_only_where_that_helps(mode):
    program = jax.jit(lambda x, i: jaxops.gather(x, i, mode=mode))
    with pytest.raises(ValueError, match=r"jax\.export") as info:
        export.export(program, platforms=["cpu"])(*arguments())
    assert ("another platform" in str(info.value)) == (mode == "device")


def test_programs_for_a_gpu_keep_the_default_mode():
    gather = WITH_BOUNDS["gather"]
    program = export.export(jax.jit(gather), platforms=["cuda"])(*arguments())
    assert program.platforms == ("cuda",)
    # The mask of what is in bounds, of a size that the program finds out.
    assert "stablehlo.get_dimension_size" in program.mlir_module()
    assert "stablehlo.select" in program.mlir_module()


@pytest.mark.usefixtures("x32")
def test_checkify():
    checked = checkify.checkify(WITH_BOUNDS["gather"], errors=checkify.user_checks)
    program = export.export(jax.jit(lambda *args: checked(*args)[1]))(*arguments())
    x = jnp.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(program.call(x, jnp.array([2, 0, 1])), x[np.array([2, 0, 1])])


@pytest.mark.usefixtures("x32")
def test_int64_shape_takes_x64():
    with pytest.raises(ValueError, match="shape: out_type must be int32 for symbolic"):
        export.export(jax.jit(lambda x, i: jaxops.shape(x, jnp.int64)))(*arguments())
    with jax.enable_x64(True):
        program = export.export(jax.jit(lambda x, i: jaxops.shape(x, jnp.int64)))(*arguments())
        result = program.call(jnp.ones((3, 2), jnp.float32), jnp.zeros(3, jnp.int32))
    assert result.dtype == np.int64
    np.testing.assert_array_equal(result, [3, 2])


BEYOND = {"fill": [2.0, 0, 0, 0], "clip": [2.0, 2, 0, 2], "wrap": [2.0, 0, 2, 1]}


@pytest.mark.parametrize("mode", BEYOND)
@pytest.mark.usefixtures("x32")
def test_bounds_are_those_of_the_arrays(mode):
    args = [jax.ShapeDtypeStruct(export.symbolic_shape("n"), np.float32), np.zeros(4, np.int32)]
    gather = jax.jit(lambda x, i: jaxops.gather(x, i, mode=mode))
    program = export.export(gather, platforms=["cpu"])(*args)
    result = program.call(jnp.arange(3, dtype=jnp.float32), jnp.array([2, 3, -1, 4]))
    np.testing.assert_array_equal(result, BEYOND[mode])


@pytest.mark.parametrize("mode", ["fill", "clip"])
@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_bounds_beside_an_axis_that_is_longer_than_int32_counts(dtype, mode):
    """The index arithmetic alone, without the memory for such arrays."""
    length = 2**31 + 7
    vectors = [[2, length - 1], [3, 0], [0, length], [1, 2**31 - 1], [-1, -1]]
    vectors = np.array([v for v in vectors if np.array(v).astype(dtype).tolist() == v], dtype)

    def resolve(x, indices):
        spec = IndexSpec("gather_nd", limits=(x.shape[0], length))
        return [result for result in policy.resolve(spec, indices, mode) if result is not None]

    args = jax.ShapeDtypeStruct(export.symbolic_shape("a"), np.int8), vectors
    program = export.export(jax.jit(resolve), platforms=["cpu"])(*args)
    x = jnp.zeros(3, jnp.int8)
    for got, expected in zip(program.call(x, vectors), resolve(x, vectors), strict=True):
        np.testing.assert_array_equal(got, expected)


RAGGED = jaxops.RaggedTensor.from_row_lengths(jnp.arange(3.0), [1, 2])
SPARSE = jaxops.SparseTensor(jnp.array([[0, 1]]), jnp.array([2.0]), (3, 4))


@pytest.mark.parametrize("x", [RAGGED, SPARSE], ids=["RaggedTensor", "SparseTensor"])
def test_a_stored_program_takes_and_returns(x):
    stored = export.export(jax.jit(lambda x: jax.tree.map(lambda leaf: 2 * leaf, x)))(x).serialize()
    result = export.deserialize(stored).call(x)
    assert jax.tree.structure(result) == jax.tree.structure(x)
    for doubled, leaf in zip(jax.tree.leaves(result), jax.tree.leaves(x), strict=True):
        np.testing.assert_array_equal(doubled, 2 * leaf)


def test_a_program_of_slices_cannot_be_stored():
    slices = jaxops.IndexedSlices(jnp.ones((1, 2)), [0], (3, 2))
    exported = export.export(jax.jit(lambda x: 2 * x))(slices)
    with pytest.raises(TypeError, match="let it take and return values and indices, and make"):
        exported.serialize()


RAGGED_OF_KNOWN = {
    "row_lengths": lambda x: jaxops.RaggedTensor.from_row_lengths(x, [1, 2]),
    "row_splits": lambda x: jaxops.RaggedTensor.from_row_splits(x, [0, 1, 3]),
    "padded-lengths": lambda x: jaxops.RaggedTensor.from_row_lengths(x, [1, 1], padded=True),
    "padded-splits": lambda x: jaxops.RaggedTensor.from_row_splits(x, [0, 1, 2], padded=True),
    "not-validated": lambda x: jaxops.RaggedTensor.from_row_lengths(x, [1, 2], validate=False),
}


@pytest.mark.parametrize("name", RAGGED_OF_KNOWN)
def test_known_rows_of_values_whose_number_is_symbolic(name):
    make = RAGGED_OF_KNOWN[name]
    stored = export.export(jax.jit(lambda x: tuple(jax.tree.leaves(make(x)))), platforms=["cuda"])(
        jax.ShapeDtypeStruct(export.symbolic_shape("n, 2"), jnp.float32)
    )
    expected = jax.tree.leaves(make(jnp.ones((3, 2), jnp.float32)))
    assert [x.dtype for x in stored.out_avals] == [x.dtype for x in expected]
    assert stored.out_avals[1].shape == expected[1].shape


@pytest.mark.parametrize("shape", ["n, 3", "3, n", "n, m, 2"])
@pytest.mark.parametrize("options", [{}, {"lengths": [1, 0, 2]}, {"padding": 0.0}])
def test_a_ragged_array_of_a_tensor_of_symbolic_size(shape, options):
    x = jax.ShapeDtypeStruct(export.symbolic_shape(shape), jnp.float32)
    of_tensor = jaxops.RaggedTensor.from_tensor
    with pytest.raises(TypeError, match=r"from_tensor: size must be given where .* symbolic"):
        export.export(jax.jit(lambda x: of_tensor(x, **options)))(x)
