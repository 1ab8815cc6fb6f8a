"""The check of benchmarks: findings, changes against a baseline, warnings, and the outcome."""

import json
from dataclasses import replace

import numpy as np
import pytest

from analysis.document import json_values, to_json, to_markdown, to_text
from analysis.methods.check import (
    FOUND,
    INCONCLUSIVE,
    NOTHING_FOUND,
    KnownChange,
    Rules,
    acknowledge,
    check,
    document as checkup_document,
)
from analysis.runs.benchmark import TIME, Benchmark, Failure, PerRun
from analysis.runs.classifiers import CLASSIFIERS
from analysis.runs.dissimilarity import TOO_SHORT
from tests.sentences import says


def bench(name, *levels, n=100, seed=5, noise=0.001, **more):
    rng = np.random.default_rng(seed)
    return Benchmark.of_series(name, tuple(level * (1 + rng.normal(0, noise, n)) for level in levels), **more)


def text_of(found, **options):
    return " ".join(to_text(checkup_document(found, **options)).split())


STEP = np.repeat([1.0, 2.0], 50)
ALIKE = Benchmark.of_series("alike", (STEP, STEP + 1e-6, STEP))
UNLIKE = Benchmark.of_series("unlike", (STEP, STEP[::-1], STEP))
WIDE = bench("wide", 1.0, 1.5, n=5)
BASE, SLOWER = bench("b", 1.0, 1.01, 0.99, 1.0), bench("b", 1.2, 1.21, 1.19, 1.2, seed=6)
FIVE = (1.0, 1.01, 0.99, 1.0, 1.005)
HEURISTIC = Rules(classifier="heuristic")


# without a baseline


def test_similar_runs_are_outcome_zero_and_one_dissimilar_benchmark_is_one():
    assert check([ALIKE]).outcome == NOTHING_FOUND == 0
    found = check([ALIKE, WIDE])
    assert found.outcome == FOUND == 1
    assert [(one.name, one.verdict) for one in found.benchmarks] == [("alike", "similar"), ("wide", "dissimilar")]
    assert found.findings[0].kind == "dissimilar"
    assert says(found.findings[0].words, "2 runs", "40 % apart", "10 %")


def test_normal_noise_is_not_a_finding():
    # the heuristic calls all of these dissimilar, because runs of pure noise share no pattern
    rng = np.random.default_rng(3)
    healthy = [
        Benchmark.of_series(f"b{number}", 1e-3 * (1 + rng.normal(0, spread, (10, 200))))
        for number, spread in enumerate(np.tile([0.001, 0.01, 0.03], 24))
    ]
    assert check(healthy).outcome == NOTHING_FOUND
    assert sum(one.verdict == "dissimilar" for one in check(healthy, rules=HEURISTIC).benchmarks) == 72


def test_the_chosen_classifier_and_its_limit_decide_and_spread_is_also_shown():
    for name in CLASSIFIERS:
        judged = check([UNLIKE], rules=Rules(classifier=name)).benchmarks[0]
        assert judged.verdict == CLASSIFIERS[name](UNLIKE.values).verdict
        assert judged.verdicts == {"spread": "similar"} | {name: judged.verdict}
    assert check([UNLIKE], rules=HEURISTIC).outcome == FOUND
    assert check([UNLIKE]).outcome == NOTHING_FOUND  # the means are the same
    assert check([bench("b", 1.0, 1.05)], rules=Rules(limit=0.02)).outcome == FOUND
    assert check([bench("b", 1.0, 1.05)], rules=Rules(limit=0.08)).outcome == NOTHING_FOUND


