import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from analysis.runs.classifiers import CLASSIFIERS
from labeler.studies.questions import SIMILAR
from labeler.studies.results import reporting
from labeler.studies.store import items, open_database, runs
from labeler.studies.verdicts import computing, stored_verdicts
from labeler.studies.verdicts.classifying import JudgeOptions, judge, judges
from labeler.studies.verdicts.computing import ComputationResult
from tests.labeler.cli.test_cli import run
from tests.labeler.packages import STEADY, STEADY_LIMIT
from tests.labeler.studies.verdicts.test_computing import compute, export, shown
from tests.making import REVIEWERS, WHO, answer_everything, copy_of, import_all, report_of, result_file, series
from tests.sentences import says

FRAGILE = """
from analysis.runs.classifiers import Verdict

def judge(runs):
    return Verdict("fragile", "similar", score=1 / (runs.values.shape[1] - 77))
"""
ZEROES = """
from analysis.runs.classifiers import Verdict

def judge(runs):
    runs.values[:] = 0
    return Verdict("zeroes", "similar")
"""


def gives(expression):
    """Return a classifier that always gives the same verdict."""
    imports = "import numpy as np\nfrom analysis.runs.classifiers import Verdict\n\n"
    return f"{imports}def judge(runs):\n    return {expression}\n"


def does(statement):
    return f"def judge(runs):\n    {statement}\n"


def of(db, name):
    """Return the columns of one classifier in the tables, by item."""
    return {row["item"]: row for row in shown(db) if row["classifier"] == name}


def of_built_in(db):
    return [row for row in shown(db) if row["classifier"] in CLASSIFIERS]


def spreads(db, drop=0):
    """Return the score of the steady classifier, computed here."""
    measured = {item.name: runs.of_item(db, item.item_id) for item in items.all_items(db)}
    return {name: np.array(series)[:, drop:].std() for name, series in measured.items()}


def category(spread):
    return "dissimilar" if spread > STEADY_LIMIT else "similar"


@pytest.fixture
def steady(site):
    site.install("steady", STEADY)
    return site


@pytest.fixture(scope="module")
def built_in(masters, tmp_path_factory):
    """The verdicts of the built-in classifiers on the study's items without other packages."""
    with copy_of(masters["unplanned"], tmp_path_factory.mktemp("built_in")) as db:
        compute(db)
        return shown(db)


def test_a_classifier_of_another_package_judges_beside_the_built_in_ones(study, steady, built_in):
    assert compute(study) == ComputationResult(n_items=8, n_computed=8, n_without_verdict=0)
    found = of(study, "steady")
    assert {name: row["score"] for name, row in found.items()} == pytest.approx(spreads(study))
    assert {name: row["verdict"] for name, row in found.items()} == {
        name: category(spread) for name, spread in spreads(study).items()
    }
    assert all(row["means"] == {"m1": 2 * row["score"]} for row in found.values())
    assert {(row["threshold"], row["runs"], row["iterations"]) for row in found.values()} == {(STEADY_LIMIT, 3, 60)}
    assert of_built_in(study) == built_in


def test_its_verdicts_are_counted_and_exported(study, steady):
    compute(study)
    n_dissimilar = [*map(category, spreads(study).values())].count("dissimilar")
    assert 0 < n_dissimilar < 8
    assert stored_verdicts.verdict_counts(stored_verdicts.verdict_table(study), SIMILAR.names)[-1] == {
        "classifier": "steady", "threshold": STEADY_LIMIT,
        "dissimilar": n_dissimilar, "similar": 8 - n_dissimilar, "none": 0,
    }  # fmt: skip
    exported = export(study).query("classifier == 'steady'").set_index("item")
    assert exported["score"].to_dict() == pytest.approx(spreads(study))
    assert (exported["m1"] == 2 * exported["score"]).all()
    assert exported["m2"].isna().all()


def test_the_report_holds_its_verdicts_against_the_labels(planned, steady):
    answer_everything(planned, dict.fromkeys(REVIEWERS, "similar"))
    compute(planned)
    content = report_of(planned)
    said = [*map(category, spreads(planned).values())]
    n_dissimilar, n_similar = said.count("dissimilar"), said.count("similar")
    assert list(content["classifiers"]) == sorted([*CLASSIFIERS, "steady"])
    row = content["classifiers"]["steady"]
    assert row["verdicts"] == {"similar": n_similar, "dissimilar": n_dissimilar, "none": 0}
    assert row["against"]["counts"] == [[n_similar, n_dissimilar], [0, 0]]
    assert row["positive"]["specificity"]["value"] == pytest.approx(n_similar / 8)


