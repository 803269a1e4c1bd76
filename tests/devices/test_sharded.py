"""Tables, indices and results that 8 host devices share: as on one, and no table is gathered."""

import functools

import pytest
from host_devices import reports_of

pytestmark = pytest.mark.slow

ROWS, COLUMNS, LOOKUPS = 160, 64, 24
LOOKED_UP = LOOKUPS * COLUMNS
TABLE = ROWS * COLUMNS
ERROR = "indices[7] = 160 is not in [0, 160) [Op:gather]"
ERROR_IN_SHARD = "indices[1] = 160 is not in [0, 160) [Op:gather]"
ERROR_IN_BATCH = "indices[3,2] = 10 is not in [0, 10) [Op:gather]"

ERRORS = {
    "jit": {
        f"{table}, indices {indices}": ERROR
        for table in ("rows", "columns", "both")
        for indices in ("whole", "sharded")
    }
    | {"adagrad": None, "the table, gathered": None},
    "eager": {"both, indices whole": ERROR, "both, indices sharded": ERROR},
    "auto_axes": {f"{table}, indices sharded": ERROR for table in ("rows", "columns", "both")},
    "explicit": {"columns": ERROR, "batch": ERROR_IN_BATCH, "rows": ERROR},
    "shard_map": {
        "vocabulary, gather": None,  # no index is bad: what is in no shard reads 0
        "vocabulary, gradient": None,
        "vocabulary, sparse step": None,
        "vocabulary, scatter_nd": None,
        "columns, gather": ERROR_IN_SHARD,
        "columns, gradient": ERROR_IN_SHARD,
        "copies, gradient": ERROR_IN_SHARD,
        "copies, sparse step": ERROR_IN_SHARD,
    },
}


@functools.cache
def run(way):
    return {report.pop("name"): report for report in reports_of("sharded_programs.py", way)}


@pytest.mark.parametrize("way", ERRORS)
def test_results_errors_and_what_is_moved(way):
    reports = run(way)
    assert reports.keys() == ERRORS[way].keys()
    for name, expected in ERRORS[way].items():
        if name == "the table, gathered":
            continue  # a test of its own, below
        report = reports[name]
        assert report["differ"] == [], name
        if expected is None:
            assert report["error"] is None, name
        else:
            assert expected in (report["error"] or ""), (name, report)
        assert report["moved"].get("all-gather", 0) <= LOOKED_UP, (name, report)


def test_a_gathered_table_is_seen():
    assert run("jit")["the table, gathered"]["moved"] == {"all-gather": TABLE}


@pytest.mark.parametrize("indices", ["whole", "sharded"])
def test_a_table_sharded_along_every_axis_moves_rows_only(indices):
    moved = run("jit")[f"both, indices {indices}"]["moved"]
    assert moved
    assert max(moved.values()) <= LOOKED_UP


@pytest.mark.parametrize("op", ["gather", "add", "gradient"])
@pytest.mark.parametrize("table", ["rows", "columns", "both"])
def test_nothing_larger_is_moved_than_by_indexing_of_jnp(op, table):
    """XLA adds up whole shards along an axis that shards indices and not the table, in both."""
    ours, theirs = (run("jnp")[f"{who}, {op}, {table}"] for who in ("jaxops", "jnp"))
    assert ours["differ"] == theirs["differ"] == []
    assert max(ours["moved"].values()) <= max(*theirs["moved"].values(), LOOKED_UP)
    shard = {"rows": TABLE // 4, "columns": TABLE // 2, "both": None}[table]
    if op == "gather":
        shard = None
    for report in (ours, theirs):
        largest = max(report["moved"].values())
        assert largest <= LOOKED_UP if shard is None else largest == shard, report


def test_a_table_of_fewer_rows_than_are_looked_up_is_gathered():
    """XLA compares what is to be moved, for `jnp` too; it did so with jax 0.10 and 0.12."""
    for who in ("jaxops", "jnp"):
        report = run("jnp")[f"{who}, small table"]
        assert report["differ"] == []
        assert report["moved"]["all-gather"] == 16 * COLUMNS, who


def test_explicit_axes_stay_in_the_types():
    columns, batch, rows = (
        set(run("explicit")[name]["shardings"].values()) for name in ("columns", "batch", "rows")
    )
    assert columns == {"float32[24,64@m]", "float32[160,64@m]"}
    assert batch == {"float32[8@d,5,3]", "float32[8@d,10,3]"}
    assert rows == {"float32[24@m,64]", "float32[160@d,64]"}


def test_every_function_on_explicit_axes():
    """Values and gradients, with one dimension shared; or an error that says what to write."""
    reports = run("every")
    assert len(reports) > 80
    assert {name: r["differ"] for name, r in reports.items() if r["differ"]} == {}
    refused = [(name, words) for name, report in reports.items() for words in report["refused"]]
    by_jax = {name for name, words in refused if "how the devices share the result" not in words}
    assert by_jax <= {"dynamic_partition", "split"}  # the cases reshape what these return
    shared = {name for name, report in reports.items() if report["shared"]}
    assert shared >= {
        "batch_gather",
        "boolean_mask",
        "depth_to_space",
        "embedding_lookup",
        "gather",
    }
    assert shared >= {"gather_nd", "reverse_sequence", "slice", "strided_slice", "transpose"}
    assert shared >= {"tensor_scatter_nd_add", "unsorted_segment_sum", "unstack"}
