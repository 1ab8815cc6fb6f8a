"""What a coordinator who also labels gets back, in two studies that differ only in what the others answered.

Whatever such a person opens or tries before the study is unblinded, both studies must reply the same.
"""

import ast
import re
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from labeler.errors import LabelerError
from labeler.files.formats.reading import ReadOptions
from labeler.studies.course import calibrating, coordinating, course, joining, staffing
from labeler.studies.items import browsing, importing
from labeler.studies.labelling import guide, inbox
from labeler.studies.model import CalibrationGate, PlanParameters, Protocol, Role, State
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.results import next_items, splits
from labeler.studies.store import items, labels, open_database, studies
from labeler.studies.ui import coordinator
from labeler.studies.ui.coordinator import decide, one_item, people, plan, results, study
from labeler.studies.ui.coordinator.places import ITEM, PLACES
from labeler.studies.verdicts import computing, stored_verdicts
from tests.conftest import some_slow
from tests.labeler.studies.ui.pages import checked, coordinator_page
from tests.labeler.studies.ui.test_gates import pieces
from tests.making import NOW, make_study, offers, submit

BOTH, OTHERS, COORDINATOR = "dora", ("ada", "ben", "cleo"), "carol"
N_ITEMS = 16
STAGES = (State.CALIBRATION, State.OPEN, State.CLOSED, State.PAUSED)
BEHIND_A_GUARD = {  # the page with the button says why it is hidden; `test_gates` opens each of these pages
    "written_reports.begin_report", "exchange.export_labels", "stored_verdicts.export_table", "coordinating.log_look",
    "background.files_of", "background.output_of", "anonymising.anonymise",
}  # fmt: skip
ELSEWHERE = {  # these start a process, or write a file that the person cannot read
    "background.start_verdicts", "coordinating.back_up", "coordinating.describe_study", "own_result.allow",
}  # fmt: skip


def answer_all(db, differing):
    """Everybody answers all that is offered; with `differing`, two of the others change their minds about it."""
    for name in (*OTHERS, BOTH):
        while tasks := offers(db, name):
            number = tasks[0].item_id
            is_odd = number % 2 != (differing and name in OTHERS[:2] and number % 3 != 1)
            submit(db, name, tasks[0], "dissimilar" if is_odd else "similar", event_id=f"{tasks[0].code}-once")


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    """For each stage, the files of two studies in which only answers of the others differ."""
    folder = tmp_path_factory.mktemp("twins")
    first = make_study(folder / "first.study", n_items=N_ITEMS, reviewers=OTHERS)
    with open_database(first) as db:
        computing.compute_verdicts(db, actor=COORDINATOR)
        identity.add_person(db, BOTH, [Role.REVIEWER, Role.COORDINATOR], actor=COORDINATOR, now=NOW)
        parameters = PlanParameters(seed=1, overlap=0.25, retest=0, calibration=3, attention=2)
        assigning.confirm_plan(db, parameters, actor=COORDINATOR, now=NOW, first=10)
        calibrating.set_gate(db, CalibrationGate("reviewers", 0.9), actor=COORDINATOR, now=NOW)
        db.backup(folder / "second.study")
    made = {}
    for place in ("first", "second"):
        with open_database(folder / f"{place}.study") as db:
            answer_all(db, place == "second")
            made[State.CALIBRATION, place] = kept(db, folder / f"{place}-calibration.study")
            course.change_state(db, Step.OPEN, why="because", force=True, actor=COORDINATOR, now=NOW)
            answer_all(db, place == "second")
            made[State.OPEN, place] = kept(db, folder / f"{place}-open.study")
            course.change_state(db, Step.CLOSE, actor=COORDINATOR, now=NOW)
            made[State.CLOSED, place] = kept(db, folder / f"{place}-closed.study")
            studies.set_state(db, State.PAUSED, State.CLOSED)
            made[State.PAUSED, place] = kept(db, folder / f"{place}-paused.study")
    return {stage: (made[stage, "first"], made[stage, "second"]) for stage in STAGES}


def kept(db, path):
    db.backup(path)
    return path


def said(act):
    """Return the result of an action, or its refusal, as the browser shows it."""
    try:
        result = act()
    except LabelerError as error:
        return f"{type(error).__name__}: {error}"
    return str(getattr(result, "remarks", result))  # the owner alone is told `for_owner`


def one_of(db, place):
    return [item.name for item in items.all_items(db)][place]


def of_all_items(db, act):
    return [said(partial(act, item.name)) for item in items.all_items(db)]


def decisions(db, kind):
    return of_all_items(
        db,
        lambda name: splits.save_decision(
            db, {"kind": kind, "item": name, "category": "similar", "why": "because"}, actor=BOTH, now=NOW
        ),
    )


def added(db):
    return next_items.next_items(db, 4, actor=BOTH, now=NOW).counts


def asked(db):
    """Let two people ask to take part; return the hashes of their secrets."""
    link = joining.open_link(db, admits=0, until=NOW.date(), asks_email=False, **DONE)
    for name in ("Fay", "Gil"):
        joining.ask(db, link, name, now=NOW)
    return [one.secret_hash for one in joining.waiting(db)]


