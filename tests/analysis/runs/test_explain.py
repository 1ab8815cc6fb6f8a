import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.runs.classifiers import Verdict, explain, heuristic, runs_apart, same
from analysis.runs.dissimilarity import TOO_SHORT
from tests.analysis.raters.strategies import benchmarks
from tests.sentences import says

MEANS = {"m1": 0.9, "m2": 0.2500001, "m3": 0.25, "m4": 0.1, "m5": 0.3}
STEP = np.repeat([1.0, 2.0], 50)


def judged(**numbers):
    """Build a verdict of the heuristic, or of SAME if clusters are given."""
    return Verdict("heuristic", "dissimilar", threshold=0.25, **numbers)


def clustered(*clusters, **numbers):
    return Verdict("same", "dissimilar", threshold=0.2, clusters=clusters, **numbers)


def spoken(sentence):
    """Return the runs that a sentence names, from 1, with ranges expanded."""
    runs = []
    for first, last in re.findall(r"(\d+)(?:–(\d+))?", sentence):
        runs += range(int(first), int(last or first) + 1)
    return runs


@st.composite
def clusterings(draw):
    """Clusters of 2 to 30 runs, numbered from 1 in the order of their first run."""
    drawn = draw(st.lists(st.integers(1, 5), min_size=2, max_size=30))
    numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(drawn), start=1)}
    return tuple(numbers[cluster] for cluster in drawn)


@pytest.mark.parametrize(
    ("verdict", "at", "parts"),
    [
        # a mean or a score that equals the threshold is not above it
        (judged(means=MEANS), 0, ("3 of 5", "above 0.25:", "M1", "0.90,", "M2", "0.2500001,", "M5", "0.30; not above:",
                                  "M3", "0.25,", "M4", "0.10")),
        (judged(means={"m1": 0.5, "m4": 0.6}), 0, ("2 of 2", "above 0.25:", "M1", "0.50,", "M4", "0.60.")),
        (judged(means={"m1": 0.1, "m4": 0.25}), 0, ("0 of 2", "above 0.25;", "not above:", "M1", "0.10,", "M4")),
        (judged(means={"entropy": 0.1}), 0, ("not above: entropy 0.10",)),
        (judged(score=0.2501), 0, ("0.2501", "is above the threshold", "0.25")),
        (judged(score=0.25), 0, ("0.250", "is not above the threshold", "0.25")),
        (judged(means=MEANS, score=0.2500001), 1, ("median of the means", "0.2500001", "is above", "0.25.")),
        (clustered(1, 2, score=0.5), 1, ("height of the last merge", "0.500", "is above", "0.2.")),
        (clustered(1, 1, 1), 0, ("One cluster", "0.2", "no run")),
        (clustered(1, 1, 1, 1, 2, 1), 0, ("2 clusters", "0.2: runs 1–4, 6; 5.")),
        (clustered(1, 1, 1, 1, 2, 1), 0, ("Outside the largest: 5.",)),
        (clustered(1, 2, 3, 3, 2, 4, 3), 0, ("4 clusters", "0.2: runs 1; 2,", "5; 3–4, 7; 6.")),
        (Verdict("other", "dissimilar", clusters=(1, 1, 2)), 0, ("runs 1–2; 3",)),  # without a threshold
        (Verdict("other", "similar", score=0.2, threshold=1e-6), 0, ("score", "0.200", "is above", "1e-06")),
        # run 1: (.1 + .8) / 2, run 2: (.1 + .9) / 2, run 3: (.8 + .9) / 2
        (judged(pairs={"m1": np.array([0.1, 0.8, 0.9])}), 0, ("Run 3 is farthest", "0.85", "median run", "0.50")),
        # the means of all measures are .1, .5 and .2, although run 3 is near by m1 alone
        (judged(pairs={"m1": np.array([0.2, 0, 0]), "m2": np.array([0, 1, 0.4])}), 0, ("Run 3 is farthest", "0.35")),
        (heuristic([STEP, STEP, STEP], only_verdict=True), 0, ("0 of 3", "not above:", "M1", "0.00,", "M3", "M4")),
        (heuristic([STEP, STEP[:-3], STEP[:-1]]), -1, ("5 iterations were left out",)),  # over all runs
    ],
)  # fmt: skip
def test_a_verdict_is_explained(verdict, at, parts):
    assert says(explain(verdict)[at], *parts)


@pytest.mark.parametrize(
    ("verdict", "absent"),
    [
        (judged(means={"m1": 0.5, "m4": 0.6}), "not above"),
        (clustered(1, 2, means={"cosine": 0.4}, score=0.5), "means"),
        (heuristic([STEP, STEP]), "left out"),
        (
            Verdict("other", "dissimilar", score=0.9, threshold=0.5, means={"m1": 0.1, "m2": 0.2, "m3": 0.3}),
            "median of",
        ),
    ],
)
def test_what_does_not_hold_of_a_verdict_is_not_said(verdict, absent):
    assert not any(absent in sentence for sentence in explain(verdict))


@pytest.mark.parametrize(
    ("verdict", "sentences"),
    [
        (
            Verdict("same", None, reason=TOO_SHORT, score=1.0, threshold=0.2, n_left_out=3),
            (f"No verdict: {TOO_SHORT}.",),
        ),
        (Verdict("other", "similar"), ()),
        (Verdict("other", "similar", score=0.2, means={"m1": 0.1}), ()),  # a score without a threshold
    ],
)
def test_without_a_verdict_or_evidence_there_are_no_reasons(verdict, sentences):
    assert explain(verdict) == sentences


@pytest.mark.parametrize(("clusters", "apart"), [((2, 2, 1, 1), (2, 3)), ((), ())])
def test_of_equally_large_clusters_the_first_counts_as_the_largest(clusters, apart):
    assert runs_apart(clusters) == apart


@given(benchmarks())
def test_the_sentences_agree_with_the_heuristics_verdict(runs):
    verdict = heuristic(runs)
    means, score, *_ = explain(verdict)
    assert (int(means[0]) >= 3) == (verdict.verdict == "dissimilar") == (", is above" in score)


@given(benchmarks())
def test_the_sentences_agree_with_sames_verdict(runs):
    verdict = same(runs)
    clusters, height, *_ = explain(verdict)
    assert clusters.startswith("One cluster") == (verdict.verdict == "similar") == (", is not above" in height)


@given(clusterings())
def test_every_run_is_spoken_of_once_and_those_apart_once_more(clusters):
    (sentence,) = explain(clustered(*clusters))
    if len(set(clusters)) == 1:
        assert sentence.startswith("One cluster at the cut 0.2: no run ")
        return
    listed, apart = sentence.removeprefix(f"{len(set(clusters))} clusters at the cut 0.2: ").split("Outside")
    assert sorted(spoken(listed)) == list(range(1, len(clusters) + 1))
    assert [len(spoken(group)) for group in listed.split(";")] == list(Counter(clusters).values())
    assert spoken(apart) == [run + 1 for run in runs_apart(clusters)]
