"""The benchmark suite: rows run, wrong answers are refused, and every function has a row."""

import itertools
import json

import chart
import cpu_forms
import jax
import jax.numpy as jnp
import numpy as np
import programs
import pytest
import report
import suite
import timing
import work
from records import RECORDS
from row import PEERS, Row, floats, ints, small

import jaxops
from jaxops import _forms
from jaxops.typing import Mode

FUNCTIONS = {name for name, record in RECORDS.items() if record.section}
_forms.load()
FORMS = {primitive.name for primitive in _forms._references}
# They touch no elements.
OF_SHAPES = {"rank", "shape", "shape_n", "size", "strided_slice_spec"}
OF_SHAPES |= {"required_space_to_batch_paddings"}
NAMES = [(group, row.name) for group, row in suite.chosen(list(work.GROUPS), "", quick=False)]
GATHER = next(row for row in suite.ROWS if row.name == "gather: 65,536 rows of 128 f32")
PROGRAMS = [row for row in suite.ROWS if suite.in_group(row, "programs")]
CONCAT = next(row for row in suite.ROWS if row.op == "concat")


@pytest.fixture
def without_tensorflow(monkeypatch):
    monkeypatch.setattr(work, "is_installed", lambda name: False)


def functions_in(group):
    return {row.op for row in suite.ROWS if suite.in_group(row, group)}


def test_every_function_has_a_row():
    assert functions_in("tiny") == FUNCTIONS
    assert functions_in("throughput") == FUNCTIONS - OF_SHAPES


def test_every_form_for_the_cpu_has_a_row():
    assert {row.form for row in cpu_forms.ROWS} >= FORMS - {"atomic_sums", "gather_for_atomic_sums"}


def test_rows_are_told_apart():
    assert len(set(NAMES)) == len(NAMES)
    tiny = [row.op for row in suite.ROWS if suite.in_group(row, "tiny")]
    assert len(set(tiny)) == len(tiny)


def test_groups_exist():
    words = {word for row in suite.ROWS for word in row.groups.split()}
    assert words == {*work.GROUPS, "compile-bounds"}


def test_rows_of_the_small_chart_exist():
    """A row that is renamed would be missing from it."""
    assert set(chart.TEN) <= {name for group, name in NAMES if group in ("throughput", "programs")}
    assert set(PEERS) <= set(chart.COLORS)
    assert set(chart.PANELS) == set(work.GROUPS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("group", "row", "peers"),
    [
        ("throughput", GATHER, {"jnp"}),
        ("throughput", CONCAT, {"jnp"}),
        ("tiny", GATHER, {"jnp"}),
        ("compile", GATHER, {"jnp", "checked"}),
        ("compile", CONCAT, {"jnp"}),
        ("gradients", GATHER, {"jnp"}),
        ("bandwidth", CONCAT, {"copy"}),
        ("bounds", GATHER, {"promise"}),
        *(("programs", row, {"jnp"}) for row in PROGRAMS),
        ("compile", PROGRAMS[0], {"jnp"}),
    ],
    ids=lambda value: getattr(value, "op", None),
)
def test_row(group, row, peers, without_tensorflow):
    result = suite.run_row(group, row, rounds=3, size=small)
    assert (result["group"], result["op"], result["rounds"]) == (group, row.op, 3)
    assert set(result["ratios"]) == peers
    assert set(result["microseconds"]) == {"jaxops", *peers}
    assert min(result["microseconds"].values()) > 0
    assert result["best_peer"] in peers
    for figure in result["ratios"].values():
        assert 0 < figure["low"] <= figure["median"] <= figure["high"]
    assert row.op in report.line("[1/1]", result)


def answer_row(ours, theirs):
    return Row("gather", "wrong", lambda n: (floats(4),), lambda x: ours, jnp=lambda x: theirs)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (np.array([1, 2.0]), np.array([1, 2.01])),
        (np.array([1, np.nan]), np.array([1, 2.0])),
        (np.array([1, 1_000_000]), np.array([1, 1_000_001])),
        (np.zeros((2, 1)), np.zeros((1, 2))),
        (np.zeros(2), [np.zeros(2), np.zeros(2)]),
        (np.array([True, False]), np.array([True, True])),
    ],
    ids=["float", "nan", "int", "shape", "number-of-arrays", "bool"],
)
def test_wrong_answer_is_refused(ours, theirs, without_tensorflow):
    row = answer_row(ours, theirs)
    with pytest.raises(timing.WrongAnswer, match=r"gather: wrong: jnp (disagrees|gives)"):
        suite.run_row("throughput", row, rounds=3)


