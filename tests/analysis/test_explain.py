import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.classifiers import Verdict, explain, heuristic, runs_apart, same
from analysis.dissimilarity import TOO_SHORT
from tests.analysis.strategies import benchmarks
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


def test_a_mean_equal_to_the_threshold_is_not_above_it():
    (sentence,) = explain(judged(means=MEANS))
    above, not_above = sentence.split("; ")
    assert says(above, "3 of 5", "above 0.25:", "M1", "0.90,", "M2", "0.2500001,", "M5", "0.30")
    assert says(not_above, "not above:", "M3", "0.25,", "M4", "0.10")


def test_if_all_means_are_above_none_is_listed_as_not_above():
    (sentence,) = explain(judged(means={"m1": 0.5, "m4": 0.6}))
    assert says(sentence, "2 of 2", "above 0.25:", "M1", "0.50,", "M4", "0.60.")
    assert "not above" not in sentence


def test_if_no_mean_is_above_all_are_listed_as_not_above():
    (sentence,) = explain(judged(means={"m1": 0.1, "m4": 0.25}))
    assert says(sentence, "0 of 2", "above 0.25;", "not above:", "M1", "0.10,", "M4", "0.25.")


@pytest.mark.parametrize(("score", "relation"), [(0.2501, "above"), (0.25, "not above"), (0.1, "not above")])
def test_a_score_equal_to_the_threshold_is_not_above_it(score, relation):
    shown = "0.2501" if score == 0.2501 else f"{score:.3f}"
    (sentence,) = explain(judged(score=score))
    assert says(sentence, shown, f"is {relation} the threshold", "0.25")


def test_the_score_of_the_heuristic_is_called_the_median_of_the_means():
    sentence = explain(judged(means=MEANS, score=0.2500001))[1]
    assert says(sentence, "median of the means", "0.2500001", "is above", "0.25.")


def test_the_score_of_same_is_called_the_height_of_the_last_merge():
    assert says(explain(clustered(1, 2, score=0.5))[1], "height of the last merge", "0.500", "is above", "0.2.")


def test_with_one_cluster_no_run_differs_from_the_rest():
    (sentence,) = explain(clustered(1, 1, 1))
    assert says(sentence, "One cluster", "0.2", "no run")


def test_clusters_are_listed_with_neighbours_joined_and_the_small_ones_named():
    (sentence,) = explain(clustered(1, 1, 1, 1, 2, 1))
    assert says(sentence, "2 clusters", "0.2: runs 1–4, 6; 5.")
    assert sentence.endswith("Outside the largest: 5.")


def test_many_clusters_are_listed_in_order_of_their_first_run():
    (sentence,) = explain(clustered(1, 2, 3, 3, 2, 4, 3))
    assert says(sentence, "4 clusters", "0.2: runs 1; 2,", "5; 3–4, 7; 6.")
    assert sentence.endswith("largest: 1–2, 5–6.")


def test_of_equally_large_clusters_the_first_counts_as_the_largest():
    assert runs_apart((2, 2, 1, 1)) == (2, 3)


def test_without_clusters_no_run_is_apart():
    assert runs_apart(()) == ()


def test_a_verdict_of_same_speaks_of_clusters_and_not_of_means():
    sentences = explain(clustered(1, 2, means={"cosine": 0.4}, score=0.5))
    assert len(sentences) == 2
    assert not any("means" in sentence for sentence in sentences)


def test_without_a_verdict_only_the_reason_is_given():
    verdict = Verdict("same", None, reason=TOO_SHORT, score=1.0, threshold=0.2, n_left_out=3)
    assert explain(verdict) == (f"No verdict: {TOO_SHORT}.",)


def test_a_verdict_of_others_with_a_score_alone_speaks_of_the_score():
    (sentence,) = explain(Verdict("other", "similar", score=0.2, threshold=1e-6))
    assert says(sentence, "score", "0.200", "is above", "1e-06")


def test_a_verdict_without_evidence_has_no_reasons():
    assert explain(Verdict("other", "similar")) == ()


def test_a_score_without_a_threshold_is_not_spoken_of():
    assert explain(Verdict("other", "similar", score=0.2, means={"m1": 0.1})) == ()


def test_an_unknown_measure_is_shown_by_its_name():
    assert "not above: entropy 0.10" in explain(judged(means={"entropy": 0.1}))[0]


def test_a_lazy_verdict_speaks_of_the_means_it_computed():
    verdict = heuristic([STEP, STEP, STEP], only_verdict=True)
    assert verdict.score is None
    (sentence,) = explain(verdict)
    assert says(sentence, "0 of 3", "not above:", "M1", "0.00,", "M3", "0.00,", "M4", "0.00.")


def test_iterations_left_out_are_counted_over_all_runs():
    verdict = heuristic([STEP, STEP[:-3], STEP[:-1]])
    assert explain(verdict)[-1].startswith("5 iterations were left out")


def test_runs_of_equal_length_leave_nothing_out():
    assert not any("left out" in sentence for sentence in explain(heuristic([STEP, STEP])))


def test_the_farthest_run_has_the_largest_mean_over_its_pairs():
    # run 1: (.1 + .8) / 2, run 2: (.1 + .9) / 2, run 3: (.8 + .9) / 2
    (sentence,) = explain(judged(pairs={"m1": np.array([0.1, 0.8, 0.9])}))
    assert says(sentence, "Run 3 is farthest", "0.85", "median run", "0.50")


def test_the_farthest_run_is_found_in_the_mean_of_all_measures():
    # the means are .1, .5 and .2, although run 3 is near by m1 alone
    pairs = {"m1": np.array([0.2, 0.0, 0.0]), "m2": np.array([0.0, 1.0, 0.4])}
    assert says(explain(judged(pairs=pairs))[0], "Run 3 is farthest", "0.35")


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
def test_runs_apart_are_all_but_those_of_one_largest_cluster(clusters):
    apart = runs_apart(clusters)
    stay = {cluster for run, cluster in enumerate(clusters) if run not in apart}
    assert len(stay) == 1
    assert Counter(clusters)[stay.pop()] == max(Counter(clusters).values()) == len(clusters) - len(apart)


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


def test_clusters_of_others_need_no_threshold():
    assert "runs 1–2; 3" in explain(Verdict("other", "dissimilar", clusters=(1, 1, 2)))[0]


def test_a_score_that_is_not_the_median_of_the_means_is_not_called_so():
    verdict = Verdict("other", "dissimilar", score=0.9, threshold=0.5, means={"m1": 0.1, "m2": 0.2, "m3": 0.3})
    assert not any("median of the means, 0.900" in sentence for sentence in explain(verdict))
