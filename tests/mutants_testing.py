"""Mutants of jaxops.testing: see mutants.py."""

KINKED = "test_grads.py -k 'among_kinks or are_named'"
RIGHT, WRONG = "test_grads.py -k right_gradients_pass", "test_grads.py -k wrong_gradients"

MUTANTS = {
    "testing/__init__": [
        (
            "    if not 0 < rtol < 1:\n",
            "    if not 0 < rtol:\n",
            "test_refusals.py -k check_grads",
        ),
        (
            "        errors[how] = find_in(raised)\n",
            "        errors[how] = raised\n",
            "test_testing.py -k 'out_of_bounds_that or compiled_already'",
        ),
        (
            "re.escape(expected) if match is None else match, str(error)",
            "re.escape(expected) if match is None else match, str(error) + expected",
            "test_testing.py -k 'out_of_bounds_that'",
        ),
        (
            "chosen.count(mode) > 1 for mode",
            "chosen.count(mode) > 2 for mode",
            "test_refusals.py -k check_grads",
        ),
    ],
    "testing/_grads": [
        ("KNOWN, KNOWN_WELL = 1 / 3, 1 / 4", "KNOWN, KNOWN_WELL = 1 / 3, 0", WRONG),
        ("SEEN = 10.0", "SEEN = 0.0", WRONG),
        ("MOST_PARTS, MOST_NAMES = 100, 5", "MOST_PARTS, MOST_NAMES = 0, 5", KINKED),
        (
            "parts = self._parts(c, smooth)",
            "parts = []",
            KINKED,
        ),
        ("noise=c.numeric.noise, may_be_still=is_resolved", "noise=c.numeric.noise", KINKED),
        (
            "return known_well and found.jump > self.function.rtol * scale",
            "return False",
            "test_numeric.py -k kinks",
        ),
        (
            "        if order > 1:\n            for mode",
            "        if order > 2:\n            for mode",
            "test_grads.py test_numeric.py -k 'second or wrong_gradients'",
        ),
    ],
    "testing/_function": [
        (
            "        self._check_primals(mode, direction, primals)\n",
            "",
            "test_function.py -k value_that_differs",
        ),
        (
            "wrong = np.flatnonzero(~(np.abs(widen(primal) - widen(y)) <= allowed[leaf]))",
            "wrong = np.flatnonzero(np.abs(widen(primal) - widen(y)) > allowed[leaf])",
            "test_function.py -k value_that_differs",
        ),
        (
            "allowed = [a + d.max(initial=0.0) for",
            "allowed = [a + 0 * d.max(initial=0.0) for",
            "test_grads.py -k nearly_cancels",
        ),
        (
            ".eps) ** 0.5\n",
            ".eps) ** 0.25\n",
            "test_grads.py -k 'wrong_gradients and one-percent'",
        ),
        (
            "coarsest = min((x.dtype for x",
            "coarsest = max((x.dtype for x",
            "test_numeric.py -k fewest_digits",
        ),
        (
            "if numeric.digits(dtype) >= numeric.digits(wide):",
            "if numeric.digits(dtype) <= numeric.digits(wide):",
            "test_numeric.py -k numeric_dtype",
        ),
        (
            "            if self.trail:\n",
            "            if not self.trail:\n",
            "test_refusals.py -k check_grads",
        ),
    ],
    "testing/_numeric": [
        ("/ (2 * step))", "/ step)", RIGHT),
        ("SAFETY = 4.0", "SAFETY = 4e9", WRONG),
        ("jump = abs(jumps[best])\n", "jump = 0.0 * jumps[best]\n", "test_numeric.py -k kinks"),
    ],
    "testing/_search": [
        (
            "return not self.excess <= 1  # NaN is wrong",
            "return self.excess > 1",
            "test_adjoint.py -k nan",
        ),
    ],
    "testing/_leaves": [
        ("masked[start:stop] = ", "masked[start : stop + 1] = ", "test_leaves.py"),
        (
            '"the imaginary part of ")[coordinate % 2]',
            '"the imaginary part of ")[0]',
            "test_leaves.py",
        ),
    ],
    "testing/_adjoint": [
        (
            "        if not abs(self._modulo(forward - backward)) <= tolerance:\n",
            "        if abs(self._modulo(forward - backward)) < -tolerance:\n",
            "test_adjoint.py -k wrong_adjoints",
        ),
        (
            "            if zero.any():\n",
            "            if zero.all() and zero.size > 99:\n",
            "test_adjoint.py -k wrong_adjoints",
        ),
        ("LARGEST = 64", "LARGEST = 1", "test_adjoint.py -k hardly_ever"),
        (
            "return (number + half) % (2 * half) - half",
            "return number",
            "test_adjoint.py -k wrap",
        ),
    ],
}
