import json
import sqlite3
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from labeler.errors import LabelerError, NewerStudy, NoStudy, NotAStudy, StudyBusy, StudyError, StudyReadOnly
from labeler.studies.store import actions, create_database, database, events, items, open_database, runs, verdicts
from labeler.studies.store.migrations import VERSION
from labeler.studies.store.opening import APPLICATION_ID, BEFORE_1_0
from tests.labeler.conftest import unprivileged

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def add_event(db, place="knock"):
    events.Deed(db, "ada", NOW).log(actions.LOOK, at=place, state="draft")


def places(db):
    return [json.loads(details).get("at") for details in events.table(db)["details"]]


def integrity(path):
    with open_database(path) as opened:
        return opened.execute("PRAGMA integrity_check").fetchone()[0]


@pytest.mark.parametrize("name", ["new.study", "100 % #1?mode=ro/ä&b.study"])
def test_a_new_file_opens_again_with_what_was_written(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    with create_database(path) as made:
        add_event(made)
    with open_database(path) as opened:
        assert (places(opened), opened.path) == (["knock"], path)
    assert integrity(path) == "ok"


@pytest.mark.parametrize("again", [False, True])
def test_every_connection_keeps_what_it_commits_and_the_references_between_rows(study_path, again):
    opened = create_database(study_path)
    if again:
        opened.close()
        opened = open_database(study_path)
    with opened:
        pragmas = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "application_id")
        settings = {name: opened.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas}
    assert settings == {
        "journal_mode": "wal",
        "synchronous": 2,  # FULL
        "foreign_keys": 1,
        "busy_timeout": 5000,
        "application_id": APPLICATION_ID,
    }


def other_sqlite_file(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE notes (text TEXT)")
    connection.close()


def newer_study(path):
    with create_database(path) as made:
        made.execute("PRAGMA user_version = 999")


def study_before_1_0(path):
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA application_id = {BEFORE_1_0}")
    connection.execute("PRAGMA user_version = 13")
    connection.execute("CREATE TABLE studies (name TEXT)")
    connection.close()


def damaged_header(path):
    create_database(path).close()
    content = path.read_bytes()
    path.write_bytes(content[:16] + b"\x07" * (len(content) - 16))


def cut_short(path):
    create_database(path).close()
    path.write_bytes(path.read_bytes()[:4096])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda path: None, NoStudy, "study .*new.study"),
        (lambda path: path.mkdir(), NoStudy, r"There is no study .*new.study"),
        (lambda path: path.touch(), NotAStudy, "not a study file"),
        (lambda path: path.write_text("item,reviewer,label\n" * 99), NotAStudy, "not a study file"),
        (other_sqlite_file, NotAStudy, "new.study is an SQLite"),
        (newer_study, NewerStudy, f"schema 999.*schema {VERSION}"),
        (study_before_1_0, NotAStudy, r"new.study was made by a version before 1.0, which this version cannot open\.$"),
        (damaged_header, NotAStudy, r"new.study is damaged: .*Restore a backup"),
        (cut_short, NotAStudy, r"new.study is damaged: database disk image is malformed. Restore a backup"),
    ],
)
def test_anything_but_a_study_is_refused_in_words_and_left_as_it_is(study_path, make, error, message):
    make(study_path)
    before = study_path.read_bytes() if study_path.is_file() else None
    with pytest.raises(error, match=message):
        open_database(study_path)
    assert (study_path.read_bytes() if study_path.is_file() else None) == before


