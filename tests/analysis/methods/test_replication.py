"""The claims of the paper on artificial benchmarks with known measures."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.document import to_text
from analysis.methods import replication
from analysis.methods.replication import Measured, document, measure, survey
from analysis.methods.replication._counts import APPLICATIONS
from analysis.methods.replication._measured import FOCUS, waves
from analysis.runs import schemes
from analysis.runs.benchmark import Benchmark
from analysis.runs.classifiers import CLASSIFIERS
from tests.sentences import says

ZERO = dict.fromkeys(("m1", "m2", "m3", "m3_with_mean", "m4", "m5"), 0.0)
NAMES = sorted(APPLICATIONS)
PAPER_SIZES = {name: 20 if name == FOCUS else 19 + (at < 15) for at, name in enumerate(sorted(APPLICATIONS - {FOCUS}))}
PAPER_SIZES[FOCUS] = 20


def made(name, application, height=0.1, **means):
    """Build a benchmark of the paper's size with these means; 0 by default."""
    values = ZERO | means
    return Measured(
        f"{application}#{name}", application, name, 10, (3000, 3000), values, values, values,
        dict.fromkeys(("average", "single", "complete"), height), 45, 45, 7,
    )  # fmt: skip


def whole(**means):
    """Build 586 benchmarks of 30 applications, 20 of them from the paper's example."""
    return [made(f"{at:02}", application, **means) for application, n in PAPER_SIZES.items() for at in range(1, n + 1)]


def claim(result, words):
    (found,) = [claim for claim in result.claims if words in claim.claim]
    return found


def test_a_benchmark_is_measured_as_the_classifiers_measure_it():
    rng = np.random.default_rng(1)
    runs = [rng.gamma(3, size=600) for _ in range(4)]
    measured = measure(Benchmark.of_series("a#b", runs, "a", benchmark="b"))
    for name in ("heuristic", "heuristic-printed", "same"):
        verdict = CLASSIFIERS[name](runs)
        assert measured.score(name) == pytest.approx(verdict.score, abs=1e-12)
        assert measured.is_dissimilar(name) == (verdict.verdict == "dissimilar")
    assert (measured.n_runs, measured.n_iterations, measured.n_pairs, measured.reasons) == (4, (600, 600), 6, {})
    assert measured.heights["single"] <= measured.heights["average"] <= measured.heights["complete"]
    assert all(measured.lowest[name] <= mean <= measured.highest[name] for name, mean in measured.means.items())
    assert (measured.n_last_differ, measured.waves) == (None, ())  # only of the example application
    assert (measured.n_above_1, measured.highest_m2 <= 1, measured.lowest_m4_printed < 0) == (0, True, True)


def test_runs_differ_by_the_rule_of_the_paper_and_not_by_their_distribution_alone():
    noise = np.random.default_rng(2).normal(size=(3, 1000))
    measured = measure(Benchmark.of_series("b", noise + 100, FOCUS))
    assert (measured.n_differ, measured.n_last_differ, measured.n_last_differ_m5) == (3, 3, 0)
    steps = np.repeat([1.0, 5.0], [100, 500])
    equal = measure(Benchmark.of_series("b", [steps, steps, steps], FOCUS))
    assert (equal.n_differ, equal.n_last_differ) == (0, 0)


def test_a_wave_is_found_in_the_runs_that_have_one():
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(3, 3000))
    wave = np.sin(2 * np.pi * np.arange(3000) / 200)
    slow = 2 * np.sin(2 * np.pi * np.arange(3000) / 1500)
    found = waves(np.stack([noise[0] + wave, noise[1], noise[2] + slow]))
    assert [one.is_visible for one in found] == [True, False, False]
    assert waves(noise[:, :900]) == ()


