"""Flags and comments of reviewers, and replies of coordinators."""

import json
from dataclasses import asdict, fields
from datetime import timedelta
from itertools import count

import pandas as pd
import pytest

from labeler.errors import InputError, NotAllowed
from labeler.studies.handover import exchange
from labeler.studies.labelling import inbox, reviewing
from labeler.studies.labelling.inbox import Message
from labeler.studies.model import Kind, Role, State
from labeler.studies.people import identity
from labeler.studies.preparing import assigning
from labeler.studies.store import assignments, events, items, labels, studies
from tests.making import NOW, PARAMETERS, WHO, id_of, last_event, log, offers

EVENT_IDS = count()


def say(db, name, *, task=None, answer="similar", minutes=0, **said):
    """A reviewer answers a task, by default the next one, with a flag or comment; returns its code."""
    reviewer_id = id_of(db, name)
    code = (task or reviewing.review_queue(db, reviewer_id).offers[0]).code
    now = assignments.task_by_code(db, reviewer_id, code)
    event = {"event_id": f"said-{next(EVENT_IDS)}", "code": code, "revision": now.revision, "answer": answer}
    sent = reviewing.submission_from(event | {"dwell_ms": 900} | said)
    reviewing.submit(db, reviewer_id, sent, now=NOW + timedelta(minutes=minutes))
    return now


def reply(db, code, text, *, actor="carol", minutes=30):
    inbox.reply(db, code, text, actor=actor, now=NOW + timedelta(minutes=minutes))


def reply_to_item(db, item, text, *, reviewer=None):
    return inbox.reply_to_item(db, item, text, reviewer=reviewer, actor="owner", now=NOW + timedelta(minutes=30))


def codes(db):
    return [message.code for message in inbox.messages(db)]


def item_of(db, code):
    return next(message.item for message in inbox.messages(db) if message.code == code)


def own(db, name, code):
    (found,) = [one for one in reviewing.own_labels(db, id_of(db, name)) if one.task.code == code]
    return found


def together(db, said):
    """Each of these reviewers answers up to an item that all label, and comments it; returns its name."""
    shared = next(row.assignment.item for row in assignments.everything(db) if row.assignment.kind is Kind.OVERLAP)
    item_id = items.by_name(db, shared).item_id
    for name, comment in said.items():
        while (task := offers(db, name)[0]).item_id != item_id:
            say(db, name, task=task)
        say(db, name, task=task, comment=comment)
    return shared


def test_a_flag_and_a_comment_are_messages_with_item_code_and_reviewer(planned):
    flagged = say(planned, "ada", flag=True)
    commented = say(planned, "ben", comment="Is a step a change?", minutes=1)
    newer, older = inbox.messages(planned)
    assert (older.code, older.reviewer, older.flag, older.comment) == (flagged.code, "ada", True, None)
    assert (newer.code, newer.reviewer, newer.flag, newer.comment) == (
        commented.code, "ben", False, "Is a step a change?",
    )  # fmt: skip
    expected = [items.by_id(planned, task.item_id).name for task in (flagged, commented)]
    assert [older.item, newer.item] == expected


@pytest.mark.parametrize("answer", ["similar", "dissimilar", "not sure"])
def test_no_message_tells_the_answer_it_came_with(planned, answer):
    say(planned, "ada", answer=answer, flag=True, comment="Look at it")
    (message,) = inbox.messages(planned)
    assert {field.name for field in fields(Message)} == {
        "assignment_id", "item", "code", "reviewer", "flag", "comment", "created_utc", "view", "swapped", "replies",
    }  # fmt: skip
    assert answer not in json.dumps(asdict(message))


