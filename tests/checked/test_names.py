"""Each public function of JAX either indexes, and is checked, or is known not to."""

import ast
import inspect
import pathlib

import jax
import jax.numpy as jnp
import pytest
from checked.jax_code import PROGRAMS, SILENT
from jax import lax

import jaxops
from jaxops import _jax_internals
from jaxops._checked import whose

X = jnp.zeros(2)
PLACES = {
    "jnp": jnp,
    "lax": lax,
    "ops": jax.ops,
    "nn": jax.nn,
    "array": X,
    "at": X.at[0],
    "random": jax.random,
}
# Functions by which a caller indexes; `checked` looks at them.
INDEXING = {
    "jnp": "choose put put_along_axis take take_along_axis",
    "lax": """dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim dynamic_update_index_in_dim
        dynamic_update_slice dynamic_update_slice_in_dim gather scatter scatter_add scatter_apply
        scatter_max scatter_min scatter_mul scatter_sub""",
    "ops": "segment_max segment_min segment_prod segment_sum",
    "nn": "",
    "array": "choose take",
    "at": "add apply divide get max min mul multiply power set subtract",
    "random": "",
}
# By an option of `checked`.
LOSING = {"jnp": "repeat", "array": "repeat", "nn": "one_hot"}
NOT_INDEXING = {
    "jnp": """
        abs absolute acos acosh add all allclose amax amin angle any append apply_along_axis
        apply_over_axes arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax
        argmin argpartition argsort argwhere around array array_equal array_equiv array_repr
        array_split array_str asarray asin asinh astype atan atan2 atanh atleast_1d
        atleast_2d atleast_3d average bartlett bincount bitwise_and bitwise_count
        bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
        bitwise_xor blackman block broadcast_arrays broadcast_shapes broadcast_to can_cast
        cbrt ceil clip column_stack compress concat concatenate conj conjugate convolve copy
        copysign corrcoef correlate cos cosh count_nonzero cov cross cumprod cumsum
        cumulative_prod cumulative_sum deg2rad degrees delete diag diag_indices
        diag_indices_from diagflat diagonal diff digitize divide divmod dot dsplit dstack
        ediff1d einsum einsum_path empty empty_like equal exp exp2 expand_dims expm1 extract
        eye fabs fill_diagonal flatnonzero flip fliplr flipud float_power floor floor_divide
        fmax fmin fmod frexp from_dlpack frombuffer fromfile fromfunction fromiter
        frompyfunc fromstring full full_like gcd geomspace get_printoptions gradient greater
        greater_equal hamming hanning heaviside histogram histogram2d histogram_bin_edges
        histogramdd hsplit hstack hypot i0 identity imag indices inner insert interp
        intersect1d invert isclose iscomplex iscomplexobj isdtype isfinite isin isinf isnan
        isneginf isposinf isreal isrealobj isscalar issubdtype iterable ix_ kaiser kron lcm
        ldexp left_shift less less_equal lexsort linspace load log log10 log1p log2
        logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logspace
        mask_indices matmul matrix_transpose matvec max maximum mean median meshgrid min
        minimum minmax mod modf moveaxis multiply nan_to_num nanargmax nanargmin nancumprod
        nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd
        nansum nanvar ndim negative nextafter nonzero not_equal ones ones_like outer
        packbits pad partition percentile permute_dims piecewise place poly polyadd polyder
        polydiv polyfit polyint polymul polysub polyval positive pow power printoptions prod
        promote_types ptp quantile rad2deg radians ravel ravel_multi_index real reciprocal
        remainder reshape resize result_type right_shift rint roll rollaxis roots rot90
        round save savez searchsorted select set_printoptions setdiff1d setxor1d shape sign
        signbit sin sinc sinh size sort sort_complex spacing split sqrt square squeeze stack
        std subtract sum swapaxes tan tanh tensordot tile top_k trace transpose trapezoid
        tri tril tril_indices tril_indices_from trim_zeros triu triu_indices
        triu_indices_from true_divide trunc union1d unique unique_all unique_counts
        unique_inverse unique_values unpackbits unravel_index unstack unwrap vander var vdot
        vecdot vecmat vectorize vsplit vstack where zeros zeros_like""",
    "lax": """
        ConvGeneralDilatedDimensionNumbers DotDimensionNumbers PrecisionLike abs acos acosh
        add after_all all_gather all_to_all approx_max_k approx_min_k argmax argmin asin
        asinh associative_scan atan atan2 atanh axis_index axis_size batch_matmul bessel_i0e
        bessel_i1e betainc bitcast_convert_type bitwise_and bitwise_not bitwise_or
        bitwise_xor broadcast broadcast_in_dim broadcast_like broadcast_shapes
        broadcast_to_rank broadcasted_iota cbrt ceil clamp clz collapse complex composite
        concatenate cond conj conv conv_dimension_numbers conv_general_dilated
        conv_general_dilated_local conv_general_dilated_patches conv_general_permutations
        conv_general_shape_tuple conv_shape_tuple conv_transpose conv_transpose_shape_tuple
        conv_with_general_padding convert_element_type cos cosh create_token cumlogsumexp
        cummax cummin cumprod cumsum custom_linear_solve custom_root dce_sink digamma div
        dot dot_general dtype empty eq erf erf_inv erfc exp exp2 expand_dims expm1 fft floor
        fori_loop full full_like ge gt igamma igamma_grad_a igammac imag index_in_dim
        index_take integer_pow iota is_finite le lgamma log log1p log2 logistic lt map max
        min mul mulhi ne neg nextafter one_minus_square optimization_barrier pad
        padtype_to_pads pbroadcast pcast platform_dependent pmax pmean pmin polygamma
        polynomial population_count pow ppermute precv psend pshuffle psum psum_scatter
        psum_scatter_start pswapaxes ragged_all_to_all ragged_dot ragged_dot_general
        random_gamma_grad real reciprocal reduce reduce_and reduce_max reduce_min reduce_or
        reduce_precision reduce_prod reduce_sum reduce_window reduce_window_shape_tuple
        reduce_xor rem reshape rev rng_bit_generator rng_uniform round rsqrt scaled_dot scan
        select select_n shape_as_value shift_left shift_right_arithmetic shift_right_logical
        sign sin sinh slice slice_in_dim sort sort_key_val split sqrt square squeeze stack
        stage stop_gradient sub switch tan tanh tile top_k transpose unstack while_loop
        with_sharding_constraint zeta""",
    "ops": """
""",
    "nn": """
        celu dot_product_attention elu gelu get_scaled_dot_general_config glu hard_sigmoid
        hard_silu hard_swish hard_tanh identity leaky_relu log1mexp log_sigmoid log_softmax
        logmeanexp logsumexp mish relu relu6 scaled_dot_general scaled_matmul selu sigmoid
        silu soft_sign softmax softplus sparse_plus sparse_sigmoid squareplus standardize
        swish tanh""",
    "array": """
        T addressable_data addressable_shards all any argmax argmin argpartition argsort
        astype at aval block_until_ready byteswap clip clone committed compress conj
        conjugate copy copy_to_host_async cumprod cumsum delete device device_buffer
        device_buffers devices diagonal dot dtype flat flatten format global_shards imag
        is_deleted is_fully_addressable is_fully_replicated is_ready item itemsize mT max
        mean min nbytes ndim nonzero on_device_size_in_bytes platform prod ptp ravel real
        reshape round searchsorted shape sharding size sort squeeze std sum swapaxes
        to_device tobytes tolist trace traceback transpose unsafe_buffer_pointer
        unsafe_raw_buffer var view weak_type""",
    "random": """
        Key PRNGKey ball bernoulli beta binomial bits categorical cauchy chisquare choice
        clone dirichlet double_sided_maxwell exponential f fold_in gamma generalized_normal
        geometric gumbel key key_data key_dtype key_impl laplace loggamma logistic lognormal
        maxwell multinomial multivariate_normal normal orthogonal pareto permutation poisson
        rademacher randint rayleigh split t triangular truncated_normal uniform wald
        weibull_min wrap_key_data""",
    "at": """
        array index""",
}


