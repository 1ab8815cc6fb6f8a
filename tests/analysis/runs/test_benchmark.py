import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from analysis.runs.benchmark import (
    AGGREGATES,
    CONDITIONS,
    Benchmark,
    Failure,
    PerRun,
    Run,
    by_content,
    by_level,
    by_name,
    canonical,
    from_table,
    join,
)

RUNS = tuple(np.array(run, dtype=float) for run in ([1, 2], [3], [4, 5, 6]))
VERSIONS = {"version": ("old", "new", "old"), "context": ("a", "", "b")}
FAILED = (Failure({"version": "old", "context": "b"}, "exit 1"), Failure({"version": "new"}, "killed"))
THREE = Benchmark.of_series("bench", RUNS, conditions=VERSIONS, failures=FAILED)


def lists(measured):
    return [run.tolist() for run in measured.values]


def table(rows, columns="benchmark run value"):
    return pd.DataFrame(rows, columns=columns.split())


# --- a benchmark


def test_conditions_have_an_entry_per_run_and_levels_in_order_of_appearance():
    assert THREE.of("version") == ("old", "new", "old")
    assert THREE.of("order_type") == ("", "", "")
    assert THREE.levels("version") == ("old", "new")
    assert THREE.levels("context") == ("a", "b")
    assert THREE.levels("altered") == ()


def test_runs_are_selected_by_their_conditions_or_numbers():
    old = THREE.where(version="old")
    assert lists(old) == [[1, 2], [4, 5, 6]]
    assert old.conditions == {"version": ("old", "old"), "context": ("a", "b")}
    assert old.failures == FAILED[:1]
    assert lists(THREE.where(version="old", context="b")) == [[4, 5, 6]]
    assert (old.name, old.unit, old.better) == ("bench", "s", "lower")
    assert THREE.where(version="newer") is None
    assert THREE.where(version="new", context="a") is None
    assert THREE.where(altered="") is not None  # unknown for every run
    taken = THREE.take([2, 0])
    assert lists(taken) == [[4, 5, 6], [1, 2]]
    assert taken.conditions == {"version": ("old", "old"), "context": ("b", "a")}
    assert taken.failures == FAILED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"series": ()}, "benchmark 'bench' has no runs"),
        ({"series": ([1.0], [])}, "benchmark 'bench', run 1: no measurements"),
        ({"series": ([1.0, np.nan],)}, "0, iteration 1: nan"),
        ({"series": ([1.0, -np.inf],)}, "0, iteration 1: -inf"),
        ({"series": (np.ones((2, 2)),)}, r"0.*dimension.*\(2, 2\)"),
        ({"series": (np.float64(1),)}, r"0.*dimension.*\(\)"),
        (
            {"conditions": {"version": ("old",)}},
            "benchmark 'bench': condition 'version' has 1 texts, but there are 3 runs",
        ),
        ({"better": "up"}, "benchmark 'bench': better is 'up', not 'lower' or 'higher'"),
    ],
)
def test_what_no_method_can_use_is_refused_with_the_name_of_the_benchmark(change, message):
    with pytest.raises(ValueError, match=message):
        Benchmark.of_series(**{"name": "bench", "series": RUNS, **change})


@pytest.mark.parametrize("other", [Run(np.ones(1), "ms"), Run(np.ones(1), better="higher")])
def test_runs_with_two_units_or_directions_are_rejected(other):
    with pytest.raises(
        ValueError, match=r"benchmark 'bench': .* is better\), but s \(lower is better\) in another run"
    ):
        Benchmark("bench", (Run(np.ones(1)), other))


def test_levels_that_must_not_be_mixed_are_benchmarks_of_their_own_and_crashed_ones_have_no_runs():
    found = by_level(THREE)
    assert [(one.name, lists(one)) for one in found] == [
        ("bench @ old @ a", [[1, 2]]), ("bench @ new @ ?", [[3]]), ("bench @ old @ b", [[4, 5, 6]]),
    ]  # fmt: skip
    assert [one.failures for one in found] == [(), FAILED[1:], FAILED[:1]]
    assert [(one.name, lists(one)) for one in by_level(THREE, ["version"])] == [
        ("bench @ old", [[1, 2], [4, 5, 6]]), ("bench @ new", [[3]]),
    ]  # fmt: skip
    crashed = Benchmark("bench", (), failures=FAILED)
    assert (crashed.values, crashed.unit, crashed.better, crashed.conditions) == ((), "", "", {})


@pytest.mark.parametrize("conditions", [[], ["altered"], ["unit"]])
def test_a_benchmark_of_one_level_stays_as_it_is(conditions):
    assert by_level(THREE, conditions) == [THREE]


