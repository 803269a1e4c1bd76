"""The worked examples of document 004, on the surface whose signatures it uses; the adapters."""

# pyright: reportCallIssue=false, reportArgumentType=false

import doctest
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from signatures_v0 import RECORDED, parameters

import jaxops
from jaxops._run.static_values import ORDERED_OTHERWISE
from jaxops.compat import v0

T = np.array([[[1, 1, 1], [2, 2, 2]], [[3, 3, 3], [4, 4, 4]]], np.int32)
T3 = np.array([[[1, 1, 1], [2, 2, 2]], [[3, 3, 3], [4, 4, 4]], [[5, 5, 5], [6, 6, 6]]], np.int32)
NINE = [[1, 1, 1, 2, 2, 2, 3, 3, 3], [4, 4, 4, 5, 5, 5, 6, 6, 6]]
MATRIX = [[1, 2, 3], [4, 5, 6]]
T1, T2 = MATRIX, [[7, 8, 9], [10, 11, 12]]
DEEP = [[[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]]]
DEPTH = [[[[1, 2, 3, 4], [5, 6, 7, 8]], [[9, 10, 11, 12], [13, 14, 15, 16]]]]
SPACE = [
    [[[1], [2], [5], [6]], [[3], [4], [7], [8]], [[9], [10], [13], [14]], [[11], [12], [15], [16]]]
]
REVERSE = np.arange(24, dtype=np.int32).reshape(1, 2, 3, 4)
ONES = np.ones((1, 2, 1, 3, 1, 1), np.float32)