def test_the_newest_answer_decides_what_the_message_is_unless_it_is_taken_back(planned):
    say(planned, "ada", comment="   ")
    assert inbox.messages(planned) == []  # neither flagged nor commented
    task = say(planned, "ada", comment="Too noisy")
    say(planned, "ada", task=task, answer="dissimilar", comment="Too noisy, but a step", flag=True, minutes=5)
    assert [(one.flag, one.comment) for one in inbox.messages(planned)] == [(True, "Too noisy, but a step")]
    say(planned, "ada", task=task, answer="withdrawn", minutes=6)
    assert [(one.flag, one.comment) for one in inbox.messages(planned)] == [(True, "Too noisy, but a step")]
    say(planned, "ada", task=task, comment=None, minutes=7)
    assert inbox.messages(planned) == []


def test_what_waits_for_an_answer_comes_first_and_then_the_newest(planned):
    first, second, third = (say(planned, "ada", flag=True, minutes=minutes).code for minutes in range(3))
    fourth = say(planned, "ben", comment="Why?", minutes=3).code
    assert codes(planned) == [fourth, third, second, first]
    reply(planned, third, "Seen.")
    reply(planned, fourth, "Because.")
    assert codes(planned) == [second, first, fourth, third]
    assert [message.is_answered for message in inbox.messages(planned)] == [False, False, True, True]


def test_a_comment_that_changes_after_its_answer_waits_again_and_one_that_stays_does_not(planned):
    task = say(planned, "ada", comment="Why?")
    reply(planned, task.code, "Because.", minutes=1)
    say(planned, "ada", task=task, answer="dissimilar", comment="Why?", minutes=2)
    assert [(m.created_utc, m.is_answered) for m in inbox.messages(planned)] == [(NOW.isoformat(), True)]
    say(planned, "ada", task=task, comment="But why?", minutes=3)
    (message,) = inbox.messages(planned)
    assert (message.is_answered, [one.text for one in message.replies]) == (False, ["Because."])
    say(planned, "ada", task=task, comment="But why?", flag=True, minutes=4)
    assert inbox.messages(planned)[0].created_utc == (NOW + timedelta(minutes=4)).isoformat()


def test_a_reviewer_reads_the_answers_to_their_own_message_in_order(planned):
    task = say(planned, "ada", comment="Why?")
    say(planned, "ada", comment="Another")
    reply(planned, task.code, "  Because.\nReally.  ")
    reply(planned, task.code, "See the guide.", actor="dora", minutes=40)
    assert own(planned, "ada", task.code).replies == ("Because.\nReally.", "See the guide.")
    assert reviewing.own_labels(planned, id_of(planned, "ada"))[0].replies == ()  # the other one


def test_a_reviewer_reads_nothing_of_answers_to_others_on_the_same_item(planned):
    item = together(planned, {"ada": "mine", "ben": "his"})
    assert reply_to_item(planned, item, "To ben alone", reviewer="BEN") == 1
    everything = {
        name: json.dumps([asdict(one) for one in reviewing.own_labels(planned, id_of(planned, name))])
        for name in ("ada", "ben", "cleo", "dan")
    }
    assert [name for name, text in everything.items() if "To ben alone" in text] == ["ben"]
    ada_task = next(message for message in inbox.messages(planned) if message.reviewer == "ada")
    assert ada_task.replies == ()
    assert not ada_task.is_answered
    assert reply_to_item(planned, item, "To both") == 2
    replies = {message.reviewer: [one.text for one in message.replies] for message in inbox.messages(planned)}
    assert replies == {"ada": ["To both"], "ben": ["To ben alone", "To both"]}


def test_a_reviewer_is_not_told_who_answered_or_when(planned):
    identity.add_person(planned, "Quirin the coordinator", [Role.COORDINATOR], **WHO)
    task = say(planned, "ada", comment="Why?")
    before = labels.table(planned)
    reply(planned, task.code, "Because.", actor="Quirin the coordinator", minutes=77)
    pd.testing.assert_frame_equal(labels.table(planned), before)
    text = json.dumps(asdict(own(planned, "ada", task.code)))
    assert "Because." in text
    assert "Quirin" not in text
    assert (NOW + timedelta(minutes=77)).isoformat() not in text


