"""The command publish as a person runs it: the answer file, missing answers, the data set, comments."""

import json

import pytest

from labeler.studies.store import open_database
from tests.labeler.commands import run
from tests.making import answer_everything, end_study, make_study


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "cache.study"
    make_study(path, plan=True)
    with open_database(path) as db:
        answer_everything(db, {"ada": "similar", "ben": "dissimilar", "cleo": "similar", "dan": "similar"})
        end_study(db)
    return path


def fill_in(file):
    text = file.read_text(encoding="utf-8")
    for name, value in (("licence", "CC-BY-4.0"), ("given_names", "Grace"), ("family_names", "Hopper")):
        text = text.replace(f'{name} = ""', f'{name} = "{value}"', 1)
    file.write_text(text.replace('app0" = ""', 'app0" = "MIT"').replace('app1" = ""', 'app1" = "MIT"'), "utf-8")


@pytest.mark.slow
def test_from_an_empty_file_of_answers_to_a_data_set(study, tmp_path):
    assert "Wrote" in run("publish", "--init", "--study", study).stderr
    answers = tmp_path / "publish.toml"
    assert "exists already" in run("publish", "--init", "--study", study, code=2).stderr
    lacks = run("publish", "--dry-run", "--study", study, code=2).stderr
    assert "licence: " in lacks and "sources: no licence for example/app0" in lacks
    fill_in(answers)
    assert "has everything that is required" in run("publish", "--dry-run", "--study", study).stderr
    assert "doi: the badge" in run("publish", "--dry-run", "--for", "icse", "--study", study, code=2).stderr
    result = run("publish", "--out", tmp_path / "out", "--quick", "--json", "--study", study)
    files = {row["file"]: row for row in json.loads(result.stdout)}
    assert files["data/items.parquet"]["rows"] == 8
    assert all(len(row["sha256"]) == 64 for row in files.values())
    assert "no verdicts" in result.stderr and "SHA-256" in result.stderr
    check = run(
        "report", "--verify", tmp_path / "out/report/report.json", "--labels", tmp_path / "out/data/labels.csv",
        "--verdicts", tmp_path / "out/report/verdicts.csv",
    )  # fmt: skip
    assert "match the recomputed values" in check.stderr


def test_the_table_of_files_is_for_people(study, tmp_path):
    run("publish", "--init", "--study", study)
    fill_in(tmp_path / "publish.toml")
    result = run("publish", "--out", tmp_path / "out", "--quick", "--no-measurements", "--study", study)
    assert "the labels, one row per answer" in result.stdout and "measurements.parquet" not in result.stdout


def test_comments_are_listed_to_be_read(study, tmp_path):
    result = run("publish", "--list-comments", "-", "--study", study)
    assert result.stdout == "event,item,reviewer,comment,publish\n"
    assert "0 comments written." in result.stderr


@pytest.mark.slow
def test_the_report_of_a_data_set_has_the_level_asked_for(study, tmp_path):
    run("publish", "--init", "--study", study)
    fill_in(tmp_path / "publish.toml")
    run("publish", "--out", tmp_path / "out", "--quick", "--no-measurements", "--level", "0.8", "--study", study)
    report = json.loads((tmp_path / "out/report/report.json").read_text())
    assert report["parameters"]["level"] == 0.8
    assert "80 % CI" in (tmp_path / "out/report/report.html").read_text()
    assert "95 % CI" not in (tmp_path / "out/report/report.html").read_text()
