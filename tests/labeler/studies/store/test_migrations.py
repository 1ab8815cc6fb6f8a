"""The mechanism that brings a study to a later schema, shown with a made-up second version."""

import os
import shutil
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from multiprocessing import get_context

import pytest

from labeler.errors import ChangedSchema, StudyError
from labeler.studies.audit import audit
from labeler.studies.store import copies, create_database, migrations, open_database, people, schema_differences
from labeler.studies.store.migrations import Migration
from labeler.studies.store.opening import APPLICATION_ID
from tests.making import answer_next

LAST_OF_PEOPLE = "    created_utc TEXT NOT NULL\n) STRICT;\nCREATE UNIQUE INDEX people_by_email"
SECOND = migrations.SCHEMA.replace(LAST_OF_PEOPLE, LAST_OF_PEOPLE.replace("NOT NULL\n", "NOT NULL,\n    colour TEXT\n"))


def add_colours(db):
    db.execute("ALTER TABLE people ADD COLUMN colour TEXT")
    db.execute("UPDATE people SET colour = name || ' blue'")


def end_in_the_middle(db):
    add_colours(db)
    os._exit(9)


def make_second(monkeypatch, change=add_colours):
    """Let the code be that of a later version, whose schema has one more column."""
    monkeypatch.setattr(migrations, "MIGRATIONS", (Migration(migrations.SCHEMA, change),))
    monkeypatch.setattr(migrations, "VERSION", 2)
    monkeypatch.setattr(migrations, "SCHEMA", SECOND)


@pytest.fixture
def first(planned, tmp_path):
    """The path of a study of version 1 with labels."""
    answer_next(planned, "ada", "dissimilar")
    planned.backup(tmp_path / "first.study")
    return tmp_path / "first.study"


def rows_of(path):
    """The rows of all tables except people, and the names of the people."""
    with closing(sqlite3.connect(path)) as plain:
        tables = {name for (name,) in plain.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        rows = {table: plain.execute(f"SELECT * FROM {table}").fetchall() for table in tables - {"people"}}
        return rows | {"people": plain.execute("SELECT name, created_utc FROM people").fetchall()}


def test_a_study_of_version_1_gets_the_second_schema_and_keeps_every_row(first, tmp_path, monkeypatch):
    before = rows_of(first)
    make_second(monkeypatch)
    for _ in range(2):
        with open_database(first) as opened:
            assert (migrations.version(opened), schema_differences(opened)) == (2, [])
            assert opened.execute("SELECT colour FROM people WHERE name = 'ada'").fetchall() == [("ada blue",)]
            assert audit.audit(opened).faults == ()
    assert rows_of(first) == before
    with create_database(tmp_path / "new.study") as made:
        assert (migrations.version(made), schema_differences(made)) == (2, [])


def test_a_crash_in_the_middle_of_a_step_leaves_the_version_before(first, monkeypatch):
    before = rows_of(first)
    with monkeypatch.context() as later:
        make_second(later, end_in_the_middle)
        process = get_context("fork").Process(target=open_database, args=(first,))
        process.start()
        process.join()
        assert process.exitcode == 9
    with open_database(first) as opened:
        assert (migrations.version(opened), schema_differences(opened)) == (1, [])
        assert "ada" in {person.name for person in people.all_people(opened)}
    assert rows_of(first) == before


def test_an_older_study_is_compared_with_its_own_schema_before_any_step(first, tmp_path, monkeypatch):
    with closing(sqlite3.connect(first)) as plain:
        plain.execute("CREATE TRIGGER spy AFTER UPDATE ON people BEGIN DELETE FROM jobs; END")
    make_second(monkeypatch)
    with pytest.raises(ChangedSchema, match="trigger spy of people was added"):
        open_database(first)
    with closing(sqlite3.connect(first)) as plain:
        assert plain.execute("PRAGMA user_version").fetchone() == (1,)


def test_an_older_study_that_may_only_be_read_is_refused_with_what_to_do(first, monkeypatch):
    make_second(monkeypatch)
    with pytest.raises(StudyError, match=r"last opened by an older version.*labeler status"), copies.read_only(first):
        pass


def test_eight_who_open_an_older_study_at_once_migrate_it_once(first, monkeypatch):
    n_steps = []

    def count(db):
        n_steps.append(1)
        add_colours(db)

    make_second(monkeypatch, count)
    assert open_at_once(first, migrations.version) == [2] * 8
    assert len(n_steps) == 1


def test_a_file_whose_creation_was_interrupted_gets_its_tables_at_the_next_opening(study_path):
    with closing(sqlite3.connect(study_path)) as plain:
        plain.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        plain.execute("PRAGMA journal_mode = WAL")
    assert open_at_once(study_path, lambda db: (migrations.version(db), schema_differences(db))) == [(1, [])] * 8


def test_eight_who_open_a_backup_at_once_all_get_in(db, tmp_path):
    # A backup is not in WAL mode, so all eight may try to change it. Repeated often, because few collide.
    db.backup(tmp_path / "backup.study")
    for number in range(30):
        path = tmp_path / f"{number}.study"
        shutil.copy(tmp_path / "backup.study", path)
        assert open_at_once(path, migrations.version) == [migrations.VERSION] * 8


def open_at_once(path, look, n=8):
    """Return the results of n connections opened at the same moment."""
    barrier = threading.Barrier(n)

    def open_it(_number):
        barrier.wait(60)
        with open_database(path) as opened:
            return look(opened)

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(open_it, range(n)))
