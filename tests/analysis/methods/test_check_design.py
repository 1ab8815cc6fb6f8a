"""How runs were measured, and what a check concludes from it."""

import numpy as np
import pytest

from analysis.methods.check import FOUND, INCONCLUSIVE, NOTHING_FOUND, Limit, Rules, check, summarise, to_lines
from analysis.methods.check._sides import (
    BY_TURNS,
    IN_BLOCKS,
    SESSIONS,
    UNKNOWN,
    design_of,
    moved,
    shared_noise,
    strict_turns,
    times_of,
)
from analysis.runs.benchmark import HIGHER, TIME, Benchmark, Failure, Run

START = 1_700_000_000


def times(*seconds):
    return np.array(seconds, dtype=float)


def timed(name, levels, seconds, n=3, seed=1, **recorded):
    """Return a benchmark whose runs have these levels and were measured at these times."""
    rng = np.random.default_rng([seed, *name.encode()])
    conditions = {TIME: tuple(f"{START + at}" for at in seconds)} if seconds is not None else {}
    conditions |= {f"recorded:{part}": (text,) * len(levels) for part, text in recorded.items()}
    return Benchmark.of_series(name, [level * (1 + rng.normal(0, 1e-4, n)) for level in levels], conditions=conditions)


@pytest.mark.parametrize(
    ("baseline", "candidate", "kind", "is_mixed"),
    [
        ((0, 2, 4, 6, 8), (1, 3, 5, 7, 9), BY_TURNS, False),  # strict alternation, which a runs test would reject
        ((0, 3, 4, 7), (1, 2, 5, 6), BY_TURNS, False),  # A B B A
        ((0, 1, 2), (3, 4, 5), IN_BLOCKS, False),
        ((0, 1, 4, 5), (2, 3), IN_BLOCKS, False),  # two changes
        ((0, 1, 2, 3, 8, 9), (4, 5, 6, 7, 10, 11, 12, 13), IN_BLOCKS, True),  # three changes; fewer than 3 is not
        ((0, 1, 100, 101), (200, 201, 300, 301), SESSIONS, False),
        ((0, 1, 200, 201), (100, 101, 300, 301), SESSIONS, False),
        ((0, 2, 100, 102), (1, 3, 101, 103), BY_TURNS, False),  # both sides in each group: strata
        ((0, 1, 2), (100, 101, 102), IN_BLOCKS, False),  # one group a side
        ((5, 5, 5), (5, 5, 5), UNKNOWN, False),
    ],
)
def test_the_design_follows_from_the_times(baseline, candidate, kind, is_mixed):
    design = design_of(times(*baseline), times(*candidate))
    assert design.kind == kind
    assert (design.groups is not None) == (kind == SESSIONS or (kind == BY_TURNS and max(baseline) > 99))
    if kind != IN_BLOCKS or not is_mixed:
        assert design.is_mixed is False
    assert design_of(None, times(*candidate)).kind == UNKNOWN


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2024-05-01T10:00:00.5", 1714557600.5),
        ("2024-05-01 12:00:00+02:00", 1714557600.0),
        ("2024-05-01T10:00:00Z", 1714557600.0),
        ("12.5", 12.5),
        ("yesterday", None),
    ],
)
def test_times_are_read_as_seconds(text, seconds):
    found = times_of([Run(np.ones(1), conditions={TIME: text})])
    assert (None if found is None else found.tolist()) == (None if seconds is None else [seconds])


def suite(k, n, shift, seconds, seed, state=None, noise=0.005):
    """Return k benchmarks; `state` is the machine's state in each run, as a share."""
    rng = np.random.default_rng(seed)
    state = np.zeros(n) if state is None else state
    return [timed(f"b{i}", (1 + i) * (1 + shift[i] + state + rng.normal(0, noise, n)), seconds) for i in range(k)]


IN_A_ROW, AFTER, TURNS, OTHER_TURNS = range(8), range(8, 16), range(0, 16, 2), range(1, 16, 2)
NOTHING = [0.0] * 8


