"""Whatever another program wrote into a study, a command ends soon, with one sentence that names the file."""

import json
import shutil
import sqlite3
import struct
from contextlib import closing, suppress

import pytest
from click.testing import CliRunner

from labeler import toml_file
from labeler.cli import main
from labeler.studies.labelling import inbox
from labeler.studies.store import open_database, opening
from tests.making import NOW, make_study, offers, submit

# every command that reads a study: S is the hostile study, GOOD is a copy before the change, OUT is a new path
COMMANDS = [
    ("status", "--study", "S"), ("status", "--study", "S", "--json"), ("status", "--study", "S", "--agreement"),
    ("log", "--study", "S"), ("log", "--study", "S", "--json"), ("flags", "--study", "S"), ("browse", "--study", "S"),
    ("reviewers", "list", "--study", "S"), ("coordinators", "list", "--study", "S"),
    ("calibration", "--study", "S"), ("classifiers", "--study", "S"), ("adjudicate", "--study", "S"),
    ("attention", "--study", "S"),
    ("verdicts", "--study", "S", "--out", "-"), ("labels", "--study", "S", "--out", "-"),
    ("labels", "--study", "S", "--out", "-", "--layout", "wide"), ("agreement", "--study", "S"),
    ("state", "--study", "S", "pause", "--reason", "x"), ("exclude", "--study", "S", "x", "--reason", "x"),
    ("plan", "--study", "S", "--verify"), ("backup", "--study", "S", "--out", "OUT"),
    ("anonymise", "--study", "S", "--out", "OUT"),
    ("audit", "--study", "S"), ("audit", "--study", "S", "--json"), ("audit", "--study", "GOOD", "--against", "S"),
    ("learn", "--study", "S"), ("publish", "--study", "S", "--init"),
    ("template", "--study", "S", "--out", "OUT"),
]  # fmt: skip
REPORT = ("report", "--study", "S", "--out", "OUT")
FINDINGS = {"audit", "plan"}  # commands that may end with 1
TERMINAL = "a\x1b]52;c;eA==\x07\u202eb"
NOT_A_NUMBER = struct.pack("<60d", *[float("nan")] * 60)
ENDLESS = "WITH RECURSIVE endless(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless)"
VALUES = [
    ("events", "details", "{no JSON"), ("events", "details", "[" * 1_000_000), ("events", "details", "[]"),
    ("events", "at_utc", "2026-99-99T99:99:99+00:00"), ("events", "actor", TERMINAL), ("events", "action", TERMINAL),
    ("labels", "view", "[" * 1_000_000), ("labels", "comment", TERMINAL), ("labels", "created_utc", "yesterday"),
    ("labels", "comment", b"\xffA"), ("labels", "revision", 2**63 - 1), ("labels", "confidence", -1),
    ("runs", "measurements", NOT_A_NUMBER), ("runs", "measurements", b"abc"), ("runs", "conditions", "{"),
    ("items", "parameters", "[1"), ("items", "n_iterations", 2**63 - 1), ("items", "name", TERMINAL),
    ("studies", "state", "sleeping"), ("studies", "plan_parameters", "[" * 1_000_000), ("studies", "gate", "{"),
    ("studies", "plan_hash", TERMINAL), ("studies", "plan_parameters", '{"seed": 1, "overlap": 1e300, "retest": 1e18}'),
    ("people", "name", TERMINAL), ("assignments", "position", -(2**63)), ("bins", "payload", b"\0"),
    ("replies", "text", TERMINAL), ("replies", "created_utc", ""),
]  # fmt: skip


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "good.study"
    make_study(path, plan=True)
    with open_database(path) as db:
        for name in ("ada", "ben", "cleo", "dan"):
            for answer in ("similar", "dissimilar"):
                submit(db, name, offers(db, name)[0], answer, flag=True, comment="A step.")
        inbox.reply(db, inbox.messages(db)[0].code, "Thanks.", actor="carol", now=NOW)
    return path


def changed(good, folder, statement, values=()):
    """Return a copy of the study after a statement of another program, which also puts the triggers back."""
    path = folder / "s.study"
    shutil.copy(good, path)
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        plain.execute("PRAGMA foreign_keys = OFF")
        plain.execute("PRAGMA ignore_check_constraints = ON")
        plain.execute("PRAGMA writable_schema = ON")
        triggers = plain.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            plain.execute(f'DROP TRIGGER "{name}"')
        for part in statement.split(";;"):
            plain.execute(part, values)
        for _, sql in triggers:
            with suppress(sqlite3.OperationalError):  # a trigger of a table that is a view now
                plain.execute(sql)
    return path


def outcomes(good, hostile, folder, commands=COMMANDS):
    """Run commands on copies of a hostile study; yield each command and its result."""
    for number, command in enumerate(commands):
        place = folder / str(number)
        place.mkdir(parents=True)
        paths = {"S": place / "s.study", "GOOD": place / "good.study", "OUT": place / "out"}
        shutil.copy(hostile, paths["S"])
        shutil.copy(good, paths["GOOD"])
        done = CliRunner().invoke(main, [str(paths.get(part, part)) for part in command])
        yield command, done