@pytest.mark.slow
def test_processes_started_for_the_work_find_it_and_the_warmup_is_left_out(study, steady, tmp_path):
    study.backup(tmp_path / "other.study")
    options = JudgeOptions(warmup=10)
    compute(study, options=options)
    found = of(study, "steady")
    assert {name: row["score"] for name, row in found.items()} == pytest.approx(spreads(study, drop=10))
    assert {row["iterations"] for row in found.values()} == {50}
    with open_database(tmp_path / "other.study") as other, ProcessPoolExecutor(2, get_context("spawn")) as pool:
        assert compute(other, executor=pool, options=options) == ComputationResult(8, 8, 0)
        assert shown(other) == shown(study)


def test_an_error_on_one_item_is_that_items_error_alone(db, site):
    site.install("fragile", FRAGILE)
    import_all(db, result_file("odd", series(1, n_iterations=77)), result_file("even", series(2, n_iterations=78)))
    assert compute(db) == ComputationResult(2, 2, 1)
    found = of(db, "fragile")
    assert (found["even"]["verdict"], found["even"]["score"], found["even"]["error"]) == ("similar", 1.0, None)
    assert (found["odd"]["verdict"], found["odd"]["error"]) == (None, "ZeroDivisionError: division by zero")
    assert [row["error"] for row in of_built_in(db)] == [None] * 2 * len(CLASSIFIERS)
    assert computing.n_missing(db) == 0


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        (gives("'similar'"), "TypeError: the classifier returned str, not a Verdict"),
        (gives("None"), "TypeError: the classifier returned NoneType, not a Verdict"),
        ("judge = 3", "TypeError: 'int' object is not callable"),
        (does("raise ValueError('too few cores')"), "too few cores"),
        (does("raise SystemExit(0)"), "SystemExit: 0"),
    ],
    ids=["import", "text", "None", "no function", "ValueError", "SystemExit"],
)
def test_a_classifier_that_fails_says_why_and_harms_no_other(study, site, built_in, source, error):
    site.install("mine", source)
    assert compute(study) == ComputationResult(8, 8, 8)
    assert [(row["verdict"], row["error"]) for row in of(study, "mine").values()] == [(None, error)] * 8
    assert of_built_in(study) == built_in


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (
            "Verdict('mine', 'unclear')",
            "the classifier gave the verdict 'unclear', which is not one of: similar, dissimilar",
        ),
        ("Verdict('mine', '')", "the classifier gave the verdict '', which is not one of: similar, dissimilar"),
        ("Verdict('mine', None)", "the classifier gave no verdict and no reason"),
        ("Verdict('mine', 'similar', score='high')", "the classifier gave the score 'high', which is not a number"),
        ("Verdict('mine', 'similar', threshold=np.inf)", "the classifier gave the threshold inf, which is not finite"),
        (
            "Verdict('mine', 'similar', means={'m1': np.nan})",
            "the classifier gave the mean m1 nan, which is not finite",
        ),
        ("Verdict('mine', 'similar', clusters=(1, 1))", "the classifier gave 2 clusters for 3 runs"),
        (
            "Verdict('mine', 'similar', pairs={'a': np.ones(3), 'b': np.ones(2)})",
            "the classifier gave pairs b of shape (2,)",
        ),
        ("Verdict('mine', 'similar', linkage=np.ones((3, 4)))", "the classifier gave linkage of shape (3, 4)"),
    ],
)
def test_a_verdict_that_cannot_be_one_is_the_error_of_its_classifier_alone(study, site, built_in, given, error):
    site.install("mine", gives(given))
    assert compute(study) == ComputationResult(8, 8, 8)
    assert all(row["error"].startswith(error) for row in of(study, "mine").values())
    assert of_built_in(study) == built_in


def test_numbers_of_numpy_are_kept_as_plain_ones(study, site):
    given = (
        "score=np.float32(0.5), threshold=np.int64(2), means={'m1': np.int64(1)}, clusters=tuple(np.arange(3)),"
        " pairs={'m1': np.float32([1, 2, 3])}"
    )
    site.install("mine", gives(f"Verdict('mine', 'similar', {given})"))
    assert compute(study) == ComputationResult(8, 8, 0)
    for row in of(study, "mine").values():
        assert (row["score"], row["threshold"], row["means"]["m1"], row["clusters"]) == (0.5, 2.0, 1.0, (0, 1, 2))


