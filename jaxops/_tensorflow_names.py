"""The places of TensorFlow's functions that jaxops does not have, for errors and for the docs.

Names of JAX stand in backticks; a test looks each of them up.
"""

from __future__ import annotations

from collections.abc import Mapping

# By module what it calls TensorFlow's functions: `name`, or `theirs=its`.
_NAMES = {
    "jax.numpy": """
        abs acos=arccos acosh=arccosh add angle as_dtype=dtype asin=arcsin asinh=arcsinh atan=arctan
        atan2=arctan2 atanh=arctanh bfloat16 bincount bool=bool_
        broadcast_dynamic_shape=broadcast_shapes broadcast_static_shape=broadcast_shapes ceil
        clip_by_value=clip complex128 complex64 compute_average_loss=mean conj constant=asarray
        convert_to_tensor=asarray cos cosh count_nonzero cross divide double=float64 DType=dtype
        einsum equal exp expm1 eye float16 float32 float64 floor floordiv=floor_divide floormod=mod
        greater greater_equal
        half=float16 identity=asarray imag int16 int32 int64 int8 is_finite=isfinite is_inf=isinf
        is_nan=isnan less less_equal linspace log log1p logical_and logical_not logical_or
        logical_xor matvec maximum minimum mod multiply negative newaxis nextafter not_equal ones
        ones_like polyval pow=power real realdiv=true_divide reciprocal reduce_all=all
        reduce_any=any reduce_max=max reduce_mean=mean reduce_min=min reduce_prod=prod
        reduce_std=std reduce_sum=sum reduce_variance=var rint rot90 round scalar_mul=multiply sign
        sin sinh sqrt square subtract tan tanh tensordot truediv=true_divide uint16 uint32 uint64
        uint8 weighted_moments=average zeros zeros_like
    """,
    "jax.numpy.fft": "fftnd=fftn ifftnd=ifftn irfftnd=irfftn rfftnd=rfftn",
    "jax.numpy.linalg": """
        cholesky det eig eigh eigvals eigvalsh inv lstsq matrix_rank norm pinv qr
        reduce_euclidean_norm=norm slogdet solve
    """,
    "jax.scipy.linalg": """
        cholesky_solve=cho_solve eigh_tridiagonal expm lu_solve lu=lu_factor
        matrix_square_root=sqrtm sqrtm
    """,
    "jax.scipy.special": """
        bessel_i0=i0 bessel_i0e=i0e bessel_i1=i1 bessel_i1e=i1e betainc digamma erf erfc erfinv
        igamma=gammainc igammac=gammaincc lgamma=gammaln ndtri polygamma xlog1py xlogy zeta
    """,
    "jax.scipy": "signal",
    "jax.nn": """
        elu initializers log_sigmoid log_softmax reduce_logsumexp=logsumexp relu
        relu6 selu sigmoid silu softmax softplus softsign=soft_sign swish
    """,
    "jax.nn.initializers": """
        constant_initializer=constant ones_initializer=ones random_normal_initializer=normal
        random_uniform_initializer=uniform zeros_initializer=zeros
    """,
    "jax.lax": """
        approx_max_k approx_min_k approx_top_k=approx_max_k atrous_conv2d=conv_general_dilated
        atrous_conv2d_transpose=conv_transpose avg_pool=reduce_window avg_pool1d=reduce_window
        avg_pool2d=reduce_window avg_pool3d=reduce_window case=switch complex cond
        conv=conv_general_dilated conv1d=conv_general_dilated conv1d_transpose=conv_transpose
        conv2d=conv_general_dilated conv2d_transpose=conv_transpose conv3d=conv_general_dilated
        conv3d_transpose=conv_transpose conv_transpose convolution=conv_general_dilated
        cumulative_logsumexp=cumlogsumexp depthwise_conv2d=conv_general_dilated
        foldl=scan foldr=scan map_fn=map max_pool=reduce_window max_pool1d=reduce_window
        max_pool2d=reduce_window max_pool3d=reduce_window pool=reduce_window rsqrt scan
        separable_conv2d=conv_general_dilated switch_case=switch truncatediv=div
        truncatemod=rem while_loop
    """,
    "jax.lax.linalg": "tridiagonal_solve",
    "jax": """
        custom_gradient=custom_vjp device=default_device distribute=sharding dtensor=sharding
        function=jit GradientTape=value_and_grad gradients=grad hessians=hessian
        name_scope=named_scope nest=tree numpy_function=pure_callback autodiff=jvp profiler
        py_function=pure_callback recompute_grad=checkpoint Tensor=Array TensorSpec=ShapeDtypeStruct
        type_spec_from_value=typeof TypeSpec=ShapeDtypeStruct vectorized_map=vmap xla=jit
    """,
    "jax.debug": "print",
    "jax.experimental.checkify": """
        Assert=check assert_equal=check assert_greater=check assert_less=check assert_rank=check
    """,
    "jax.experimental.sparse.BCOO": "sparse.from_dense=fromdense",
    "jax.image": "image.resize=resize",
    "jax.random": "random_index_shuffle=permutation",
    "jaxops": """
        image.crop_to_bounding_box=slice image.flip_left_right=reverse image.flip_up_down=reverse
        image.pad_to_bounding_box=pad ragged.stack_dynamic_partitions=dynamic_partition test=testing
    """,
    "jaxops.RaggedTensor": """
        ragged.constant=from_row_lengths ragged.map_flat_values=with_values
        ragged.row_splits_to_segment_ids=value_rowids
    """,
    "optax": """
        losses sigmoid_cross_entropy_with_logits=sigmoid_binary_cross_entropy
        softmax_cross_entropy_with_logits=softmax_cross_entropy
        sparse_softmax_cross_entropy_with_logits=softmax_cross_entropy_with_integer_labels
    """,
}