def test_damage_that_shows_only_while_rows_are_read_is_said_in_words(masters, tmp_path):
    content = masters["unplanned"].read_bytes()
    path = tmp_path / "damaged.study"
    said = set()
    for page in range(1, len(content) // 4096):
        path.write_bytes(content[: 4096 * page] + b"\xff" * 4096 + content[4096 * (page + 1) :])
        try:
            with open_database(path) as opened:
                for item in items.all_items(opened):
                    runs.of_item(opened, item.item_id)
                verdicts.table(opened)
        except LabelerError as error:
            said.add(str(error))
        for companion in ("-wal", "-shm"):
            path.with_name(path.name + companion).unlink(missing_ok=True)
    assert said == {f"{path} is damaged: database disk image is malformed. Restore a backup."}


def test_a_new_study_never_takes_the_place_of_a_file(study_path, tmp_path):
    study_path.write_text("precious")
    with pytest.raises(StudyError, match=r"new.study already exists"):
        create_database(study_path)
    assert study_path.read_text() == "precious"
    with pytest.raises(StudyError, match="already exists"):
        create_database(tmp_path)
    with pytest.raises(StudyError, match=r"folder .*missing"):
        create_database(tmp_path / "missing" / "new.study")
    assert not (tmp_path / "missing").exists()


def test_a_file_that_cannot_be_written_is_read_but_not_changed(study_path, tmp_path):
    create_database(study_path).close()
    study_path.chmod(0o444)
    tmp_path.chmod(0o777)
    with unprivileged(tmp_path), open_database(study_path) as opened:
        assert places(opened) == []
        with pytest.raises(StudyReadOnly, match=r"new.study cannot"):
            add_event(opened)
        with pytest.raises(StudyReadOnly, match="cannot be written to"), opened.atomic():
            add_event(opened)


def test_a_study_that_was_read_only_once_can_be_written_once_it_is_made_writable(study_path, tmp_path):
    tmp_path.chmod(0o777)
    shared = study_path.with_name(f"{study_path.name}-shm")
    with unprivileged(tmp_path):
        create_database(study_path).close()
        study_path.chmod(0o444)
        reading = open_database(study_path)
        assert places(reading) == []
        assert shared.stat().st_mode & 0o222 == 0  # SQLite created it with the study
        study_path.chmod(0o644)
        with open_database(study_path) as opened:
            add_event(opened, "written")
            assert places(opened) == ["written"]
        reading.close()


def test_a_folder_that_cannot_be_written_to_is_named_as_the_reason(study_path, tmp_path):
    create_database(study_path).close()
    study_path.chmod(0o666)
    tmp_path.chmod(0o555)
    try:
        with unprivileged(tmp_path):
            with pytest.raises(StudyReadOnly, match="folder writable"):
                open_database(study_path)
            with pytest.raises(StudyError, match=r"other.study cannot be (created|opened|written to)"):
                create_database(tmp_path / "other.study")
    finally:
        tmp_path.chmod(0o755)
    assert not (tmp_path / "other.study").exists()


@pytest.mark.parametrize("closed", ["file", "folder"])
def test_a_file_that_may_not_be_read_is_refused_in_words(study_path, tmp_path, closed):
    create_database(study_path).close()
    closed_path = study_path if closed == "file" else tmp_path
    tmp_path.chmod(0o755)
    closed_path.chmod(0o000)
    try:
        with unprivileged(tmp_path), pytest.raises(StudyError, match=r"new\.study"):
            open_database(study_path)
    finally:
        closed_path.chmod(0o755)


def test_who_cannot_write_because_another_does_is_told_so(db, monkeypatch):
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 0.02)  # for the thread that writes
    db.execute("PRAGMA busy_timeout = 20")  # for the process that writes
    with open_database(db.path) as other, other.atomic():
        add_event(other)
        with pytest.raises(StudyBusy, match=r"empty.study is busy"):
            add_event(db, "too early")
        with pytest.raises(StudyBusy, match="is busy"), db.atomic():
            add_event(db, "too early")
        assert "knock" not in places(db)  # reading continues meanwhile
    add_event(db, "in time")
    assert places(db)[-2:] == ["knock", "in time"]


def test_who_opens_a_backup_while_another_writes_to_it_waits_too(db, tmp_path):
    path = tmp_path / "backup.study"
    db.backup(path)  # not in WAL mode, so the first process that opens it changes the mode
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    end = threading.Timer(0.2, other.execute, ["COMMIT"])
    end.start()
    try:
        with open_database(path) as opened:
            assert opened.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    finally:
        end.join()
        other.close()


def keep(db, *names, error=None):
    """Append events in one atomic block, then fail if requested."""
    with db.atomic():
        for name in names:
            add_event(db, name)
        if error is not None:
            raise error


@pytest.mark.parametrize("error", [RuntimeError("stop"), KeyboardInterrupt(), sqlite3.IntegrityError("twice")])
def test_an_error_inside_leaves_nothing_and_goes_on_to_the_caller(db, error):
    before = places(db)
    with pytest.raises(type(error)):
        keep(db, "one", "two", error=error)
    assert places(db) == before
    keep(db, "three")  # the connection works as if new
    assert places(db) == [*before, "three"]


def test_an_atomic_block_inside_another_is_part_of_it(db):
    before = places(db)

    def outer(error=None):
        with db.atomic():
            keep(db, "inner")
            keep(db, "outer", error=error)

    with pytest.raises(RuntimeError):
        outer(RuntimeError())
    assert places(db) == before
    outer()
    assert places(db) == [*before, "inner", "outer"]


