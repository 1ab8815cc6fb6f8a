"""The pages Item, Figures and Verdicts under AppTest: from an empty study to a study with all verdicts."""

import io
import os

import pandas as pd
import pytest

from analysis.document.figures import FORMATS
from analysis.runs.classifiers import CLASSIFIERS
from labeler.studies.items import drawing
from labeler.studies.store import items, jobs, open_database
from labeler.studies.ui.coordinator import queue, results
from labeler.studies.ui.coordinator.items import verdict_file
from labeler.studies.ui.coordinator.shared import escape_markdown
from labeler.studies.verdicts import computing, stored_verdicts
from tests.labeler.studies.ui.pages import button, checked, coordinator_page, drawings, pictures, signed_in, texts
from tests.making import NOW, item_name, make_study
from tests.sentences import says

FIRST, SECOND = item_name(0), item_name(2)
FIGURES = [results.SCHEMATIC, results.BY_APPLICATION, results.BY_BENCHMARK, results.RUNS_OF_ONE]


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """Closed study files by content."""
    folder = tmp_path_factory.mktemp("pages")
    made = {name: folder / f"{name}.study" for name in ("empty", "unjudged", "judged", "imported", "elsewhere")}
    (folder / "verdicts.csv").write_text(f"item,classifier,verdict,score\n{FIRST},mine,similar,0.5\n{SECOND},mine,,\n")
    for name, path in made.items():
        make_study(path, n_items=0 if name in {"empty", "elsewhere"} else 4, reviewers=())
        with open_database(path) as db:
            if name in {"judged", "imported"}:
                computing.compute_verdicts(db, actor="carol")
            if name in {"imported", "elsewhere"}:
                stored_verdicts.import_verdicts(db, folder / "verdicts.csv", None, actor="carol", now=NOW)
    return made


@pytest.fixture
def app(studies, monkeypatch):
    """Open one page of the whole application as its coordinator."""

    def open_page(name, url, figure=results.SCHEMATIC):
        return signed_in(studies[name], url, figure=figure)

    return open_page


def choose(page, kind, key, option):
    return checked(getattr(page, kind)(key=key).set_value(option).run())


def options(page, key):
    return next(box.options for box in [*page.selectbox, *page.radio] if box.key == key)


def tables(page):
    return [table.value for table in page.dataframe]


def test_item_page_without_verdicts_shows_the_runs_and_where_verdicts_come_from(studies):
    page = coordinator_page("Item", "", studies["unjudged"])
    assert len(drawings(page)) == 1
    assert "Verdicts are computed after each import." in texts(page)


def test_item_page_shows_runs_means_matrix_and_reasons_of_the_first_of_all_items_and_the_measure_chosen(studies):
    page = coordinator_page("Item", "", studies["judged"])
    assert (len(drawings(page)), len(pictures(page))) == (1, 2)
    assert says(texts(page), "item 1 of 4")
    assert says(texts(page), "3 of 5 means", "0.25: M1")
    assert options(page, f"verdict-{FIRST}") == [
        "heuristic: dissimilar", "heuristic-printed: similar", "kruskal: similar", "same: similar", "spread: similar",
    ]  # fmt: skip
    (drawn,) = drawings(page)
    with open_database(studies["judged"]) as db:
        item = next(item for item in items.all_items(db) if item.name == FIRST)
        assert drawn["panels"] == [{"kind": "runs", **drawing.payload_of_item(db, item.item_id)}]  # as reviewers see it
    assert (drawn["item"], page.title[0].value) == (FIRST, escape_markdown("bench_0#size=0"))
    before = pictures(page)
    choose(page, "selectbox", f"measure-heuristic-{FIRST}", "M1 correlation")
    assert [one == other for one, other in zip(before, pictures(page), strict=True)] == [True, False]