# Code to write in place of other functions of TensorFlow.
_WRITTEN = {
    "accumulate_n": "Python's `sum` of a list",
    "add_n": "Python's `sum` of a list",
    "adjoint": "`jax.numpy.conj` of `jaxops.matrix_transpose`",
    "argmax": "`jax.numpy.argmax`, with `axis=0` where no axis is given",
    "argmin": "`jax.numpy.argmin`, with `axis=0` where no axis is given",
    "argsort": "`jax.numpy.argsort`, with `descending=True` for `direction='DESCENDING'`",
    "batch_normalization": "arithmetic of `jax.numpy.mean` and `jax.numpy.var`; flax has a layer",
    "batch_norm_with_global_normalization": "arithmetic of `jax.numpy.mean` and `jax.numpy.var`",
    "bias_add": "the operator `+`",
    "bitwise": "`jax.numpy.bitwise_and` and its sisters",
    "clip_by_norm": "arithmetic with `jax.numpy.linalg.norm`; `jaxops.clip_by_global_norm`",
    "confusion_matrix": "`jaxops.scatter_nd` of ones, at pairs of labels and predictions",
    "crelu": "`jax.nn.relu` of `jaxops.concat([x, -x], -1)`",
    "cumprod": "`jax.numpy.cumprod`, with `axis=0` where no axis is given; it has no `exclusive`",
    "cumsum": "`jax.numpy.cumsum`, with `axis=0` where no axis is given, less `x` for `exclusive`",
    "debugging": "`jax.debug`, `jax.experimental.checkify`",
    "debugging.check_numerics": "`jax.experimental.checkify.float_checks`, or `jax.debug_nans`",
    "divide_no_nan": "`jax.numpy.where` around a division whose divisor is not 0",
    "dropout": "`jax.random.bernoulli` and `jax.numpy.where`; flax has a layer",
    "dtypes.QUANTIZED_DTYPES": "no: JAX has no quantised dtypes",
    "ensure_shape": "a test of `x.shape`, which is known while tracing",
    "erfcinv": "`jax.scipy.special.erfinv(1 - x)`",
    "experimental": "`jax.numpy` for `experimental.numpy`",
    "extract_volume_patches": (
        "`jax.lax.conv_general_dilated_patches`, with channels in another order"
    ),
    "fingerprint": "no: it hashes bytes on the host, where `hashlib.blake2b` does",
    "gelu": "`jax.nn.gelu`, with `approximate=False` where nothing is given",
    "get_static_value": "`numpy.asarray`, which reads an array that is not traced",
    "grad_pass_through": "`x + jaxops.stop_gradient(f(x) - x)`",
    "group": "no: JAX has no operations without results",
    "histogram_fixed_width": (
        "`jax.numpy.histogram(jax.numpy.clip(x, *value_range), nbins, value_range)[0]`"
    ),
    "histogram_fixed_width_bins": (
        "`jax.numpy.floor((x - low) / (high - low) * nbins)`, clipped to the numbers of the bins"
    ),
    "identity_n": "`jax.tree.map` of `jax.numpy.asarray`",
    "in_top_k": "`jax.lax.top_k` and a comparison",
    "is_non_decreasing": "`jax.numpy.all(jax.numpy.diff(x) >= 0)`",
    "is_strictly_increasing": "`jax.numpy.all(jax.numpy.diff(x) > 0)`",
    "is_symbolic_tensor": "`isinstance(x, jax.core.Tracer)`",
    "is_tensor": "`isinstance(x, jax.Array)`",
    "l2_loss": "`jax.numpy.sum(x**2) / 2`",
    "l2_normalize": (
        "`x * jax.lax.rsqrt(jax.numpy.maximum(jax.numpy.sum(x**2, axis, keepdims=True), epsilon))`"
    ),
    "lbeta": "sums of `jax.scipy.special.gammaln`",
    "leaky_relu": "`jax.nn.leaky_relu`, with `negative_slope=0.2` where no `alpha` is given",
    "local_response_normalization": "`jax.lax.reduce_window` of squares",
    "log_poisson_loss": "`jax.numpy.exp(log_input) - log_input * targets`",
    "logdet": "`jax.numpy.linalg.slogdet(x)[1]`",
    "logm": "`scipy.linalg.logm`, on the host by `jax.pure_callback`",
    "lrn": "`jax.lax.reduce_window` of squares",
    "lu_matrix_inverse": "`jax.scipy.linalg.lu_solve` of the identity",
    "lu_reconstruct": "products of the factors of `jax.scipy.linalg.lu`",
    "matmul": "`jax.numpy.matmul`, of `jax.numpy.swapaxes(b, -1, -2)` for `transpose_b=True`",
    "max_pool_with_argmax": "`jaxops.extract_patches` and `jax.numpy.argmax`",
    "moments": "`jax.numpy.mean` and `jax.numpy.var`",
    "multiply_no_nan": "`jax.numpy.where(y == 0, 0, x * y)`",
    "normalize": "`x / jax.numpy.linalg.norm(x, axis=axis, keepdims=True)`",
    "normalize_moments": "`jax.numpy.mean` and `jax.numpy.var`",
    "optimizers": "optax",
    "ragged": "`jaxops.RaggedTensor`, such as its `from_row_lengths` for `ragged.constant`",
    "random": "`jax.random`, whose functions take a key: `permutation` for `shuffle`",
    "raw_ops": "the public function of the operation, as `jaxops.gather` for `GatherV2`",
    "reciprocal_no_nan": "`jax.numpy.where` around a division whose divisor is not 0",
    "sets": "`jaxops.setdiff1d`, `jax.numpy.intersect1d` and `jax.numpy.union1d`",
    "sort": "`jax.numpy.sort`, with `descending=True` for `direction='DESCENDING'`",
    "sparse.mask": "`jaxops.boolean_mask` of the values and the indices of an `IndexedSlices`",
    "squared_difference": "`(x - y) ** 2`",
    "sufficient_statistics": "`jax.numpy.sum` of the values and of their squares",
    "svd": (
        "`jax.numpy.linalg.svd`, with `full_matrices=False`; its results are `u`, `s` and the "
        "adjoint of `v`, TensorFlow's are `s`, `u` and `v`"
    ),
    "TensorArray": "a list, or the outputs of `jax.lax.scan`",
    "TensorShape": "a tuple, as `x.shape` is",
    "top_k": "`jax.lax.top_k`, whose `k` is static",
    "trace": "`jax.numpy.trace`, with `axis1=-2, axis2=-1`",
    "triangular_solve": (
        "`jax.scipy.linalg.solve_triangular`, with `lower=True` where nothing is given"
    ),
    "tridiagonal_matmul": "products with `jax.numpy.roll` of the vector",
    "tuple": "a tuple",
    "UnconnectedGradients": "no: the gradient of what has no influence is 0",
    "Variable": "an array, which a function takes and returns",
    "weighted_cross_entropy_with_logits": "arithmetic with `jax.nn.log_sigmoid`",
    "xdivy": "`jax.numpy.where(x == 0, 0, x / y)`",
    "zero_fraction": "`jax.numpy.mean(x == 0)`",
    "ragged.boolean_mask": "`jaxops.boolean_mask` of `values`, and new row lengths",
    "ragged.segment_ids_to_row_splits": "`jaxops.searchsorted` of the numbers of rows",
    "image.adjust_brightness": "the operator `+`",
    "image.crop_and_resize": (
        "`jax.scipy.ndimage.map_coordinates`, or `jaxops.gather` of four neighbours"
    ),
    "image.extract_glimpse": "`jaxops.slice`, with `mode`",
    "image.non_max_suppression": "`jax.lax.fori_loop` over the boxes in the order of their scores",
    "image.per_image_standardization": "`jax.nn.standardize`, with `axis=(-3, -2, -1)`",
    "image.rot90": "`jax.numpy.rot90`, with `axes=(-3, -2)`",
    "image.transpose": "`jax.numpy.swapaxes(image, -3, -2)`",
    "strings.length": "`numpy.strings.str_len`, on the host",
    "strings.lower": "`numpy.strings.lower`, on the host",
    "strings.strip": "`numpy.strings.strip`, on the host",
    "strings.upper": "`numpy.strings.upper`, on the host",
    "strings.as_string": "`numpy.asarray(x).astype(str)`, on the host",
    "sparse.sparse_dense_matmul": "the operator `@` of a `jax.experimental.sparse.BCOO`",
    "sparse.to_dense": "`jaxops.scatter_nd(x.indices, x.values, x.dense_shape)`",
}