@pytest.mark.parametrize("group", ["throughput", "tiny", "compile", "gradients", "bounds"])
def test_wrong_op_is_refused_in_each_group(group, without_tensorflow):
    def off_by_one(params, indices, mode: Mode = "device"):
        # Wrong with default bounds only, as the group of bounds compares the two.
        factor = 2 if mode == "device" else 1
        return factor * jaxops.gather(params, indices, mode=mode)

    wrong = GATHER._replace(jaxops=off_by_one)
    with pytest.raises(timing.WrongAnswer):
        suite.run_row(group, wrong, rounds=3, size=small)


def test_contenders_take_turns():
    called = []
    calls = {name: (lambda name=name: called.append(name)) for name in "abc"}
    times = timing.measure(calls, seconds=1, rounds=4, before=lambda: None)
    assert {name: len(samples) for name, samples in times.items()} == dict.fromkeys("abc", 4)
    assert called[:3] == list("abc")  # before the rounds
    rounds = ["".join(called[n : n + 3]) for n in range(3, 15, 3)]
    assert [sorted(taken) for taken in rounds] == [["a", "b", "c"]] * 4
    assert [taken[0] for taken in rounds] == list("abca")


def test_each_contender_follows_every_other():
    rounds = [timing.order(list("abcd"), n) for n in range(50)]
    followed = {pair for taken in rounds for pair in itertools.pairwise(taken)}
    assert len(followed) == 12


def made_up(group, times, **options):
    return report.figures(GATHER._replace(**options), group, times, work.Work({}, {}))


def test_figures_are_medians_of_ratios_of_rounds():
    times = {
        "jaxops": [2.0, 30.0, 3.0],
        "tensorflow eager": [9.0, 9.0, 9.0],
        "tensorflow function": [1.0, 10.0, 3.0],
        "jnp": [4.0, 60.0, 3.0],
    }
    result = made_up("throughput", times)
    assert result["tensorflow_is"] == "function"
    assert result["best_peer"] == result["judged_by"] == "tensorflow"
    assert result["ratios"]["tensorflow"]["median"] == 2
    assert result["ratios"]["jnp"]["median"] == 0.5
    assert result["microseconds"]["jaxops"] == 3e6
    assert result["met"] is False


def test_memory_that_is_shared_is_not_judged():
    times = {"jaxops": [2.0] * 3, "tensorflow": [0.1] * 3, "jnp": [2.0] * 3}
    row = {**made_up("throughput", times, shares_memory=("tensorflow",)), "allocator": "kept"}
    assert (row["best_peer"], row["met"], row["ratios"]["tensorflow"]["median"]) == (
        "jnp",
        True,
        20,
    )
    assert report.summaries([row])[0]["to_tensorflow"] is None
    assert made_up("tiny", times, shares_memory=("tensorflow",))["met"] is False


def test_tiny_rows_are_judged_by_tensorflow():
    times = {"jaxops": [1.0] * 3, "tensorflow": [2.0] * 3, "jnp": [0.5] * 3}
    result = made_up("tiny", times)
    assert (result["best_peer"], result["judged_by"], result["met"]) == ("jnp", "tensorflow", True)


def same_program(group, times):
    return report.figures(CONCAT, group, times, work.Work({}, {}, same=("jnp",)))


def test_same_program_is_neither_ahead_nor_behind():
    """Whatever the times say, which is noise."""
    alone = same_program("throughput", {"jaxops": [3.0] * 3, "jnp": [1.0] * 3})
    assert (alone["best_peer"], alone["to_best_peer"], alone["met"]) == ("jnp", 1, True)
    assert alone["ratios"]["jnp"]["median"] == 3
    assert "same" in report.line("[1/1]", alone)
    times = {"jaxops": [3.0] * 3, "jnp": [1.0] * 3, "keras": [2.0] * 3}
    behind = same_program("throughput", times)
    assert (behind["best_peer"], behind["to_best_peer"], behind["met"]) == ("keras", 1.5, False)
    ahead = same_program("throughput", {**times, "keras": [4.0] * 3})
    assert (ahead["best_peer"], ahead["to_best_peer"], ahead["met"]) == ("jnp", 1, True)
    rows = [{"allocator": "kept", **row} for row in (alone, behind, ahead)]
    (summary,) = report.summaries(rows)
    assert (summary["same_program"], summary["missed"]) == (3, 1)
    assert "3 are a peer's program" in report.summary_text(rows)


X = np.ones((20, 10), np.float32)
MANY = np.arange(200.0).reshape(X.shape)