def public(place):
    names = {name for name in dir(place) if not name.startswith("_")}
    if inspect.ismodule(place):
        functions = {name for name in names if callable(getattr(place, name, None))}
        names = {
            name
            for name in functions
            if not inspect.isclass(getattr(place, name)) and not name.endswith("_p")
        }
    return names


@pytest.mark.parametrize("place", PLACES)
def test_each_public_name_is_known(place):
    indexing, losing, others = (
        set(table.get(place, "").split()) for table in (INDEXING, LOSING, NOT_INDEXING)
    )
    assert not indexing & others
    assert not losing & (indexing | others)
    names = public(PLACES[place])
    assert indexing | losing <= names
    assert not names - indexing - losing - others, "does it take indices of the caller?"


def test_functions_that_index_are_those_that_are_looked_at():
    by_name = {name for names in INDEXING.values() for name in names.split()}
    assert by_name == whose.BY_AT | whose.BY_FUNCTION
    assert {name for names in LOSING.values() for name in names.split()} <= whose.LOSING


def test_each_function_that_indexes_has_a_program():
    operations = {operation.rpartition(".")[2] for _, operation in PROGRAMS.values()}
    untried = {
        *("choose", "mul"),  # with no mode it refuses tracers and out of bounds; is `multiply`
        *("scatter", "scatter_apply", "scatter_max", "scatter_min", "scatter_mul", "scatter_sub"),
        "dynamic_update_slice_in_dim",
    }
    by_name = {name for names in INDEXING.values() for name in names.split()}
    assert by_name - operations == untried
    assert "choose" in SILENT


# --- the names that `checked` knows stand in the source of this version of JAX ---


def functions_of_source():
    """The functions that modules of JAX define, by the name of the function."""
    folder = pathlib.Path(jax.__file__).parent / "_src"
    files = {}
    for path in [*folder.rglob("*.py")]:
        if "pallas" in path.parts or "mosaic" in str(path):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                files.setdefault(node.name, []).append(str(path))
    return files


@pytest.mark.slow
def test_names_that_checked_knows_are_those_of_jax():
    defined = functions_of_source()
    computing = {
        name
        for name, files in defined.items()
        if any(_jax_internals.kind_of_frame(file, name) == "compute" for file in files)
    }
    known = whose.INDEXING | whose.NORMALIZING | whose.LOSING
    assert known <= computing
    others = {_jax_internals._TRACING, *_jax_internals._CALLING_FUNCTIONS}
    assert others <= {*defined}
    for name in _jax_internals._EVALUATING:
        assert any(function.startswith(name) for function in defined), name
    files = [file for files in defined.values() for file in files]
    for path in _jax_internals._COMPUTING:
        is_there = any(file.startswith(path) for file in files) or pathlib.Path(path).exists()
        assert is_there or path.endswith("_src/prng.py"), path  # of jax 0.10.0
    for part in _jax_internals._CALLING:
        assert any(part in file for file in files), part


def test_a_frame_that_is_not_of_jax_has_no_kind():
    assert _jax_internals.kind_of_frame(jaxops.__file__, "take") is None
