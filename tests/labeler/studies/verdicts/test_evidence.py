import json

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from analysis.runs.classifiers import CLASSIFIERS, explain
from labeler.errors import InputError
from labeler.files import outputs
from labeler.studies.items import browsing, drawing
from labeler.studies.screen import binning
from labeler.studies.store import items, runs
from labeler.studies.verdicts import classifying, computing, evidence, stored_verdicts
from labeler.studies.verdicts.classifying import JudgeOptions
from tests.analysis.drawn import cells, titles
from tests.making import WHO, copy_of, import_all, item_name, make_study, result_file, series
from tests.sentences import says

FIRST, SECOND = item_name(0), item_name(1)
BUILT_IN = tuple(sorted(CLASSIFIERS))  # as listed on pages
HEADLINES = [
    "heuristic: dissimilar", "heuristic-printed: similar", "kruskal: similar", "same: similar", "spread: similar",
]  # fmt: skip
PAIRED = """
import numpy as np
from analysis.runs.classifiers import Verdict

def judge(runs):
    return Verdict({name!r}, "similar", pairs={{"m1": np.full(len(runs.i), 0.5)}}{further})
"""


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """A study of 8 items with their verdicts, closed."""
    path = tmp_path_factory.mktemp("judged") / "judged.study"
    make_study(path, reviewers=())
    with copy_of(path, tmp_path_factory.mktemp("copy")) as db:
        computing.compute_verdicts(db, actor="carol")
        db.backup(path.with_name("master.study"))
    return path.with_name("master.study")


@pytest.fixture
def judged_study(master, tmp_path):
    with copy_of(master, tmp_path) as db:
        yield db


def reasoned(db, name, classifier):
    found = {one.verdict.classifier: one for one in evidence.explained_verdicts(db, browsing.item_named(db, name))}
    return found[classifier]


def computed(db, name):
    """Return the current verdicts of the classifiers on the stored measurements, by name."""
    item = browsing.item_named(db, name)
    return dict(zip(BUILT_IN, classifying.judge(runs.of_item(db, item.item_id), BUILT_IN), strict=True))


def judge_all(db, **options):
    computing.compute_verdicts(db, options=JudgeOptions(**options), actor="carol")


def take_in(db, folder, *lines):
    path = folder / "verdicts.csv"
    path.write_text("\n".join(["item,classifier,verdict,score", *lines]) + "\n", encoding="utf-8")
    stored_verdicts.import_verdicts(db, path, None, **WHO)


@pytest.mark.parametrize("name", [item_name(number) for number in range(8)])
def test_the_reasons_are_those_of_the_verdict_computed_anew(judged_study, name):
    stored = evidence.explained_verdicts(judged_study, browsing.item_named(judged_study, name))
    assert {one.verdict.classifier: one.reasons for one in stored} == {
        classifier: explain(verdict) for classifier, verdict in computed(judged_study, name).items()
    }


def test_the_reasons_say_how_many_iterations_were_left_out(study):
    import_all(study, result_file("unequal", [series(11)[0], series(12)[0][:55]]))
    judge_all(study)
    assert reasoned(study, "unequal", "same").reasons == explain(computed(study, "unequal")["same"])


@pytest.mark.parametrize("classifier", BUILT_IN)
def test_pairs_and_merges_come_back_as_they_were_computed(judged_study, classifier):
    stored, fresh = reasoned(judged_study, FIRST, classifier).verdict, computed(judged_study, FIRST)[classifier]
    assert list(stored.pairs) == list(fresh.pairs)
    for measure, values in fresh.pairs.items():
        assert stored.pairs[measure] == pytest.approx(values, rel=1e-6, abs=1e-9)
    if fresh.linkage is None:
        assert stored.linkage is None
    else:
        assert stored.linkage == pytest.approx(fresh.linkage, rel=1e-12)
    assert (stored.clusters, stored.means) == (fresh.clusters, fresh.means)


def test_the_measures_are_the_mean_of_all_and_each_one(judged_study):
    assert reasoned(judged_study, FIRST, "same").measures == [
        "mean of all measures", "cosine", "Wave-Hedges", "Kumar-Hassebrook", "scaled RMSE",
    ]  # fmt: skip