# Two functions of X, and whether they are the same program.
PROGRAMS = {
    "spelling": (lambda x: x.T * 2, lambda x: 2 * jax.jit(jnp.transpose)(x), True),
    "pad": (
        lambda x: jaxops.pad(x, [[1, 1], [0, 2]]),
        lambda x: jnp.pad(x, [(1, 1), (0, 2)]),
        True,
    ),
    "constant": (lambda x: x + 1, lambda x: x + 2, False),
    "order-of-operands": (lambda x: x - 1, lambda x: 1 - x, False),
    "axis": (lambda x: x.sum(0)[None], lambda x: x.sum(1)[:10][None], False),
    "constants-not-printed": (lambda x: x + MANY, lambda x: x + MANY, False),
    "checked": (
        lambda x: jaxops.gather(x, jnp.int32(x[0, 0])[None]),
        lambda x: jaxops.gather(x, jnp.int32(x[0, 0])[None], mode="promise_in_bounds"),
        False,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_program_is_recognized(name):
    first, second, expected = PROGRAMS[name]
    with jax.numpy_dtype_promotion("standard"):
        assert programs.are_same(first, second, [X]) == expected


def test_rows_find_the_peers_that_are_the_same(without_tensorflow):
    assert work.throughput(CONCAT, small).same == ("jnp",)
    assert work.throughput(GATHER, small).same == ()


def test_what_a_check_adds_is_shown():
    times = {"jaxops": [1.0] * 3, "jnp": [1.0] * 3, "checked": [2.0] * 3}
    result = report.figures(GATHER, "compile", times, work.Work({}, {}))
    assert (result["best_peer"], result["met"]) == ("jnp", True)
    assert "with its check 2.00 times" in report.line("[1/1]", result)


def test_summary():
    row = made_up("throughput", {"jaxops": [4.0] * 3, "jnp": [1.0] * 3, "tensorflow": [8.0] * 3})
    other = made_up("throughput", {"jaxops": [1.0] * 3, "jnp": [1.0] * 3})
    rows = [{"allocator": "kept", **row}, {"allocator": "kept", **other}]
    (summary,) = report.summaries(rows)
    assert (summary["rows"], summary["missed"]) == (2, 1)
    assert (summary["to_best_peer"], summary["to_tensorflow"]) == (2, 0.5)
    assert "kept" in report.summary_text(rows)


@pytest.mark.slow
def test_json_and_chart(tmp_path, capfd):
    path, picture = tmp_path / "made" / "suite.json", tmp_path / "suite.png"
    words = ["--groups", "bounds", "programs", "--rows", "^(strided_slice|gather: step)"]
    words += ["--rounds", "3"]
    words += ["--allocator", "both", "--json", str(path), "--plot", str(picture)]
    assert suite.main(words) == 0
    written = json.loads(path.read_text())
    assert len(path.read_text().splitlines()) == 19  # a row, or a line of the summary, is one
    assert set(written) == {
        *("versions", "machine", "allocators", "load", "summary", "rows", "failures"),
    }
    assert [row["allocator"] for row in written["rows"]] == [
        *("default", "default", "kept", "kept"),
    ]
    assert written["allocators"]["default"] == {}
    assert set(written["allocators"]["kept"]) == {
        *("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_"),
        "MALLOC_ARENA_MAX",
    }
    assert written["versions"]["jax"]
    assert {"cpu", "cores", "load", "device", "threads"} == set(written["machine"])
    assert len(written["summary"]) == 4
    assert written["failures"] == []
    for drawn in (picture, tmp_path / "suite_ten.png"):
        assert drawn.read_bytes().startswith(b"\x89PNG")
    assert "strided_slice" in capfd.readouterr().out


def test_failing_row_does_not_end_the_others(monkeypatch, capsys):
    wrong = answer_row(np.zeros(2), np.ones(2))
    rows = [("throughput", wrong), ("bounds", GATHER._replace(arguments=lambda n: small_gather()))]
    monkeypatch.setattr(work, "is_installed", lambda name: False)
    arguments = suite.parse(["--rounds", "3", "--allocator", "kept"])
    run = suite.run_rows(rows, arguments)
    assert [failure["row"] for failure in run["failures"]] == ["gather: wrong"]
    assert [row["group"] for row in run["rows"]] == ["bounds"]
    assert "FAILED" in capsys.readouterr().out


def small_gather():
    return floats(4, 3), ints(4, 3)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rounds", "2"], "expected 3 at least"),
        (["--rows", "("], "--rows"),
        (["--rows", "no such row"], "no row"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_wrong_options(words, message, capsys):
    with pytest.raises(SystemExit):
        suite.parse(words)
    assert message in capsys.readouterr().err


def test_peers_are_fields_of_rows():
    assert set(PEERS) < set(Row._fields)
