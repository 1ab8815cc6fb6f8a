"""The state of a study, its next step, and its phases over time."""

from datetime import timedelta

import pytest

from labeler.studies import overview
from labeler.studies.course import course, progress
from labeler.studies.labelling import reviewing
from labeler.studies.model import PlanParameters, Role, State, describe_minutes
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.results import splits
from tests.making import NOW, PARAMETERS, REVIEWERS, WHO, answer_everything, answer_next, id_of, new_study, offers

SPLIT = {"ada": "dissimilar"} | dict.fromkeys(REVIEWERS[1:], "similar")


def view(db, person="carol"):
    return overview.overview(db, person, now=NOW)


def next_of(db, person="carol"):
    """Return the step or the place of the primary button of the box; None if the box has none."""
    act = view(db, person).box.act
    return act and (act.step or act.place)


def comment_next(db, name):
    task = offers(db, name)[0]
    event = {"event_id": name, "code": task.code, "revision": 0, "answer": "similar", "dwell_ms": 900}
    given = reviewing.submission_from(event | {"comment": "Is run 3 complete?"})
    reviewing.submit(db, id_of(db, name), given, now=NOW)


def move(db, step, now=NOW):
    course.change_state(db, step, why="because", actor="carol", now=now)


def decide_all(db):
    for split in splits.split_items(db):
        splits.adjudicate(db, split.item.name, "similar", "seen", **WHO)


def stages(db):
    return {stage.name: (stage.when, stage.fact) for stage in view(db).stages}


def test_the_next_step_leads_from_nothing_to_the_report_and_the_line_of_steps_says_where_the_study_is(db, study_path):
    assert (next_of(db), [part.sign for part in view(db).parts]) == (overview.ADD, ["○", "✓", "○", "○"])
    with new_study(study_path, reviewers=()) as made:
        assert next_of(made) == overview.PEOPLE
        for name in REVIEWERS:
            identity.add_person(made, name, [Role.REVIEWER], **WHO)
        assert next_of(made) == overview.PLAN
        assigning.confirm_plan(made, PARAMETERS, **WHO)
        assert next_of(made) is None
        assert stages(made) == {
            "Set up": ("done", "8 items, 4 people"), "Label": ("now", "Day 1, 0 % of the labels"),
            "Settle": ("next", "third labels, decisions"), "Report": ("next", "unblind, publish"),
        }  # fmt: skip
        answer_everything(made, SPLIT)
        assert (next_of(made), stages(made)["Settle"]) == (Step.THIRD, ("now", "all first labels are given"))
        move(made, Step.CLOSE)
        assert (next_of(made), stages(made)["Settle"]) == (overview.SPLITS, ("now", "closed, 3 items to decide"))
        decide_all(made)
        assert (next_of(made), stages(made)["Settle"]) == (Step.UNBLIND, ("now", "closed, all splits settled"))
        move(made, Step.UNBLIND)
        assert (next_of(made), view(made).parts) == (overview.REPORT, ())
        assert stages(made)["Report"] == ("now", f"unblinded on {NOW.day} {NOW:%b}")
        assert [when for when, _ in stages(made).values()] == ["done", "done", "done", "now"]


def test_a_calibration_round_comes_before_the_study(study):
    assigning.confirm_plan(study, PlanParameters(seed=1, overlap=0.25, retest=0, calibration=2), actor="c", now=NOW)
    assert stages(study)["Calibrate"] == ("now", "0 of 4 have finished")
    assert [act.words for act in view(study).box.also] == ["Set reference labels"]
    answer_everything(study, dict.fromkeys(REVIEWERS, "similar"))
    assert next_of(study) is Step.OPEN
    assert stages(study)["Calibrate"] == ("now", "100 %")
    move(study, Step.OPEN)
    assert stages(study)["Calibrate"] == ("done", "passed: 100 %")


def test_an_answer_not_sure_that_is_put_again_is_still_to_be_waited_for(planned):
    answer_everything(planned, dict.fromkeys(REVIEWERS[1:], "similar"))
    for _ in range(4):
        answer_next(planned, "ada", "similar")
    answer_next(planned, "ada", "not sure")
    assert next_of(planned) is None
    answer_next(planned, "ada", "not sure")
    assert next_of(planned) is Step.THIRD