def test_a_change_of_the_whole_suite_in_blocks_is_undecided_and_by_turns_it_is_found():
    before, after = suite(8, 8, NOTHING, IN_A_ROW, 1), suite(8, 8, [0.05] * 8, AFTER, 2)
    found = check(after, before)
    assert found.outcome == INCONCLUSIVE
    assert "most of the 8 benchmarks moved together" in found.changes[0].reason
    assert check(after, before, Rules(allow_blocks=True)).outcome == FOUND
    by_turns = check(suite(8, 8, [0.05] * 8, OTHER_TURNS, 2), suite(8, 8, NOTHING, TURNS, 1))
    assert by_turns.outcome == FOUND


def test_without_a_change_blocks_are_only_a_note_unless_turns_are_required():
    before, after = suite(8, 8, NOTHING, IN_A_ROW, 1), suite(8, 8, NOTHING, AFTER, 2)
    found = check(after, before)
    assert found.outcome == NOTHING_FOUND
    assert any("Measured in blocks" in note for note in found.notes)
    assert check(after, before, Rules(require_turns=True)).outcome == INCONCLUSIVE
    by_turns = suite(8, 8, NOTHING, OTHER_TURNS, 2), suite(8, 8, NOTHING, TURNS, 1)
    assert check(*by_turns, Rules(require_turns=True)).outcome == NOTHING_FOUND


def test_a_change_in_blocks_is_undecided_for_a_suite_that_moved_and_found_if_it_did_not():
    before, after = suite(8, 8, NOTHING, IN_A_ROW, 1), suite(8, 8, [0.05, *NOTHING[1:]], AFTER, 2)
    found = check(after, before)
    assert found.outcome == FOUND
    assert [finding.name for finding in found.findings] == ["b0"]
    assert "in blocks" in found.changes[0].weaknesses
    before = suite(8, 8, NOTHING, IN_A_ROW, 1)
    assert check(suite(8, 8, [0.6] * 8, AFTER, 2), before).outcome == INCONCLUSIVE
    assert check(suite(8, 8, [0.6] + [0.02] * 7, AFTER, 2), before).outcome == FOUND


@pytest.mark.parametrize(
    ("shift", "outcome"), [(0.1, INCONCLUSIVE), (0.4, FOUND), (-0.1, INCONCLUSIVE), (-0.4, NOTHING_FOUND)]
)
def test_a_suite_of_one_benchmark_in_blocks_decides_only_large_changes(shift, outcome):
    before, after = suite(1, 8, [0.0], IN_A_ROW, 1), suite(1, 8, [shift], AFTER, 2)
    assert check(after, before).outcome == outcome


def test_runs_at_the_same_time_are_paired_where_the_machine_drifts():
    state = 0.05 * np.sin(np.arange(16) / 3)
    shift = [0.03] * 5
    before = suite(5, 8, NOTHING, TURNS, 1, state[0::2], noise=0.002)
    after = suite(5, 8, shift, OTHER_TURNS, 2, state[1::2], noise=0.002)
    found = check(after, before)
    assert found.suite.is_paired and found.outcome == FOUND
    assert any("compared with the mean of the runs before and after it" in note for note in found.notes)
    unpaired = check([one.take(range(7)) for one in after], before)
    assert not unpaired.suite.is_paired and unpaired.outcome == NOTHING_FOUND


def test_runs_of_two_sessions_are_undecided_and_of_five_they_are_compared_by_session():
    rng = np.random.default_rng(5)

    def sides(n_sessions, shift):
        state = rng.normal(0, 0.02, 2 * n_sessions)
        seconds = [[1000 * session + run for run in range(4)] for session in range(2 * n_sessions)]
        made = []
        for side in (0, 1):
            at = [second for session in seconds[side::2] for second in session]
            levels = [
                (1 + shift * side + state[session]) * (1 + rng.normal(0, 0.001))
                for session in range(side, 2 * n_sessions, 2)
                for _run in range(4)
            ]
            made.append(timed("b", levels, at))
        return made

    before, after = sides(2, 0.2)
    two = check([after], [before])
    assert (two.outcome, two.changes[0].weaknesses) == (INCONCLUSIVE, ("2 sessions",))
    assert "three are needed" in two.changes[0].reason
    before, after = sides(6, 0.2)
    six = check([after], [before])
    assert six.outcome == FOUND
    assert six.suite.designs == {SESSIONS: 1}
    assert (six.changes[0].n_baseline, six.changes[0].n_candidate) == (24, 24)
    before, after = sides(6, 0.0)
    assert check([after], [before]).changes[0].p > 0.01  # not the p of 24 runs