def test_each_answer_is_one_event_with_the_item_and_no_words(planned):
    task = say(planned, "ada", comment="a secret word")
    item = item_of(planned, task.code)
    reply(planned, task.code, "another secret word")
    reply_to_item(planned, item, "and one more", reviewer="ada")
    assert log(planned)[-2:] == [("carol", "answer comment"), ("owner", "answer comment")]
    told = events.table(planned)["details"].iloc[-2:].tolist()
    assert [json.loads(text) for text in told] == [
        {"item": item, "messages": 1, "characters": 19}, {"item": item, "messages": 1, "characters": 12},
    ]  # fmt: skip
    assert "ada" not in "".join(told)


def test_comments_imported_with_labels_are_messages_too_listing_is_logged_and_looking_is_not(planned, db):
    table = pd.DataFrame({"item": ["x"], "reviewer": ["zoe"], "label": ["similar"], "comment": ["odd"]})
    exchange.import_labels(db, table, actor="owner", now=NOW)
    assert [(message.item, message.comment) for message in inbox.messages(db)] == [("x", "odd")]
    assert reply_to_item(db, "x", "It is.") == 1
    say(planned, "ada", flag=True)
    before = log(planned)
    assert inbox.messages(planned) == inbox.list_messages(planned, actor="owner", now=NOW)
    assert log(planned) == [*before, ("owner", "list flags")]
    assert last_event(planned)[2] == {"messages": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "answer is empty"),
        (" \n ", "answer is empty"),
        ("x" * 2001, "2001 characters. It can have at most 2000"),
        ("a\0b", "cannot be stored"),
        ("\ud800", "cannot be stored"),
    ],
)
def test_a_text_that_cannot_be_kept_is_refused_and_leaves_nothing(planned, text, message):
    task = say(planned, "ada", flag=True)
    item, before = item_of(planned, task.code), log(planned)
    with pytest.raises(InputError, match=message):
        reply(planned, task.code, text)
    with pytest.raises(InputError, match=message):
        reply_to_item(planned, item, text)
    assert own(planned, "ada", task.code).replies == ()
    assert log(planned) == before
    reply(planned, task.code, f" {'x' * 2000}\n")
    assert own(planned, "ada", task.code).replies == ("x" * 2000,)


def test_what_nobody_said_anything_on_cannot_be_answered(planned):
    task, silent = say(planned, "ada", flag=True), say(planned, "ben")
    item, before = item_of(planned, task.code), log(planned)
    mute = next(one.name for one in items.all_items(planned) if one.name != item)
    for code in (silent.code, "NOSUCH", "x" * 5000):
        with pytest.raises(InputError, match="has no flag or comment"):
            reply(planned, code, "?")
    with pytest.raises(InputError, match="no item 'nothing'"):
        reply_to_item(planned, "nothing", "?")
    with pytest.raises(InputError, match=f"No reviewer flagged or commented on {mute}"):
        reply_to_item(planned, mute, "?")
    with pytest.raises(InputError, match=f"called dan .*{item}"):
        reply_to_item(planned, item, "?", reviewer="dan")
    assert log(planned) == before


def test_a_coordinator_who_labels_cannot_answer_before_unblinding(study):
    identity.add_person(study, "eve", [Role.REVIEWER, Role.COORDINATOR], **WHO)
    assigning.confirm_plan(study, PARAMETERS, **WHO)
    task = say(study, "ada", comment="Why?")
    before = log(study)
    assert [identity.reviews_too(study, name) for name in ("eve", "carol", "owner")] == [True, False, False]
    with pytest.raises(NotAllowed, match="another coordinator"):
        reply(study, task.code, "Because.", actor="eve")
    assert log(study) == before
    studies.set_state(study, State.UNBLINDED)
    assert not identity.reviews_too(study, "eve")
    reply(study, task.code, "Because.", actor="eve")
    assert own(study, "ada", task.code).replies == ("Because.",)
    studies.set_state(study, State.PAUSED, State.OPEN)
    assert identity.reviews_too(study, "eve")