# --- one number per run


@pytest.mark.parametrize(
    ("warmup", "aggregate", "value"),
    [
        (0, "mean", 5),  # (9 + 2 + 3 + 6) / 4
        (0, "median", 4.5),  # 2 3 | 6 9
        (0, "min", 2),
        (1, "mean", 11 / 3),  # 2 3 6
        (0.5, "median", 4.5),  # 3 6
        (3, "min", 6),
        (0.99, "mean", 6),  # the last iteration is always kept
    ],
)
def test_a_run_becomes_the_number_worked_by_hand(warmup, aggregate, value):
    assert PerRun(warmup, aggregate).value([9, 2, 3, 6]) == pytest.approx(value)


def test_runs_of_different_or_extreme_values_become_one_number_each():
    assert PerRun(0.5, "min").values([[5, 1], [4, 3, 9, 8]]).tolist() == [1, 8]
    assert PerRun().values([]).tolist() == []
    assert PerRun(1).steady([1, 2, 3]).tolist() == [2, 3]
    with pytest.raises(ValueError, match=r"3 iterations.*warm-up"):
        PerRun(3).value([1, 2, 3])
    with pytest.raises(ValueError, match=r"aggregate.*got 'max'"):
        PerRun(aggregate="max")


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_very_small_and_very_large_runs_have_a_value(scale):
    run = np.array([1, 2, 6]) * scale
    assert [PerRun(0, name).value(run) for name in AGGREGATES] == pytest.approx([3 * scale, 2 * scale, scale])


@pytest.mark.parametrize("warmup", [-1, 1.5, float("nan"), float("inf"), "soon"])
def test_a_warm_up_that_is_neither_number_nor_share_is_refused(warmup):
    with pytest.raises(
        ValueError, match=f"warmup must be a number of iterations, a share below 1, or auto, got {warmup}"
    ):
        PerRun(warmup)


# --- a table


def test_benchmarks_and_runs_come_in_order_of_appearance_under_their_conditions():
    rows = [("b", 1, 5.0), ("a", 0, 1.0), ("b", 0, 7.0), ("a", 0, 2.0), ("b", 1, 6.0)]
    b, a = from_table(table(rows))
    assert (b.name, lists(b), b.of("run")) == ("b", [[5, 6], [7]], ("1", "0"))
    assert (a.name, lists(a), a.of("run")) == ("a", [[1, 2]], ("0",))
    assert (a.application, a.unit, a.better, a.failures) == ("", "s", "lower", ())
    rows = [("b", 0, 1.0, "old"), ("b", 0, 2.0, "new"), ("b", 0, 3.0, "old"), ("b", 1, 4.0, "new")]
    (found,) = from_table(table(rows, "benchmark run value version"))
    assert lists(found) == [[1, 3], [2], [4]]
    assert found.conditions == {"run": ("0", "0", "1"), "version": ("old", "new", "new")}


@pytest.mark.parametrize("iterations", [[2, 0, 10], ["2", "0", "10"]])
def test_iterations_are_put_in_their_order_as_numbers(iterations):
    (found,) = from_table(table([("b", 0, 3.0), ("b", 0, 1.0), ("b", 0, 4.0)]).assign(iteration=iterations))
    assert lists(found) == [[1, 3, 4]]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_condition_that_is_not_known_is_empty_and_loses_no_run(missing):
    rows = [("b", 0, 1.0, missing), ("b", 1, 2.0, "x"), ("b", 2, 3.0, missing)]
    (found,) = from_table(table(rows, "benchmark run value context"))
    assert lists(found) == [[1], [2], [3]]
    assert found.of("context") == ("", "x", "")
    assert found.levels("context") == ("x",)


def test_a_table_gives_benchmarks_of_each_application_with_unit_and_direction():
    rows = [("b", 0, 1.0, "one", "ns/op"), ("b", 0, 2.0, "other", "s"), ("b", 0, 3.0, None, None)]
    found = from_table(table(rows, "benchmark run value application unit"))
    assert [(one.application, one.unit, lists(one)) for one in found] == [
        ("one", "ns/op", [[1]]), ("other", "s", [[2]]), ("", "s", [[3]]),
    ]  # fmt: skip
    (found,) = from_table(table([("b", 0, 1.0)]).assign(unit="ops/s", better="higher"))
    assert (found.unit, found.better) == ("ops/s", "higher")
    assert from_table(table([])) == []
    rows = [("b", 0, 1.0, 2), ("b", 1, 2.0, None), ("b", 2, 3.0, 1.5)]
    (found,) = from_table(table(rows, "benchmark run value order_position"))
    assert found.of("order_position") == ("2", "", "1.5")


