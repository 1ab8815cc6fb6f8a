"""Take the last import back, and what an audit then says."""

import os
from datetime import timedelta

import pytest

from labeler.errors import InputError
from labeler.studies.audit import audit
from labeler.studies.course import course
from labeler.studies.handover import anonymising, exchange
from labeler.studies.items import importing
from labeler.studies.model import PlanParameters, Role
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.store import actions, events, items, jobs, open_database
from labeler.studies.verdicts import computing
from tests.making import NOW, result_file, series
from tests.sentences import says

LATER = NOW + timedelta(hours=1)


@pytest.fixture
def twice(db):
    """A study with two imports: one item, and two items with verdicts."""
    take_in(db, "first", now=NOW)
    take_in(db, "second", "third", now=LATER)
    computing.compute_verdicts(db, actor="carol")
    return db


def take_in(db, *names, now):
    files = [result_file(name, series(number)) for number, name in enumerate(names, start=len(names))]
    assert not [result for result in importing.import_files(db, files, actor="carol", now=now) if result.refused]


def taken_back(db):
    return importing.take_back(db, actor="dora", now=LATER + timedelta(hours=1))


def names(db):
    return [item.name for item in items.all_items(db)]


def test_the_items_of_the_last_import_are_removed_with_everything_of_theirs(twice):
    assert says(importing.last_import(twice).describe(), "2 items from 2 files, imported by carol")
    assert taken_back(twice).items == ("second", "third")
    assert names(twice) == ["first"]
    left = {table: twice.execute(f"SELECT count(DISTINCT item_id) FROM {table}").fetchone()[0]
            for table in ("runs", "bins", "verdicts")}  # fmt: skip
    assert left == {"runs": 1, "bins": 1, "verdicts": 1}
    event = events.of_actions(twice, [actions.REMOVE_IMPORT])[0]
    assert (event.actor, event.details["items"]) == ("dora", ["second", "third"])
    assert taken_back(twice).items == ("first",)
    assert (names(twice), importing.why_not_taken_back(twice)) == ([], "There is no import to take back.")


def test_the_same_files_can_be_imported_again_and_the_audit_finds_no_fault(twice):
    taken_back(twice)
    assert audit.audit(twice).faults == ()
    take_in(twice, "second", "third", now=LATER + timedelta(hours=2))
    assert names(twice) == ["first", "second", "third"]
    assert audit.audit(twice).faults == ()


def test_an_item_that_somebody_removed_from_the_file_is_found_although_the_chain_says_removed(twice):
    with twice.atomic():
        items.remove(twice, ["second"])
    assert [fault.what for fault in audit.audit(twice).faults] == [
        '"second" was removed or renamed, and the log does not say so'
    ]


def test_a_copy_without_names_of_benchmarks_does_not_have_those_of_removed_items(twice, tmp_path):
    taken_back(twice)
    anonymising.anonymise(twice, tmp_path / "copy.study", keep_benchmarks=False, actor="carol", now=LATER)
    with open_database(tmp_path / "copy.study") as copy:
        assert audit.audit(copy).faults == ()
        log = "\n".join(events.table(copy)["details"])
        assert importing.last_import(copy) is None
    assert not [name for name in ("first", "second", "third") if name in log]


def with_labels(db, folder):
    (folder / "labels.csv").write_text("item,reviewer,label\nsecond,ada,similar\n")
    exchange.import_label_file(db, folder / "labels.csv", actor="carol", now=LATER)


def with_plan(db, _folder):
    for name in ("ada", "ben"):
        identity.add_person(db, name, [Role.REVIEWER], actor="carol", now=LATER)
    assigning.confirm_plan(db, PlanParameters(seed=1, overlap=0, retest=0), actor="carol", now=LATER)


def with_running_job(db, _folder):
    jobs.start(db, jobs.VERDICTS, os.getpid(), 3, LATER.isoformat())


def closed(db, folder):
    with_labels(db, folder)
    for step in (Step.OPEN, Step.CLOSE):
        course.change_state(db, step, why="", force=True, actor="carol", now=LATER)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (with_labels, ("second of this import is in the plan or labelled",)),
        (with_plan, ("second and 1 other item of this import are in the plan or labelled",)),
        (with_running_job, ("The classifiers are judging",)),
        (closed, ("It is closed now",)),
    ],
)
def test_an_import_that_is_in_use_stays(twice, tmp_path, change, reason):
    change(twice, tmp_path)
    with pytest.raises(InputError) as refused:
        taken_back(twice)
    assert says(str(refused.value), *reason)
    assert len(names(twice)) == 3