@pytest.mark.parametrize(
    ("runs", "reasons"),
    [
        ([[1.0] * 60], {"heuristic": "two", "heuristic-printed": "two", "same": "two"}),
        ([[1.0] * 40] * 2, {"heuristic": "too short", "heuristic-printed": "too short", "same": "too short"}),
        ([[1.0] * 60, [-1.0] * 60], {"same": "negative"}),
    ],
)
def test_what_cannot_be_judged_says_why(runs, reasons):
    measured = measure(Benchmark.of_series("b", runs))
    assert set(measured.reasons) == set(reasons)
    assert all(word in measured.reasons[name] for name, word in reasons.items())
    assert [measured.score(name) is None for name in replication.READINGS] == [
        name in reasons for name in replication.READINGS
    ]


def test_the_whole_data_set_is_recognised_and_a_part_is_named_as_such():
    complete = survey(whole(), revisions=NAMES)
    assert claim(complete, "Revisions").outcome == "reproduced"
    assert claim(survey(whole(), revisions=NAMES[1:]), "Revisions").outcome == "differs"
    assert (complete.scope.is_complete, claim(complete, "Size").outcome) == (True, "reproduced")
    part = survey(whole()[::3])
    assert (part.scope.is_paper, part.scope.is_complete) == (True, False)
    assert (claim(part, "Size").ours, claim(part, "Size").outcome) == ("196 of 586 benchmarks", "cannot be known")
    one_application = survey([made("a", NAMES[3])])
    assert claim(one_application, "Applications").ours == "1 of 30"
    assert claim(one_application, "Applications").outcome == "cannot be known"


def test_benchmarks_of_another_size_are_counted():
    measured = whole()
    measured[7] = replace(measured[7], n_iterations=(2999, 3000))
    row = claim(survey(measured), "10 runs of 3000")
    assert (row.outcome, row.ours, row.why) == (
        "differs",
        "585 of 586 benchmarks",
        "Other runs: 1 benchmark. A copy of the files may be damaged.",
    )


def test_the_benchmarks_of_the_example_are_numbered_in_alphabetical_order_and_b17_is_drawn():
    measured = [
        replace(one, means=one.means | {"m1": 0.9, "m4": 0.9}) if one.name == f"{FOCUS}#17" else one
        for one in whole(m2=0.5)
    ]
    result = survey(measured[::-1])
    assert result.drawn == f"{FOCUS}#17"
    assert (result.numbers[f"{FOCUS}#01"], result.numbers[f"{FOCUS}#17"]) == ("B1", "B17")
    row = claim(result, "B17 is the most dissimilar")
    assert row.outcome == "consistent under assumptions"
    assert row.ours == "place 1 of 20 by the mean of M1 to M4 (margin 0.4500), place 1 by all five"
    row = claim(result, "last 500")
    assert (row.outcome, row.ours) == ("reproduced", "45 of 45 pairs of runs differ")
    assert "M5 alone calls 7 of 45 pairs different" in row.why
    assert claim(result, "most dissimilar application").outcome == "reproduced"
    higher = [replace(one, means=one.means | {"m3": 1.0}) if one.name.endswith("#03") else one for one in measured]
    high = [replace(one, means=one.means | {"m1": 1.0}) if one.name.endswith("#03") else one for one in higher]
    assert claim(survey(high), "B17 is the most").ours.startswith("place 2 of 20")
    assert claim(survey(high), "B17 is the most").outcome == "cannot be known"  # the numbers are assumed


def test_a_part_without_all_applications_or_without_all_twenty_decides_nothing():
    result = survey([one for one in whole(m1=0.5) if one.name != f"{FOCUS}#05"])
    assert result.numbers == {}
    row = claim(result, "B17 is the most dissimilar")
    assert (row.outcome, "here there are 19" in row.why) == ("cannot be known", True)
    assert result.focus == FOCUS
    few = [one for one in whole(m4=0.9, m5=0.9) if one.application in NAMES[1:4]]
    result = survey([replace(one, heights=dict.fromkeys(one.heights, 0.9)) for one in few])
    assert {row.outcome for row in result.claims} <= {"cannot be known", "misprint", "reproduced by construction"}
    assert "are not a sample of the 30 applications" in claim(result, "that SAME calls").why