def test_one_run_short_runs_and_a_negative_measurement_are_inconclusive():
    one_run = bench("single", 1.0)
    found = check([one_run, ALIKE])
    assert found.outcome == INCONCLUSIVE == 3
    assert [(one.name, one.words) for one in found.findings] == [("single", "one process: not tested")]
    assert check([one_run, ALIKE], rules=Rules(allow_inconclusive=True)).outcome == NOTHING_FOUND
    assert check([]).outcome == INCONCLUSIVE
    found = check([bench("short", 1.0, 1.01, n=5)], rules=HEURISTIC)
    assert found.outcome == INCONCLUSIVE
    assert found.findings[0].words == TOO_SHORT
    assert found.benchmarks[0].verdicts == {"spread": "similar", "heuristic": None}
    negative = Benchmark.of_series("b", (STEP - 5, STEP - 5))
    found = check([negative], rules=Rules(classifier="same"))
    assert found.outcome == INCONCLUSIVE
    assert "negative" in found.benchmarks[0].reason


# with a baseline


def test_with_a_baseline_changes_for_the_worse_count_and_verdicts_do_not():
    assert check([SLOWER], [BASE]).outcome == FOUND
    assert check([BASE], [SLOWER]).outcome == NOTHING_FOUND  # faster
    assert check([BASE], [SLOWER], Rules(fail_on="change")).outcome == FOUND
    again = [bench("wide", *(1 + (seed + k) % 5 / 20 for k in range(8)), seed=seed) for seed in (1, 2)]
    assert check(again[:1], again[1:]).outcome == NOTHING_FOUND


def test_a_change_of_unknown_direction_is_inconclusive_unless_every_change_counts():
    after, before = (
        [bench("b", *(factor * x for x in FIVE), seed=seed, unit="", better="")] for factor, seed in ((1, 1), (2, 2))
    )
    found = check(after, before)
    assert found.outcome == INCONCLUSIVE
    assert says(text_of(found), "1 lower", "nobody says whether lower or higher is better")
    assert check(after, before, Rules(fail_on="change")).outcome == FOUND


def test_a_change_below_the_smallest_that_counts_is_no_finding():
    found = check([bench("b", *(1.03 * x for x in FIVE), seed=9)], [bench("b", *FIVE)], Rules(min_change=0.05))
    assert found.outcome == NOTHING_FOUND
    assert says(text_of(found), "not findings", "b slower")


def test_runs_that_do_not_exclude_the_largest_slowdown_are_inconclusive():
    noisy = [bench("b", *4 * (1.0, 1.1, 0.95), seed=seed) for seed in (1, 2)]
    assert check(noisy[:1], noisy[1:]).outcome == NOTHING_FOUND
    found = check(noisy[:1], noisy[1:], Rules(max_slowdown=0.05))
    assert found.outcome == INCONCLUSIVE
    assert "more than 5 %" in text_of(found)
    assert "Measure more runs" in text_of(found)


def test_one_run_on_a_side_is_described_and_not_tested():
    found = check([bench("b", 1.1)], [bench("b", 1.0)])
    assert found.outcome == INCONCLUSIVE
    text = text_of(found, commands=[("With the tool:", "for i in 1 2; do\n  tool\ndone")])
    assert "repetitions of one process" in text
    assert "+10.0 %" in text and "p (Holm)" not in text
    assert text.endswith("With the tool: for i in 1 2; do tool done")
    assert "\n      tool\n" in to_text(checkup_document(found, commands=[("", "for\n  tool\ndone")]))


def test_a_vanished_benchmark_is_inconclusive_at_the_top_unless_allowed():
    others, before = [bench("other", *FIVE), bench("new", *FIVE)], [bench("other", *FIVE, seed=7)]
    found = check(others, [*before, BASE])
    assert (found.only_in_candidate, found.only_in_baseline) == (("new",), ("b",))
    assert found.outcome == INCONCLUSIVE
    text = text_of(found)
    assert text.startswith("Benchmark check Result ------ - 1 missing, 1 no change (")
    assert says(text, "Missing: 1 benchmark", "baseline (b)")
    assert "New: new." in text
    assert "pass --allow-missing" in text
    assert check(others, [*before, BASE], Rules(allow_missing=True)).outcome == NOTHING_FOUND
    assert check(others, before).outcome == NOTHING_FOUND  # a new benchmark is not a problem