def test_a_suite_moved_only_if_most_benchmarks_did():
    assert moved(np.array([0.02, 0.021, 0.019, 0.022])) == pytest.approx(0.0205)
    assert moved(np.array([0.3, 0.0, 0.001, -0.001, 0.0, 0.0005])) is None
    assert moved(np.array([0.02, 0.02])) is None
    noise = np.linspace(-0.004, 0.004, 14)
    assert moved(np.concatenate([np.full(6, 0.05), noise])) is None  # 6 of 20 really changed
    assert moved(np.concatenate([[0.7], 0.03 + noise])) == pytest.approx(0.03, abs=0.001)  # one more changed much


def rate(one):
    return Benchmark.of_series(one.name, [1 / run.values for run in one.runs], unit="ops/s", better=HIGHER)


def test_the_suite_of_runs_by_turns_has_the_interval_of_pairs_and_a_coarse_timer_its_step():
    state = 0.05 * np.sin(np.arange(16) / 3)
    before = suite(5, 8, [0.0] * 5, TURNS, 1, state[0::2], noise=0.002)
    after = suite(5, 8, [0.03] * 5, OTHER_TURNS, 2, state[1::2], noise=0.002)
    ratio = check(after, before).suite.ratio
    assert 1.0 < ratio.low < 1.03 < ratio.high < 1.05
    before, after = (Benchmark.of_series("b", [[level * 1e-9]] * 5, unit="s") for level in (33, 34))
    assert 1 / 33 <= check([after], [before]).suite.detectable < 1.2 / 33
    rng = np.random.default_rng(1)
    state = rng.normal(0, 0.02, (2, 12))
    shared = [tuple(np.exp(state[side] + rng.normal(0, 0.002, 12)) for side in (0, 1)) for _ in range(5)]
    own = [tuple(np.exp(rng.normal(0, 0.02, 12)) for _ in range(2)) for _ in range(5)]
    assert shared_noise(shared).share > 0.9
    assert abs(shared_noise(own).share) < 0.3


def test_rates_move_with_times_and_benchmarks_that_did_not_move_are_not_counted():
    """The machine is 3 % slower: times rise and rates fall; two of ten benchmarks do not depend on it."""
    shift = [0.03] * 8 + [0.0] * 2
    sides = suite(10, 8, [0.0] * 10, None, 1), suite(10, 8, shift, None, 2)
    before, after = ([one if at % 2 else rate(one) for at, one in enumerate(side)] for side in sides)
    notes = check(after, before).notes
    assert any("8 of 10 benchmarks are about" in note and "% slower" in note for note in notes), notes


# machines


def test_another_machine_makes_a_change_undecided_unless_it_does_not_matter():
    before = timed("b", np.linspace(1, 1.01, 8), TURNS, cpu="Xeon 1", runtime="CPython 3.12")
    after = timed("b", np.linspace(1.2, 1.21, 8), OTHER_TURNS, cpu="Xeon 2", runtime="CPython 3.13")
    same = timed("b", np.linspace(1, 1.01, 8) + 1e-4, OTHER_TURNS, cpu="Xeon 2", runtime="CPython 3.13")
    found = check([after], [before])
    assert found.outcome == INCONCLUSIVE
    assert "CPU: Xeon 1 for the baseline, Xeon 2 for the candidate" in found.changes[0].reason
    assert check([after], [before], Rules(allow_different=("cpu",))).outcome == INCONCLUSIVE
    assert check([after], [before], Rules(allow_different=("cpu", "runtime"))).outcome == FOUND
    assert check([after], [before], Rules(allow_different=("all",))).outcome == FOUND
    assert check([same], [before]).outcome == NOTHING_FOUND
    assert check([same], [before], Rules(require_same_machine=True)).outcome == INCONCLUSIVE


