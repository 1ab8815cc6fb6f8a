"""The command that lists flags and comments and replies to them, as a person runs it."""

import json

import pytest

from labeler.studies.commands.opening import INTERIM
from labeler.studies.labelling import inbox, reviewing
from labeler.studies.store import open_database
from tests.labeler import commands
from tests.making import NOW, id_of, log, make_study, offers, submit

COMMENT = "Is a step\na change?\t\x1b[2J\x9b1m"


def run(*arguments, code=0):
    return commands.run("flags", *arguments, code=code)


@pytest.fixture
def study(tmp_path):
    """ada flagged an item; ben, a minute later, commented one."""
    path = tmp_path / "cache.study"
    make_study(path, plan=True)
    with open_database(path) as db:
        for minute, (name, said) in enumerate({"ada": {"flag": True}, "ben": {"comment": COMMENT}}.items()):
            submit(db, name, offers(db, name)[0], "dissimilar", now=NOW.replace(minute=minute), **said)
    return path


def messages(path):
    with open_database(path) as db:
        return {message.reviewer: message for message in inbox.messages(db)}


def actions(path):
    with open_database(path) as db:
        return log(db)


def test_the_list_is_a_table_without_labels_codes_or_what_a_terminal_acts_on(study):
    said, listed = messages(study), run("--study", study)
    assert listed.stderr == f"{INTERIM}\n"
    head, first, second = listed.stdout.splitlines()
    assert head.split() == [
        "item", "reviewer", "flag", "comment", "written", "(UTC)", "answered", "answers", "last", "answer",
    ]  # fmt: skip
    assert first.split()[:2] == [said["ben"].item, "ben"]
    assert "Is a step a change? [2J 1m" in first
    assert second.split() == [said["ada"].item, "ada", "yes", f"{NOW:%Y-%m-%d}", f"{NOW:%H:%M}", "no", "0"]
    assert listed.stdout.isascii()
    assert listed.stdout.replace("\n", "").isprintable()
    assert not [one.code for one in said.values() if one.code in listed.output]
    assert "similar" not in listed.output


def test_the_list_as_json_has_every_text_as_it_was_written(study):
    said, listed = messages(study), run("--study", study, "--json")
    run("--study", study, "--answer", said["ada"].item, "Thank\nyou", "--reviewer", "ada")
    assert json.loads(listed.stdout)[0] == {
        "item": said["ben"].item, "reviewer": "ben", "flag": False, "comment": COMMENT.strip(),
        "created_utc": said["ben"].created_utc, "answered": False, "answers": 0, "last answer": None,
    }  # fmt: skip
    again = json.loads(run("--study", study, "--json").stdout)
    assert [(row["reviewer"], row["answered"], row["answers"], row["last answer"]) for row in again] == [
        ("ben", False, 0, None), ("ada", True, 1, "Thank\nyou"),
    ]  # fmt: skip
    assert not [one.code for one in said.values() if one.code in listed.output]


def test_an_empty_inbox_is_an_empty_table(tmp_path):
    make_study(tmp_path / "new.study", plan=True)
    assert run("--study", tmp_path / "new.study").stdout == ""
    assert run("--study", tmp_path / "new.study", "--json").stdout == "[]\n"


def test_an_answer_goes_to_the_reviewer_as_the_owner_of_the_study(study):
    item = messages(study)["ben"].item
    done = run("--study", study, "--answer", item, "Judge the steady state.", "--reviewer", "ben")
    assert (done.stdout, done.stderr) == (
        "",
        f"Answered 1 flag or comment on {item}. Reviewers read the answer under My labels.\n",
    )
    (reply,) = messages(study)["ben"].replies
    assert (reply.text, reply.written_by) == ("Judge the steady state.", "owner")
    assert actions(study)[-1] == ("owner", "answer comment")
    with open_database(study) as db:
        (label,) = reviewing.own_labels(db, id_of(db, "ben"))
    assert label.replies == ("Judge the steady state.",)