def test_crashed_runs_are_inconclusive_at_the_top_unless_allowed():
    crashed = replace(bench("b", 1.0, 1.01), failures=tuple(Failure({}, "exit code 139") for _ in range(8)))
    for found in (check([crashed]), check([crashed], [BASE])):
        assert found.outcome == INCONCLUSIVE
        assert says(text_of(found), "b: 8 of 10 runs", "exit code 139")
    assert check([crashed], rules=Rules(allow_missing=True)).outcome == NOTHING_FOUND
    assert says(text_of(check([bench("b", *FIVE)], [crashed])), "of the baseline:", "exit code 139")


def test_another_number_of_runs_is_one_line_and_too_few_only_if_a_number_is_required():
    many, few = bench("b", *4 * FIVE), bench("b", *FIVE, seed=9)
    found = check([few], [many])
    assert found.outcome == NOTHING_FOUND
    assert says(" ".join(found.notes), "1 benchmark with different numbers", "b: 20 of the baseline, 5")
    required = check([few], [many], Rules(runs=10))
    assert required.outcome == INCONCLUSIVE
    assert [finding.kind for finding in required.findings] == ["failed runs"]
    assert check([few], [many], Rules(runs=5)).outcome == NOTHING_FOUND


def test_a_finding_outweighs_what_is_inconclusive_and_nothing_in_common_is_inconclusive():
    assert check([SLOWER, bench("single", 1.0)], [BASE, bench("gone", 1.0)]).outcome == FOUND
    found = check([ALIKE], [UNLIKE], Rules(allow_missing=True))
    assert found.outcome == INCONCLUSIVE
    assert "nothing was compared." in text_of(found)
    # if 1 ms was read as 1 without a unit, it would be 99.9 % faster than 1000
    found = check([bench("b", *(1e-3 * x for x in FIVE))], [bench("b", *FIVE, unit="", better="")])
    assert found.outcome == INCONCLUSIVE
    assert says(text_of(found), "no unit", "s (lower is better)")


# several benchmarks


def go_units(n, factor=1.0):
    """Build n benchmarks as in the output of Go, each with its time, and with constant memory."""
    times = [bench(f"B{k}", *(factor * x for x in FIVE), noise=0.01, n=3, seed=k) for k in range(n)]
    units = {"B/op": 64.0, "allocs/op": 2.0}
    return times + [
        bench(f"B{k} [{unit}]", *5 * [level], noise=0, n=3, unit=unit, benchmark=f"B{k}")
        for k in range(n)
        for unit, level in units.items()
    ]


def test_holm_counts_a_benchmark_once_and_detectable_differences_include_their_number():
    found = check(go_units(4, 1.02), go_units(4))
    alone = check(go_units(4, 1.02)[:4], go_units(4)[:4])
    p_holm = {change.name: change.p_holm for change in found.changes}
    assert len(p_holm) == 12
    assert {change.name: change.p_holm for change in alone.changes}.items() <= p_holm.items()
    assert {change.family for change in found.changes} == {"", "B/op", "allocs/op"}
    assert "separately for each unit" in text_of(found)

    def detectable(n, **rules):
        return check([bench(f"b{k}", *FIVE) for k in range(n)], rules=Rules(**rules)).benchmarks[0].smallest_difference

    assert detectable(100).value > 1.5 * detectable(1).value
    assert detectable(1, alpha=0.0005).value == pytest.approx(detectable(100).value)
    of_units = check(go_units(2)).benchmarks[0].smallest_difference
    assert of_units.value == pytest.approx(check(go_units(2)[:2]).benchmarks[0].smallest_difference.value)


def test_runs_of_unequal_length_are_cut_only_for_patterns_with_a_warning():
    rng = np.random.default_rng(1)
    runs = [1 + rng.normal(0, 0.001, 60), np.concatenate([1 + rng.normal(0, 0.001, 60), np.full(60, 1.5)])]
    found = check([Benchmark.of_series("b", runs)])
    judged = found.benchmarks[0]
    assert judged.max_spread.value == pytest.approx(0.25 / 1.125, rel=0.01)  # of all iterations
    assert judged.verdict == "dissimilar"
    assert says(text_of(found), "first 60 iterations", "60")
    cut = check([Benchmark.of_series("b", runs)], rules=HEURISTIC)
    assert cut.benchmarks[0].n_left_out == 60
    assert says(text_of(cut), "1 benchmark", "different lengths", "heuristic")


