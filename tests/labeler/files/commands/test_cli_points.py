"""Marks in files: what the command reads, what it says, and what it refuses."""

import json

import numpy as np
import pytest

from labeler.files.formats import Source
from labeler.files.formats.mark_files import Counting, read_people
from tests.labeler.commands import run
from tests.labeler.files.formats.examples import csv_bytes
from tests.sentences import says

QUICK = ("--permutations", 20)


def tcpd(name, values):
    return json.dumps(
        {"name": name, "n_obs": len(values), "n_dim": 1, "time": {"index": list(range(len(values)))},
         "series": [{"label": "V1", "type": "float", "raw": list(values)}]}
    )  # fmt: skip


def step(n=60, at=30, size=0.2, seed=1):
    return np.random.default_rng(seed).normal(np.where(np.arange(n) < at, 1, 1 + size), 0.01).tolist()


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with three series and the marks of three people, in each form."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "series").mkdir()
    for at, name in ((30, "a"), (20, "b"), (40, "c")):
        (tmp_path / "series" / f"{name}.json").write_text(tcpd(name, step(at=at, size=0 if name == "c" else 0.2)))
    marks = {
        "a": {"ann": [30], "ben": [31], "cat": [29]},
        "b": {"ann": [20], "ben": [22, 50], "cat": []},
        "c": {"ann": [], "ben": [], "cat": []},
    }
    (tmp_path / "marks.json").write_text(json.dumps(marks))
    rows = [(item, who, at) for item, people in marks.items() for who, own in people.items() for at in own or [""]]
    (tmp_path / "marks.csv").write_bytes(csv_bytes(rows, ("item", "reviewer", "mark")))
    labels = [(item, who, json.dumps(own) if own else "no change") for item, people in marks.items()
              for who, own in people.items()]  # fmt: skip
    (tmp_path / "labels.csv").write_bytes(csv_bytes([*labels, ("d", "ann", "not sure")], ("item", "reviewer", "label")))
    exported = [(1, item, who, "2024-01-01", at if at != "" else "no_cp") for item, who, at in rows]
    columns = ("DatasetID", "DatasetName", "UserID", "AnnotatedOn", "AnnotationIndex")
    (tmp_path / "annotatechange.csv").write_bytes(csv_bytes(exported, columns))
    return tmp_path


def content(*arguments):
    return json.loads(run("points", *arguments, *QUICK, "--json").stdout)


@pytest.mark.parametrize("form", ["marks.csv", "labels.csv", "annotatechange.csv"])
def test_each_form_of_marks_is_read_as_the_same(here, form):
    assert read_people(Source(form, here / form)) == read_people(Source("marks.json", here / "marks.json"))


def test_the_result_names_consensus_ties_scores_and_who_may_be_replaced(here):
    found = content("marks.json", "--series", "series")
    items = {item["item"]: item for item in found["items"]}
    assert items["a"]["agreed"] == [30] and items["b"]["agreed"] == [20]
    assert [(mark["at"], mark["people"]) for mark in items["b"]["lone"]] == [(50, ["ben"])]
    detectors = {row["name"]: row for row in found["detectors"]}
    none, cusum = (detectors[name]["scores"][0]["mean"]["value"] for name in ("none", "cusum"))
    assert cusum > none and next(iter(detectors)) == "none"
    assert detectors["cusum"]["scores"][1]["name"] == "covering"
    assert detectors["cusum"]["scores"][0]["replaces"]["epsilon"] == 0.2
    text = run("points", "marks.json", "--series", "series", *QUICK).stdout
    for words in (
        "3 people marked 3 items, with 9 answers in all.",
        "More than half of the people agree on 2 marks; 0 ties and 1 lone mark are left to decide.",
        "May a detector replace a person?", "Nearest to people by F1: ", "10 points",
        "5 % of the length", "By F1, ", "these marks cannot tell whether ",
    ):  # fmt: skip
        assert says(text, words)


def test_page_and_figures_are_written(here):
    run("points", "marks.csv", "--series", "series", *QUICK, "--html", "p.html", "--figures", "figures")
    assert "points-scores" in " ".join(path.name for path in (here / "figures").iterdir())
    assert "May a detector replace a person?" in (here / "p.html").read_text()


@pytest.mark.parametrize("form", ["tcpd", "annotatechange", "table"])
def test_marks_are_converted_there_and_back(here, form):
    run("points", "labels.csv", "--convert", form, "--out", "converted")
    original, again = (read_people(Source(name, here / name)) for name in ("marks.json", "converted"))
    assert again == original


@pytest.mark.parametrize(
    ("counting", "marks"),
    [((), [30]), (("--counted-from", 1), [29]), (("--index-is", "last-before"), [31]),
     (("--index-is", "last-before", "--counted-from", 1), [30])],
)  # fmt: skip
def test_indices_are_counted_as_the_options_say(here, counting, marks):
    (here / "one.json").write_text(json.dumps({"a": {"ann": [30]}}))
    out = run("points", "one.json", *counting, "--convert", "tcpd").stdout
    assert json.loads(out) == {"a": {"ann": marks}}