@pytest.mark.parametrize("classifier", ["heuristic", "same"])
def test_the_matrix_of_each_measure_shows_its_pairs(judged_study, classifier):
    one, fresh = reasoned(judged_study, FIRST, classifier), computed(judged_study, FIRST)[classifier]
    expected = [np.mean(list(fresh.pairs.values()), axis=0), *fresh.pairs.values()]
    for title, pairs in list(zip(one.measures, expected, strict=True))[:2]:
        square = squareform(pairs)
        for cell in cells(evidence.matrix(one, title)):
            assert cell.value == pytest.approx(square[int(cell.row) - 1, int(cell.column) - 1], rel=1e-5, abs=1e-9)


def test_the_matrix_of_same_has_a_tree_and_its_order_and_that_of_the_heuristic_has_none(judged_study):
    one = reasoned(judged_study, SECOND, "same")
    order = list(dict.fromkeys(int(cell.column) - 1 for cell in cells(evidence.matrix(one))))
    assert order == hierarchy.leaves_list(computed(judged_study, SECOND)["same"].linkage).tolist()
    assert "dissimilarity at merge" in titles(evidence.matrix(one))
    assert "dissimilarity at merge" not in titles(evidence.matrix(reasoned(judged_study, FIRST, "heuristic")))


def test_the_threshold_stands_beside_the_means_of_the_heuristic_only(judged_study):
    found = {name: reasoned(judged_study, FIRST, name) for name in BUILT_IN}
    marked = {n: "▲" in " ".join(titles(evidence.means(one))) for n, one in found.items() if one.verdict.means}
    assert marked == {"heuristic": True, "heuristic-printed": True, "same": False}


def test_the_figure_by_application_shows_the_means_of_its_benchmarks(judged_study):
    odd = [computed(judged_study, item_name(number))["heuristic"].means for number in (1, 3, 5, 7)]
    shown = [cell.value for cell in cells(evidence.by_application(judged_study)) if cell.row == "example/app1 (4)"]
    assert shown == pytest.approx([np.mean([means[measure] for means in odd]) for measure in odd[0]])
    of_another = cells(evidence.by_application(judged_study, "heuristic-printed"))
    assert "M3 Fourier" in {cell.column for cell in of_another}


def test_the_figure_by_benchmark_shows_the_means_of_each(judged_study):
    expected = {f"bench_{n} size={n}": computed(judged_study, item_name(n))["heuristic"].means for n in (0, 2, 4, 6)}
    assert evidence.applications(judged_study) == ["example/app0", "example/app1"]
    drawn = cells(evidence.by_benchmark(judged_study, "example/app0"))
    assert {cell.row for cell in drawn} == set(expected)
    for row, means in expected.items():
        assert [cell.value for cell in drawn if cell.row == row] == pytest.approx(list(means.values()))


def test_every_figure_has_a_name_of_its_own(judged_study):
    names = list(evidence.paper_figures(judged_study, ["example/app0"], [FIRST, SECOND]))
    assert [name.rpartition("/")[2].split("-example")[0] for name in names] == [
        "schematic-pairs", "measures-by-application", "measures-by-benchmark",
        "runs", "matrix-heuristic", "matrix-heuristic-printed", "matrix-same",
        "runs", "matrix-heuristic", "matrix-heuristic-printed", "matrix-same",
    ]  # fmt: skip
    assert len(set(names)) == len(names)


def test_an_item_that_was_not_judged_has_its_runs_alone(judged_study):
    import_all(judged_study, result_file("late", series(9)))
    assert list(evidence.paper_figures(judged_study, [], ["late"]))[2:] == ["late/runs"]


def test_the_figures_of_two_items_never_have_the_same_name(study):
    import_all(study, result_file("x", series(11)), result_file("printed-x", series(12)))
    judge_all(study)
    both = evidence.paper_figures(study, [], ["x", "printed-x"])
    alone = [evidence.paper_figures(study, [], [name]) for name in ("x", "printed-x")]
    assert len(both) == len(alone[0]) + len(alone[1]) - 2  # the first two belong to no item


