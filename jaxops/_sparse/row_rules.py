"""Names of primitives that do the same to rows. A module that uses one of the sets says why."""

CALLS = {"jit", "closed_call", "eval_jaxpr", "remat2", "custom_jvp_call", "custom_vjp_call"}

# The n-th result is the n-th operand.
EACH_BY_ITSELF = {"optimization_barrier", "copy", "name", "sharding_constraint", "reshard"}
EACH_BY_ITSELF |= {"pvary", "device_put", "stop_gradient"}

_ELEMENTWISE = (
    "abs acos acosh add add_any and asin asinh atan atan2 atanh bessel_i0e bessel_i1e cbrt ceil "
    "clamp clz complex conj convert_element_type cos cosh digamma div eq erf erf_inv erfc exp exp2 "
    "expm1 floor ge gt igamma igamma_grad_a igammac imag integer_pow is_finite le lgamma log log1p "
    "logistic lt max min mul mulhi ne neg nextafter not or polygamma population_count pow real "
    "reduce_precision regularized_incomplete_beta rem round rsqrt select_n shift_left "
    "shift_right_arithmetic shift_right_logical sign sin sinh sqrt square sub tan tanh xor zeta"
)
ELEMENTWISE = frozenset(_ELEMENTWISE.split())

# They move or repeat elements, and compute nothing.
MOVES = {"broadcast_in_dim", "reshape", "rev", "slice", "squeeze", "split", "transpose"}

REDUCTIONS = {"reduce_sum", "reduce_prod", "reduce_and", "reduce_or", "reduce_max", "reduce_min"}
REDUCTIONS |= {"argmax", "argmin", "reduce_xor"}
