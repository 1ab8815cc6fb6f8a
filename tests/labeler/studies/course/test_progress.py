"""Progress and pace of everyone; each number is worked by hand."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta

import pandas as pd
import pytest

from labeler.studies.course import course, progress, staffing
from labeler.studies.course.progress import Pace, describe, reviewer_paces
from labeler.studies.handover import anonymising, exchange
from labeler.studies.items import browsing
from labeler.studies.labelling import reviewing
from labeler.studies.labelling.reviewing import N_OFFERED
from labeler.studies.model import NewLabel, PlanParameters, Role, State
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.questions import WITHDRAWN
from labeler.studies.store import Database, items, labels, open_database, studies
from tests.making import (
    NOW,
    REVIEWERS,
    WHO,
    answer_everything,
    answer_next,
    copy_of,
    id_of,
    item_name,
    new_study,
    offers,
)

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
UNTOUCHED = Pace("ada", True, False, True, 5, 0, 0, 5, None, None, None, None, None, None, None)


def pace_of(db, name="ada", *, now=NOW):
    return next(pace for pace in reviewer_paces(db, now=now) if pace.reviewer == name)


def say(db, name, answer, *, at=NOW, dwell_ms=900, pauses=()):
    """Answer the first offered item after this time."""
    task = offers(db, name)[0]
    view = {"axis": "core", "pauses": list(pauses)}
    sent = NewLabel(f"{name}-{task.code}-{task.revision}", task.code, task.revision, answer, dwell_ms, view)
    reviewing.submit(db, id_of(db, name), sent, now=at)
    return task


def take_back(db, name, task, *, at=NOW):
    sent = NewLabel(f"undo-{task.code}", task.code, task.revision + 1, WITHDRAWN)
    reviewing.submit(db, id_of(db, name), sent, now=at)


def sign_in(db, name, *, at):
    identity.sign_in(db, identity.invite(db, name, Role.REVIEWER, **WHO), now=at)


def move(db, step):
    course.change_state(db, step, why="test", force=True, **WHO)


def stalled(db, *, now):
    return {pace.reviewer: pace.stalled_since for pace in reviewer_paces(db, now=now) if pace.stalled}


def test_nobody_has_a_pace_before_the_first_answer(planned):
    assert reviewer_paces(planned, now=NOW) == [replace(UNTOUCHED, reviewer=name) for name in REVIEWERS]
    assert [describe(pace) for pace in reviewer_paces(planned, now=NOW)] == ["working"] * 4


def test_a_pace_worked_by_hand(planned):
    say(planned, "ada", "similar", dwell_ms=4_000)
    say(planned, "ada", "dissimilar", at=NOW + HOUR, dwell_ms=10_000, pauses=[[1_000, 4_000, "hidden"]])
    say(planned, "ada", "not sure", at=NOW + 2 * DAY, dwell_ms=20_000)
    # 3 of 5 are left, including the "not sure"; median of 4, 6 and 20 s; 2 labels on 2 days with answers, in 3
    # calendar days: 3 left take 4.5 days from November 22, 13:00
    # days with 2, 0, 0 labels: dispersion (16 / 9 + 4 / 9 + 4 / 9) / 2 / (2 / 3) = 2; 4.5 days times or divided by
    # exp(1.2816 * sqrt(2 / 2)) = 3.60
    assert pace_of(planned, now=NOW + 2 * DAY + HOUR) == Pace(
        "ada", True, False, True, 5, 2, 1, 3, 6.0, 1.0, 3 * 6 / 3600, (NOW + 2 * DAY).isoformat(), date(2026, 11, 27),
        (date(2026, 11, 23), date(2026, 12, 8)), None, by_day=(2, 0, 0),
    )  # fmt: skip


@pytest.mark.parametrize(("answer", "n_done", "n_not_sure"), [("similar", 5, 0), ("not sure", 0, 5)])
def test_who_is_done_or_could_not_decide_twice_has_no_end_to_wait_for(planned, answer, n_done, n_not_sure):
    answer_everything(planned, {"ada": answer})
    pace = pace_of(planned, now=NOW + 30 * DAY)
    assert (pace.n_done, pace.n_not_sure, pace.n_left, pace.stalled) == (n_done, n_not_sure, 0, False)
    assert (pace.hours_left, pace.labels_per_day, pace.estimated_end) == (0.0, float(n_done), None)
    assert describe(pace) == "done"


def test_what_is_left_is_what_the_screen_still_offers(planned):
    for said in ("similar", "not sure", "dissimilar", "not sure", "similar", "not sure"):
        before = pace_of(planned).n_left
        assert min(before, N_OFFERED) == len(offers(planned, "ada"))
        say(planned, "ada", said)
    assert pace_of(planned).n_left == 1


def test_a_label_changed_is_still_one_and_a_label_taken_back_is_none(planned):
    task = say(planned, "ada", "similar", dwell_ms=3_000)
    assert pace_of(planned).end_between is None  # before the second day
    changed = NewLabel("again", task.code, 1, "dissimilar", 900)
    reviewing.submit(planned, id_of(planned, "ada"), changed, now=NOW)
    assert (pace_of(planned).n_done, pace_of(planned).labels_per_day) == (1, 1.0)
    take_back(planned, "ada", replace(task, revision=1))
    pace = pace_of(planned)
    assert (pace.n_done, pace.n_left, pace.labels_per_day, pace.estimated_end) == (0, 5, 0.0, None)
    assert (pace.time_on_task_s, pace.hours_left) == (1.95, pytest.approx(5 * 1.95 / 3600))


def test_an_end_in_ten_years_is_unknown(planned):
    say(planned, "ada", "similar")
    # 4 left, one label in 912 and in 913 calendar days
    assert pace_of(planned, now=NOW + 911 * DAY).estimated_end == (NOW + (911 + 4 * 912) * DAY).date()
    assert pace_of(planned, now=NOW + 912 * DAY).estimated_end is None


@pytest.mark.parametrize(("sign_in_after", "answer_after"), [(1, 2), (2, 1)])
def test_last_seen_is_the_later_of_answer_and_sign_in(planned, sign_in_after, answer_after):
    sign_in(planned, "ada", at=NOW + sign_in_after * HOUR)
    sign_in(planned, "ben", at=NOW + 5 * HOUR)
    say(planned, "ada", "similar", at=NOW + answer_after * HOUR)
    assert pace_of(planned).last_seen_utc == (NOW + 2 * HOUR).isoformat()
    assert pace_of(planned, "cleo").last_seen_utc is None


def test_who_never_came_stalls_three_days_after_the_study_opened(planned):
    assert stalled(planned, now=NOW + 3 * DAY - HOUR) == {}
    assert progress.warning(reviewer_paces(planned, now=NOW + DAY)) == ""
    assert stalled(planned, now=NOW + 3 * DAY) == dict.fromkeys(REVIEWERS, NOW.date())
    say(planned, "ada", "similar", at=NOW + 2 * DAY)
    words = progress.warning(reviewer_paces(planned, now=NOW + 4 * DAY))
    assert "ben since 2026-11-20, cleo since 2026-11-20, dan since 2026-11-20." in words
    assert ("ada" in words, "on the People page" in words) == (False, True)


def test_who_signed_in_or_answered_stalls_three_days_later(planned):
    sign_in(planned, "ada", at=NOW + DAY)
    say(planned, "ben", "similar", at=NOW + 2 * DAY)
    assert stalled(planned, now=NOW + 3 * DAY).keys() == {"cleo", "dan"}
    assert stalled(planned, now=NOW + 4 * DAY).keys() == {"ada", "cleo", "dan"}
    assert stalled(planned, now=NOW + 5 * DAY)["ben"] == date(2026, 11, 22)
    assert describe(pace_of(planned, "ben", now=NOW + 5 * DAY)) == "stalled since 2026-11-22"


def test_who_signed_in_before_the_study_opened_is_waited_for_from_then(study):
    sign_in(study, "ada", at=NOW)
    assigning.confirm_plan(study, PlanParameters(1, retest=0), actor="carol", now=NOW + 10 * DAY)
    assert stalled(study, now=NOW + 12 * DAY) == {}
    assert stalled(study, now=NOW + 13 * DAY)["ada"] == (NOW + 10 * DAY).date()


def test_a_pause_ends_the_waiting_and_it_begins_anew_afterwards(planned):
    staffing.pause(planned, "ada", why="ill", **WHO)
    pace = pace_of(planned, now=NOW + 9 * DAY)
    assert (describe(pace), pace.paused, pace.stalled, pace.n_left) == ("paused", True, False, 5)
    staffing.resume(planned, "ada", actor="carol", now=NOW + 9 * DAY)
    assert stalled(planned, now=NOW + 10 * DAY).keys() == {"ben", "cleo", "dan"}
    assert stalled(planned, now=NOW + 12 * DAY)["ada"] == (NOW + 9 * DAY).date()


def test_who_joins_late_or_takes_over_does_not_stall_at_once(planned):
    staffing.add(planned, "eve", [Role.REVIEWER], actor="carol", now=NOW + 9 * DAY)
    staffing.replace(planned, "dan", "fay", why="left", actor="carol", now=NOW + 9 * DAY)
    found = stalled(planned, now=NOW + 10 * DAY)
    assert found.keys() == {"ada", "ben", "cleo"}
    assert describe(pace_of(planned, "fay", now=NOW + 10 * DAY)) == "working"
    dan = pace_of(planned, "dan", now=NOW + 10 * DAY)
    assert (dan.takes_part, describe(dan), dan.n_left) == (False, "left", 0)


@pytest.mark.parametrize("step", [Step.PAUSE, Step.CLOSE])
def test_nobody_stalls_or_has_an_end_while_nothing_can_be_labelled(planned, step):
    say(planned, "ada", "similar")
    move(planned, step)
    pace = pace_of(planned, now=NOW + 9 * DAY)
    assert stalled(planned, now=NOW + 9 * DAY) == {}
    assert (pace.is_open, pace.n_left, pace.estimated_end, describe(pace)) == (False, 4, None, "unfinished")
    if step is Step.PAUSE:  # opened again, the study is waited for from then
        course.change_state(planned, Step.OPEN, why="test", actor="carol", now=NOW + 9 * DAY)
        assert stalled(planned, now=NOW + 11 * DAY) == {}


def test_who_has_nothing_assigned_is_waited_for_by_nobody(study, db):
    assert [describe(pace) for pace in reviewer_paces(study, now=NOW + 9 * DAY)] == ["nothing assigned"] * 4
    assert stalled(study, now=NOW + 9 * DAY) == {}
    assert reviewer_paces(db, now=NOW) == []  # there are no reviewers


def test_a_calibration_round_is_counted_apart(study):
    parameters = PlanParameters(1, overlap=0, retest=0, calibration=2)
    assigning.confirm_plan(study, parameters, **WHO)
    say(study, "ada", "similar", dwell_ms=8_000)
    pace = pace_of(study)
    assert (pace.n_assigned, pace.n_done, pace.n_left, pace.time_on_task_s) == (2, 1, 1, 8.0)
    move(study, Step.PAUSE)
    assert pace_of(study).n_assigned == 2
    move(study, Step.OPEN)
    move(study, Step.OPEN)
    assert studies.get(study).state is State.OPEN
    pace = pace_of(study)
    assert (pace.n_assigned, pace.n_done, pace.n_left) == (3, 0, 3)
    assert (pace.time_on_task_s, pace.labels_per_day) == (None, None)
    assert pace.last_seen_utc == NOW.isoformat()


def test_excluded_items_count_for_nothing(planned):
    task = say(planned, "ada", "similar", dwell_ms=8_000)
    say(planned, "ada", "similar", dwell_ms=2_000)
    browsing.exclude(planned, items.by_id(planned, task.item_id).name, "broken", **WHO)
    pace = pace_of(planned)
    assert (pace.n_assigned, pace.n_done, pace.n_left) == (4, 1, 3)
    assert (pace.time_on_task_s, pace.labels_per_day) == (2.0, 1.0)


def test_labels_made_elsewhere_are_done_but_tell_nothing_of_the_pace(study):
    table = pd.DataFrame({"item": [item_name(0), item_name(1)], "reviewer": "ada", "label": "similar"})
    exchange.import_labels(study, table, **WHO)
    pace = pace_of(study)
    assert (pace.n_done, pace.labels_per_day, pace.time_on_task_s, pace.last_seen_utc) == (2, None, None, None)


@pytest.fixture
def copies(masters, tmp_path) -> Iterator[tuple[Database, Database]]:
    for name in "ab":
        (tmp_path / name).mkdir()
    with copy_of(masters["planned"], tmp_path / "a") as one, copy_of(masters["planned"], tmp_path / "b") as other:
        yield one, other


def test_progress_never_depends_on_what_was_said(copies):
    for db, said in zip(copies, (["similar", "dissimilar"], ["dissimilar", "dissimilar"]), strict=True):
        for name in REVIEWERS:
            for answer in said:
                answer_next(db, name, answer)
    one, other = (reviewer_paces(db, now=NOW + HOUR) for db in copies)
    assert one == other
    assert progress.rows(one) == progress.rows(other)
    counts = [(pace.reviewer, pace.n_assigned, pace.n_done, pace.n_not_sure) for pace in one]
    assert counts == [row[:4] for row in labels.progress(copies[0])]  # as the status has them


def test_the_table_is_rounded_and_in_words(planned):
    say(planned, "ada", "similar", dwell_ms=1_234)
    row, *_ = progress.rows(reviewer_paces(planned, now=NOW))
    assert row == {
        "reviewer": "ada", "done": 1, "assigned": 5, "not sure": 0, "seconds per item": 1.2,
        "without picture": 0, "labels per day": 1.0,
        "last seen (UTC)": "2026-11-20 12:00", "hours left": 0.0, "estimated finish": "2026-11-24", "state": "working",
    }  # fmt: skip


def test_the_finish_has_a_range_that_follows_from_how_much_the_days_vary(planned):
    # 2 labels on day 1, none on day 2, 1 on day 3: mean 1 a day; squares 1 + 1 + 0, dispersion 2 / 2 / 1 = 1;
    # 2 are left: in 2 days, and within 2 * exp(-+1.2816 * sqrt(1 / 3)) = 0.95 to 4.19 days
    for at in (NOW, NOW + HOUR, NOW + 2 * DAY):
        say(planned, "ada", "similar", at=at)
    pace = pace_of(planned, now=NOW + 2 * DAY)
    assert pace.estimated_end == (NOW + 4 * DAY).date()
    assert pace.end_between == ((NOW + 2 * DAY + 0.95 * DAY).date(), (NOW + 2 * DAY + 4.19 * DAY).date())
    assert pace.by_day == (2, 0, 1)


def test_all_are_finished_when_the_last_one_is(planned):
    assert progress.finish(reviewer_paces(planned, now=NOW)) == (None, None)
    for name in (*REVIEWERS, "ada"):
        say(planned, name, "similar")
    assert progress.finish(reviewer_paces(planned, now=NOW)) == (date(2026, 11, 24), None)
    end, between = progress.finish(reviewer_paces(planned, now=NOW + 3 * DAY))
    assert between[0] < end == date(2026, 12, 9) < between[1]
    answer_everything(planned, dict.fromkeys(REVIEWERS, "similar"))
    assert progress.finish(reviewer_paces(planned, now=NOW + 3 * DAY)) == (None, None)


def test_who_answers_faster_than_anybody_looks_is_named(study_path):
    with new_study(study_path, n_items=24, plan=True) as db:
        for _ in range(progress.N_FOR_FAST):
            say(db, "ada", "similar", dwell_ms=400)
            say(db, "ben", "similar", dwell_ms=4000)
        paces = reviewer_paces(db, now=NOW)
    assert [pace.reviewer for pace in paces if pace.is_fast] == ["ada"]


def test_a_copy_whose_log_does_not_say_who_was_added_has_the_same_progress(planned, tmp_path):
    answer_next(planned, "ada", "similar")
    anonymising.anonymise(planned, tmp_path / "copy.study", **WHO)
    with open_database(tmp_path / "copy.study") as copy:
        done = [pace.n_done for pace in reviewer_paces(copy, now=NOW)]
    assert sorted(done) == [0, 0, 0, 1]
