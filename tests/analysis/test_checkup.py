"""A check of benchmarks: verdicts, reasons, changes against a baseline, and the outcome."""

import numpy as np
import pytest

from analysis.benchmark import Benchmark, Sampling
from analysis.check import FOUND, NOT_TOLD, NOTHING_FOUND, check
from analysis.check import document as checkup_document
from analysis.classifiers import CLASSIFIERS
from analysis.document import plain, to_json, to_markdown, to_text


def bench(name, *levels, n=100, seed=5, **more):
    rng = np.random.default_rng(seed)
    return Benchmark.of_series(name, tuple(level + rng.normal(0, 0.001, n) for level in levels), **more)


STEP = np.repeat([1.0, 2.0], 50)
ALIKE = Benchmark.of_series("alike", (STEP, STEP + 1e-6, STEP))
UNLIKE = Benchmark.of_series("unlike", (STEP, STEP[::-1], STEP))
SHORT = bench("short", 1.0, 1.01, 1.02, n=5)


def test_similar_runs_alone_are_outcome_zero_and_one_dissimilar_benchmark_is_one():
    assert check([ALIKE]).outcome == NOTHING_FOUND == 0
    assert check([ALIKE, UNLIKE]).outcome == FOUND == 1
    assert [one.verdict for one in check([ALIKE, UNLIKE]).benchmarks] == ["similar", "dissimilar"]


def test_every_classifier_is_asked_and_the_chosen_one_counts():
    for name in CLASSIFIERS:
        judged = check([UNLIKE], classifier=name).benchmarks[0]
        assert (judged.classifier, judged.verdict) == (name, judged.verdicts[name])
        assert judged.verdicts == {other: CLASSIFIERS[other](UNLIKE.values).verdict for other in CLASSIFIERS}
    assert check([UNLIKE], classifier="spread").outcome == NOTHING_FOUND  # the means are the same


def test_short_runs_are_judged_by_spread_and_it_is_said():
    judged = check([SHORT]).benchmarks[0]
    assert (judged.classifier, judged.verdict) == ("spread", "similar")
    assert judged.reason == "Runs of fewer than 50 iterations: judged by spread instead of heuristic."
    assert "too short for heuristic: spread judged them" in to_text(checkup_document(check([SHORT])))
    assert check([bench("wide", 1.0, 1.5, n=5)]).outcome == FOUND


def test_what_nobody_can_judge_is_outcome_two():
    one_run = bench("single", 1.0)
    found = check([one_run])
    assert found.outcome == NOT_TOLD == 2
    assert found.benchmarks[0].reason == "at least two runs are needed, got 1"
    assert check([one_run, ALIKE]).outcome == NOTHING_FOUND
    assert check([]).outcome == NOT_TOLD


def test_with_a_baseline_only_changes_count():
    base, slower = bench("b", 1.0, 1.01, 0.99, 1.0), bench("b", 1.2, 1.21, 1.19, 1.2, seed=6)
    assert check([slower], [base]).outcome == FOUND
    assert check([UNLIKE], [UNLIKE]).outcome == NOTHING_FOUND
    assert check([base], [bench("other", 1.0, 1.1)]).outcome == NOT_TOLD
    assert check([bench("b", 1.0)], [bench("b", 1.0)]).outcome == NOT_TOLD


def test_benchmarks_on_one_side_only_are_named():
    found = check([ALIKE, UNLIKE], [ALIKE, SHORT])
    assert (found.only_in_candidate, found.only_in_baseline) == (("unlike",), ("short",))
    text = to_text(checkup_document(found))
    assert "Only in the candidate, so not compared: unlike." in text
    assert "Only in the baseline, so not compared: short." in text


def test_versions_in_one_file_are_judged_apart():
    runs = bench("b", 1.0, 1.0, 5.0, 5.0).values
    mixed = Benchmark.of_series("b", runs, conditions={"version": ("old", "old", "new", "new")})
    found = check([mixed], classifier="spread")
    assert [(one.name, one.verdict) for one in found.benchmarks] == [("b @ old", "similar"), ("b @ new", "similar")]


def test_a_negative_measurement_leaves_same_alone_without_a_verdict():
    negative = Benchmark.of_series("b", (STEP - 5, STEP - 5))
    assert check([negative], classifier="same").benchmarks[0].verdict is None
    assert "negative" in check([negative], classifier="same").benchmarks[0].reason


def test_an_unknown_classifier_and_runs_that_are_all_warmup_are_refused():
    with pytest.raises(ValueError, match="there is no classifier 'vote'"):
        check([ALIKE], classifier="vote")
    with pytest.raises(ValueError, match="all of them warm-up"):
        check([ALIKE], sampling=Sampling(500))


def test_the_document_names_what_needs_attention_first_and_every_number_is_in_the_json():
    base, slower = bench("b", 1.0, 1.01, 0.99, 1.0), bench("b", 1.2, 1.21, 1.19, 1.2, seed=6)
    found = check([ALIKE, slower], [ALIKE, base])
    text = to_text(checkup_document(found))
    assert text.index("1 of 2 benchmarks have changed") < text.index("b: slower (+20.0 %, 95 % CI +18")
    assert '"p_holm"' in to_json(plain(found))
    assert "| Benchmark | Result |" in to_markdown(checkup_document(found))


def test_without_anything_in_common_the_document_says_so():
    assert "Nothing could be compared" in to_text(checkup_document(check([ALIKE], [UNLIKE])))


def test_of_many_benchmarks_the_worst_are_shown_and_the_rest_counted():
    many = [bench(f"b{k}", 1.0, 1.0 + k / 100, n=5) for k in range(60)]
    text = to_text(checkup_document(check(many)))
    assert "First 40 of 60 rows; all are in the JSON." in " ".join(text.split())
    assert text.index("b59") < text.index("b40")


def test_a_name_from_a_file_is_no_markup():
    hostile = bench("<b>*x*|[y](z)\n# t", 1.0, 1.5, n=5)
    said = to_markdown(checkup_document(check([hostile])))
    assert "<b>" not in said.replace("\\<", "") and "\n# t" not in said