def test_a_paused_study_is_resumed_next_and_nothing_else_is_offered(planned):
    move(planned, Step.PAUSE)
    now = view(planned)
    assert (now.box.heading, now.box.act.words, now.others) == ("Paused since today", "Resume the study", ())
    assert stages(planned)["Label"] == ("now", "Paused since today")


def test_what_waits_comes_in_order_with_comments_first(planned):
    answer_next(planned, "ada", "similar")
    comment_next(planned, "ben")
    later = overview.overview(planned, "carol", now=NOW + timedelta(days=5))
    assert later.box.heading == "4 things wait for you"
    assert [(line.subject, line.text.partition(".")[0]) for line in later.box.lines] == [
        ("A comment on an item.", "“Is run 3 complete?”"), ("ada", f"has not labelled since {NOW:%A}"),
        ("ben", f"has not labelled since {NOW:%A}"), ("2 reviewers", "have not opened their link yet"),
    ]  # fmt: skip
    assert overview.n_to_decide(planned, "carol") == 1


def test_who_labels_too_is_told_neither_comments_nor_how_many_items_are_split(planned):
    identity.add_person(planned, "dora", [Role.REVIEWER, Role.COORDINATOR], **WHO)
    comment_next(planned, "ben")
    assert "Is run 3 complete?" in str(view(planned).box)
    assert "Is run 3 complete?" not in str(view(planned, "dora"))
    answer_everything(planned, SPLIT)
    move(planned, Step.CLOSE)
    assert "split" in view(planned).box.heading
    assert "split" not in str(view(planned, "dora").box)
    assert "Agreement" not in [number.label for number in view(planned, "dora").numbers]
    assert (overview.n_to_decide(planned, "carol"), overview.n_to_decide(planned, "dora")) == (4, 0)


@pytest.mark.parametrize(("minutes", "words"), [(None, "—"), (0.2, "1 min"), (57, "57 min"), (99.4, "99 min"),
                                                (120, "2 h"), (200, "3 h 20 min")])  # fmt: skip
def test_times_are_written_as_people_say_them(minutes, words):
    assert describe_minutes(minutes) == words


def test_phases_follow_each_other_from_the_log_and_the_last_one_is_cut_short(planned):
    move(planned, Step.PAUSE, NOW + timedelta(days=1))
    move(planned, Step.OPEN, NOW + timedelta(days=2))
    move(planned, Step.CLOSE, NOW + timedelta(days=10))
    found = course.phases(planned, now=NOW + timedelta(days=500))
    assert [phase.state for phase in found] == [State.DRAFT, State.OPEN, State.PAUSED, State.OPEN, State.CLOSED]
    assert [phase.begin for phase in found[1:]] == [phase.end for phase in found[:-1]]
    assert found[-1].end - found[-1].begin == timedelta(days=1.5)


@pytest.mark.parametrize(("apart", "expected"), [(timedelta(hours=2), [2, 1]), (timedelta(days=4), [2, 1])])
def test_labels_are_counted_by_hour_or_in_a_long_study_by_day(planned, apart, expected):
    answer_next(planned, "ada", "similar", now=NOW)
    answer_next(planned, "ben", "similar", now=NOW + timedelta(minutes=5))
    answer_next(planned, "cleo", "similar", now=NOW + apart)
    answer_next(planned, "dan", "not sure", now=NOW + apart)
    counts = progress.labels_over_time(planned)
    assert [n for _, n in counts] == expected
    assert counts[0][0].hour == (12 if apart < timedelta(days=1) else 0)


def test_the_third_label_round_counts_third_labels_only(planned):
    answer_everything(planned, SPLIT)
    move(planned, Step.THIRD)
    n_assigned = progress.third_labels(planned)[1]
    (settle,) = [stage for stage in view(planned).stages if stage.name == "Settle"]
    assert (settle.fact, settle.share) == ("third labels: 0 % given", 0)
    answer_everything(planned, SPLIT)
    assert progress.third_labels(planned) == (n_assigned, n_assigned) and n_assigned > 0