@pytest.mark.parametrize("kind", ["category", "string"])
def test_columns_of_other_kinds_are_read_alike(kind):
    rows = table([("b", "r0", 1.0, "old"), ("b", "r1", 2.0, None)], "benchmark run value version")
    (found,) = from_table(rows.astype(dict.fromkeys(("benchmark", "run", "version"), kind)))
    assert (found.name, found.conditions) == ("b", {"run": ("r0", "r1"), "version": ("old", "")})


ONE = table([("b", 0, 1.0), ("b", 0, 2.0)])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ONE.drop(columns=["run", "value"]), "lacks the column run, value.*benchmark"),
        (ONE.assign(benchmark=["b", None]), "row 1.*benchmark"),
        (ONE.assign(value=[1.0, None]), "'b'.*0.*1: nan.*measurement"),
        (ONE.assign(value=[1.0, np.inf]), "'b'.*0.*1: inf.*measurement"),
        (ONE.assign(value=[1.0, "fast"]), "fast"),
        (ONE.assign(iteration=["0", "last"]), "last"),
        (ONE.assign(unit=["s", "ms"]), "benchmark 'b'.*unit: ms, s"),
        (ONE.assign(better=["lower", "higher"]), "benchmark 'b' has more than one better: higher, lower"),
        (ONE.assign(better="up"), "benchmark 'b': better is 'up'"),
    ],
)
def test_an_ambiguous_table_is_rejected(rows, message):
    with pytest.raises(ValueError, match=message):
        from_table(rows)


@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"), st.integers(0, 2), st.floats(-1e300, 1e300), st.sampled_from(["old", "new", None])
        ),
        min_size=1,
        max_size=20,
    )
)
def test_no_measurement_is_lost_or_invented(rows):
    found = from_table(table(rows, "benchmark run value version"))
    kept = [
        (one.name, int(number), value, version or None)
        for one in found
        for number, version, run in zip(one.of("run"), one.of("version"), lists(one), strict=True)
        for value in run
    ]
    assert sorted(map(repr, kept)) == sorted(map(repr, rows))
    runs = [(one.name, *key) for one in found for key in zip(one.of("run"), one.of("version"), strict=True)]
    assert len(runs) == len(set(runs))
    assert all(set(one.conditions) <= set(CONDITIONS) for one in found)


def test_benchmarks_of_one_name_are_joined_in_order_of_appearance_if_they_have_one_unit():
    first = Benchmark.of_series("b", [[1.0]], conditions={"version": ("old",)})
    second = Benchmark.of_series("b", [[2.0], [3.0]], conditions={"cpu": ("arm", "x86")})
    both, other = by_name([first, Benchmark.of_series("c", [[1.0]]), second])
    assert (both.name, other.name) == ("b", "c")
    assert both.conditions == {"version": ("old", "", ""), "cpu": ("", "arm", "x86")}
    assert lists(both) == [[1.0], [2.0], [3.0]]
    assert by_name([]) == []
    with pytest.raises(ValueError, match=r"byte \(lower is better\), but s \(lower is better\) in another run"):
        join([Benchmark.of_series("b", [[1.0]]), Benchmark.of_series("b", [[1.0]], unit="byte")])


@given(st.randoms())
def test_the_order_for_resampling_does_not_depend_on_the_order_or_names_of_runs(random):
    table = [([float(value)] * 2, version) for value in range(4) for version in ("10", "9")]
    versions = {"version": [version for _, version in table]}
    expected = by_content(Benchmark.of_series("b", [values for values, _ in table], conditions=versions))
    random.shuffle(table)
    known = {"version": [version for _, version in table], "run": [str(random.random()) for _ in table]}
    shuffled = by_content(Benchmark.of_series("b", [values for values, _ in table], conditions=known))
    assert lists(shuffled) == lists(expected)
    assert shuffled.of("version") == ("9",) * 4 + ("10",) * 4


def test_runs_without_names_keep_their_order_and_a_run_is_its_values_for_numpy():
    series = [[3.0], [1.0], [2.0]]
    assert lists(canonical([Benchmark.of_series("b", series)])[0]) == series
    assert lists(canonical([Benchmark.of_series("b", series, conditions={"run": ("9", "", "1")})])[0]) == series
    run = Run(np.array([1.0, 3.0]))
    assert (np.mean(run), len(run), np.array(run, copy=True) is run.values) == (2.0, 2, False)
