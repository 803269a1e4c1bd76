"""How figures grow with size: every function has a row, and a faster growth is seen."""

import json
from typing import Any

import growth
import growth_programs
import growth_rows
import jax
import numpy as np
import pytest
import suite
import timing
import work
from records import CALLS, CLASSES, PUBLIC
from row import Row, floats, full

GATHER = next(row for row in suite.ROWS if row.name == "gather: 65,536 rows of 128 f32")
SLICE = next(row for row in suite.ROWS if row.op == "slice")
CONCAT = next(row for row in growth_programs.PROGRAMS if row.name == "concat: parts")


@pytest.fixture
def without_tensorflow(monkeypatch):
    monkeypatch.setattr(work, "is_installed", lambda name: False)


def test_every_public_function_has_a_row_or_a_reason():
    with_rows = {row.op for row in growth_rows.ROWS}
    assert with_rows | set(growth_rows.WITHOUT_ROWS) == {*CALLS, *PUBLIC} - CLASSES
    assert not with_rows & set(growth_rows.WITHOUT_ROWS)


def test_rows_are_told_apart():
    names = [(kind, *given) for kind, _, given in growth.chosen_rows("", 1)]
    names = [(kind, row.name, *rest) for kind, row, *rest in names]
    assert len(set(names)) == len(names)


def shapes(row, scale):
    size = growth.scaled(row, scale)
    return [np.shape(a) if isinstance(a, np.ndarray) else a for a in row.arguments(size)]


def test_rows_grow_and_their_width_stays():
    assert shapes(GATHER, 1 / 64) == [(1024, 128), (1024,)]
    assert shapes(GATHER, 1) == [np.shape(a) for a in GATHER.arguments(full)]


@pytest.mark.parametrize("scale", [1 / 64, 1 / 9, 1 / 8, 1 / 4])
def test_sizes_that_fit_together_fit_when_scaled(scale):
    x, begin, rows, columns = SLICE.arguments(growth.scaled(SLICE, scale))
    assert np.all(begin + np.array([rows, columns]) <= x.shape)


def test_elements_are_those_of_arguments_and_of_the_result():
    row = Row("tile", "", lambda n: (floats(n(512, 3), 2), 4), lambda x, k: np.tile(x, k))
    row = row._replace(jaxops=lambda x, k: jax.numpy.tile(x, k))
    assert growth.elements(row, full) == 512 * 2 * (1 + 4)
    assert growth.elements(row._replace(eager=True), full) == 512 * 2
    assert growth.scales(row, 1) == pytest.approx([1 / 64, 1 / 16, 1 / 4, 1])
    square = row._replace(arguments=lambda n: (floats(n(512, 3), n(512, 3)), 1))
    assert growth.scales(square, 4) == pytest.approx([1 / 4, 1 / 2, 1, 2])


SIZES = [10.0, 40.0, 160.0, 640.0]


def exponents(ours, theirs, floor=0.0):
    times = {"jaxops": [ours(n) for n in SIZES], "jnp": [theirs(n) for n in SIZES]}
    return growth.exponents(SIZES, times, {"jaxops": floor, "jnp": floor})["jnp"]


def test_exponents():
    found = exponents(lambda n: 3 * n**1.5, lambda n: 7 * n)
    assert (found["points"], found["jaxops"], found["peer"], found["more"]) == (4, 1.5, 1, 0.5)
    assert found["ratios"][-1] == pytest.approx(3 * 640**0.5 / 7, abs=1e-3)


def test_a_constant_cost_does_not_count():
    """30 of a call that takes 30 and more; at 10 and 40 it is a third of the time, or more."""
    found = exponents(lambda n: 30 + n, lambda n: max(30, n), floor=30)
    assert (found["points"], found["peer"]) == (2, 1)
    steep = exponents(lambda n: n, lambda n: 1000.0, floor=500)
    assert (steep["points"], steep["jaxops"], steep["peer"]) == (2, 1, 0)


def made_up(ours, theirs, **options):
    times = {"jaxops": [ours(n) for n in SIZES], "jnp": [theirs(n) for n in SIZES]}
    figures = growth.figures(SIZES, times, dict.fromkeys(times, 0.0))
    return growth.judged({"op": "gather", "what": "made up", **figures, **options})


