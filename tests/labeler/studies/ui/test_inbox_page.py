"""The coordinator's inbox: flags and comments without labels and names, and replies to them."""

import shutil

import pytest

from labeler.studies.labelling import inbox
from labeler.studies.model import Role, State
from labeler.studies.people import identity
from labeler.studies.preparing import assigning
from labeler.studies.store import open_database, studies
from tests.labeler.studies.ui.pages import checked, coordinator_page, press_key, reviewer_page, shown_items, texts
from tests.making import NOW, PARAMETERS, log, make_study, offers, submit
from tests.sentences import says

HOSTILE = "<script>alert(1)</script> **bold** [x](http://evil.test) :red[y] $z$ `c`"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """carol is the coordinator; eve is reviewer and coordinator; there are no flags or comments."""
    path = tmp_path_factory.mktemp("inbox") / "inbox.study"
    make_study(path)
    with open_database(path) as db:
        identity.add_person(db, "eve", [Role.REVIEWER, Role.COORDINATOR], actor="carol", now=NOW)
        assigning.confirm_plan(db, PARAMETERS, actor="carol", now=NOW)
    return path


@pytest.fixture
def study(made, tmp_path):
    return shutil.copy(made, tmp_path / "inbox.study")


def say(path, name, number=0, **said):
    """A reviewer answers the next item with a flag or comment; returns its code."""
    with open_database(path) as db:
        task = offers(db, name)[0]
        submit(db, name, task, "dissimilar", now=NOW.replace(minute=number), **said)
    return task.code


def messages(path):
    with open_database(path) as db:
        return inbox.messages(db)


def lines(page):
    return [element.value for element in page.text]


def formatted(page):
    kinds = ("markdown", "caption", "info", "subheader", "title", "error")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(page, kind))


def test_an_empty_inbox_says_so(study):
    page = coordinator_page("Decide", "Comments", study, "carol")
    assert says(page.info[0].value, "Nothing to decide.")
    assert lines(page) == []


def test_messages_come_one_after_the_other_with_picture_and_words_as_plain_text(study):
    flagged, commented = say(study, "ada", flag=True), say(study, "ben", 1, comment=HOSTILE)
    page, (newer, _older) = coordinator_page("Decide", "Comments", study, "carol"), messages(study)
    assert shown_items(page) == [commented]
    assert lines(page) == ["2026-11-20 12:01 UTC · not answered", f"“{HOSTILE}”"]
    assert "Unanswered flags and comments: 2 of 2" in formatted(page)
    assert not [word for word in ("alert", "bold", newer.item) if word in formatted(page)]
    press_key(page, "inbox", "n")
    assert shown_items(page) == [flagged]
    assert lines(page) == ["2026-11-20 12:00 UTC · flagged · not answered"]
    press_key(page, "inbox", "n")
    assert shown_items(page) == [commented]


def test_an_answer_is_kept_for_its_message_only_and_reaches_the_reviewer(study):
    first, second = say(study, "ada", comment="Why?"), say(study, "ada", 1, comment="How?")
    page = coordinator_page("Decide", "Comments", study, "carol", inbox=first)
    page.text_area(key=f"answer-{first}-0").set_value(HOSTILE)
    checked(page.button(key=f"send-{first}-0").click().run())
    assert {message.code: [one.text for one in message.replies] for message in messages(study)} == {
        first: [HOSTILE], second: [],
    }  # fmt: skip
    assert page.toast[0].value == "Answer sent. 1 of 2 left."
    assert shown_items(page) == [second]  # the next unanswered message
    assert page.text_area(key=f"answer-{second}-0").value == ""
    press_key(page, "inbox", "n")
    assert [line for line in lines(page) if HOSTILE in line and line.startswith("carol, ")]
    assert "alert" not in formatted(page)
    with open_database(study) as db:
        assert log(db)[-1] == ("carol", "answer comment")
    own = reviewer_page("my_labels", study, "ada")
    assert f"Reply from the coordinator: {HOSTILE}" in lines(own)
    assert "carol" not in texts(own)


def test_an_empty_answer_is_refused_in_its_place(study):
    code = say(study, "ada", comment="Why?")
    page = coordinator_page("Decide", "Comments", study, "carol")
    checked(page.button(key=f"send-{code}-0").click().run())
    assert page.error[0].value.startswith("The answer is empty.")
    assert shown_items(page) == [code]


def test_a_coordinator_who_labels_sees_no_message_before_unblinding(study):
    code = say(study, "ada", comment="Clearly a step")
    page = coordinator_page("Decide", "Comments", study, "eve")
    assert says(page.info[0].value, "also a reviewer")
    assert (lines(page), len(page.text_area), len(page.button)) == ([], 0, 0)
    assert not [word for word in (code, "Clearly", "unanswered", "similar") if word in texts(page)]
    with open_database(study) as db:
        studies.set_state(db, State.UNBLINDED)
    assert "“Clearly a step”" in lines(coordinator_page("Decide", "Comments", study, "eve"))