def test_high_for_almost_all_allows_one_in_ten():
    def outcome(n_low):
        low = {f"{FOCUS}#{at:02}" for at in range(1, n_low + 1)}
        high = {"m1": 0.9, "m2": 0.9, "m3": 0.9, "m3_with_mean": 0.9, "m4": 0.9}
        return claim(survey([one if one.name in low else made(one.benchmark, one.application, **high)
                             for one in whole()]), "high for almost all").outcome  # fmt: skip

    assert [outcome(n_low) for n_low in (0, 2, 3)] == ["reproduced", "reproduced", "differs"]
    part = survey(whole(m1=0.9, m2=0.9, m3=0.9, m3_with_mean=0.9, m4=0.9)[::3])
    assert claim(part, "high for almost all").outcome == "cannot be known"


def test_an_application_above_the_threshold_contradicts_that_a_measure_is_low():
    measured = whole(m2=0.5)
    assert claim(survey(measured), "M2 is high").outcome == "reproduced"
    assert claim(survey(measured), "M5 is low").outcome == "reproduced"
    in_one = [replace(one, means=one.means | {"m5": 0.3}) if one.application == NAMES[4] else one for one in measured]
    row = claim(survey(in_one), "M5 is low")
    assert (row.outcome, row.ours) == ("differs", "means 0.00 to 0.30; above 0.25 in 1 of 30 applications")
    assert "M5" in row.why.rpartition(". ")[2]
    assert row.why.endswith("in 1 application.")


def test_figure_1_comes_out_as_described_with_the_mean_and_without_it_but_for_the_level():
    pairs = schemes.figure_1_signals(rng=np.random.default_rng(1))
    verdicts = {
        name: [CLASSIFIERS[name](list(pair)).verdict for pair in pairs.values()]
        for name in ("heuristic-printed", "heuristic")
    }
    assert list(pairs) == ["offset in level", "offset in time", "double frequency", "noise"]
    assert verdicts["heuristic-printed"] == ["dissimilar", "dissimilar", "dissimilar", "similar"]
    assert verdicts["heuristic"] == ["similar", "dissimilar", "dissimilar", "similar"]
    row = claim(survey(whole()), "Figure 1:")
    assert (row.outcome, "4 / 3 / 3 / 1 / 1 / 1 of 4" in row.ours) == ("cannot be known", True)


def test_a_share_is_compared_with_that_of_the_paper():
    # 131 of 586 against 75 of 324; 457 against 255 (the figures of the whole data set)
    high = {"m1": 0.9, "m2": 0.9, "m3": 0.9}
    measured = [
        made(one.benchmark, one.application, 0.3 if at < 131 else 0.1, **(high if at < 457 else {}))
        for at, one in enumerate(whole())
    ]
    of_classifier = {share.classifier: share for share in survey(measured).shares}
    same, default, printed = (of_classifier[name] for name in ("same", "heuristic", "heuristic-printed"))
    assert (same.n_dissimilar, same.share.value) == (131, pytest.approx(131 / 586))
    assert same.p == pytest.approx(0.804, abs=5e-4)  # fisher.test of R
    assert (default.n_dissimilar, printed.n_dissimilar) == (457, 0)
    assert claim(survey(measured), "that the heuristic calls").outcome == "reproduced"
    row = claim(survey(measured), "that the heuristic as printed calls")
    assert (row.outcome, "above 5 percentage points" in row.why) == ("differs", True)


def test_sweeps_count_what_lies_above_each_threshold():
    scores = {f"{at}": {"m1": at / 100, "m2": at / 100, "m3": at / 100} for at in range(1, 101)}
    result = survey([made(name, NAMES[0], at / 100, **means) for at, (name, means) in enumerate(scores.items(), 1)])
    assert {row.threshold: row.n_dissimilar["heuristic"] for row in result.thetas} == {
        theta: 100 - round(100 * theta) for theta in (0.10, 0.15, 0.20, 0.25, 0.30, 0.40, 0.50)
    }
    assert all(row.n_dissimilar["heuristic-printed"] == 0 for row in result.thetas)
    assert {row.threshold: row.n_dissimilar["single"] for row in result.cuts}[0.20] == 80


