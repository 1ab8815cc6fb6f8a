"""Compare a report with numbers computed from the data now."""

import json

import pytest

from analysis.document import to_json
from labeler.errors import InputError
from labeler.studies.preparing import assigning
from labeler.studies.results import reporting, written_reports
from labeler.studies.results.reporting import QUICK, ReportOptions, Resampling
from labeler.studies.verdicts import computing
from tests.making import (
    NOW,
    PARAMETERS,
    REVIEWERS,
    WHO,
    answer_everything,
    answer_next,
    copy_of,
    log,
    report_of,
    report_of_files,
)

SMALL = ReportOptions(0.9, Resampling(seed=7, n_bootstrap=30, n_sweeps=30, n_misfit=19))
LABELS = "item,reviewer,label\nx1,ada,similar\nx1,ben,similar\nx2,ada,similar\nx2,ben,dissimilar\n"
VERDICTS = "item,classifier,verdict,score\nx1,rule,similar,0.1\nx2,rule,dissimilar,0.9\n"


@pytest.fixture(scope="module")
def labelled(masters, tmp_path_factory):
    """A labelled study with verdicts; one more answer is possible."""
    folder = tmp_path_factory.mktemp("labelled")
    with copy_of(masters["planned"], folder) as db:
        answer_everything(db, dict(zip(REVIEWERS[:3], ("similar", "dissimilar", "similar"), strict=True)))
        answer_next(db, "dan", "similar")
        computing.compute_verdicts(db, actor="carol")
    return folder / masters["planned"].name


@pytest.fixture
def study(labelled, tmp_path):
    with copy_of(labelled, tmp_path) as db:
        yield db


@pytest.fixture(scope="module")
def fresh_report(labelled, tmp_path_factory):
    """The text of its quick report."""
    with copy_of(labelled, tmp_path_factory.mktemp("reported")) as db:
        return to_json(report_of(db))


@pytest.fixture
def fresh(fresh_report, tmp_path):
    """The same as a file."""
    (tmp_path / "report.json").write_text(fresh_report)
    return tmp_path / "report.json"


def written(db, folder, options=QUICK):
    """Return the report of a study as a file."""
    file = folder / "report.json"
    file.write_text(to_json(report_of(db, options)))
    return file


def content_of(file):
    return json.loads(file.read_text())


def check(db, file):
    return written_reports.check_study(db, file, actor="owner", now=NOW)


def places(found):
    return [difference.place for difference in found]


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(QUICK, id="quick", marks=pytest.mark.slow),
        pytest.param(ReportOptions(0.5, Resampling(2, 0, 20, 19)), id="drawn"),
        pytest.param(ReportOptions(resampling=Resampling.none(), prevalences=(0.1,)), id="p", marks=pytest.mark.slow),
    ],
)
def test_a_fresh_report_agrees_with_its_own_settings(study, tmp_path, options):
    study.execute("UPDATE people SET name = 'a.b[0]' WHERE name = 'ada'")  # a name that looks like the end of a place
    assert check(study, written(study, tmp_path, options)) == []


def test_each_difference_is_found_with_both_values_and_time_and_versions_may_be_others(study, fresh):
    content = content_of(fresh)
    share = content["agreement"]["pairs"][0]["percent"]
    was, share["value"] = share["value"], 0.123
    content["study"]["reported_utc"] = "1999-01-01T00:00:00+00:00"
    content["versions"] = {"labeler": "0.0"}
    content["hashes"]["measurements"] = "other"
    content["study"]["state"] = "closed"
    fresh.write_text(to_json(content))
    before = log(study)
    found = {difference.place: difference for difference in check(study, fresh)}
    assert log(study) == [*before, ("owner", "report")]
    assert set(found) == {"study.state", "hashes.measurements", "agreement.pairs[0].percent.value"}
    altered = found["agreement.pairs[0].percent.value"]
    assert (altered.reported, altered.recomputed) == (0.123, was)


def test_a_label_after_the_report_is_found(study, fresh):
    answer_next(study, "dan", "dissimilar")
    found = places(check(study, fresh))
    assert {"hashes.answers", "agreement.n_labels"} <= set(found)
    assert "hashes.measurements" not in found


@pytest.fixture
def files(tmp_path):
    labels, verdicts = tmp_path / "labels.csv", tmp_path / "verdicts.csv"
    labels.write_text(LABELS)
    verdicts.write_text(VERDICTS)
    return labels, verdicts