@pytest.mark.parametrize("error", [RuntimeError("stop"), sqlite3.IntegrityError("twice")])
def test_an_inner_block_that_fails_leaves_nothing_of_itself_though_its_error_is_caught(db, error):
    before = places(db)

    def inner():
        with db.atomic():
            keep(db, "innermost")
            keep(db, "inner", error=error)

    with db.atomic():
        keep(db, "first")
        with pytest.raises(type(error)):
            inner()
        keep(db, "last")
    assert places(db) == [*before, "first", "last"]


def beside(path, end):
    return path.with_name(f"{path.name}-{end}")


@pytest.mark.parametrize("end", ["", "wal", "shm"])
@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_commit_into_a_file_that_was_removed_or_replaced_is_no_success(db, end, is_replaced):
    gone = beside(db.path, end) if end else db.path
    content = gone.read_bytes()
    gone.unlink()
    if is_replaced:
        gone.write_bytes(content)
    with pytest.raises(StudyError, match=f"{gone.name} was removed or replaced while the study was in use"):
        keep(db, "into nowhere")


def test_a_commit_into_a_log_that_somebody_emptied_is_no_success(db):
    keep(db, "before")
    with open_database(db.path) as other:
        other.execute("SELECT count(*) FROM events").fetchone()
        with beside(db.path, "wal").open("r+b") as log:
            log.write(bytes(32))  # as in a new log into which SQLite writes where the old log ended
        with pytest.raises(StudyError, match="was removed or replaced"):
            keep(other, "into nowhere")


def test_commits_go_on_while_connections_come_and_go(db):
    keep(db, "one")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with open_database(db.path) as other:
        keep(other, "two")
    with db.atomic():
        assert places(db)[-2:] == ["one", "two"]  # nothing is written
    keep(db, "three")
    assert places(db)[-3:] == ["one", "two", "three"]


def test_a_study_behind_a_symbolic_link_is_written_to(db, tmp_path):
    link = tmp_path / "link.study"
    link.symlink_to(db.path)
    with open_database(link) as other:
        keep(other, "through the link")
        link.unlink()
        with pytest.raises(StudyError, match=r"link\.study was removed"):
            keep(other, "the next")


def test_a_commit_that_fails_leaves_nothing_behind(db):
    def refer_to_nobody():
        with db.atomic():
            db.execute("PRAGMA defer_foreign_keys = ON")
            db.execute("INSERT INTO sessions VALUES ('hash', 999, ?)", (NOW.isoformat(),))

    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        refer_to_nobody()
    assert db.execute("SELECT count(*) FROM sessions").fetchone()[0] == 0
    keep(db, "next")
    assert places(db)[-1] == "next"


def test_a_full_disk_is_said_in_words_and_leaves_nothing(db):
    n_pages = db.execute("PRAGMA page_count").fetchone()[0]
    db.execute(f"PRAGMA max_page_count = {n_pages + 2}")
    before = places(db)
    with pytest.raises(StudyReadOnly, match=r"empty.study.*disk is full"):
        keep(db, *["x" * 1000] * 500)
    assert places(db) == before


@pytest.mark.parametrize(
    ("driver", "words"),
    [
        (
            "disk I/O error",
            "cannot be read or written: disk I/O error. The disk may be full, or one of its files was removed.",
        ),
        ("database or disk is full", "cannot be written to: the disk is full."),
    ],
)
def test_a_disk_without_room_is_said_in_words_whatever_sqlite_calls_it(driver, words):
    error = database._described(sqlite3.OperationalError(driver), Path("a.study"))
    assert isinstance(error, StudyReadOnly)
    assert str(error) == f"a.study {words}"


def test_many_rows_fail_with_the_same_words_as_one(db):
    statement = "INSERT INTO sessions VALUES (?, ?, ?)"
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        db.executemany(statement, [("hash", 999, NOW.isoformat())])
    with pytest.raises(sqlite3.OperationalError, match="syntax error"):  # stays the driver's error
        db.execute("SELEC 1")
    db.execute("PRAGMA query_only = ON")
    with pytest.raises(StudyReadOnly, match="cannot be written to"):
        db.executemany(statement, [("hash", 1, NOW.isoformat())])