def test_more_than_the_peer_is_seen():
    assert made_up(lambda n: n**1.2, lambda n: n)["worse"] == ["time"]
    assert made_up(lambda n: n**1.2, lambda n: n, same_program=True)["worse"] == []
    assert made_up(lambda n: n**1.05, lambda n: n)["worse"] == []
    assert made_up(lambda n: n, lambda n: n**1.2)["worse"] == []
    grown: dict[str, Any] = {"temporaries": {"jaxops": [10**6], "jnp": [9]}}
    grown["temporaries_exponents"] = {"jaxops": 1.0, "jnp": 0.0}
    result = made_up(lambda n: n, lambda n: n, **grown)
    assert result["worse"] == ["temporaries"]
    assert "WORSE: temporaries" in growth.line(result)
    grown["temporaries"] = {"jaxops": [9], "jnp": [9]}
    assert made_up(lambda n: n, lambda n: n, **grown)["worse"] == []


def test_infinity_is_the_largest_number():
    """Where it stands for the maximum of no elements."""
    least = np.finfo(np.float32).min
    (found,) = growth.finite(np.array([-np.inf, 1, np.nan], np.float32))
    np.testing.assert_array_equal(found, np.array([least, 1, np.nan], np.float32))
    np.testing.assert_array_equal(growth.finite(np.array([7]))[0], [7])


@pytest.mark.slow
def test_row(without_tensorflow):
    result = growth.run_row(GATHER, largest=1 / 64, rounds=3)
    assert result["op"] == "gather"
    assert result["sizes"] == sorted(set(result["sizes"]))
    assert set(result["microseconds"]) == {"jaxops", "jnp"} == set(result["temporaries"])
    assert result["best_peer"] == "jnp"
    assert "gather" in growth.line(result)


@pytest.mark.slow
def test_temporaries_grow(without_tensorflow):
    """Of a sort; a sum of all has few."""
    row = Row(
        "sort",
        "",
        lambda n: (floats(n(262_144, 8)),),
        jaxops=lambda x: x[jax.numpy.argsort(x)].sum(),
        jnp=lambda x: x.sum(),
    )
    result = growth.run_row(row, rounds=3)
    of = result["temporaries_exponents"]
    assert of["jaxops"] > 0.5 > of["jnp"]
    assert "temporaries" in result["worse"]


@pytest.mark.slow
def test_gradient_of_a_row(without_tensorflow):
    result = growth.run_row(growth.gradient_row(GATHER), largest=1 / 64, rounds=3)
    assert result["what"].startswith("gradient, ")
    assert set(result["microseconds"]) == {"jaxops", "jnp"}


@pytest.mark.slow
@pytest.mark.parametrize("gradient", [False, True])
def test_program(gradient):
    result = growth.run_program(CONCAT, gradient, rounds=2, counts=(2, 8))
    assert result["sizes"] == [2, 8]
    assert result["what"] == ("gradient, parts" if gradient else "parts")
    assert min(result["microseconds"]["jaxops"]) > 0


@pytest.mark.slow
def test_wrong_answer_is_refused(without_tensorflow):
    wrong = GATHER._replace(jaxops=lambda p, i: 2 * p[i])
    with pytest.raises(timing.WrongAnswer):
        growth.run_row(wrong, largest=1 / 64, rounds=3)
    with pytest.raises(timing.WrongAnswer):
        growth.run_row(growth.gradient_row(wrong), largest=1 / 64, rounds=3)
    wrong_program = CONCAT._replace(jaxops=lambda count: lambda xs: jax.numpy.stack(xs))
    with pytest.raises(timing.WrongAnswer):
        growth.run_program(wrong_program, False, rounds=2, counts=(2, 4))


@pytest.mark.slow
def test_json(tmp_path, capfd):
    path = tmp_path / "made" / "growth.json"
    words = ["--kinds", "time", "--rows", "^sum_stacked", "--json", str(path)]
    assert growth.main([*words, "--largest", "0.25"]) == 0
    written = json.loads(path.read_text())
    assert set(written) == {"machine", "versions", "time", "failures"}
    assert [row["op"] for row in written["time"]] == ["sum_stacked"]
    assert written["failures"] == []
    assert "1 rows" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--largest", "0"], "expected more than 0"),
        (["--rows", "("], "--rows"),
        (["--rows", "no such row"], "no row"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_wrong_options(words, message, capsys):
    with pytest.raises(SystemExit):
        growth.parse(words)
    assert message in capsys.readouterr().err