@pytest.fixture(scope="module")
def report_on_files(tmp_path_factory):
    """The text of a report on these files, with a note."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "labels.csv").write_text(LABELS)
    (folder / "verdicts.csv").write_text(VERDICTS)
    return to_json(report_of_files(folder / "labels.csv", folder / "verdicts.csv", ("Mind this.",), SMALL))


@pytest.fixture
def file(report_on_files, tmp_path):
    (tmp_path / "report.json").write_text(report_on_files)
    return tmp_path / "report.json"


def test_a_report_on_files_agrees_with_them_and_its_notes_are_taken_as_they_are(files, file):
    assert written_reports.check_files(*files, file) == []


def test_another_line_in_the_label_file_is_found(files, file):
    files[0].write_text(LABELS.replace("x2,ben,dissimilar", "x2,ben,similar"))
    assert {"hashes.answers", "consensus.split"} <= set(places(written_reports.check_files(*files, file)))


def test_verdicts_left_out_are_found(files, file):
    found = places(written_reports.check_files(files[0], None, file))
    assert "classifiers.rule.against.n" in found
    assert "hashes.verdicts" in found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        (b"<html>", "not valid JSON"),
        (b"[]", "not a report of labeler"),
        (b"null", "not a report of labeler"),
        (b'"agreement"', "not a report of labeler"),
        (b'{"agreement": {}}', "not a report of labeler"),
    ],
)
def test_a_file_that_is_no_report_is_refused_in_one_sentence(study, files, tmp_path, text, message):
    file = tmp_path / "report.json"
    file.write_bytes(text)
    for checked in (lambda: check(study, file), lambda: written_reports.check_files(*files, file)):
        with pytest.raises(InputError, match=rf"report\.json is {message}[^\n]*\.$"):
            checked()


UNUSABLE = {
    "no parameters": {},
    "parameters are a list": [],
    "no resampling": {"level": 0.95},
    "a level in words": {"level": "high", "resampling": {}},
    "an unknown kind of draws": {"level": 0.95, "resampling": {"n_guesses": 5}},
    "draws in words": {"level": 0.95, "resampling": {"n_sweeps": "many"}},
    "a level above 1": {"level": 2, "resampling": {"n_bootstrap": 0, "n_sweeps": 0}},
    "resampling is a list": {"level": 0.95, "resampling": []},
    "resampling is null": {"level": 0.95, "resampling": None},
    "a negative seed": {"level": 0.95, "resampling": {"seed": -1, "n_sweeps": 10, "n_misfit": 19}},
    "fewer than no draws": {"level": 0.95, "resampling": {"n_bootstrap": -5, "n_sweeps": 0}},
    "too few draws for the test of misfit": {
        "level": 0.95, "resampling": {"n_bootstrap": 0, "n_sweeps": 10, "n_misfit": 5}
    },
    "infinite draws": {"level": 0.95, "resampling": {"n_bootstrap": float("inf")}},
    "prevalences are a number": {"level": 0.95, "resampling": {}, "prevalences": 0.5},
}  # fmt: skip
USABLE = {"show_rejected": False, "prevalences": [], "epsilon": 0.2, "tables": None}  # the other parameters
UNREADABLE = set(list(UNUSABLE)[:6])  # the sentence ends with the cause in brackets


def with_part(file, name, value):
    file.write_text(json.dumps(content_of(file) | {name: value}))
    return file


@pytest.mark.parametrize("what", UNUSABLE)
def test_a_report_without_settings_that_can_be_used_is_refused(study, fresh, what):
    parameters = UNUSABLE[what]
    file = with_part(fresh, "parameters", USABLE | parameters if isinstance(parameters, dict) else parameters)
    end = r".* \(.+\)\.$" if what in UNREADABLE else ""
    with pytest.raises(InputError, match=rf"report\.json: .*parameters{end}"):
        check(study, file)


@pytest.mark.parametrize("notes", [None, 5])
def test_a_report_whose_notes_are_no_list_is_refused(files, fresh, notes):
    file = with_part(fresh, "notes", notes)
    with pytest.raises(InputError, match=r"report\.json"):
        written_reports.check_files(*files, file)


@pytest.mark.parametrize(
    ("name", "value"),
    [("agreement", []), ("classifiers", 5), ("hashes", None)],
)
def test_a_report_with_another_thing_in_the_place_of_a_part_differs(files, file, name, value):
    with_part(file, name, value)
    assert any(place.startswith(name) for place in places(written_reports.check_files(*files, file)))


@pytest.mark.slow
def test_the_exported_tables_of_a_study_agree_with_its_report_in_all_but_what_a_file_cannot_know(study, tmp_path):
    texts = reporting.files_of_study(study, QUICK, actor="owner", now=NOW)
    (tmp_path / "labels.csv").write_text(texts["labels.csv"])
    (tmp_path / "report.json").write_text(texts["report.json"])
    found = places(written_reports.check_files(tmp_path / "labels.csv", None, tmp_path / "report.json"))
    assert [place for place in found if place.startswith("agreement")] == []


def test_planning_a_study_changes_what_its_report_says_of_the_plan(masters, tmp_path):
    with copy_of(masters["unplanned"], tmp_path) as db:
        file = written(db, tmp_path)
        assert content_of(file)["plan"] is None
        assigning.confirm_plan(db, PARAMETERS, **WHO)
        assert "plan.hash" in places(check(db, file))