def test_a_backup_opens_as_a_study_and_is_one_file(planned, tmp_path):
    target = tmp_path / "backup.study"
    planned.backup(target)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("backup")] == ["backup.study"]
    with open_database(target) as copy:
        assert items.all_items(copy) == items.all_items(planned)
        assert events.table(copy).equals(events.table(planned))
    assert integrity(target) == "ok"


def test_a_backup_put_in_the_place_of_a_study_opens_although_the_number_of_the_file_is_the_same(planned, tmp_path):
    planned.backup(tmp_path / "backup.study")
    study = tmp_path / "copy.study"
    for _ in range(2):  # the second time, this process knows a file of this number
        study.write_bytes((tmp_path / "backup.study").read_bytes())
        with open_database(study) as opened:
            assert opened.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_a_backup_can_be_read_where_nothing_can_be_written(planned, tmp_path):
    folder = tmp_path / "archive"
    folder.mkdir()
    planned.backup(folder / "backup.study")
    folder.chmod(0o555)
    try:
        with unprivileged(folder):
            copy = sqlite3.connect(f"{(folder / 'backup.study').as_uri()}?mode=ro", uri=True)
            assert copy.execute("SELECT count(*) FROM items").fetchone()[0] == 8
            copy.close()
    finally:
        folder.chmod(0o755)


def test_a_backup_in_the_middle_of_writing_is_whole(db, tmp_path):
    stop, target = threading.Event(), tmp_path / "backup.study"

    def write():
        with open_database(db.path) as other:
            for number in range(10_000):
                with other.atomic():
                    add_event(other, f"{number}a")
                    add_event(other, f"{number}b")
                if stop.is_set():
                    return

    thread = threading.Thread(target=write)
    thread.start()
    try:
        while len(places(db)) < 50:
            pass
        db.backup(target)
    finally:
        stop.set()
        thread.join()
    assert integrity(target) == "ok"
    with open_database(target) as copy:
        copied = places(copy)
    assert copied == places(db)[: len(copied)]
    assert copied[-1].endswith("b")


def test_a_backup_never_takes_the_place_of_a_file(db, tmp_path):
    target = tmp_path / "backup.study"
    target.write_text("precious")
    with pytest.raises(StudyError, match=r"backup.study already exists"):
        db.backup(target)
    assert target.read_text() == "precious"
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.parametrize("place", ["missing/backup.study", "empty.study/backup.study", "x" * 300])
def test_a_backup_that_cannot_be_written_is_refused_in_words_and_leaves_nothing(db, tmp_path, place):
    with pytest.raises(StudyError, match=r"The backup could not be written to .*: "):
        db.backup(tmp_path / place)
    assert {path.name for path in tmp_path.iterdir()} <= {"empty.study", "empty.study-wal", "empty.study-shm"}


def test_opening_a_study_once_more_leaves_the_locks_of_connections_in_this_process(study_path):
    # Another process may delete the log of a file that nobody else has open; it must see that somebody has.
    with create_database(study_path) as first:
        first.execute("SELECT count(*) FROM items").fetchone()
        open_database(study_path).close()
        remove_log = (
            "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('PRAGMA journal_mode = DELETE')"
        )
        other = subprocess.run(
            [sys.executable, "-c", remove_log, study_path], capture_output=True, text=True, timeout=300
        )
        assert "database is locked" in other.stderr


def test_what_one_connection_commits_is_there_for_another_process_while_more_are_opened_and_closed(study_path):
    count = (
        "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM files').fetchone()[0])"
    )
    with create_database(study_path) as writer:
        for number in range(1, 3):
            writer.execute("SELECT count(*) FROM files").fetchone()
            open_database(study_path).close()
            subprocess.run([sys.executable, "-c", count, study_path], check=True, capture_output=True, timeout=300)
            writer.execute("INSERT INTO files (name, sha256, imported_utc) VALUES ('x', ?, '2026')", (str(number),))
            seen = subprocess.run(
                [sys.executable, "-c", count, study_path], check=True, capture_output=True, timeout=300
            )
            assert int(seen.stdout) == number


def test_threads_of_one_process_write_in_turn_and_nobody_waits_in_vain(study_path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 20.0)
    n_threads, n_writes = 16, 10
    create_database(study_path).close()

    def write(number):
        for at in range(n_writes):
            with open_database(study_path) as db, events.by(db, f"writer {number}", NOW) as deed:
                deed.log(actions.LOOK, at=str(at), state="draft")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open_database(study_path) as db:
        n_kept = int((events.table(db)["action"] == "look").sum())
    assert n_kept == n_threads * n_writes