def test_classifiers_are_compared_with_each_other_and_with_the_classes():
    # the published counts of the whole data set: 238 of 255 inconsistent, 219 of 331 in a steady state
    high = {"m1": 0.9, "m2": 0.9, "m3": 0.9}
    measured = whole()
    classes = {one.name: "inconsistent" if at < 255 else "steady state" for at, one in enumerate(measured)}
    is_high = [at < 238 or 255 <= at < 255 + 219 for at in range(586)]
    measured = [
        made(one.benchmark, one.application, **(high if above else {}))
        for one, above in zip(measured, is_high, strict=True)
    ]
    result = survey(measured, classes=classes)
    row = result.steady_state[0]
    assert (row.dissimilar_inconsistent, row.n_inconsistent) == (238, 255)
    assert (row.dissimilar_steady, row.n_steady) == (219, 331)
    a, b, c, d = 238, 17, 219, 112
    chi2 = 586 * (a * d - b * c) ** 2 / ((a + b) * (c + d) * (a + c) * (b + d))
    assert (row.chi2, row.v) == (pytest.approx(chi2), pytest.approx((chi2 / 586) ** 0.5))
    assert row.auc.value == pytest.approx((238 / 255 + 112 / 331) / 2)
    same = result.steady_state[2]
    assert (same.chi2, same.v, same.dissimilar_steady) == (None, None, 0)
    assert result.joint[0].n_differ == result.joint[0].only_a == 457
    del classes[measured[0].name]
    assert survey(measured, classes=classes).n_without_class == 1


def test_claims_cannot_apply_to_other_measurements_but_our_result_is_shown():
    result = survey([made(f"{at}", "org/other", m1=0.9, m2=0.9, m3=0.9) for at in range(5)])
    assert result.scope.is_paper is False
    row = claim(result, "that the heuristic calls")
    assert (row.outcome, row.ours) == ("cannot apply", "100.0 % (5 of 5; 56.6 to 100.0 %)")
    assert claim(result, "B17").outcome == claim(result, "M5 is low").outcome == "cannot apply"
    assert all(row.why for row in result.claims if row.outcome != "reproduced")
    assert not {row.outcome for row in result.claims} & {"reproduced", "differs"}
    assert says(str(replication.document(result)), "not the measurements")


def test_benchmarks_of_other_applications_and_without_a_verdict_are_named():
    result = survey([*whole(), made("own", "org/own")])
    assert (result.scope.n, result.scope.left_out) == (586, ("org/own#own",))
    assert "org/own#own" in str(replication.document(result))
    short = Measured("a#b", "a", "b", 2, (9, 9), reasons=dict.fromkeys(replication.READINGS, "too short"))
    result = survey([short])
    assert claim(result, "that SAME calls").why.endswith(": too short.")
    assert says(str(replication.document(result)), "SAME", "1 benchmark", "too short")
    assert list(replication.charts(result)) == ["figure-1"]


@pytest.mark.parametrize("change", ["more of the example", "another application less", "more benchmarks"])
def test_as_many_benchmarks_as_the_paper_has_need_not_be_its_benchmarks(change):
    measured = whole(m4=0.9)
    other = next(one for one in measured if one.application != FOCUS)
    if change == "more of the example":
        measured = [one for one in measured if one is not other] + [made("new", FOCUS)]
    elif change == "another application less":
        measured = [
            replace(one, application=FOCUS) if one.application == other.application else one for one in measured
        ]
    else:
        measured = [*measured, made("new", other.application)]
    result = survey(measured)
    of_all = [row for row in result.claims if row.where not in ("3.3, Figure 3", "3.3, Figure 4")]
    assert {row.outcome for row in of_all} <= {"cannot be known", "misprint", "reproduced by construction", "differs"}
    size = claim(result, "Size of the data set")
    assert size.outcome == "cannot be known" and "not those of the paper" in size.why
    assert claim(result, "that SAME calls").outcome == "cannot be known"


