"""One benchmark in two orders: medians with intervals, differences, cases, failed runs, conclusions on two versions."""

import csv

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from analysis.methods.order import (
    conclusion,
    delta_percent,
    drop_failed,
    interval_case,
    median_interval,
    min_attainable_p,
)
from analysis.runs.benchmark import Benchmark, Failure
from analysis.runs.samples import kruskal
from analysis.statistics.intervals import Estimate
from tests.conftest import GOLDEN

values = st.lists(st.integers(-50, 50).map(float), min_size=1, max_size=60)

# ranks of the exact interval of 95 % for n values: a binomial table, as in Conover, Practical Nonparametric
# Statistics, or by hand: for n = 6 the ends hold the median with 1 - 2/64 = 0.969, the next with 1 - 14/64 = 0.781
RANKS_95 = {6: (1, 6), 8: (1, 8), 9: (2, 8), 10: (2, 9), 15: (4, 12), 20: (6, 15), 30: (10, 21), 50: (18, 33)}


def estimate(low, value, high):
    return Estimate(value, low=low, high=high)


@pytest.mark.parametrize(("n", "ranks"), RANKS_95.items())
def test_the_ranks_are_those_of_the_binomial_table(n, ranks):
    found = median_interval(range(1, n + 1), 0.95)
    assert (found.low, found.high) == ranks
    assert found.value == (n + 1) / 2


@given(st.integers(1, 120), st.sampled_from([0.5, 0.75, 0.9, 0.95, 0.99, 1 - 0.05 / 3]))
def test_the_interval_is_the_narrowest_pair_of_ranks_that_holds_the_median_often_enough(n, level):
    holds = {j: 1 - 2 * stats.binom.cdf(j - 1, n, 0.5) for j in range(1, n // 2 + 1)}
    enough = [j for j, share in holds.items() if share >= level - 1e-12]
    found = median_interval(range(1, n + 1), level)
    assert (found.low, found.high) == ((max(enough), n + 1 - max(enough)) if enough else (None, None))


@pytest.mark.parametrize("level", [0.5, 0.75, 0.9, 0.95, 0.99, 0.9983])
def test_too_few_values_say_how_many_are_needed(level):
    needed = next(n for n in range(1, 50) if median_interval(range(n), level).low is not None)
    for n in range(1, needed):
        found = median_interval(range(n), level)
        assert found.value == (n - 1) / 2
        assert found.reason.endswith(f"{needed} are needed")


@pytest.mark.parametrize(
    ("values", "level", "compat", "ends"),
    [
        ([1, 2, 3], 0.75, None, (2, 1, 3)),  # the ends hold the median with 1 - 2/8 = 0.75: met exactly
        ([3.0] * 8, 0.95, None, (3, 3, 3)),
        # n = 50: 25 -+ 1.96 sqrt(50) / 2 = 18.07 and 31.93; the source's ranks 18 and 33 are taken as counted from 0
        (range(1, 51), 0.95, None, (25.5, 18, 33)),
        (range(1, 51), 0.95, "ordersage", (25.5, 19, 34)),
        ([1.0], 0.95, "ordersage", (1, 1, 1)),  # an interval for any number of values
        ([1.0, 2.0, 3.0], 0.95, "ordersage", (2, 1, 3)),
        ([], 0.95, None, None),
    ],
)
def test_intervals_of_medians_by_hand_and_of_the_published_tool(values, level, compat, ends):
    assert median_interval(values, level, compat=compat).ends == ends


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        *(([1, 2], {"level": level}, f"level must be within .* got {level}") for level in (0, 1, -0.1, 95)),
        ([1, 2], {"compat": "R"}, r"compat.*got 'R'"),
        ([[1, 2]], {}, "one-dimensional series"),
        ([1, np.nan], {}, "one-dimensional series"),
    ],
)
def test_wrong_arguments_are_refused(values, options, message):
    with pytest.raises(ValueError, match=message):
        median_interval(values, **options)


@pytest.mark.parametrize(
    ("fixed", "random", "value", "reason"),
    [
        ([19, 21], [18, 20], 5, None),  # (20 - 19) / 20
        ([10], [11], -10, None),
        ([0.1] * 3, [0.1] * 7, 0, None),
        ([1e308, 1.7e308], [1.35e308], 0, None),
        ([0, 0], [1], None, "order is not positive"),
        ([-1], [1], None, "order is not positive"),
        ([1], [-1], None, "order is negative"),
        ([], [1], None, "no values in one of the orders"),
        ([5e-324], [1e308], None, "too large"),
    ],
)
def test_delta_percent_by_hand_or_undefined(fixed, random, value, reason):
    found = delta_percent(fixed, random)
    assert found.value == (None if value is None else pytest.approx(value, abs=1e-12))
    assert reason is None or reason in found.reason


@pytest.mark.parametrize(
    ("fixed", "random", "case"),
    [
        (estimate(1, 2, 3), estimate(4, 5, 6), 1),
        (estimate(4, 5, 6), estimate(1, 2, 3), 1),
        (estimate(1, 2, 3), estimate(3, 5, 6), 3),  # touching intervals overlap
        (estimate(1, 2, 4), estimate(2, 3, 6), 2),
        (estimate(1, 2, 3), estimate(2.5, 5, 6), 3),
        (estimate(1, 2, 9), estimate(3, 4, 5), 2),  # one inside the other
        (estimate(1, 1, 1), estimate(1, 1, 1), 2),
        (estimate(1, 1, 1), Estimate(2), None),
        (Estimate(2), estimate(1, 1, 1), None),
    ],
)
def test_cases_of_two_intervals(fixed, random, case):
    assert interval_case(fixed, random) == case
    assert interval_case(random, fixed) == case


