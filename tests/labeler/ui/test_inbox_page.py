"""The coordinator's inbox: flags and comments without labels and names, and answers to them."""

import pytest

from labeler.model import Role, State
from labeler.service import reviewing
from labeler.service.people import identity, inbox
from labeler.service.plan import assigning
from labeler.store import open_database, studies
from tests.labeler.conftest import NOW, PARAMETERS, id_of, log, make_study
from tests.labeler.ui.pages import coordinator_page, reviewer_page, texts

HOSTILE = "<script>alert(1)</script> **bold** [x](http://evil.test) :red[y] $z$ `c`"


@pytest.fixture
def study(tmp_path):
    """carol coordinates; eve labels and coordinates; nobody has said anything."""
    path = tmp_path / "inbox.study"
    make_study(path, n_items=30)
    with open_database(path) as db:
        identity.add_person(db, "eve", [Role.REVIEWER, Role.COORDINATOR], actor="carol", now=NOW)
        assigning.confirm_plan(db, PARAMETERS, actor="carol", now=NOW)
    return path


def say(path, name, number=0, **said):
    """A reviewer answers the next item and says something with it; its code."""
    with open_database(path) as db:
        task = reviewing.review_queue(db, id_of(db, name)).offers[0]
        event = {"event_id": f"{name}-{number}", "code": task.code, "revision": 0, "answer": "dissimilar"}
        sent = reviewing.submission_from(event | {"dwell_ms": 900} | said)
        reviewing.submit(db, id_of(db, name), sent, now=NOW.replace(minute=number))
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
    page = coordinator_page("inbox", study, "carol")
    assert page.info[0].value == "Nobody has flagged or commented an item."
    assert lines(page) == []


def test_messages_come_with_code_item_and_words_as_plain_text(study):
    flagged, commented = say(study, "ada", flag=True), say(study, "ben", 1, comment=HOSTILE)
    page, (newer, older) = coordinator_page("inbox", study, "carol"), messages(study)
    assert lines(page) == [
        f"Item {commented}: {newer.item}", "2026-11-20 12:01 UTC · not answered", f"“{HOSTILE}”",
        f"Item {flagged}: {older.item}", "2026-11-20 12:00 UTC · flagged · not answered",
    ]  # fmt: skip
    assert "2 of 2 flags and comments wait for an answer." in formatted(page)
    assert not [word for word in ("alert", "bold", newer.item) if word in formatted(page)]
    assert not [element for element in page.get("html") if "alert" in element.proto.body]


def test_no_label_is_shown_and_no_name_before_unblinding(study):
    say(study, "ada", comment="See here")
    for state in (State.OPEN, State.CLOSED, State.UNBLINDED):
        with open_database(study) as db:
            studies.set_state(db, state)
        words = texts(coordinator_page("inbox", study, "carol"))
        assert "See here" in words
        assert "similar" not in words
        assert ("ada" in words) == (state is State.UNBLINDED)


def test_an_answer_is_kept_for_its_message_only_and_reaches_the_reviewer(study):
    first, second = say(study, "ada", comment="Why?"), say(study, "ada", 1, comment="How?")
    page = coordinator_page("inbox", study, "carol")
    page.text_area(key=f"answer-{first}-0").set_value(HOSTILE)
    page.button(key=f"send-{first}-0").click().run()
    assert [error.message for error in page.exception] == []
    assert {message.code: [one.text for one in message.replies] for message in messages(study)} == {
        first: [HOSTILE], second: [],
    }  # fmt: skip
    assert "1 of 2 flags and comments wait" in formatted(page)
    assert [line for line in lines(page) if HOSTILE in line and line.startswith("carol, ")]
    assert "alert" not in formatted(page)
    assert page.text_area(key=f"answer-{first}-1").value == ""
    with open_database(study) as db:
        assert log(db)[-1] == ("carol", "answer comment")
    own = reviewer_page("my_labels", study, "ada")
    assert f"Answer of the coordinator: {HOSTILE}" in lines(own)
    assert "carol" not in texts(own)


def test_what_is_typed_for_one_message_is_not_sent_with_another(study):
    first, second = say(study, "ada", comment="Why?"), say(study, "ada", 1, comment="How?")
    page = coordinator_page("inbox", study, "carol")
    page.text_area(key=f"answer-{first}-0").set_value("Because.")
    page.text_area(key=f"answer-{second}-0").set_value("So.")
    page.button(key=f"send-{second}-0").click().run()
    assert {message.code: [one.text for one in message.replies] for message in messages(study)} == {
        first: [], second: ["So."],
    }  # fmt: skip


def test_who_reviews_too_sees_no_message_before_unblinding(study):
    code = say(study, "ada", comment="Clearly a step")
    page = coordinator_page("inbox", study, "eve")
    assert "You are a reviewer of this study as well" in page.info[0].value
    assert (lines(page), len(page.text_area), len(page.button)) == ([], 0, 0)
    assert not [word for word in (code, "Clearly", "wait for an answer", "similar") if word in texts(page)]
    with open_database(study) as db:
        studies.set_state(db, State.UNBLINDED)
    assert "“Clearly a step”" in lines(coordinator_page("inbox", study, "eve"))


def test_many_messages_come_twenty_a_page_unanswered_first(study):
    names = ("ada", "ben")
    said = [say(study, names[number % 2], number, flag=True) for number in range(24)]
    with open_database(study) as db:
        inbox.reply(db, said[-1], "Seen.", actor="carol", now=NOW.replace(hour=13))
    page = coordinator_page("inbox", study, "carol")
    assert page.number_input[0].label == "Page of 2, unanswered first"
    expected = [*said[-2::-1], said[-1]]
    assert [button.key.split("-")[1] for button in page.button] == expected[:20]
    page.number_input[0].set_value(2).run()
    assert [button.key.split("-")[1] for button in page.button] == expected[20:]