def test_another_host_name_is_only_named_and_several_machines_are_compared_apart():
    before = timed("b", np.linspace(1, 1.01, 8), TURNS, host="a", cpu="x")
    after = timed("b", np.linspace(1.2, 1.21, 8), OTHER_TURNS, host="b", cpu="x")
    found = check([after], [before])
    assert found.outcome == FOUND
    assert "Other conditions: another host." in found.notes

    def both(levels, seconds, machines):
        parts = [timed("b", level, seconds, cpu=name, seed=at) for at, (level, name) in
                 enumerate(zip(levels, machines, strict=True))]  # fmt: skip
        return Benchmark("b", tuple(run for part in parts for run in part.runs))

    levels = np.linspace(1, 1.01, 8)
    before = both((levels, 2 * levels), TURNS, ("slow", "fast"))
    after = both((levels + 0.001, 2.4 * levels), OTHER_TURNS, ("slow", "fast"))
    found = check([after], [before])
    assert {change.name: change.is_finding for change in found.changes} == {"b @ fast": True, "b @ slow": False}
    other = both((levels, 3 * levels), OTHER_TURNS, ("slow", "third"))
    partly = check([other], [before])
    assert [change.name for change in partly.changes] == ["b @ slow"]
    assert any("Only one version was measured on" in note for note in partly.notes)


# power, limits, coarse timers, spread


def test_no_power_is_inconclusive_if_most_benchmarks_have_none():
    noisy = [timed("b", levels, None) for levels in ((1, 2, 3, 1.5), (1.1, 2.2, 2.9, 1.4))]
    found = check(noisy[1:], noisy[:1])
    assert found.outcome == INCONCLUSIVE
    assert "Too noisy to judge: for the only benchmark" in found.findings[0].words
    quiet = [[timed(f"q{k}", np.linspace(1, 1.01, 6) + at, None) for k in range(3)] for at in (0, 0.0001)]
    mostly = check([noisy[1], *quiet[1]], [noisy[0], *quiet[0]])
    assert mostly.outcome == NOTHING_FOUND
    assert any("1 of 4 (b)" in note for note in mostly.notes)


def test_a_benchmark_that_changed_is_not_called_too_noisy_to_judge():
    changed = [timed("b", levels, None) for levels in ((1, 1.01, 1.02, 1.03, 3), (3.1, 3.2, 3.3, 3.4, 3.5))]
    found = check(changed[1:], changed[:1])
    assert (found.changes[0].outcome, found.suite.largest > 0.25, found.outcome) == ("slower", True, FOUND)
    assert not any("Too noisy" in line for line in to_lines(found))


def test_limits_of_a_benchmark_take_precedence_and_changes_below_1_percent_count_only_for_memory():
    def sides(unit):
        return [
            Benchmark.of_series("b", [[level + k / 1e6] for k in range(8)], unit=unit) for level in (1000.0, 1004.0)
        ]

    assert check(sides("s")[1:], sides("s")[:1]).outcome == NOTHING_FOUND
    assert check(sides("s")[1:], sides("s")[:1], Rules(min_change=0.0)).outcome == FOUND
    for unit in ("B/op", "allocs/op", "byte", "bytes"):
        assert check(sides(unit)[1:], sides(unit)[:1]).outcome == FOUND
    assert check(sides("MB/s")[1:], sides("MB/s")[:1]).outcome == NOTHING_FOUND
    before, after = timed("b", np.linspace(1, 1.01, 6), None), timed("b", np.linspace(1.05, 1.06, 6), None)
    assert check([after], [before], Rules(limits=(Limit("b*", min_change=0.1),))).outcome == NOTHING_FOUND
    assert check([after], [before], Rules(limits=(Limit("x"), Limit("b", max_slowdown=0.5)))).outcome == NOTHING_FOUND
    assert check([after], [before], Rules(limits=(Limit("x", min_change=0.1),))).outcome == FOUND


