"""Run the fast checks of `ages` on every study of an older schema."""

import gzip
import json

import pytest

from labeler.errors import NewerStudy, StudyError
from labeler.store import migrations, open_database
from tests.conftest import some_slow
from tests.reliability import ages
from tests.reliability._old_studies import FOLDER, expected, names, of_older_schemas, unpacked, wrong, wrong_after


def test_there_is_a_study_of_every_schema():
    assert {told["schema"] for told in expected().values()} == set(range(1, len(migrations.MIGRATIONS) + 1))
    assert {path.name for path in FOLDER.glob("*.study.gz")} == {f"{name}.study.gz" for name in names()}


EVERY_DAY = {f"schema-{number}" for number in (1, 5, len(migrations.MIGRATIONS))}


@pytest.mark.parametrize("name", some_slow(names(), set(names()) - EVERY_DAY))
def test_a_study_of_any_age_has_all_that_was_in_it_and_goes_on(name, tmp_path):
    assert wrong(name, tmp_path) == []


@pytest.mark.parametrize("name", of_older_schemas())
def test_a_study_of_an_older_schema_that_is_only_read_says_so_and_stays_as_it_is(name, tmp_path):
    assert ages.touched(unpacked(name, tmp_path), ages.read, StudyError) == []


@pytest.mark.parametrize("wal", [True, False])
def test_a_study_of_a_later_schema_is_refused_and_stays_as_it_is(wal, tmp_path):
    assert ages.touched(ages.of_later_version(tmp_path, wal=wal), open_database, NewerStudy) == []


def test_two_processes_open_an_old_study_at_once(tmp_path):
    assert ages.at_once("schema-1", tmp_path) == []


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_process_killed_while_it_opens_an_old_study_loses_nothing(share, tmp_path):
    statement = int(share * ages.n_statements("schema-1", tmp_path))
    path = unpacked("schema-1", tmp_path)
    assert ages.killed(ages._die_at, path, statement) == (True, [])
    assert wrong_after(path, "schema-1") == []


def test_a_lost_answer_and_a_changed_report_are_found(tmp_path, monkeypatch):
    told = json.loads(gzip.decompress((FOLDER / "expected.json.gz").read_bytes()))["schema-5"]
    told["labels"].pop()
    told["report"] = told["report"].replace('"seed": 7', '"seed": 8')
    monkeypatch.setitem(expected(), "schema-5", told)
    assert [problem.partition(":")[0] for problem in wrong("schema-5", tmp_path)][:2] == [
        "other labels than before", "plan.seed",
    ]  # fmt: skip