def test_results_from_files_stand_beside_the_detectors(here):
    bench = {"dataset": "a", "script": "/x/cpdbench_bocpd.R", "status": "SUCCESS", "result": {"cplocations": [0, 30]}}
    (here / "ok.json").write_text(json.dumps(bench))
    (here / "failed.json").write_text(json.dumps(bench | {"dataset": "b", "status": "TIMEOUT"}))
    (here / "table.csv").write_text("item,detector,mark\na,mine,30\nb,mine,\nz,mine,3\n")
    files = [part for name in ("ok.json", "failed.json", "table.csv") for part in ("--results", name)]
    result = run("points", "marks.json", "--series", "series", *files, *QUICK, "--json", "--detector", "cusum")
    assert "bocpd has no result for 'b': timeout" in result.stderr
    found = json.loads(result.stdout)
    rows = {row["name"]: row for row in found["detectors"]}
    assert list(rows) == ["none", "cusum", "bocpd", "mine"]
    assert (rows["bocpd"]["n_items"], rows["mine"]["n_items"], rows["none"]["n_items"]) == (1, 2, 3)
    assert rows["bocpd"]["scores"][0]["difference"]["value"] == pytest.approx(1 - 2 / 3)  # on series a alone
    assert {"name": "z, for mine", "reason": "nobody marked it"} in found["left_out"]


def test_starts_of_runs_are_compared_with_a_rule(here):
    rng = np.random.default_rng(2)
    rows = [("job", number, value) for number in range(2) for value in rng.normal(1, 0.01, 2000)
            * np.where(np.arange(2000) < 400 * (number + 1), 1.5, 1)]  # fmt: skip
    (here / "runs.csv").write_bytes(csv_bytes(rows, ("benchmark", "run", "value")))
    starts = {"job : run 0": {"ann": [400], "ben": [390]}, "job : run 1": {"ann": [800], "ben": []}}
    (here / "starts.json").write_text(json.dumps(starts))
    found = content("starts.json", "--series", "runs.csv", "--about", "starts")
    assert found["starts"]["share_never"] == {"ann": 0, "ben": 0.5}
    rows = {row["name"]: row["scores"][0]["mean"]["value"] for row in found["detectors"]}
    assert list(rows) == ["from the start", "quick"] and rows["quick"] > rows["from the start"]
    assert found["items"][1]["agreed"] == []
    text = run("points", "starts.json", "--series", "runs.csv", "--about", "starts").stdout
    assert says(text, "Nearest to people: quick; its start differs from a person's by a factor of ")


MISUSE = [  # marks, series, words, exit code
    ({"a": {"ann": []}}, {"a": [1.0]}, "1 person marked 1 item", 0),  # a series of one point
    ({"a": {"ann": [], "ben": [0]}}, {"a": [1.0]}, "2 people marked 1 item", 0),
    ({"a": {"ann": [3], "ben": []}}, {"a": [5.0] * 40}, "2 people marked 1 item", 0),  # a constant series
    ({"a": {"ann": [3, 3], "ben": [3]}}, {"a": step()}, "agree on 1 mark; nothing is left to decide", 0),
    ({"a": {"ann": [*range(1, 60)], "ben": [30]}}, {"a": step()}, "ann 59.0", 0),
    ({"a": {"ann": [5], "ben": [5]}}, {"a": [1.0, None, *step()]}, "a series must be a list of finite numbers", 0),
    ({"a": {"ann": [-1]}}, {"a": step()}, "annotator 'ann': the point -1 is before the first point of the series", 2),
    ({"a": {"ann": [60]}}, {"a": step()}, "ann marked point 60, but the points are 0 to 59", 2),
    ({"a": {"ann": [1.5]}}, {"a": step()}, "'1.5' is not the number of a point", 2),
    ({"a": {"ann": ["x"]}}, {"a": step()}, "'x' is not the number of a point", 2),
    ({"a": {"ann": 5}}, {"a": step()}, "5 is not a list of indices", 2),
    ({"a": [5]}, {"a": step()}, "series 'a' has no annotators", 2),
    ({}, {"a": step()}, "The files have no marks.", 2),
    ({"z": {"ann": [5]}}, {"a": step()}, "No series is called 'z'", 2),
    ("item,reviewer,mark\na,,5\n", {"a": step()}, "line 2: the person is empty", 2),
    ("item,reviewer,label\na,ann,[5\n", {"a": step()}, "line 2: marks are written as a list of points", 2),
    ("item,reviewer,label\na,ann,[5]\na,ann,[6]\n", {"a": step()}, "'ann' labels 'a' a second time: '[6]' here", 2),
    ("item,reviewer,label\na,ann,7\n", {"a": step()}, "line 2: '7' is not a list of marks such as [12]", 2),
    ("item,who,mark\na,ann,5\n", {"a": step()}, "column 'reviewer' is missing", 2),
    ("a,b\n1,2\n", {"a": step()}, "none of the known forms of marks", 2),
]