def test_few_whole_nanoseconds_do_not_prove_a_change():
    def sides(old, new):
        return [Benchmark.of_series("b", [[value * 1e-9] for value in values]) for values in (old, new)]

    before, after = sides((34, 34, 34), (33, 33, 33))
    (change,) = check([after], [before]).changes
    assert 0.005 < change.p < 0.05 and change.weaknesses == ("few runs", "coarse timer")
    assert change.ratio.low < 32.5 / 34 < 33.4 / 34 < change.ratio.high < 1
    (tied,) = check(*([one] for one in sides((34, 34, 35), (33, 33, 33)))).changes
    assert tied.p > 0.05
    counts = [Benchmark.of_series("b", [[value]] * 3, unit="allocs/op") for value in (34.0, 33.0)]
    assert check(counts[:1], counts[1:]).changes[0].p == 0.0


@pytest.mark.parametrize(
    ("before", "after", "unit", "words", "outcome"),
    [
        (0, 2, "s", "  slower  b  from 0 to 2 s, coarse timer", FOUND),
        (0, 16, "B/op", "  higher  b  from 0 to 16 B/op", FOUND),
        (2, 0, "s", "  faster  b  −100 %", NOTHING_FOUND),
        (0, 0, "allocs/op", "1 no change.", NOTHING_FOUND),
        (2, -2, "s", "  inconclusive  b  −2 s is not a time", INCONCLUSIVE),
        (-2, 2, "s", "  inconclusive  b  −2 s is not a time", INCONCLUSIVE),
    ],
)
def test_a_benchmark_with_0_on_one_side_is_compared_and_one_below_0_is_not(before, after, unit, words, outcome):
    sides = [
        [Benchmark.of_series("b", [[value]] * 5, unit=unit, conditions={"run": list(runs)})]
        for value, runs in ((after, "abcde"), (before, "fghij"))
    ]
    found = check(*sides)
    assert found.outcome == outcome
    assert any(line.startswith(words) for line in to_lines(found)), to_lines(found)


def test_a_changed_spread_is_not_called_faster_and_superiority_is_a_share_of_pairs():
    rng = np.random.default_rng(3)
    skewed = rng.exponential(1, (2, 30)) - 1
    before = timed("b", 1 + 0.01 * skewed[0], None)
    after = timed("b", 1 + 0.05 * skewed[1], None)
    found = check([after], [before])
    (change,) = found.changes
    assert change.spread_ratio > 3
    assert change.outcome in ("changed in spread, not in mean", "no significant change")
    assert "spread differs" in change.weaknesses and found.outcome == NOTHING_FOUND
    before, after = timed("b", (1, 2, 3, 4), None), timed("b", (0.5, 2.5, 3.5, 5), None)
    assert check([after], [before]).changes[0].superiority == pytest.approx(7 / 16)  # 4 + 2 + 1 + 0


# same runs, summary


def test_runs_on_both_sides_count_on_neither():
    before, after = (
        timed("b", np.linspace(1, 1.1, 10), None, n=6),
        timed("b", np.linspace(1.2, 1.3, 6), None, n=6, seed=2),
    )
    overlapping = Benchmark("b", (*after.runs, *before.runs[:3]))
    found = check([overlapping], [before])
    assert found.outcome == FOUND
    assert (found.changes[0].n_baseline, found.changes[0].n_candidate) == (7, 6)
    assert any("3 runs of 1 benchmark are in the files of both sides" in each.words for each in found.findings)
    assert check([before], [before]).outcome == INCONCLUSIVE
    single = [Benchmark.of_series("b", [[value] for value in (1.01, 1.02, 1.03)])]
    assert check(single, single).outcome == INCONCLUSIVE
    constant = [Benchmark.of_series("b", [[64.0]] * 5, unit="B/op")]
    assert check(constant, constant).outcome == NOTHING_FOUND  # equal by nature