# Why there is nothing in their place.
_NONE = {
    "TensorFlow's graphs, sessions and variables have no counterpart, as functions are traced": """
        AggregationMethod autograph check_pinned control_dependencies CriticalSection
        executing_eagerly get_current_name_scope Graph graph_util import_graph_def init_scope
        inside_function Module no_gradient no_op nondifferentiable_batch_function Operation
        RegisterGradient register_tensor_conversion_function variable_creator_scope
        VariableAggregation VariableSynchronization
    """,
    "it is no operation on arrays": """
        audio config data DeviceSpec errors feature_column get_logger io keras lite load_library
        load_op_library lookup make_ndarray make_tensor_proto metrics mlir quantization queue
        saved_model security special summary sysconfig timestamp tools tpu train types version
    """,
    "JAX has no such types; jax.ShapeDtypeStruct describes an array": """
        IndexedSlicesSpec NoneTensorSpec OptionalSpec RaggedTensorSpec SparseTensorSpec
        TensorArraySpec
    """,
    "JAX has no quantised numbers, strings, resources and variants": """
        as_string qint16 qint32 qint8 quint16 quint8 resource string variant
    """,
    "it draws or scores candidates of a sampled softmax": """
        all_candidate_sampler compute_accidental_hits fixed_unigram_candidate_sampler
        learned_unigram_candidate_sampler nce_loss sampled_softmax_loss
    """,
    "jax.grad makes the gradient of a function": """
        conv2d_backprop_filter_v2 conv2d_backprop_input_v2 depthwise_conv2d_backprop_filter
        depthwise_conv2d_backprop_input ragged_fill_empty_rows_grad
    """,
    "optax has the loss of CTC, and nothing has the rest": """
        collapse_repeated ctc_beam_search_decoder ctc_greedy_decoder ctc_loss ctc_unique_labels
    """,
    "flax has cells of recurrent networks": """
        RNNCellDeviceWrapper RNNCellDropoutWrapper RNNCellResidualWrapper
    """,
    "JAX has nothing like it": """
        banded_triangular_solve dilation2d erosion2d fractional_avg_pool fractional_max_pool
        isotonic_regression ragged_fill_empty_rows scale_regularization_loss sobol_sample
        with_space_to_batch
    """,
}