@pytest.mark.parametrize(("n_fixed", "n_random"), [(1, 1), (2, 5), (10, 10)])
def test_no_two_samples_without_ties_give_a_smaller_p(n_fixed, n_random):
    rng = np.random.default_rng(1)
    least = min_attainable_p(n_fixed, n_random)
    apart = stats.kruskal(np.arange(n_fixed), 100 + np.arange(n_random)).pvalue
    assert least == pytest.approx(apart)
    ranks = np.arange(n_fixed + n_random, dtype=float)
    assert min_attainable_p(0, 5) == 1
    for _ in range(20):
        rng.shuffle(ranks)
        assert kruskal([ranks[:n_fixed], ranks[n_fixed:]]).p >= least - 1e-12


@pytest.mark.parametrize(
    ("baseline", "candidate", "lower", "higher"),
    [
        (estimate(1, 2, 3), estimate(4, 5, 6), "slower", "faster"),
        (estimate(4, 5, 6), estimate(1, 2, 3), "faster", "slower"),
        (estimate(1, 2, 3), estimate(3, 5, 6), "undecided", "undecided"),
        (Estimate(1), estimate(3, 5, 6), None, None),
        (estimate(3, 5, 6), Estimate(1), None, None),
    ],
)
def test_a_version_is_faster_only_if_the_intervals_are_disjoint(baseline, candidate, lower, higher):
    assert conclusion(baseline, candidate) == lower
    assert conclusion(baseline, candidate, better="higher") == higher


def one(name, *, runs=2, failures=(), orders=("fixed", "random"), **conditions):
    """Build runs 0, 1, ... of each order, all 1 second."""
    n = runs * len(orders)
    known = {
        "run": tuple(str(run) for _ in orders for run in range(runs)),
        "order_type": tuple(order for order in orders for _ in range(runs)),
        **{name: (entry,) * n for name, entry in conditions.items()},
    }
    return Benchmark.of_series(name, (np.ones(1),) * n, conditions=known, failures=tuple(failures))


def runs_of(benchmark):
    return list(zip(benchmark.of("order_type"), benchmark.of("run"), strict=True))


def test_a_failure_in_fixed_order_drops_the_whole_run_of_every_benchmark():
    failure = Failure({"run": "1", "order_type": "fixed"}, "exit code 1")
    kept, dropped, left_out = drop_failed([one("a"), one("b", failures=[failure])])
    assert [runs_of(benchmark) for benchmark in kept] == [[("fixed", "0"), ("random", "0"), ("random", "1")]] * 2
    assert (dropped[0].run, dropped[0].order_type, dropped[0].failed) == ("1", "fixed", ("b",))
    assert dropped[0].reasons == ("exit code 1",) and dropped[0].whole and dropped[0].n_values == 2
    assert left_out == ()


def test_a_failure_in_random_order_or_of_an_unknown_run_drops_no_other_values():
    failures = [Failure({"run": "1", "order_type": "random"}), Failure({"run": "1"}), Failure({"order_type": "fixed"})]
    given_benchmarks = [one("a"), one("b", failures=failures)]
    kept, dropped, _ = drop_failed(given_benchmarks)
    assert kept == given_benchmarks
    assert [(row.whole, row.n_values) for row in dropped] == [(False, 0)] * 3


def test_a_failure_drops_only_runs_of_its_version_and_each_run_once():
    failure = Failure({"run": "0", "order_type": "fixed", "version": "new"})
    kept, dropped, _ = drop_failed([one("a", version="old"), one("b", version="new", failures=[failure])])
    assert [len(benchmark.values) for benchmark in kept] == [4, 3]
    assert dropped[0].version == "new" and dropped[0].n_values == 1
    failures = [Failure({"run": "0", "order_type": "fixed"}, reason) for reason in ("crash", "")]
    kept, dropped, _ = drop_failed([one("a", failures=failures[:1]), one("b", failures=failures[1:]), one("c")])
    assert [len(benchmark.values) for benchmark in kept] == [3, 3, 3]
    assert [(row.failed, row.reasons, row.n_values) for row in dropped] == [(("a", "b"), ("crash", ""), 3)]
    failures = [Failure({"run": str(run), "order_type": "fixed"}) for run in range(2)]
    kept, _, left_out = drop_failed([one("a", orders=("fixed",)), one("b", failures=failures)])
    assert [benchmark.name for benchmark in kept] == ["b"]
    assert [(row.name, "a benchmark failed" in row.reason) for row in left_out] == [("a", True)]


def test_all_78_published_cases_follow_from_the_published_intervals():
    # ordersage/paper-artifact, commits f6ab377 and 51c505c, all six *_node_stats.csv: medians, 95 % intervals and case
    differing = {"ordersage": [], None: []}
    with (GOLDEN / "order_cases.csv").open(encoding="utf-8") as file:
        table = [tuple(map(float, row)) for row in list(csv.reader(file))[1:]]
    for row in table:
        fixed, random = (Estimate(value, low=low, high=high) for value, low, high in (row[:3], row[3:6]))
        for compat, rows in differing.items():
            if interval_case(fixed, random, compat=compat) != row[6]:
                rows.append(row[0])
    assert len(table) == 78
    assert differing["ordersage"] == []
    assert differing[None] == [6.857, 4.886, 3.578]  # a median that only touches the end of the other interval
    fixed, random = Estimate(3.578, low=3.575, high=3.581), Estimate(3.5745, low=3.573, high=3.578)
    assert (interval_case(fixed, random), interval_case(fixed, random, compat="ordersage")) == (2, 3)
    assert interval_case(random, fixed, compat="ordersage") == 2