class Standing(datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz=None):
        return NOW


CHANGES = re.compile(r"\b[0-9a-f]{32}\b|(first|second)-\w+\.study")  # names of the data of figures, and paths
DONE: dict[str, Any] = {"actor": BOTH, "now": NOW}
ACTIONS = {
    "splits.save_decision": [lambda db: decisions(db, "split"), lambda db: decisions(db, "reference")],
    "calibrating.set_gate": [lambda db: calibrating.set_gate(db, None, **DONE)],
    "calibrating.begin_second_round": [lambda db: calibrating.begin_second_round(db, **DONE)],
    "calibrating.choose_items": [lambda db: calibrating.choose_items(db, [one_of(db, 0)], **DONE)],
    "course.change_state": [
        *(lambda db, step=step: course.change_state(db, step, **DONE) for step in Step if step is not Step.CLOSE),
        lambda db: course.change_state(db, Step.OPEN, force=True, why="because", **DONE),
        lambda db: str(course.change_state(db, Step.CLOSE, **DONE)).partition("Chain")[0],  # the chain is a hash of all
    ],
    "stored_verdicts.remove_classifiers": [
        lambda db: stored_verdicts.remove_classifiers(db, ["heuristic@0.30"], **DONE)
    ],
    "inbox.reply": [lambda db: inbox.reply(db, "abc", "Thank you", **DONE)],
    "coordinating.set_protocol": [lambda db: coordinating.set_protocol(db, Protocol(), **DONE)],
    "coordinating.set_finish_by": [lambda db: coordinating.set_finish_by(db, None, **DONE)],
    "guide.add_example": [
        lambda db: guide.add_example(db, guide.OwnExample(one_of(db, 0), "similar", "Flat.", "example"), **DONE)
    ],
    "guide.remove_example": [lambda db: guide.remove_example(db, "none", **DONE)],
    "previewing.confirm_on_page": [lambda db: assigning.confirm_plan(db, PlanParameters(seed=2), **DONE)],
    "next_items.next_items": [added],
    "importing.take_back": [lambda db: importing.take_back(db, **DONE)],
    "importing.import_files": [lambda db: list(importing.import_files(db, [], ReadOptions(), **DONE))],
    "change": [  # excluding an item, and taking it back
        lambda db: of_all_items(db, lambda name: browsing.exclude(db, name, "because", **DONE)),
        lambda db: of_all_items(db, lambda name: browsing.include(db, name, "because", **DONE)),
    ],
    "joining.open_link": [lambda db: bool(asked(db))],
    "joining.end_link": [lambda db: joining.end_link(db, **DONE)],
    "joining.admit": [lambda db: joining.admit(db, asked(db), **DONE)],
    "joining.turn_away": [lambda db: joining.turn_away(db, asked(db), **DONE)],
    "staffing": [
        lambda db: staffing.pause(db, "ada", why="", **DONE),
        lambda db: staffing.remove(db, "ada", why="", **DONE),
        lambda db: staffing.replace(db, "ada", "eve", why="", **DONE),
        lambda db: staffing.remove(db, BOTH, why="", **DONE),
    ],
}


@pytest.mark.parametrize("name", ACTIONS)
def test_no_reply_to_an_action_depends_on_what_others_answered(tmp_path, twins, name):
    for stage, pair in twins.items():
        for number, act in enumerate(ACTIONS[name]):
            replies = []
            for path in pair:
                with open_database(path) as db:
                    copy = kept(db, tmp_path / f"{number}-{path.name}")
                with open_database(copy) as db:
                    replies.append(said(partial(act, db)).replace(path.stem, ""))
            assert replies[0] == replies[1], (stage, number)


def test_every_action_of_the_pages_is_tried():
    called = set()
    for file in Path(coordinator.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and any(word.arg == "actor" for word in node.keywords):
                called.add(ast.unparse(node.func))
    assert called - {name for name in called if name.startswith(("staffing.", "identity."))} <= {
        *ACTIONS, *BEHIND_A_GUARD, *ELSEWHERE,
    }  # fmt: skip


@pytest.mark.parametrize("stage", some_slow(STAGES[:3], {State.CALIBRATION, State.OPEN}))
def test_no_page_depends_on_what_others_answered(monkeypatch, twins, stage):
    for module in (decide, one_item, people, plan, results, study):  # figures reach to the present time
        monkeypatch.setattr(module, "datetime", Standing, raising=False)
    views = [
        (place, view) for place, of_place in PLACES.items() if place != "Tools" for view in of_place if view != "Add"
    ]
    for place, view in [*views, (ITEM, "")]:
        pages = [coordinator_page(place, view, path, BOTH) for path in twins[stage]]
        shown = [[CHANGES.sub("", piece) for piece in pieces(checked(page))] for page in pages]
        assert shown[0] == shown[1], view


def test_the_two_studies_differ_where_a_coordinator_may_look(twins):
    shares = []
    for path in twins[State.CLOSED]:
        with open_database(path) as db:
            shares.append((len(splits.split_items(db)), labels.n_labels(db)))
    assert shares[0][0] != shares[1][0]
    assert shares[0][1] == shares[1][1]