def test_versions_do_not_mix():
    runs = bench("b", 1.0, 1.0, 5.0, 5.0).values
    mixed = Benchmark.of_series("b", runs, conditions={"version": ("old", "old", "new", "new")})
    assert {one.name: one.verdict for one in check([mixed]).benchmarks} == {"b @ old": "similar", "b @ new": "similar"}


# warnings


def timed(name, hours, seed):
    runs = bench(name, *FIVE[: len(hours)], seed=seed)
    times = tuple(f"2024-05-01T{hour:02}:00:00" for hour in hours)
    return Benchmark.of_series(name, runs.values, conditions={TIME: times})


def test_runs_in_blocks_are_named_and_runs_by_turns_are_not():
    found = check([timed("b", (3, 4, 5), 1)], [timed("b", (0, 1, 2), 2)])
    assert found.outcome == NOTHING_FOUND
    assert "Measure by turns" in text_of(found)
    by_turns = check([timed("b", (1, 3, 5), 1)], [timed("b", (0, 2, 4), 2)])
    assert "Measure by turns" not in text_of(by_turns)
    assert "Times of runs unknown" in text_of(check([timed("b", (3, 4, 5), 1)], [BASE]))


# errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Rules(classifier="vote"), "unknown classifier 'vote'"),
        (lambda: Rules(fail_on="never"), r"fail_on.*got 'never'"),
        (lambda: Rules(limit=0), r"limit.*got 0"),
        (lambda: check([ALIKE], per_run=PerRun(500)), "all of them warm-up"),
    ],
)
def test_invalid_options_are_rejected(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# documents


def test_the_document_names_what_needs_attention_first_and_every_number_is_in_the_json():
    found = check([ALIKE, SLOWER], [ALIKE, BASE])
    text = text_of(found)
    assert says(text, "1 slower, 1 no change", "b: slower")
    assert "95 % CI Holm p Runs" in text
    content = json.loads(to_json(json_values(found)))
    assert {"p", "p_holm", "ratio", "words"} <= set(content["changes"][0])
    assert "| Benchmark | Result | Change | 95 % CI | Holm p |" in to_markdown(checkup_document(found))
    at_90 = check([SLOWER], [BASE], Rules(alpha=0.1))
    assert "90 % CI Holm p" in text_of(at_90)


def test_the_text_is_never_wider_than_a_terminal_and_shows_the_worst_of_many():
    names = [f"org.example.benchmarks.collections.maps.HashMapBenchmark.put{n}.size=1000000" for n in range(30)]
    found = check([bench(name, *(1.2 * x for x in FIVE)) for name in names], [bench(name, *FIVE) for name in names])
    lines = to_text(checkup_document(found)).splitlines()
    assert max(map(len, lines)) <= 100
    table = lines[lines.index("Changes against the baseline") :]
    rows = [line.split("  ")[0] for line in table if "  slower  " in line]
    assert len(set(rows)) == len(rows) == 30
    many = [bench(f"b{k}", 1.0, 1.0 + k / 100, n=5) for k in range(60)]
    text = text_of(check(many))
    assert "40 of 60 rows" in text
    assert text.index("b59") < text.index("b40")
    assert sum(one.reasons is not None for one in check(many).benchmarks) == 10
    hostile = bench("<b>*x*|[y](z)\n# t", 1.0, 1.5, n=5)
    said = to_markdown(checkup_document(check([hostile])))
    assert "<b>" not in said.replace("\\<", "") and "\n# t" not in said


# known changes


def known(benchmark="b", **other):
    return KnownChange(benchmark, "a check was added", "2027-01-31", **other)


def test_a_known_change_is_listed_and_decides_nothing_and_other_findings_still_decide():
    after, before = [SLOWER, bench("c", *FIVE)], [BASE, bench("c", *FIVE, seed=3)]
    found = acknowledge(check(after, before), [known()])
    assert (check(after, before).outcome, found.outcome) == (FOUND, NOTHING_FOUND)
    assert [(finding.name, finding.known) for finding in found.findings] == [("b", "a check was added")]
    text = text_of(found)
    assert says(text, "1 known, 1 no change")
    assert says(text, "b slower (+20.0 %", "a check was added 2027-01-31")
    assert "b slower (known)" in text and "Look for the cause" not in text
    other = bench("other", *(1.2 * x for x in FIVE))
    found = acknowledge(check([SLOWER, other], [BASE, bench("other", *FIVE)]), [known()])
    assert found.outcome == FOUND
    text = text_of(found)
    assert says(text, "1 slower, 1 known") and "- other: slower" in text and "- b: slower" not in text


@pytest.mark.parametrize(
    ("entry", "covers"),
    [
        (known(at_most=0.21), True),
        (known(at_most=0.19), False),
        (known("*"), True),
        (known("?"), False),
        (known("[b]"), False),
        (known("B"), False),
        (known(is_expired=True), False),
    ],
)
def test_an_entry_covers_what_it_names_up_to_the_size_that_it_names(entry, covers):
    found = acknowledge(check([SLOWER], [BASE]), [entry])
    assert found.outcome == (NOTHING_FOUND if covers else FOUND)
    assert found.known[0].names == (("b",) if covers else ())


def test_a_known_change_covers_rates_names_with_brackets_dissimilar_runs_and_missing_benchmarks():
    rates = [bench("r", *levels, unit="ops/s", better="higher", seed=seed) for seed, levels in
             ((1, FIVE), (2, [0.9 * x for x in FIVE]))]  # fmt: skip
    assert acknowledge(check([rates[1]], [rates[0]]), [known("r", at_most=0.11)]).outcome == NOTHING_FOUND
    assert acknowledge(check([rates[1]], [rates[0]]), [known("r", at_most=0.09)]).outcome == FOUND
    slower = [bench("sort[n=10]", *(factor * x for x in FIVE)) for factor in (1.2, 1)]
    found = check(slower[:1], slower[1:])
    assert found.outcome == FOUND
    assert acknowledge(found, [known("sort[*]")]).outcome == NOTHING_FOUND
    assert acknowledge(check([WIDE]), [known("wide")]).outcome == NOTHING_FOUND
    assert acknowledge(check([WIDE]), [known("wide", at_most=0.5)]).outcome == FOUND  # it covers only changes
    alone = check([bench("c", *FIVE)], [bench("c", *FIVE, seed=3), BASE])
    assert acknowledge(alone, [known()]).outcome == NOTHING_FOUND


def test_what_was_not_tested_and_failed_runs_are_never_known():
    rules = Rules(max_slowdown=0.2, min_change=0.5)
    assert check([SLOWER], [BASE], rules).outcome == INCONCLUSIVE
    assert acknowledge(check([SLOWER], [BASE], rules), [known()]).outcome == NOTHING_FOUND
    one_process = check([bench("b", 1.2)], [bench("b", 1.0)])
    assert acknowledge(one_process, [known()]).outcome == one_process.outcome == INCONCLUSIVE
    failing = replace(SLOWER, failures=(Failure({}, "it crashed"),) * 9)
    found = acknowledge(check([failing], [BASE]), [known()])
    assert found.outcome == INCONCLUSIVE
    assert {finding.kind for finding in found.findings if not finding.known} == {"failed runs"}


def test_entries_that_cover_nothing_are_named():
    found = acknowledge(check([SLOWER], [BASE]), [known(), known("gone"), known("b", is_expired=True)])
    text = text_of(found)
    assert says(text, "Not needed: gone")
    assert says(text, "Expired after 2027-01-31: b")


# order