def test_a_classifier_of_others_with_pairs_has_its_matrix_and_harms_no_other_page_or_folder(site, study):
    paired, uncounted = (PAIRED.format(name="paired", further=further) for further in (", n_runs=runs.k", ""))
    site.install("paired", paired, points={"../../x": "paired:judge"})
    site.install("uncounted", uncounted)
    judge_all(study)
    drawn = cells(evidence.matrix(reasoned(study, FIRST, "../../x"), "M1 correlation"))
    assert {cell.text for cell in drawn} == {"", "0.50"}
    assert {name.count("/") for name in list(evidence.paper_figures(study, [], [FIRST]))[2:]} == {1}
    assert reasoned(study, FIRST, "same").reasons


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda db: browsing.item_named(db, "nothing"), "There is no item 'nothing' in this study."),
        (lambda db: evidence.describe_reasons(db, "nothing"), "There is no item 'nothing' in this study."),
        (lambda db: evidence.paper_figures(db, [], ["nothing"]), "There is no item 'nothing' in this study."),
        (lambda db: evidence.paper_figures(db, ["nothing"], []), "No benchmark has the application 'nothing'."),
        (lambda db: evidence.by_benchmark(db, "Apache/Kafka"), "application 'Apache/Kafka'"),
        (lambda db: evidence.by_application(db, "other"), "item has the measures"),
    ],
)
def test_what_is_not_there_is_refused_by_name(judged_study, ask, message):
    with pytest.raises(InputError) as refused:
        ask(judged_study)
    assert message in str(refused.value)


@pytest.mark.parametrize("options", [None, {"only_verdict": True}], ids=["no verdicts", "only verdicts"])
def test_without_measures_there_is_no_figure_of_them(study, options):
    if options:
        judge_all(study, **options)
    for ask in (evidence.by_application, lambda db: evidence.by_benchmark(db, "example/app0")):
        with pytest.raises(InputError, match="item has the measures"):
            ask(study)


def test_a_verdict_without_evidence_has_nothing_to_show(study):
    judge_all(study, only_verdict=True)
    one = reasoned(study, FIRST, "heuristic")
    assert (one.headline, one.reasons, one.measures) == (
        "heuristic: dissimilar", (evidence.NO_EVIDENCE,), [],
    )  # fmt: skip


def test_measures_that_were_computed_stay_when_only_verdicts_are_asked_for(judged_study):
    judge_all(judged_study, only_verdict=True)
    assert reasoned(judged_study, FIRST, "heuristic").measures
    assert len(cells(evidence.by_application(judged_study))) == 10


def test_an_item_without_measurements_has_no_runs_to_show(db, tmp_path):
    take_in(db, tmp_path, "Elsewhere,mine,similar,0.5")
    with pytest.raises(InputError, match=r"^Item 'Elsewhere' has no measurements\.$"):
        evidence.runs_of_item(db, browsing.item_named(db, "Elsewhere"))


def test_an_imported_verdict_has_no_matrix_and_no_figure_and_without_a_category_says_why(judged_study, tmp_path):
    take_in(judged_study, tmp_path, f"{FIRST},mine,similar,0.5", f"{SECOND},mine,,")
    assert reasoned(judged_study, FIRST, "mine").measures == []
    assert not [name for name in evidence.paper_figures(judged_study, [], [FIRST]) if "mine" in name]
    one = reasoned(judged_study, SECOND, "mine")
    assert one.headline == "mine: no verdict"
    (reason,) = one.reasons
    assert says(reason, "No verdict: ", "imported")


def test_the_reasons_in_words_are_one_line_a_classifier(judged_study):
    lines = evidence.describe_reasons(judged_study, FIRST)
    assert [line.split(". ")[0] for line in lines] == HEADLINES
    assert lines[3].startswith("same: similar. One cluster at the cut 0.2: no run differs from the rest. The height of")
    assert lines[4] == "spread: similar. The maxSpread, 0.012, is not above the threshold, 0.1."


def test_bins_of_this_version_are_drawn_as_they_are_stored_and_older_ones_made_anew(study):
    item = browsing.item_named(study, FIRST)
    before = drawing.payload_of_item(study, item.item_id)
    runs.put_bins(study, item.item_id, binning.VERSION - 1, b'{"stored": true}')
    assert drawing.payload_of_item(study, item.item_id) == before == json.loads(json.dumps(before))
    runs.put_bins(study, item.item_id, binning.VERSION, b'{"stored": true}')
    assert drawing.payload_of_item(study, item.item_id) == {"stored": True}


def test_an_item_has_the_chart_and_the_histograms_of_its_runs(study):
    item = items.all_items(study)[0]
    chart = evidence.runs_of_item(study, item, "full").to_dict()
    assert [panel["title"] for panel in chart["concat"]] == ["run 1", "run 2", "run 3"]
    drawn = titles(evidence.measurements_of_item(study, item))
    assert {"all runs merged", "run 1", "run 2", "run 3"} <= set(drawn)


def test_a_figure_in_a_page_is_the_picture_in_the_files(judged_study):
    chart = evidence.by_application(judged_study)
    assert outputs.as_svg(chart).encode() == outputs.as_file(chart, "svg")
