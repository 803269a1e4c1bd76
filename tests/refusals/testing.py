"""Refused calls: jaxops.testing."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import jax.numpy as jnp
import numpy as np
from own_gradients import square

import jaxops
from jaxops import testing

ONE = np.ones(1, np.float32)


def lookup(i):
    return jaxops.gather(jnp.arange(3.0), i)


CALLS = {
    "check_grads-f-int": (lambda: testing.check_grads(3, ONE), TypeError, "must be callable; received 3"),
    "check_grads-f-infinite": (lambda: testing.check_grads(lambda x: 1 / x, 0 * ONE), ValueError, "must be finite at args; received a value that is not: result[0]"),
    "check_grads-f-bools": (lambda: testing.check_grads(lambda x: x > 0, ONE), TypeError, "must return an array of a floating-point or complex dtype"),
    "check_grads-args-integers": (lambda: testing.check_grads(square, 3), TypeError, "must hold an array of a floating-point dtype; received none"),
    "check_grads-args-float8": (lambda: testing.check_grads(square, ONE.astype(jnp.float8_e4m3fn)), TypeError, "check_grads: args[0] must have 16 bits or more in its dtype; received float8_e4m3fn"),
    "check_grads-args-nan": (
        lambda: testing.check_grads(square, {"a": np.array([1, np.nan], np.float32)}), ValueError, "must be finite; received a value that is not: args[0]['a'][1]. Close over what is not to be moved"),
    "check_grads-args-traced": (lambda: jax.jit(lambda x: testing.check_grads(square, x))(ONE), TypeError, "check_grads: args[0] must be concrete; received a traced array: call it outside"),
    "check_grads-order-0": (lambda: testing.check_grads(square, ONE, order=0), ValueError, "must be an int, 1 or more; received 0"),
    "check_grads-directions-0": (lambda: testing.check_grads(square, ONE, directions=0), ValueError, "must be an int, 1 or more; received 0"),
    "check_grads-order-bool": (lambda: testing.check_grads(square, ONE, order=True), TypeError, "must be a static int; received True"),
    "check_grads-modes-unknown": (lambda: testing.check_grads(square, ONE, modes="jvp"), ValueError, "must be 'fwd', 'rev' or both; received 'jvp'"),
    "check_grads-modes-int": (lambda: testing.check_grads(square, ONE, modes=3), TypeError, "must be a str or a sequence of them; received 3"),
    "check_grads-modes-twice": (lambda: testing.check_grads(square, ONE, modes=("fwd", "fwd")), ValueError, "must be 'fwd', 'rev' or both; received ('fwd', 'fwd')"),
    "check_grads-modes-none": (lambda: testing.check_grads(square, ONE, modes=()), ValueError, "must be 'fwd', 'rev' or both; received ()"),
    "check_grads-directions-float": (lambda: testing.check_grads(square, ONE, directions=1.5), TypeError, "must be a static int; received 1.5"),
    "check_grads-seed-negative": (lambda: testing.check_grads(square, ONE, seed=-1), ValueError, "must be an int, 0 or more; received -1"),
    "check_grads-rtol-0": (lambda: testing.check_grads(square, ONE, rtol=0), ValueError, "must be between 0 and 1; received 0"),
    "check_grads-rtol-1": (lambda: testing.check_grads(square, ONE, rtol=1.0), ValueError, "must be between 0 and 1; received 1.0"),
    "check_grads-rtol-int8-0": (lambda: testing.check_grads(square, ONE, rtol=np.int8(0)), ValueError, "must be between 0 and 1; received np.int8(0)"),
    "check_grads-rtol-float32-2": (lambda: testing.check_grads(square, ONE, rtol=np.float32(2)), ValueError, "must be between 0 and 1; received np.float32(2.0)"),
    "check_grads-rtol-text": (lambda: testing.check_grads(square, ONE, rtol="1"), TypeError, "must be a number; received '1'"),
    "check_grads-rtol-bool": (lambda: testing.check_grads(square, ONE, rtol=True), TypeError, "must be a number; received True"),
    "check_grads-numeric_dtype-int": (lambda: testing.check_grads(square, ONE, numeric_dtype="int32"), ValueError, "must be float32 or float64; received 'int32'"),
    "check_grads-numeric_dtype-float16": (lambda: testing.check_grads(square, ONE, numeric_dtype=np.float16), ValueError, "must be float32 or float64; received <class 'numpy.float16'>"),
    "check_grads-numeric_dtype-word": (lambda: testing.check_grads(square, ONE, numeric_dtype="wide"), ValueError, "must be float32 or float64; received 'wide'"),
    "check_grads-numeric_dtype-x64": (
        lambda: testing.check_grads(square, ONE, numeric_dtype="float64"), ValueError, 'check_grads: numeric_dtype is float64; switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "check_grads-jit-bool": (lambda: testing.check_grads(square, ONE, jit=True), TypeError, "must be callable; received True"),
    "check_adjoint-f-int": (lambda: testing.check_adjoint(3, ONE), TypeError, "must be callable; received 3"),
    "check_adjoint-f-bools": (lambda: testing.check_adjoint(lambda x: x > 0, ONE), TypeError, "must return an array of the kind of its operands"),
    "check_adjoint-args-bool": (lambda: testing.check_adjoint(square, True), TypeError, "must hold an array of numbers; received none"),
    "check_adjoint-by-unknown": (lambda: testing.check_adjoint(square, ONE, by="jvp"), ValueError, "by must be one of linear_transpose, vjp; received 'jvp'"),
    "check_adjoint-seed-string": (lambda: testing.check_adjoint(square, ONE, seed="0"), TypeError, "must be a static int; received '0'"),
    "assert_out_of_bounds-f-int": (lambda: testing.assert_out_of_bounds(3), TypeError, "must be callable; received 3"),
    "assert_out_of_bounds-match-int": (lambda: testing.assert_out_of_bounds(lookup, match=3), TypeError, "must be a regular expression as str; received 3"),
    "assert_out_of_bounds-match-no-regex": (lambda: testing.assert_out_of_bounds(lookup, match="("), ValueError, "must be a regular expression; received '('"),
    "assert_out_of_bounds-jit-none": (lambda: testing.assert_out_of_bounds(lookup, jit=None), TypeError, "must be callable; received None"),
}  # fmt: skip
