"""A new action of the log is one row: here a made-up one, with which a study gets another name."""

import json
from typing import TypedDict

import pytest

from labeler.studies.audit import audit
from labeler.studies.handover import anonymising
from labeler.studies.handover.publishing import bundle
from labeler.studies.handover.publishing.bundle import PublishOptions
from labeler.studies.handover.publishing.publish_file import PublishFile
from labeler.studies.preparing import verifying
from labeler.studies.results import history, written_reports
from labeler.studies.results.written_reports import CachedReport
from labeler.studies.store import actions, events, open_database, studies
from labeler.studies.store.actions import LogAction, Published
from tests.labeler.commands import run
from tests.making import NOW, WHO


class Renaming(TypedDict):
    name: str
    phone: str


def take_name(state, event):
    state.study["name"] = event.details["name"]


@pytest.fixture
def add(monkeypatch):
    """A function that adds the row of the made-up action, and returns the action."""

    def adding(**others):
        action = LogAction("rename study", Renaming, take_name, frozenset({"phone"}), **others)
        monkeypatch.setitem(actions.ACTIONS, action.name, action)
        return action

    return adding


def rename(db, action, name="Another name"):
    with events.by(db, **WHO) as deed:
        studies.rename(db, name)
        deed.log(action, name=name, phone="555 1234")


def details_in(db):
    table = events.table(db)
    return [json.loads(text) for text in table.loc[table["action"] == "rename study", "details"]]


def test_the_audit_derives_what_the_row_says(planned, add):
    rename(planned, add())
    assert audit.audit(planned).faults == ()
    with planned.atomic():
        studies.rename(planned, "Not in the log")
    (fault,) = audit.audit(planned).faults
    assert (fault.part, fault.what) == ("study", 'name is "Not in the log"; the log says "Another name"')


def test_the_log_shows_every_field_and_an_anonymised_copy_only_those_that_are_not_private(planned, add, tmp_path):
    rename(planned, add())
    logged = json.loads(run("log", "--study", planned.path, "--json").stdout)
    shown = [json.loads(event["details"]) for event in logged if event["action"] == "rename study"]
    assert shown == [{"name": "Another name", "phone": "555 1234"}]
    anonymising.anonymise(planned, tmp_path / "copy.study", **WHO)
    with open_database(tmp_path / "copy.study") as copy:
        assert details_in(copy) == [{"name": "Another name"}]
        assert audit.audit(copy).faults == ()


def test_an_anonymised_copy_tells_nothing_of_an_action_that_has_no_row(planned, add, monkeypatch, tmp_path):
    rename(planned, add())
    monkeypatch.delitem(actions.ACTIONS, "rename study")
    anonymising.anonymise(planned, tmp_path / "copy.study", **WHO)
    with open_database(tmp_path / "copy.study") as copy:
        assert details_in(copy) == [{}]


@pytest.mark.parametrize("stales", [True, False])
def test_a_written_report_gets_old_if_the_row_says_so(planned, add, monkeypatch, stales):
    action = add(stales=stales)
    report = CachedReport({}, NOW)
    kept = written_reports._kept[planned.path.resolve()]
    monkeypatch.setitem(kept, written_reports._version(planned, True), report)
    assert written_reports.cached_report(planned, quick=True) is report
    rename(planned, action)
    assert (written_reports.cached_report(planned, quick=True) is None) == stales


def test_the_history_in_the_report_tells_an_action_in_the_part_that_its_row_names(planned, add):
    rename(planned, add(history="people"))
    (told,) = [row for row in history.study_course(planned)["people"] if row["change"] == "rename study"]
    assert (told["by"], told["name"]) == ("carol", "Another name")


@pytest.mark.parametrize(
    ("published", "before", "after"),
    [(Published.ALWAYS, True, True), (Published.BEFORE_UNBLINDING, True, False), (Published.NEVER, False, False)],
)
def test_a_published_log_has_the_events_that_the_row_admits(planned, add, monkeypatch, published, before, after):
    rename(planned, add(published=published))
    for is_unblinded, is_there in ((False, before), (True, after)):
        at_utc = "0" if is_unblinded else "9"  # earlier and later than any time
        monkeypatch.setattr(bundle.course, "unblinding", lambda _db, at_utc=at_utc: {"at_utc": at_utc})
        with bundle._copy(planned, PublishOptions(), PublishFile()) as copy:
            assert bool(details_in(copy)) == is_there


@pytest.mark.parametrize(
    ("details", "message"),
    [
        ({"item": "a"}, r"missing fields \['why'\]"),
        ({"item": "a", "why": "noise", "who": "ada"}, r"unknown fields \['who'\]"),
        ({}, r"missing fields \['item', 'why'\]"),
    ],
)
def test_an_event_with_other_fields_than_its_action_is_refused(planned, details, message):
    n_before = events.last_id(planned)
    with pytest.raises(TypeError, match=message), events.by(planned, **WHO) as deed:
        deed.log(actions.EXCLUDE_ITEM, **details)
    assert events.last_id(planned) == n_before


def test_each_change_of_the_plan_can_be_repeated_and_hides_its_hash_in_copies():
    changes = {
        action
        for action in actions.ACTIONS.values()
        if "hash" in action.fields.__annotations__ and action is not actions.DRAW_PLAN
    }
    assert changes == verifying.REPEATED.keys()
    assert [action.name for action in changes if "hash" not in action.private] == []


def test_private_fields_are_fields():
    unknown = [
        (action.name, field)
        for action in actions.ACTIONS.values()
        for field in action.private - action.fields.__annotations__.keys()
    ]
    assert unknown == []