# By module what it calls functions of TensorFlow 0.x and 1.x that TensorFlow 2 does not have.
_OLD_NAMES = {
    "jax": "py_func=pure_callback",
    "jax.debug": "Print=print",
    "jax.lax": "dynamic_rnn=scan raw_rnn=scan rnn=scan static_rnn=scan",
    "jax.numpy": """
        arg_max=argmax arg_min=argmin batch_matmul=matmul complex_abs=abs floor_div=floor_divide
        inv=reciprocal lin_space=linspace mul=multiply neg=negative sub=subtract
    """,
    "jax.numpy.linalg": """
        batch_cholesky=cholesky batch_matrix_determinant=det batch_matrix_inverse=inv
        batch_matrix_solve=solve batch_self_adjoint_eig=eigh matrix_determinant=det
        matrix_inverse=inv matrix_solve=solve self_adjoint_eig=eigh self_adjoint_eigvals=eigvalsh
    """,
    "jax.random": """
        multinomial=categorical random_gamma=gamma random_normal=normal random_poisson=poisson
        random_shuffle=permutation random_uniform=uniform set_random_seed=key truncated_normal
    """,
    "jaxops": """
        batch_matrix_band_part=matrix_band_part batch_matrix_diag=matrix_diag
        batch_matrix_diag_part=matrix_diag_part batch_matrix_set_diag=matrix_set_diag
        batch_matrix_transpose=matrix_transpose concat_v2=concat diag=tensor_diag
        diag_part=tensor_diag_part list_diff=setdiff1d listdiff=setdiff1d pack=stack
        reverse_v2=reverse scatter_nd_add=tensor_scatter_nd_add scatter_nd_sub=tensor_scatter_nd_sub
        scatter_nd_update=tensor_scatter_nd_update split_v=split
        tensor_scatter_add=tensor_scatter_nd_add tensor_scatter_sub=tensor_scatter_nd_sub
        tensor_scatter_update=tensor_scatter_nd_update unpack=unstack where_v2=where
    """,
}