@pytest.mark.parametrize("rows", ["mark\na,ann,5\na,ben,NA\na,cleo,6\n", "label\na,ann,[5]\na,ben,NA\na,cleo,[6]\n"])
def test_a_missing_mark_is_not_the_mark_that_nothing_changes(tmp_path, rows):
    path = tmp_path / "marks.csv"
    path.write_text(f"item,reviewer,{rows}")
    result = run("points", path, "--convert", "table")
    assert result.stdout == "item,reviewer,mark\na,ann,5\na,cleo,6\n"
    assert " missing: " in result.stderr


@pytest.mark.parametrize(("marks", "series", "words", "code"), MISUSE)
def test_strange_marks_and_series_are_used_or_refused_in_words(tmp_path, marks, series, words, code):
    is_table = isinstance(marks, str)
    path = tmp_path / ("marks.csv" if is_table else "marks.json")
    path.write_text(marks if is_table else json.dumps(marks))
    (tmp_path / "series").mkdir()
    for name, values in series.items():
        (tmp_path / "series" / f"{name}.json").write_text(tcpd(name, values))
    result = run("points", path, "--series", tmp_path / "series", *QUICK, code=code)
    assert says(result.stdout if code == 0 else result.stderr, words)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "Give the series that were marked: --series PATH."),
        (("--series", "series", "--convert", "tcpd"), "--convert needs only the marks."),
        (("--series", "series", "--out", "x"), "--out needs --convert."),
        (("--series", "series", "--detector", "magic"), "Detector must be one of none, steps"),
        (("--series", "series", "--about", "starts", "--detector", "cusum"), "Detector must be one of from the start"),
        (("--series", "series", "--results", "marks.csv"), "results have the columns item, detector and mark"),
        (("--series", "series", "--series", "series/a.json"), "Two series are called 'a'."),
        (("more.json", "--series", "series"), "ann marked 'a' in another file too, in another way."),
    ],
)
def test_options_that_do_not_fit_are_refused(here, options, words):
    (here / "more.json").write_text(json.dumps({"a": {"ann": [1]}}))
    (here / "marks.csv").write_text("thing,detector,mark\na,b,1\n")
    assert says(run("points", "marks.json", *options, code=2).stderr, words)


@pytest.mark.slow
def test_a_series_of_100000_points_with_all_points_marked(tmp_path):
    (tmp_path / "a.json").write_text(tcpd("a", step(n=100_000, at=50_000)))
    (tmp_path / "marks.json").write_text(json.dumps({"a": {"ann": list(range(1, 100_000)), "ben": [50_000]}}))
    result = run("points", tmp_path / "marks.json", "--series", tmp_path / "a.json", "--detector", "cusum", *QUICK)
    assert says(result.stdout, "ann 99999.0")


def test_a_mark_is_a_point_whatever_its_form():
    rows = 'item,reviewer,label\na,ann,"[[10, 14], {""at"": 30, ""kind"": ""slower""}]"\n'
    assert read_people(Source("x.csv", data=rows.encode()), Counting()) == {"a": {"ann": (12, 30)}}


def test_only_the_first_label_of_a_person_counts_until_it_is_withdrawn():
    rows = [("a", "ann", "fresh", "[3]"), ("a", "ann", "retest", "[9]"), ("a", "ben", "overlap", "[4]"),
            ("a", "ben", "overlap", "withdrawn"), ("a", "ben", "overlap", "[5]"), ("a", "cat", "third", "[7]"),
            ("b", "ann", "fresh", "not sure")]  # fmt: skip
    table = csv_bytes(rows, ("item", "reviewer", "kind", "label"))
    assert read_people(Source("x.csv", data=table), Counting()) == {"a": {"ann": (3,), "ben": (5,)}}


def test_histories_and_runs_are_written_as_series_of_tcpd_and_read_again(here):
    rows = [("sort", run, value, version) for at, version in enumerate(("v1", "v2", "v10"))
            for run, value in enumerate((1.0 + at, 1.2 + at))]  # fmt: skip
    (here / "t.csv").write_bytes(csv_bytes(rows, ("benchmark", "run", "value", "version")))
    run("convert", "t.csv", "--to", "tcpd", "-o", "tcpd")
    (file,) = (here / "tcpd").iterdir()
    written = json.loads(file.read_text())
    assert written["series"][0]["raw"] == [1.1, 2.1, 3.1] and written["time"]["raw"] == ["v1", "v2", "v10"]
    (here / "m.json").write_text(json.dumps({"sort": {"ann": [1], "ben": [1]}}))
    assert content("m.json", "--series", "tcpd") == content("m.json", "--series", "t.csv")
    (here / "r.csv").write_bytes(csv_bytes([("a", run, value) for run in (0, 1) for value in (1, 2, 3)],
                                           ("benchmark", "run", "value")))  # fmt: skip
    run("convert", "r.csv", "--to", "tcpd", "-o", "runs")
    assert sorted(json.loads(path.read_text())["name"] for path in (here / "runs").iterdir()) == [
        "a : run 0", "a : run 1",
    ]  # fmt: skip