def test_item_page_shows_histograms_if_they_are_asked_for(studies):
    assert len(pictures(coordinator_page("Item", "", studies["unjudged"]))) == 0
    assert len(pictures(coordinator_page("Item", "", studies["unjudged"], **{"fold-histograms": True}))) == 1
    page = coordinator_page("Item", "", studies["unjudged"], **{"fold-picture": True})
    assert [one.proto.label for one in page.get("download_button")] == [f"Download runs.{form}" for form in FORMATS]


def test_item_page_explains_one_classifier_after_the_other_with_the_reasons_beside(studies):
    page = coordinator_page("Item", "", studies["judged"])
    for headline in ("same: similar", "heuristic-printed: similar", "heuristic: dissimilar"):
        choose(page, "radio", f"verdict-{FIRST}", headline)
        assert options(page, f"measure-{headline.split(':')[0]}-{FIRST}")[0] == "mean of all measures"
        assert (says(texts(page), "One cluster")) == (headline == "same: similar")
        for word in ("Level: the 3 runs are within", "Pattern: M1 is", "Distribution: M5 is", "Warm-up: ",
                     "3 runs of each version detect a difference of"):  # fmt: skip
            assert f"- {word}" in texts(page)


@pytest.mark.parametrize(("classifier", "score"), [("spread", "maxSpread"), ("kruskal", "epsilon squared")])
def test_item_page_explains_a_classifier_without_means_or_pairs_by_its_score_alone(studies, classifier, score):
    page = coordinator_page("Item", "", studies["judged"])
    choose(page, "radio", f"verdict-{FIRST}", f"{classifier}: similar")
    assert f"- The {score}, " in texts(page)
    assert (len(drawings(page)), len(pictures(page))) == (1, 0)
    assert f"measure-{classifier}-{FIRST}" not in [box.key for box in page.selectbox]


def test_item_page_says_that_an_item_without_measurements_has_no_picture(studies):
    (drawn,) = drawings(coordinator_page("Item", "", studies["elsewhere"]))
    assert (drawn["panels"], drawn["caption"]) == ([], queue.NO_PICTURE)


def test_figures_page_shows_one_figure_after_the_other_and_offers_it_in_three_formats(studies):
    page = coordinator_page("Results", "Figures", studies["judged"])
    captions = []
    for title in reversed(FIGURES):
        choose(page, "selectbox", "figure", title)
        assert len(pictures(page)) == 1
        captions.append(page.caption[-1].value.lower())
        files = [button.proto.label for button in page.get("download_button")]
        assert [file.rpartition(".")[2] for file in files] == ["svg", "png", "pdf"]
        assert all(file.startswith("Download ") for file in files)
    assert captions == [title.partition(": ")[2].lower() for title in reversed(FIGURES)]


def test_figures_page_draws_the_application_chosen(studies):
    page = coordinator_page("Results", "Figures", studies["judged"], figure=results.BY_BENCHMARK)
    assert options(page, "figure-application") == ["example/app0", "example/app1"]
    choose(page, "selectbox", "figure-application", "example/app1")
    assert "bench_1" in pictures(page)[0] and "bench_0" not in pictures(page)[0]


def test_figures_page_draws_the_item_and_the_axis_chosen(studies):
    page = coordinator_page("Results", "Figures", studies["judged"], figure=results.RUNS_OF_ONE)
    shown = pictures(page)
    for kind, key, option in (("selectbox", "figure-item", SECOND), ("radio", "figure-axis", "full")):
        choose(page, kind, key, option)
        shown += pictures(page)
    assert len(set(shown)) == len(shown) == 3


@pytest.mark.parametrize(
    ("study", "title", "message"),
    [
        ("unjudged", results.BY_APPLICATION, "No item has the measures of heuristic yet."),
        ("empty", results.BY_BENCHMARK, "No item has the measures of heuristic yet."),
        ("elsewhere", results.RUNS_OF_ONE, f"Item '{FIRST}' has no measurements."),
    ],
)
def test_the_application_says_in_words_why_there_is_no_figure(app, study, title, message):
    page = app(study, "results?view=figures", title)
    (error,) = page.error
    assert error.value.startswith(escape_markdown(message))
    assert len(pictures(page)) == 0
    choose(page, "selectbox", "figure", results.SCHEMATIC)  # after one that there is not
    assert (len(page.error), len(pictures(page))) == (0, 1)