_OLD_CODE = {
    "div": "the operators `//` of integers and `/` of floats",
    "div_no_nan": _WRITTEN["divide_no_nan"],
    "scatter_add": "`jaxops.at(ref)[indices].add(updates)`",
    "scatter_max": "`jaxops.at(ref)[indices].max(updates)`",
    "scatter_min": "`jaxops.at(ref)[indices].min(updates)`",
    "scatter_sub": "`jaxops.at(ref)[indices].subtract(updates)`",
    "scatter_update": "`jaxops.at(ref)[indices].set(updates)`",
    "select": (
        "`jaxops.compat.v0.select`; a condition of rank 1 chooses rows there, and elements of the "
        "last axis in `jaxops.where`"
    ),
    "sparse_tensor_to_dense": _WRITTEN["sparse.to_dense"],
    "sparse_to_dense": (
        "`jaxops.tensor_scatter_nd_update(jax.numpy.full(shape, default), indices, values)`, or "
        "`jaxops.scatter_nd(indices, values, shape)` for a default of 0"
    ),
    "xw_plus_b": "`x @ w + b`",
}

# Names that jaxops has too, with other arguments than TensorFlow 0.x and 1.x.
_DIV = 'takes several tables for the parts of one, in turn ("div")'
_MOD = (
    f'{_DIV}; TensorFlow 0.x and 1.x deal the rows out ("mod") unless their partition_strategy '
    'is "div"; of tables of "mod" '
    "`jaxops.dynamic_stitch([range(n, rows, len(params)) for n in range(len(params))], params)`, "
    "with `rows = sum(map(len, params))`, makes one"
)
CHANGED = {
    "embedding_lookup": f"`jaxops.embedding_lookup`, which {_MOD}",
    "embedding_lookup_sparse": f"`jaxops.embedding_lookup_sparse`, which {_MOD}",
    "nn": f"`jaxops.nn`, whose embedding_lookup {_MOD}",
    "safe_embedding_lookup_sparse": f"`jaxops.safe_embedding_lookup_sparse`, which {_DIV}",
}

_OLD_NONE = """
    all_variables assign assign_add assign_sub contrib get_collection get_variable
    global_variables global_variables_initializer initialize_all_tables initialize_all_variables
    InteractiveSession merge_all_summaries placeholder scalar_summary Session trainable_variables
    variable_op_scope variable_scope
"""

# By module of TensorFlow, for its other names.
OTHERS = {
    "compat": "the names of TensorFlow 2, in `jaxops`, or those of `jaxops.compat.v0`",
    "image": "no: jaxops has what indexes arrays; `jax.image` resizes, dm_pix has more",
    "quantization": "no: arithmetic of quantised numbers, which indexes nothing",
    "ragged": "no: `jaxops.RaggedTensor` has the methods that are here",
    "sparse": "no: `jax.experimental.sparse` computes with sparse arrays",
    "strings": "no: no device holds strings; `numpy.strings` computes with them on the host",
}


def _paths(by_module: Mapping[str, str]) -> dict[str, str]:
    table = {}
    for module, names in by_module.items():
        for name in names.split():
            theirs, _, its = name.partition("=")
            table[theirs] = f"`{module}.{its or theirs}`"
    return table


def _reasons(by_reason: Mapping[str, str]) -> dict[str, str]:
    return {n: f"no: {reason}" for reason, names in by_reason.items() for n in names.split()}


TABLE = _paths(_NAMES) | _reasons(_NONE) | _WRITTEN
OLD = _paths(_OLD_NAMES) | _OLD_CODE | _reasons({next(iter(_NONE)): _OLD_NONE})


def answer(path: str) -> str | None:
    """The replacement for TensorFlow's `path`, such as `math.top_k`; None if not known.

    Most names mean the same in all modules: `tf.abs` is `tf.math.abs`.
    """
    module, _, name = path.rpartition(".")
    if module.startswith("linalg") and name.startswith("LinearOperator"):
        return "lineax, a library of linear operators"
    if path in TABLE:
        return TABLE[path]
    if module in OTHERS:
        return OTHERS[module]
    return TABLE.get(name) or OLD.get(name)
