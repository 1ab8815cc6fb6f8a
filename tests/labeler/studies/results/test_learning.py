"""What is learned from real benchmarks, with published classes in place of labels."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis.learning import DEFAULT_FEATURES, LABELS, MEASURE_FEATURES, SEGMENT_FEATURES, disagreement_of, examples_of
from labeler.files.formats import Source
from labeler.studies import references
from labeler.studies.items import importing
from labeler.studies.results import learning
from labeler.studies.store import open_database
from labeler.studies.verdicts import computing
from scripts.learning_figures import simulate_selection
from tests.making import WHO, make_study

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def material(tmp_path_factory, icpe_dir, published_classes):
    """The 203 benchmarks; the published class "inconsistent" is the label dissimilar."""
    path = tmp_path_factory.mktemp("real") / "real.study"
    make_study(path, n_items=0, reviewers=())
    files = [Source(str(file), file) for file in sorted((icpe_dir / "timeseries").iterdir())]
    with open_database(path) as db:
        list(importing.import_files(db, files, as_new=False, **WHO))
        computing.compute_verdicts(db, actor="carol")
        material = learning.material_of_study(db, **WHO)
    classes = references.read_classes(Source("published.json", published_classes))
    items = list(material.features.index)
    labels = ["dissimilar" if classes[item] == "inconsistent" else "similar" for item in items]
    return replace(material, answers=pd.DataFrame({"item": items, "reviewer": "published", "label": labels}))


@pytest.fixture(scope="module")
def learned(material):
    return learning.learn(material, learning.LearnOptions(consensus=LABELS))


def test_a_learned_classifier_is_better_than_the_heuristic_on_applications_it_has_not_seen(learned):
    areas = {row.name: row.auc for row in learned.positive.arena.standings}
    assert areas["learned"].value == pytest.approx(0.89, abs=0.02)  # .876 to .899 with other folds
    assert areas["learned, monotone"].value == pytest.approx(0.785, abs=0.02)
    assert areas["heuristic"].value == pytest.approx(0.679, abs=0.001)
    assert areas["same"].value == pytest.approx(0.702, abs=0.001)
    assert areas["spread"].value == pytest.approx(0.655, abs=0.001)
    assert all(areas["learned"].value > areas[name].value for name in ("heuristic", "same", "spread", "kruskal"))
    (difference,) = [row for row in learned.positive.arena.differences if (row.a, row.b) == ("learned", "heuristic")]
    assert difference.difference.low > 0


def test_a_classifier_without_segments_is_nearly_as_good(material):
    names = ",".join(name for name in DEFAULT_FEATURES if name not in SEGMENT_FEATURES)
    found = learning.learn(material, learning.LearnOptions(consensus=LABELS, features=names))
    assert found.positive.arena.standings[0].auc.value == pytest.approx(
        0.861, abs=0.02
    )  # .839 to .862 with other folds
    assert (found.model.needs_segments, found.model.training["segments"]) == (False, None)


def test_labels_without_relation_to_the_runs_are_not_learned(material):
    shuffled = np.random.default_rng(1).permutation(material.answers["label"].to_numpy())
    found = learning.learn(
        replace(material, answers=material.answers.assign(label=shuffled)), learning.LearnOptions(consensus=LABELS)
    )
    areas = {row.name: row.auc for row in found.positive.arena.standings}
    assert areas["learned"].low < 0.5


def test_chosen_items_teach_more_and_the_estimates_stay_unbiased(material):
    labels = material.answers.rename(columns={"label": "category"})[["item", "category"]]
    names = list(MEASURE_FEATURES)
    examples = examples_of(labels, material.features, names, material.applications)
    disagreement = disagreement_of(material.verdicts)
    steps = simulate_selection(examples, disagreement, rng=np.random.default_rng(1), n_first=40, n_repeats=30)
    for step in steps:
        assert abs(step.prevalence_random) < 4 * step.rmse_random / np.sqrt(30)
        assert abs(step.prevalence_weighted) < 4 * step.rmse_weighted / np.sqrt(30)
    assert sum(step.auc_chosen - step.auc_random for step in steps) > -0.02