@pytest.mark.parametrize("url", ["item", "items"])
def test_the_application_opens_the_page_in_a_study_of_nothing(app, url):
    page = app("empty", url)
    assert page.title[0].value.lower() == url
    assert len(page.error) == 0


def classifiers_of(path):
    """Return the view All items with the fold Classifiers open."""
    return coordinator_page("Items", "All items", path, **{"fold-classifiers": True})


def test_a_classifier_with_another_threshold_is_removed_by_its_button(tmp_path):
    path = make_study(tmp_path / "removed.study", n_items=1, reviewers=())
    with open_database(path) as db:
        computing.compute_verdicts(db, variants=["heuristic@0.30"], actor="carol")
    page = checked(button(classifiers_of(path), "Remove heuristic@0.30").click().run())
    assert "heuristic@0.30 removed, with 1 verdict." in texts(page)
    with open_database(path) as db:
        assert computing.variants_of(db) == []


def test_verdicts_page_offers_to_compute_what_is_missing(studies):
    page = classifiers_of(studies["unjudged"])
    assert "Items without verdicts: 4" in texts(page)
    assert "Compute verdicts" in [button.label for button in page.button]


def test_verdicts_page_counts_and_lists_the_verdicts(studies):
    _items, counts, *_ = tables(classifiers_of(studies["judged"]))
    assert counts["classifier"].tolist() == sorted(CLASSIFIERS)
    assert counts[["dissimilar", "similar", "none"]].sum(axis=1).tolist() == [4] * len(CLASSIFIERS)
    listed = pd.read_csv(io.StringIO(verdict_file(studies["judged"], "carol")))
    assert listed["item"].tolist() == [name for name in sorted(map(item_name, range(4))) for _ in CLASSIFIERS]


def test_verdicts_page_counts_imported_verdicts_with_those_missing(studies):
    _items, counts, *_, failed = tables(classifiers_of(studies["elsewhere"]))
    assert counts.to_dict("records") == [
        {"classifier": "mine", "threshold": None, "dissimilar": 0, "similar": 1, "none": 1}
    ]
    assert failed["reason"].tolist() == ["the imported file gives no reason"]


def test_verdicts_page_offers_another_threshold_once_everything_is_judged(studies):
    page = classifiers_of(studies["judged"])
    assert "Add this threshold" in [button.label for button in page.button]
    assert "Compute verdicts" not in [button.label for button in page.button]
    assert (page.number_input[0].value, page.number_input[0].max) == (0.3, 1.0)


@pytest.fixture
def begun(tmp_path):
    """A study with a computation in progress, and its job in this process."""
    path = tmp_path / "begun.study"
    make_study(path, n_items=1, reviewers=())
    with open_database(path) as db:
        return path, jobs.start(db, jobs.VERDICTS, os.getpid(), 40, NOW.isoformat())


def test_verdicts_page_shows_how_far_a_running_computation_is(begun):
    path, job = begun
    with open_database(path) as db:
        jobs.advance(db, job, 10, NOW.isoformat())
    page = classifiers_of(path)
    assert page.get("progress")[0].proto.text.startswith("10 of 40 items")
    assert len(page.dataframe) == 1  # the items


def test_verdicts_page_says_that_a_computation_failed(begun):
    path, job = begun
    with open_database(path) as db:
        jobs.finish(db, job, NOW.isoformat(), "OSError: the disk is full")
    page = classifiers_of(path)
    assert says(page.error[0].value, "failed: OSError", "the disk is full")
    assert "Compute verdicts" in [button.label for button in page.button]


def test_verdicts_page_says_that_a_computation_was_interrupted(begun):
    path, _ = begun
    with open_database(path) as db:
        db.execute("UPDATE jobs SET pid = ?", (2**22 + 1,))  # no process has this number
    page = classifiers_of(path)
    assert says(page.warning[0].value, "was interrupted")