@pytest.mark.parametrize("name", ["another", "same"])
def test_a_verdict_is_kept_under_the_registered_name_whatever_it_calls_itself(study, site, built_in, name):
    site.install("mine", gives(f"Verdict('{name}', 'similar', score=99.0)"))
    compute(study)
    assert {row["verdict"] for row in of(study, "mine").values()} == {"similar"}
    assert {row["classifier"] for row in shown(study)} == {*CLASSIFIERS, "mine"}
    assert of_built_in(study) == built_in


def test_a_verdict_that_cannot_be_sent_by_a_process_harms_no_other(study, site, built_in):
    site.install("mine", gives("Verdict('mine', 'similar', parameters={'f': lambda: 0})"))
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        compute(study, executor=pool)
    assert len(of(study, "mine")) == 8
    assert of_built_in(study) == built_in


def test_a_package_cannot_take_the_name_of_a_built_in_classifier(study, site, built_in):
    site.install("same", gives("Verdict('same', 'dissimilar', score=99.0)"))
    assert [one.name for one in judges(JudgeOptions())] == list(CLASSIFIERS)
    compute(study)
    assert shown(study) == built_in


def test_a_classifier_that_raises_keyboardinterrupt_stops_the_command_as_a_person_would(study, site):
    site.install("mine", does("raise KeyboardInterrupt"))
    assert says(run("verdicts", "--study", study.path, code=2).stderr, "Finished verdicts are kept")


def test_a_classifier_cannot_change_the_runs_under_the_others(study, site, built_in):
    assert judge(series(1), ["steady"])[0].reason == "the classifier steady is not installed here"
    for name, source in (("zeroes", ZEROES), ("steady", STEADY)):
        site.install(name, source)
    assert compute(study) == ComputationResult(8, 8, 8)
    assert {row["error"] for row in of(study, "zeroes").values()} == {"assignment destination is read-only"}
    assert of_built_in(study) == built_in
    assert judge(series(1), ["zeroes", "steady"])[1] == judge(series(1), ["steady"])[0]


def test_a_score_that_is_no_number_is_refused_and_the_report_stays_valid_json(study, site):
    site.install("mine", gives("Verdict('mine', 'similar', score=np.nan)"))
    assert compute(study) == ComputationResult(8, 8, 8)
    assert {row["error"] for row in of(study, "mine").values()} == {
        "the classifier gave the score nan, which is not finite"
    }
    text = reporting.files_of_study(study, reporting.QUICK, **WHO)["report.json"]
    assert json.loads(text)["classifiers"]["mine"]["verdicts"]["none"] == 8


def test_a_package_that_could_not_be_loaded_is_asked_again_once_it_can_be(study, site):
    site.install("steady", "import no_such_module")
    compute(study)
    site.install("steady", STEADY)
    compute(study)
    assert {row["error"] for row in of(study, "steady").values()} == {None}


def made(db):
    rows = db.execute("SELECT verdict_id, created_utc FROM verdicts WHERE classifier <> 'steady' ORDER BY verdict_id")
    return rows.fetchall()


def test_a_new_version_of_the_package_judges_again_and_nothing_else_is_computed_again(study, steady):
    compute(study)
    before, others = of(study, "steady"), made(study)
    assert computing.n_missing(study) == 0
    steady.install("steady", STEADY.replace(str(STEADY_LIMIT), "9.5"), version="1.1")
    assert computing.n_missing(study) == 8
    compute(study)
    assert {(row["verdict"], row["threshold"]) for row in of(study, "steady").values()} == {("similar", 9.5)}
    assert made(study) == others
    steady.install("steady", STEADY, version="1.0")
    assert compute(study).n_computed == 0
    assert of(study, "steady") == before


def test_the_verdicts_of_a_removed_package_stay(study, steady):
    compute(study)
    before = shown(study)
    steady.uninstall("steady")
    assert computing.n_missing(study) == 0
    assert compute(study) == ComputationResult(8, 0, 0)
    assert shown(study) == before
    assert set(export(study)["classifier"]) == {*CLASSIFIERS, "steady"}
    files = reporting.files_of_study(study, reporting.QUICK, **WHO)
    assert "steady" in json.loads(files["report.json"])["classifiers"]


def test_a_package_installed_later_is_all_that_is_computed(study, site):
    compute(study)
    others = made(study)
    site.install("steady", STEADY)
    assert says(run("verdicts", "--study", study.path).stderr, "8 of 8 items;", "0 verdicts")
    assert len(of(study, "steady")) == 8
    assert made(study) == others