def test_five_benchmarks_give_at_most_twelve_lines():
    names = ("alpha", "beta", "gamma", "delta", "epsilon")
    before = [timed(name, np.linspace(1, 1.02, 6), IN_A_ROW[:6]) for name in names]
    for shifts in ((0, 0, 0, 0, 0), (0.5, 0.2, 0, -0.1, 0), (0.5, 0.4, 0.3, 0.2, 0.1)):
        after = [
            timed(name, (1 + shift) * np.linspace(1, 1.02, 6) + 1e-4, AFTER[:6])
            for name, shift in zip(names, shifts, strict=True)
        ]
        lines = to_lines(check(after, before))
        assert len(lines) <= 12 and max(map(len, lines)) <= 100


def test_the_counts_name_every_benchmark_once_also_under_its_former_name():
    levels = np.linspace(1, 1.02, 6)
    before = [timed(name, levels, None) for name in ("a", "b", "c", "gone")]
    failed = Benchmark("crash", (), failures=(Failure({}, "panic"),))
    after = [timed("a", 1.2 * levels, None), timed("b", 0.8 * levels, None), timed("c", levels + 1e-4, None), failed]
    found = check(after, before)
    assert summarise(found).counts == "1 slower, 1 missing, 1 failed, 1 faster, 1 no change"
    assert found.outcome == FOUND
    before = timed("grp_x/f", np.linspace(1, 1.02, 6), None)
    after = timed("grp/x/f", np.linspace(1.2, 1.22, 6), None)
    after = Benchmark("grp/x/f", after.runs, former_names=("grp_x/f",))
    found = check([after], [before])
    assert [change.name for change in found.changes] == ["grp/x/f"]
    assert found.outcome == FOUND
    assert any("grp_x/f is now grp/x/f" in note for note in found.notes)


@pytest.mark.parametrize(
    ("baseline", "candidate", "turns"),
    [((0, 2, 4), (1, 3, 5), 0), ((1, 3, 5), (0, 2, 4), 1), ((0, 2, 4), (1, 3), 0), ((0, 3, 4, 7), (1, 2, 5, 6), None)],
)
def test_strict_alternation_is_recognised_and_which_side_was_first(baseline, candidate, turns):
    assert strict_turns(times(*baseline), times(*candidate)) == turns


def drifting(drift, n, order, rng, change=1.0, k=8):
    """Return a suite that drifts linearly over the measurement; `order` has the version of each run in time order."""
    at = np.linspace(0, drift, 2 * n)
    sides = []
    for number, factor in ((0, 1.0), (1, change)):
        places = np.flatnonzero(np.array(order) == number)
        values = factor * np.exp(at[places] + 0.01 * rng.standard_normal((k, n)))
        sides.append([timed(f"b{i}", row, places.tolist()) for i, row in enumerate(values)])
    return sides[1], sides[0]


def share_found(n_suites, *arguments, **options):
    rng = np.random.default_rng(7)
    return np.mean([check(*drifting(*arguments, rng, **options)).outcome == FOUND for _ in range(n_suites)])


@pytest.mark.parametrize("order", [[0, 1] * 5, [0, 1] * 7, [0, 1, 1, 0] * 4], ids=["5 runs", "7 runs", "A B B A"])
def test_a_drift_is_no_change_whether_versions_alternate_strictly_or_not(order):
    assert share_found(5, 0.15, len(order) // 2, order) <= 0.2  # 5 % are meant; pairs of runs find one in .6 to .7


def test_a_change_under_drift_is_found_in_strict_alternation_with_its_size():
    after, before = drifting(0.08, 10, [0, 1] * 10, np.random.default_rng(3), change=1.05)
    found = check(after, before)
    assert found.outcome == FOUND
    assert sum(change.ratio.low < 1.05 < change.ratio.high for change in found.changes) >= 7
    assert any("alternate strictly" in line for line in to_lines(found))