DAILY = [value for at, value in enumerate(VALUES) if at % 8 == 0 or value[1] == "gate"]


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        pytest.param(
            *value, id=f"{value[0]}-{value[1]}-{value[2]!r:.30}", marks=[] if value in DAILY else [pytest.mark.slow]
        )
        for value in VALUES
    ],
)
def test_a_value_that_labeler_never_writes_ends_no_command_with_a_traceback(good, tmp_path, table, column, value):
    new = "CAST(? AS TEXT)" if isinstance(value, bytes) and column == "comment" else "?"
    last = f"(SELECT max(rowid) FROM {table})"
    hostile = changed(good, tmp_path, f"UPDATE {table} SET {column} = {new} WHERE rowid = {last}", (value,))
    for command, done in outcomes(good, hostile, tmp_path):
        allowed = (0, 1, 2) if command[0] in FINDINGS else (0, 2)
        assert done.exit_code in allowed, (command, done.output)
        assert isinstance(done.exception, SystemExit | None), command
        assert not {"\x1b", "\x07", "\u202e"} & set(done.output), command
        if done.exit_code == 2 and "Usage:" not in done.stderr:
            assert sum(line.startswith("Error: ") for line in done.stderr.splitlines()) == 1, (command, done.stderr)
            assert len(done.stderr) < 1200, command
        if "unexpectedly" in done.stderr:  # then at least the file is named, and what shows the change
            assert "labeler audit" in done.stderr, (command, done.stderr)


SCHEMAS = {
    "a view that never ends": f"ALTER TABLE events RENAME TO old;;CREATE VIEW events AS {ENDLESS} "
    "SELECT n AS event_id, '' AS at_utc, '' AS actor, '' AS action, '{}' AS details FROM endless",
    "a trigger that never ends": f"CREATE TRIGGER slow AFTER INSERT ON events BEGIN INSERT INTO jobs (kind) "
    f"{ENDLESS} SELECT n FROM endless; END",
    "a trigger with a name of SQLite's own": "INSERT INTO sqlite_schema VALUES ('trigger', 'sqlite_x', 'labels', 0, "
    "'CREATE TRIGGER sqlite_x AFTER INSERT ON labels BEGIN UPDATE labels SET answer = ''similar''; END')",
    "a version below zero": "PRAGMA user_version = -1",
    "a version from before the first": "PRAGMA user_version = 0",
}


@pytest.mark.parametrize("statement", SCHEMAS.values(), ids=SCHEMAS)
def test_another_schema_is_refused_by_every_command(good, tmp_path, statement):
    hostile = changed(good, tmp_path, statement)
    for command, done in outcomes(good, hostile, tmp_path, [*COMMANDS, REPORT]):
        expected = (
            1 if command[:3] == ("audit", "--study", "S") and "below" not in statement and "-1" not in statement else 2
        )
        assert done.exit_code == expected, (command, done.output)
        assert "unexpectedly" not in done.output, command


def test_a_text_that_is_too_long_is_refused_before_it_is_read(good, tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "MAX_TEXT_BYTES", 100_000)
    hostile = changed(good, tmp_path, "UPDATE labels SET comment = ? WHERE label_id = 1", ("ab\0" + "ä" * 100_000,))
    some = COMMANDS[::5]
    for command, done in outcomes(good, hostile, tmp_path, some):
        assert (done.exit_code, "(labels, comment)" in done.stderr) == (2, True), (command, done.stderr)
    for _, done in outcomes(good, good, tmp_path / "again", some):
        assert "so it is not read" not in done.stderr


def test_an_audit_names_damage_that_the_chain_cannot_show(good, tmp_path):
    hostile = changed(
        good,
        tmp_path,
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'labels') "
        "WHERE name = 'sqlite_autoindex_labels_1'",
    )
    done = CliRunner().invoke(main, ["audit", "--study", str(hostile), "--json"])
    assert done.exit_code == 1
    assert {fault["part"] for fault in json.loads(done.stdout)["faults"]} == {"file"}
    assert "page" in done.stdout


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a = " + "[" * 200_000 + "]" * 200_000, "nested too deep"),
        ("a = " + "{a=" * 100_000 + "1" + "}" * 100_000, "nested too deep"),
        ("a" + ".a" * 200_000 + " = 1", "more than 50 parts"),
        ("['a'" + ' . "a"' * 60 + "]", "more than 50 parts"),
        ("a" * 1_000_001, "1,000,000 characters"),
        ("a" * 1_000_000, "Expected '='"),
        ("a = [", "Invalid value"),
    ],
)
def test_toml_of_others_is_read_or_refused_at_once(text, reason):
    with pytest.raises(ValueError, match=reason):
        toml_file.parse(text)