# id: (call, value)
EXAMPLES = {
    "cast": (lambda: v0.cast([1.8, 2.2], np.int32), [1, 2]),
    "shape": (lambda: v0.shape(T), [2, 2, 3]),
    "size": (lambda: v0.size(T), 12),
    "rank": (lambda: v0.rank(T), 3),
    "reshape-1": (lambda: v0.reshape(range(1, 10), [3, 3]), [[1, 2, 3], [4, 5, 6], [7, 8, 9]]),
    "reshape-2": (
        lambda: v0.reshape([[[1, 1], [2, 2]], [[3, 3], [4, 4]]], [2, 4]),
        [[1, 1, 2, 2], [3, 3, 4, 4]],
    ),
    "reshape-flat": (lambda: v0.reshape(T3, [-1]), [*NINE[0], *NINE[1]]),
    "reshape-infer-9": (lambda: v0.reshape(T3, [2, -1]), NINE),
    "reshape-infer-2": (lambda: v0.reshape(T3, [-1, 9]), NINE),
    "reshape-infer-3": (
        lambda: v0.reshape(T3, [2, -1, 3]),
        [[[1, 1, 1], [2, 2, 2], [3, 3, 3]], [[4, 4, 4], [5, 5, 5], [6, 6, 6]]],
    ),
    "reshape-scalar": (lambda: v0.reshape([7], []), 7),
    "squeeze": (lambda: v0.shape(v0.squeeze(ONES)), [2, 3]),
    "squeeze-dims": (lambda: v0.shape(v0.squeeze(ONES, [2, 4])), [1, 2, 3, 1]),
    **{
        f"expand_dims-{len(shape)}d-{dim}": (
            lambda shape=shape, dim=dim: v0.shape(v0.expand_dims(np.zeros(shape), dim)),
            expected,
        )
        for shape, dim, expected in [
            ([2], 0, [1, 2]),
            ([2], 1, [2, 1]),
            ([2], -1, [2, 1]),
            ([2, 3, 5], 0, [1, 2, 3, 5]),
            ([2, 3, 5], 2, [2, 3, 1, 5]),
            ([2, 3, 5], 3, [2, 3, 5, 1]),
        ]
    },
    "slice-1": (lambda: v0.slice(T3, [1, 0, 0], [1, 1, 3]), [[[3, 3, 3]]]),
    "slice-2": (lambda: v0.slice(T3, [1, 0, 0], [1, 2, 3]), [[[3, 3, 3], [4, 4, 4]]]),
    "slice-3": (lambda: v0.slice(T3, [1, 0, 0], [2, 1, 3]), [[[3, 3, 3]], [[5, 5, 5]]]),
    # The document says that sizes start at 1; 0 is legal.
    "slice-empty": (lambda: v0.shape(v0.slice(T3, [3, 0, 0], [0, 1, 3])), [0, 1, 3]),
    "split": (lambda: [v0.shape(s) for s in v0.split(1, 3, np.zeros((5, 30)))], [[5, 10]] * 3),
    "tile": (lambda: v0.tile(["a", "b", "c", "d"], [2]), list("abcdabcd")),
    "pad-constant": (
        lambda: v0.pad(MATRIX, [[1, 1], [2, 2]], "CONSTANT"),
        [[0] * 7, [0, 0, 1, 2, 3, 0, 0], [0, 0, 4, 5, 6, 0, 0], [0] * 7],
    ),
    "pad-reflect": (
        lambda: v0.pad(MATRIX, [[1, 1], [2, 2]], "REFLECT"),
        [[6, 5, 4, 5, 6, 5, 4], [3, 2, 1, 2, 3, 2, 1]] * 2,
    ),
    "pad-symmetric": (
        lambda: v0.pad(MATRIX, [[1, 1], [2, 2]], "SYMMETRIC"),
        [[2, 1, 1, 2, 3, 3, 2]] * 2 + [[5, 4, 4, 5, 6, 6, 5]] * 2,
    ),
    "concat-0": (lambda: v0.concat(0, [T1, T2]), T1 + T2),
    "concat-1": (lambda: v0.concat(1, [T1, T2]), [[1, 2, 3, 7, 8, 9], [4, 5, 6, 10, 11, 12]]),
    "concat-shape-0": (lambda: v0.shape(v0.concat(0, [T1, T2])), [4, 3]),
    "concat-shape-1": (lambda: v0.shape(v0.concat(1, [T1, T2])), [2, 6]),
    "pack": (lambda: v0.pack([T1, T2, T1]), [T1, T2, T1]),
    "unpack": (lambda: v0.unpack(T1, 2), T1),
    "transpose": (lambda: v0.transpose(MATRIX), [[1, 4], [2, 5], [3, 6]]),
    "transpose-perm": (lambda: v0.transpose(MATRIX, perm=[1, 0]), [[1, 4], [2, 5], [3, 6]]),
    "transpose-matrices": (
        lambda: v0.transpose([T1, T2], perm=[0, 2, 1]),
        [[[1, 4], [2, 5], [3, 6]], [[7, 10], [8, 11], [9, 12]]],
    ),
    "reverse-3": (lambda: v0.reverse(REVERSE, [False] * 3 + [True]), REVERSE[..., ::-1]),
    "reverse-1": (lambda: v0.reverse(REVERSE, [False, True, False, False]), REVERSE[:, ::-1]),
    "reverse-2": (lambda: v0.reverse(REVERSE, [False, False, True, False]), REVERSE[:, :, ::-1]),
    "space_to_depth-1": (
        lambda: v0.space_to_depth([[[[1], [2]], [[3], [4]]]], 2), [[[[1, 2, 3, 4]]]],
    ),
    "space_to_depth-3": (lambda: v0.space_to_depth(DEEP, 2), [[[list(range(1, 13))]]]),
    "space_to_depth-4x4": (lambda: v0.space_to_depth(SPACE, 2), DEPTH),
    # The document prints 3-D values for 4-D results here; the shapes in its text count.
    "depth_to_space-1": (
        lambda: v0.depth_to_space([[[[1, 2, 3, 4]]]], 2), [[[[1], [2]], [[3], [4]]]],
    ),
    "depth_to_space-3": (lambda: v0.depth_to_space([[[list(range(1, 13))]]], 2), DEEP),
    "depth_to_space-4x4": (lambda: v0.depth_to_space(DEPTH, 2), SPACE),
    "gather-scalar": (lambda: v0.gather(MATRIX, 1), MATRIX[1]),
    "gather-vector": (lambda: v0.gather(MATRIX, [1, 0, 1]), [MATRIX[1], MATRIX[0], MATRIX[1]]),
    "gather-matrix": (lambda: v0.gather(MATRIX, [[1], [0]]), [[MATRIX[1]], [MATRIX[0]]]),
    "gather_nd": (lambda: v0.gather_nd(MATRIX, [[0, 2], [1, 0]]), [3, 4]),
    "dynamic_partition-scalar": (
        # The document gives outputs[0] the shape [0, 2], and so does this.
        lambda: [v0.shape(o) for o in v0.dynamic_partition([10, 20], 1, 2)], [[0, 2], [1, 2]],
    ),
    "dynamic_partition-0": (
        lambda: v0.dynamic_partition([10, 20, 30, 40, 50], [0, 0, 1, 1, 0], 2)[0], [10, 20, 50],
    ),
    "dynamic_partition-1": (
        lambda: v0.dynamic_partition([10, 20, 30, 40, 50], [0, 0, 1, 1, 0], 2)[1], [30, 40],
    ),
    # Its shape is [max(indices) + 1] + constant; the document forgets the 1.
    "dynamic_stitch": (
        lambda: v0.dynamic_stitch(
            [6, [4, 1], [[5, 2], [0, 3]]],
            [[61, 62], [[41, 42], [11, 12]], [[[51, 52], [21, 22]], [[1, 2], [31, 32]]]],
        ),
        [[1, 2], [11, 12], [21, 22], [31, 32], [41, 42], [51, 52], [61, 62]],
    ),
    "boolean_mask-1": (lambda: v0.boolean_mask([0, 1, 2, 3], [True, False, True, False]), [0, 2]),
    "boolean_mask-2": (
        lambda: v0.boolean_mask([[1, 2], [3, 4], [5, 6]], [True, False, True]), [[1, 2], [5, 6]],
    ),
    "one_hot-1": (
        lambda: v0.one_hot([0, 2, -1, 1], 3, 5.0, 0.0, -1),
        [[5, 0, 0], [0, 0, 5], [0, 0, 0], [0, 5, 0]],
    ),
    "one_hot-2": (
        lambda: v0.one_hot([[0, 2], [1, -1]], 3, 1.0, 0.0, -1),
        [[[1, 0, 0], [0, 0, 1]], [[0, 1, 0], [0, 0, 0]]],
    ),
    "one_hot-defaults": (lambda: v0.one_hot([0, 1, 2], 3), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    "shape_n": (lambda: v0.shape_n([np.zeros((2, 3)), np.zeros((4, 5))]), [[2, 3], [4, 5]]),
    "unique_with_counts-y": (
        lambda: v0.unique_with_counts([1, 1, 2, 4, 4, 4, 7, 8, 8])[0], [1, 2, 4, 7, 8],
    ),
    "unique_with_counts-idx": (
        lambda: v0.unique_with_counts([1, 1, 2, 4, 4, 4, 7, 8, 8])[1], [0, 0, 1, 2, 2, 2, 3, 4, 4],
    ),
    "unique_with_counts-count": (
        lambda: v0.unique_with_counts([1, 1, 2, 4, 4, 4, 7, 8, 8])[2], [2, 1, 3, 1, 2],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", EXAMPLES, ids=lambda name: f"004-{name}")
def test_example(case):
    call, expected = EXAMPLES[case]
    result = call()
    if isinstance(result, list):
        assert len(result) == len(expected)
        for part, value in zip(result, expected, strict=True):
            np.testing.assert_array_equal(part, value)
    else:
        np.testing.assert_array_equal(result, expected)


def test_example_004_expand_dims_of_an_image():
    assert v0.expand_dims(np.zeros((4, 5, 3)), 0).shape == (1, 4, 5, 3)


def test_example_004_bitcast_shapes():
    assert v0.bitcast(np.zeros((2, 3), np.int32), np.uint8).shape == (2, 3, 4)
    assert v0.bitcast(np.zeros((2, 4), np.uint8), np.int32).shape == (2,)


def test_example_004_extract_image_patches_depth_order():
    images = np.arange(32, dtype=np.int32).reshape(1, 4, 4, 2)
    result = v0.extract_image_patches(images, "VALID", [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1])
    assert result.shape == (1, 2, 2, 2 * 2 * 2)
    np.testing.assert_array_equal(result[0, 0, 1], images[0, :2, 2:].reshape(-1))


def test_example_004_space_to_batch_and_back():
    x = np.arange(15, dtype=np.int32).reshape(1, 3, 5, 1)
    paddings = [[0, 1], [1, 0]]
    blocks = v0.space_to_batch(x, paddings, 2)
    assert blocks.shape == (4, 2, 3, 1)
    np.testing.assert_array_equal(v0.batch_to_space(blocks, paddings, 2), x)


@pytest.mark.parametrize(("seq_dim", "batch_dim"), [(1, 0), (0, 2)])
def test_example_004_reverse_sequence(seq_dim, batch_dim):
    shape = [(4, 8, 3), (8, 3, 4)][seq_dim == 0]
    lengths = [7, 2, 3, 5]
    x = np.arange(96, dtype=np.int32).reshape(shape)
    result = np.asarray(v0.reverse_sequence(x, lengths, seq_dim, batch_dim))
    for i, length in enumerate(lengths):
        before, after = (np.moveaxis(a, (batch_dim, seq_dim), (0, 1))[i] for a in (x, result))
        # The document writes 7:0:-1, which leaves out element 0, and for the last one 2: for 5:.
        np.testing.assert_array_equal(after[:length], before[:length][::-1])
        np.testing.assert_array_equal(after[length:], before[length:])


@pytest.mark.parametrize("name", RECORDED)
def test_signature(name):
    """The release with the most arguments, and then with the most defaults, is followed."""
    releases = [parameters(text) for release, text in RECORDED[name].items() if release != "1.0"]
    empty = inspect.Parameter.empty
    most = max(releases, key=lambda ps: (len(ps), sum(p.default is not empty for p in ps)))
    if name == "meshgrid":  # which shows its options as **kwargs
        most = parameters("*args, indexing='xy', name=None")
    ours = inspect.signature(getattr(v0, name)).parameters.values()
    assert [p.replace(annotation=empty) for p in ours] == most


def test_bounds_are_those_of_the_other_surface():
    with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[0\] = 5 is not in \[0, 2\)"):
        v0.gather(MATRIX, [5])
    v0.gather(MATRIX, [5], validate_indices=False)  # a promise, broken here: no error
    with pytest.raises(jaxops.OutOfBoundsError):
        v0.gather(MATRIX, [5], validate_indices=True)


def test_range_in_a_dtype():
    assert v0.range(0, 3, 1, np.float32).dtype == np.float32
    assert v0.range(3, dtype="float32").dtype == np.float32
    assert v0.range(0, 2, 1, "steps").dtype == np.int32  # its name


def test_names_are_scopes():
    text = jax.jit(lambda x: v0.concat(0, [x, x])).lower(jnp.ones(2)).as_text(debug_info=True)
    assert "concat" in text
    text = jax.jit(lambda x: v0.to_int32(x)).lower(jnp.ones(2)).as_text(debug_info=True)
    assert "ToInt32" in text


def test_messages_name_the_functions_of_another_order():
    """Those whose first argument stands elsewhere in 0.x."""
    moved = []
    for name in set(dir(v0)) & set(dir(jaxops)):
        first = next(iter(inspect.signature(getattr(jaxops, name)).parameters))
        if first in [*inspect.signature(getattr(v0, name)).parameters][1:]:
            moved.append(name)
    assert sorted(moved) == [*ORDERED_OTHERWISE]


ADAPTERS = [n for n in RECORDED if getattr(v0, n) is not getattr(jaxops, n, None)]


@pytest.mark.parametrize("name", ADAPTERS)
@pytest.mark.usefixtures("x32")  # in which examples are printed
def test_docstring(name):
    """Its example runs, which doctest does not find in a function with several signatures."""
    function = inspect.unwrap(getattr(v0, name))
    assert (function.__doc__ or "").startswith("`jaxops.")
    for example in doctest.DocTestFinder().find(function, name):
        assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example)[0] == 0