def test_a_part_refutes_what_it_contains_a_counterexample_to():
    measured = whole()[::3]
    limited = [replace(measured[0], n_above_1=2, highest_m2=1.02), *measured[1:]]
    row = claim(survey(limited), "M1 to M5 lie")
    assert (row.outcome, row.ours) == (
        "differs", "M2 above 1 for 2 of 8820 pairs (1 benchmark), up to 1.020",
    )  # fmt: skip
    high = [
        replace(one, means=one.means | {"m5": 0.4 + at / 1e4}) if one.application == NAMES[4] else one
        for at, one in enumerate(measured)
    ]
    assert claim(survey(high), "M5 is low").outcome == "differs"
    one_of_many = [replace(measured[0], means=measured[0].means | {"m5": 0.9}), *measured[1:]]
    assert claim(survey(one_of_many), "M5 is low").outcome == "cannot be known"


@pytest.mark.parametrize(
    ("n", "n_above", "outcome"),
    [(586, 131, "reproduced"), (203, 44, "cannot be known"), (586, 200, "differs"), (586, 165, "cannot be known")],
)
def test_a_share_is_reproduced_only_within_the_margin(n, n_above, outcome):
    # 22.4 % (19.2 to 25.9) lies within 18.1 to 28.1 %; 21.7 % (16.6 to 27.8) and 28.2 % (24.7 to 31.9) do not
    measured = [made(f"{at:03}", NAMES[at % 30], 0.3 if at < n_above else 0.1) for at in range(n)]
    assert claim(survey(measured), "that SAME calls").outcome == outcome


def test_the_order_of_the_benchmarks_does_not_matter_and_nothing_and_equal_names_are_refused():
    measured = [replace(one, means=one.means | {"m1": at / 600}) for at, one in enumerate(whole())]
    assert survey(measured) == survey(measured[::-1])
    with pytest.raises(ValueError, match="there is no benchmark"):
        survey([])
    with pytest.raises(ValueError, match="two benchmarks are called"):
        survey([made("a", "b"), made("a", "b")])


def test_shares_with_and_without_warmup_and_the_classes_of_the_claim_about_a_steady_state():
    rng = np.random.default_rng(1)

    def runs(*ends):
        """Runs that are slower up to these ends, and then alike."""
        return [rng.normal(np.where(np.arange(1500) < end, 1.5, 1.0), 0.001) for end in ends]

    shapes = {"warm": runs(10, 400, 800), "alike": runs(0, 0, 0), "mixed": runs(0, 0, 1400)}
    benchmarks = [Benchmark.of_series(f"x#{name}", series, "x") for name, series in shapes.items()]
    result = survey([measure(benchmark, "auto") for benchmark in benchmarks], warmup="auto")
    assert {row.name: row.steady for row in result.benchmarks} == {
        "x#warm": "steady state", "x#alike": "steady state", "x#mixed": "inconsistent",
    }  # fmt: skip
    same = next(row for row in result.without_warmup if row.classifier == "same")
    assert (same.n, same.n_dissimilar, same.n_dissimilar_without, same.n_changed) == (3, 2, 1, 1)
    found = claim(result, "Runs without a steady state")
    assert says(found.ours, "inconsistent: the heuristic calls 1 of 1 dissimilar; steady state: the heuristic calls")
    assert "quick rule" in found.why
    text = to_text(document(result, has_figure_4=False))
    assert says(text, "without the warm-up (everything before the steady state, by the quick rule of labeler steady).")
    assert survey([measure(benchmarks[0])]).without_warmup == ()
