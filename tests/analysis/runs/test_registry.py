"""The properties in `MEASURES` and `CLASSIFIERS` are true."""

import inspect

import numpy as np
import pytest

from analysis.runs.classifiers import CLASSIFIERS, classifier_named, heuristic, kruskal, same, spread
from analysis.runs.dissimilarity import MEASURES, MeasurementError

RUNS = np.exp(np.sin(np.arange(100) / 5) + np.random.default_rng(6).normal(scale=0.5, size=(4, 100)))
WITH_A_NEGATIVE = RUNS - np.eye(4, 100, 7) * 100
OF_PATTERNS = ["heuristic", "heuristic-printed", "same"]
NO_PARAMETERS = {"drop", "only_verdict"}  # parameters for what to judge and how much to compute


def defaults(function):
    keywords = {key: value for key, value in inspect.signature(function).parameters.items() if key != "runs"}
    return {key: value.default for key, value in keywords.items() if key not in NO_PARAMETERS}


# flag -> two pairs of runs that are equally far apart if the flag is set
PROPERTIES = {
    "symmetric": (RUNS[:2], RUNS[1::-1]),
    "zero_for_same": (RUNS[[0, 0]], np.ones((2, 100))),
    "scale_invariant": (RUNS[:2], RUNS[:2] * [[4], [1]]),
    "offset_invariant": (RUNS[:2], np.add(RUNS[:2], [[4], [0]])),
    "common_scale_invariant": (RUNS[:2], RUNS[:2] * 4),
    "monotone_invariant": (RUNS[:2], RUNS[:2] ** 3),
}


@pytest.mark.parametrize("flag", PROPERTIES)
@pytest.mark.parametrize("name", sorted(MEASURES))
def test_a_measure_has_the_properties_of_its_flags_and_no_other(name, flag):
    measure = MEASURES[name]
    one, other = (measure.function(*pair) for pair in PROPERTIES[flag])
    assert (one == pytest.approx(other, abs=1e-9)) == getattr(measure, flag)


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_a_measure_refuses_negative_measurements_only_where_it_says_so(name):
    measure = MEASURES[name]
    if measure.needs_nonnegative:
        with pytest.raises(MeasurementError, match="is negative"):
            measure.function(*WITH_A_NEGATIVE[:2])
    else:
        assert 0 <= measure.function(*WITH_A_NEGATIVE[:2]) <= 1


@pytest.mark.parametrize("name", OF_PATTERNS)
def test_a_classifier_needs_what_its_measures_need(name):
    classifier = CLASSIFIERS[name]
    measures = [MEASURES[key] for key in classifier(RUNS).pairs]
    assert classifier.needs_nonnegative == any(measure.needs_nonnegative for measure in measures)
    assert classifier.min_iterations == max(measure.min_iterations for measure in measures)


@pytest.mark.parametrize(
    ("name", "function"), [("heuristic", heuristic), ("same", same), ("spread", spread), ("kruskal", kruskal)]
)
def test_a_classifier_is_its_function_with_the_defaults(name, function):
    assert CLASSIFIERS[name].parameters == defaults(function)


@pytest.mark.parametrize("name", sorted(CLASSIFIERS))
def test_a_verdict_names_its_classifier_version_and_parameters(name):
    classifier = CLASSIFIERS[name]
    verdict = classifier(RUNS)
    assert (verdict.classifier, verdict.version) == (name, classifier.version)
    assert verdict.parameters == {**classifier.parameters, "drop": 0}
    threshold = next(key for key in classifier.parameters if key in ("theta", "cut", "limit"))
    assert classifier(RUNS, **{threshold: 1.0}).verdict == "similar"
    assert classifier(RUNS, **{threshold: 0.001}).verdict == "dissimilar"
    setting = classifier.at(0.455)
    verdict, direct = setting(RUNS), classifier(RUNS, **{classifier.threshold_name: 0.455})
    assert setting.name == verdict.classifier == f"{name}@0.455"
    assert (verdict.verdict, verdict.score, verdict.threshold) == (direct.verdict, direct.score, 0.455)
    assert verdict.parameters == direct.parameters
    assert classifier_named(setting.name) == setting
    assert set(CLASSIFIERS[name].parameters) == set(defaults(CLASSIFIERS[name].function))
    shortest = CLASSIFIERS[name].min_iterations
    if shortest > 1:
        assert CLASSIFIERS[name](RUNS[:, : shortest - 1]).verdict is None
    assert CLASSIFIERS[name](RUNS[:, :shortest]).verdict is not None
    if classifier.needs_nonnegative:
        with pytest.raises(MeasurementError, match="is negative"):
            classifier(WITH_A_NEGATIVE)
    else:
        assert classifier(WITH_A_NEGATIVE).verdict is not None


def test_each_threshold_has_one_name_and_the_printed_heuristic_differs_in_the_mean_alone():
    of = CLASSIFIERS["heuristic"]
    assert [of.at(theta).name for theta in (0.3, 0.30000000000000004, 0, 1, 1e-9)] == [
        "heuristic@0.30", "heuristic@0.30000000000000004", "heuristic@0.00", "heuristic@1.00", "heuristic@1e-09",
    ]  # fmt: skip
    assert of.at(0.25) is of.at(0.3).at(0.25) is of
    unknown = ("heuristic@", "heuristic@x", "heuristic@0.3", "heuristic@0.25", "heuristic@nan", "other", "other@0.30")
    assert [classifier_named(name) for name in unknown] == [None] * len(unknown)
    assert CLASSIFIERS["heuristic-printed"].parameters == defaults(heuristic) | {"keep_mean": True}


@pytest.mark.parametrize("threshold", [-0.1, float("nan"), float("inf")])
def test_an_invalid_threshold_is_rejected(threshold):
    with pytest.raises(ValueError, match=r"^cut must be a number >= 0, got "):
        CLASSIFIERS["same"].at(threshold)
