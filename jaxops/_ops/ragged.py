"""RaggedTensor: rows of different lengths, as one array of values and where the rows end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import jax
import numpy as np
from jax.export import register_pytree_node_serialization
from jax.typing import DTypeLike

from jaxops import _symbolic
from jaxops._frames import without_frames
from jaxops._indexing import result_size
from jaxops._indexing.policy import Mode
from jaxops._ops import ragged_partitions as partitions
from jaxops._ops import ragged_rows
from jaxops._ops.casting import static_index_dtype
from jaxops._run import arguments, on_host
from jaxops._run.arguments import ArrayLike, Int
from jaxops._run.dispatch import Operation, scope_name
from jaxops._run.static_values import check_bool, static_int


@without_frames
@jax.tree_util.register_pytree_with_keys_class
class RaggedTensor:
    """Rows of different lengths: row `i` is `values[row_splits[i] : row_splits[i + 1]]`.

    Follows `tf.RaggedTensor`, of one ragged dimension. Differs from it in: `values` has a static
    size, its capacity; reductions take `axis=1` only; no strings, no operators and no `row_starts`,
    which is `row_splits[:-1]`. The rows take up the first `row_splits[-1]` values; the values after
    these belong to no row. Results whose capacity depends on lengths need a static `size=` where
    those are traced.

    Made by `from_row_splits`, `from_row_lengths`, `from_value_rowids` and `from_tensor`. A pytree,
    so it passes through `jit`, `vmap` and `scan`; of its two leaves `row_splits` is of integers, so
    compute with `with_values(f(x.values))`, and differentiate by values.

    In each of the first three, `name` names the `jax.named_scope`, and with `validate` rows that
    do not fit the values are refused: numbers that the host knows with a ValueError, traced ones
    in compiled programs on the CPU, with the words of an `OutOfBoundsError`. Elsewhere, and without
    `validate`, a row is cut to the part that lies in `values`. With `padded=True` (static, not in
    TensorFlow) the rows may leave values at the end.

    Attributes:
        values: array of shape `[capacity, ...]`, of any dtype but strings.
        row_splits: int32 or int64 vector of one number more than rows.

    Gradient: to `values`, from all that is computed of them; 0 for those in no row.

    Example:
        >>> import jax, jaxops
        >>> words = jaxops.RaggedTensor.from_row_lengths([3.0, 1.0, 4.0, 1.0], [2, 0, 2])
        >>> words
        RaggedTensor(values=float32[4], row_splits=int32[4])
        >>> words.to_tensor(default_value=-1.0)
        Array([[ 3.,  1.],
               [-1., -1.],
               [ 4.,  1.]], dtype=float32)
        >>> jax.jit(lambda x: x.to_tensor(shape=(None, 3)))(words)
        Array([[3., 1., 0.],
               [0., 0., 0.],
               [4., 1., 0.]], dtype=float32)

    Source: https://www.tensorflow.org/api_docs/python/tf/RaggedTensor
    """

    __slots__ = ("row_splits", "values")
    __array_ufunc__ = None  # NumPy is not to make an array of objects of it

    values: jax.Array  # anything while JAX maps over the leaves
    row_splits: jax.Array

    def __init__(self, *args: Any, **kwargs: Any):
        raise TypeError(
            "RaggedTensor: expected one of from_row_splits, from_row_lengths, from_value_rowids "
            "and from_tensor to make it; received a call of the class"
        )

    @classmethod
    def _of(cls, values: Any, row_splits: Any) -> RaggedTensor:
        self = object.__new__(cls)  # unchecked
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "row_splits", row_splits)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"RaggedTensor: {name} cannot be set; make a new object instead")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"RaggedTensor: {name} cannot be deleted")

    def tree_flatten_with_keys(self):
        key = jax.tree_util.GetAttrKey
        return ((key("values"), self.values), (key("row_splits"), self.row_splits)), None

    @classmethod
    def tree_unflatten(cls, aux_data, children) -> RaggedTensor:
        del aux_data
        return cls._of(*children)  # unchecked: leaves need not be arrays

    def __reduce__(self):
        return RaggedTensor._of, (self.values, self.row_splits)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        # Without this NumPy makes an array of one object.
        raise TypeError(
            "a RaggedTensor is no array: x.with_values(f(x.values)) applies a function to each "
            "value, and it has the methods gather, reduce_sum, to_tensor and to_list"
        )

    def __repr__(self) -> str:
        leaves = (
            f"{x.dtype}[{','.join(map(str, x.shape))}]" if hasattr(x, "dtype") else repr(x)
            for x in (self.values, self.row_splits)
        )
        return "RaggedTensor(values={}, row_splits={})".format(*leaves)

    @classmethod
    def from_row_splits(
        cls,
        values: ArrayLike,
        row_splits: ArrayLike,
        name: str | None = None,
        validate: bool = True,
        *,
        padded: bool = False,
    ) -> RaggedTensor:
        """A ragged array from splits.

        Splits begin with 0, do not decrease, and end with `len(values)`.
        """
        op = "RaggedTensor.from_row_splits"
        given = values, "row_splits", row_splits, name, validate, padded
        return cls._of(*partitions.from_partition(op, *given))

    @classmethod
    def from_row_lengths(
        cls,
        values: ArrayLike,
        row_lengths: ArrayLike,
        name: str | None = None,
        validate: bool = True,
        *,
        padded: bool = False,
    ) -> RaggedTensor:
        """A ragged array from the length of each row.

        Lengths are not negative and sum to `len(values)`.
        """
        op = "RaggedTensor.from_row_lengths"
        given = values, "row_lengths", row_lengths, name, validate, padded
        return cls._of(*partitions.from_partition(op, *given))

    @classmethod
    def from_value_rowids(
        cls,
        values: ArrayLike,
        value_rowids: ArrayLike,
        nrows: Int | None = None,
        name: str | None = None,
        validate: bool = True,
        *,
        padded: bool = False,
    ) -> RaggedTensor:
        """A ragged array from the number of each value's row.

        Numbers are in `[0, nrows)` and do not decrease.

        `nrows`, a static int, is by default one more than the last number, which must be known.
        With `padded` values of the row `nrows` belong to none.
        """
        op = "RaggedTensor.from_value_rowids"
        given = values, "value_rowids", value_rowids, name, validate, padded, nrows
        return cls._of(*partitions.from_partition(op, *given))

    @classmethod
    def from_tensor(
        cls,
        tensor: ArrayLike,
        lengths: ArrayLike | None = None,
        padding: ArrayLike | None = None,
        ragged_rank: Int = 1,
        name: str | None = None,
        row_splits_dtype: DTypeLike = np.int64,
        *,
        size: Int | None = None,
        mode: Mode = "device",
    ) -> RaggedTensor:
        """A ragged array of the rows of a dense array of shape `[n, m, ...]`.

        Row `i` has the first `lengths[i]` values of the dense row. A length below 0 counts as 0,
        and one above `m` as `m`. With `padding`, an array of the shape of one value, a row ends
        before the values at its end that equal it. With neither, rows have all values.
        `ragged_rank` is 1. The dtype of the splits is int32 while 64-bit types are off.

        `size`, a static int, is the capacity of the result; it must be given where the lengths
        are traced, and `n * m` is always enough. Values that it does not hold are an error on the
        CPU and dropped elsewhere, or as `mode` says: `"error"` everywhere, `"fill"` drops them.
        """
        op = "RaggedTensor.from_tensor"
        if static_int(ragged_rank, op, "ragged_rank") != 1:
            raise ValueError(f"{op}: ragged_rank must be 1; received {ragged_rank}")
        mode = result_size.mode_of_size(op, mode, size)
        if lengths is not None and padding is not None:
            raise ValueError(f"{op}: lengths must be None with padding; received both")
        dtype = partitions.dtype_of_splits(op, row_splits_dtype)
        # Elements that are compared with `padding` are numbers.
        to_array = arguments.to_elements if padding is None else arguments.to_operand
        tensor = to_array(tensor, op, "tensor")
        if size is None:
            with on_host.named_scope(op, name):
                rows = ragged_rows.exactly_from_tensor(op, tensor, lengths, padding, dtype)
            return cls._of(*rows)
        size = on_host.check_size(size, op)
        given: dict[str, Any] = {"padding": padding, "lengths": lengths}
        rows = ragged_rows.from_tensor.run(
            op,
            tensor=tensor,
            **{arg: x for arg, x in given.items() if x is not None},
            name=name,
            mode=mode,
            moves_elements=padding is None,
            size=size,
            dtype=dtype,
        )
        return cls._of(*rows)

    @property
    def flat_values(self) -> jax.Array:
        """The `values`, as there is one ragged dimension."""
        return self.values

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the values."""
        return self.values.dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The number of rows, None for their lengths, and the shape of one value."""
        return (self.row_splits.shape[0] - 1, None, *self.values.shape[1:])

    def with_values(self, new_values: ArrayLike) -> RaggedTensor:
        """A ragged array with the same rows and other values, as many as there are."""
        op = "RaggedTensor.with_values"
        values = arguments.to_elements(new_values, op, "new_values")
        if values.shape[:1] != self.values.shape[:1]:
            raise ValueError(
                f"{op}: new_values must be {self.values.shape[0]} as the values are; "
                f"received shape {values.shape}"
            )
        return self._of(values, self.row_splits)

    def _parts(self, op: str) -> tuple[Any, Any]:
        if np.ndim(self.row_splits) != 1:
            raise ValueError(
                f"{op}: expected row_splits of rank 1; received {self}, which looks batched: "
                "call this under jax.vmap"
            )
        return self.values, self.row_splits

    def _run(self, op: str, operation: Operation, name: Any, **given):
        """Runs `operation` on the row splits, and on the values too if it takes data."""
        values, row_splits = self._parts(op)
        if operation.data:
            given["values"] = values
        return operation.run(op, row_splits=row_splits, name=name, **given)

    def row_lengths(self, axis: Int = 1, name: str | None = None) -> jax.Array:
        """The length of each row, in the dtype of `row_splits`. `axis` is 1."""
        op = "RaggedTensor.row_lengths"
        ragged_rows.check_axis(op, axis, self.values.ndim + 1)
        return self._run(op, ragged_rows.row_lengths, name)

    def nrows(
        self, out_type: DTypeLike | None = None, name: str | None = None
    ) -> np.signedinteger[Any]:
        """The number of rows, a NumPy scalar known at trace time, by default as `row_splits`.

        If the number of rows is symbolic, the result is a traced scalar.
        """
        op = "RaggedTensor.nrows"
        scope_name(op, name)
        out_type = self.row_splits.dtype if out_type is None else out_type
        dtype = static_index_dtype(out_type, op, "out_type")
        return _symbolic.numbers([self.row_splits.shape[0] - 1], dtype)[0]

    def value_rowids(self, name: str | None = None) -> jax.Array:
        """The number of each value's row, `nrows()` for one that belongs to none."""
        op, capacity = "RaggedTensor.value_rowids", self.values.shape[0]
        return self._run(op, ragged_rows.numbers_of_rows, name, capacity=capacity)

    def to_list(self) -> list[Any]:
        """The rows as nested lists. Not for traced values."""
        values = np.asarray(arguments.to_operand(self.values, "RaggedTensor.to_list", "values"))
        bounds = ragged_rows.row_bounds(np.asarray(self.row_splits), len(values))
        return [values[at : at + n].tolist() for at, n in zip(*bounds, strict=True)]

    def to_tensor(
        self,
        default_value: ArrayLike | None = None,
        name: str | None = None,
        shape: Sequence[int | None] | None = None,
    ) -> jax.Array:
        """The rows as a dense array, each filled up with `default_value`, which is 0 by default.

        `default_value` fits the dtype of the values, and its shape broadcasts to that of one value.
        `shape` is static: the number of rows, and their length, to which rows are cut or filled up;
        then the shape of one value. None stands for what there is, and the length of the longest
        row, which must be given where `row_splits` are traced.
        """
        op = "RaggedTensor.to_tensor"
        nrows, ncols = ragged_rows.dense_shape(op, *self._parts(op), shape)
        options: dict[str, Any] = {"nrows": nrows, "ncols": ncols}
        if default_value is not None:
            options["default_value"] = default_value
        return self._run(op, ragged_rows.to_tensor, name, **options)

    def gather(
        self,
        indices: ArrayLike,
        name: str | None = None,
        *,
        size: Int | None = None,
        mode: Mode = "device",
    ) -> RaggedTensor:
        """The rows at `indices`, an integer vector: `tf.gather` of a ragged tensor.

        `size`, a static int, is the capacity of the result; it must be given where `indices` or
        `row_splits` are traced. An index out of bounds, and values that `size` does not hold, are
        an error on the CPU; elsewhere the row is empty, and the values are dropped from the end.
        With the `mode` `"error"` they are an error everywhere, and with `"fill"` nowhere.
        """
        op = "RaggedTensor.gather"
        result_size.mode_of_size(op, mode, 0)  # `mode` is about the indices too
        if size is None:
            with on_host.named_scope(op, name):
                rows = ragged_rows.exactly_gather(op, *self._parts(op), indices, mode)
            return self._of(*rows)
        size = on_host.check_size(size, op)
        options = {"mode": mode, "size": size, "indexed": self.shape[:1]}
        return self._of(*self._run(op, ragged_rows.gather, name, indices=indices, **options))

    def reduce_sum(
        self, axis: Int | None = None, keepdims: bool = False, name: str | None = None
    ) -> jax.Array:
        """The sum of each row, `tf.reduce_sum` along `axis`, which must be 1. 0 of none."""
        return self._reduce("sum", axis, keepdims, name)

    def reduce_mean(
        self, axis: Int | None = None, keepdims: bool = False, name: str | None = None
    ) -> jax.Array:
        """The mean of each row, of integers in floats; NaN of none. As `reduce_sum`."""
        return self._reduce("mean", axis, keepdims, name)

    def reduce_max(
        self, axis: Int | None = None, keepdims: bool = False, name: str | None = None
    ) -> jax.Array:
        """The maximum of each row; of none the smallest finite number. NaN propagates.

        Its gradient is shared in equal parts by all that attain it. Else as `reduce_sum`.
        """
        return self._reduce("max", axis, keepdims, name)

    def reduce_min(
        self, axis: Int | None = None, keepdims: bool = False, name: str | None = None
    ) -> jax.Array:
        """The minimum of each row; of none the largest finite number. As `reduce_max`."""
        return self._reduce("min", axis, keepdims, name)

    def reduce_prod(
        self, axis: Int | None = None, keepdims: bool = False, name: str | None = None
    ) -> jax.Array:
        """The product of each row; 1 of none. As `reduce_sum`."""
        return self._reduce("prod", axis, keepdims, name)

    def _reduce(self, kind: str, axis: Any, keepdims: Any, name: Any) -> Any:
        op = f"RaggedTensor.reduce_{kind}"
        ragged_rows.check_axis(op, axis, self.values.ndim + 1)
        keepdims = check_bool(keepdims, op, "keepdims")
        result = self._run(op, ragged_rows.reduce_rows, name, kind=kind)
        return result[:, None] if keepdims else result


register_pytree_node_serialization(
    RaggedTensor,
    serialized_name="jaxops.RaggedTensor",
    serialize_auxdata=lambda _: b"",
    deserialize_auxdata=lambda _: None,
)
