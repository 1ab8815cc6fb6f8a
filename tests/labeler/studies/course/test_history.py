"""The course of a study in its report."""

import json
from collections import Counter
from itertools import combinations
from xml.etree import ElementTree

import pytest

from labeler.studies.course import calibrating, course, staffing
from labeler.studies.items import browsing
from labeler.studies.model import Origin, PlanParameters, Role
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.results import history, reporting
from labeler.studies.store import assignments, labels
from tests.making import NOW, WHO, answer_everything, answer_next, item_name, new_study, offers, submit

SVG = "{http://www.w3.org/2000/svg}"
SPLIT = {"ada": "similar", "ben": "similar", "cleo": "similar", "dan": "dissimilar"}


def test_a_study_on_which_nothing_was_done_has_no_history(planned):
    assert history.study_course(planned) == {
        "unblinded": None, "steps": [], "people": [], "excluded": [], "changed_pairs": [], "calibration": None,
        "selection": None, "not_given": [], "flags": [], "later": [], "groups": [], "attention": None,
    }  # fmt: skip
    assert assigning.not_counted(planned) == frozenset()


def test_every_step_is_told_with_when_by_whom_and_why(planned):
    answer_everything(planned, SPLIT)
    for step in (Step.PAUSE, Step.OPEN, Step.THIRD, Step.CLOSE, Step.UNBLIND):
        course.change_state(planned, step, why=f"for {step}", **WHO)
    told = history.study_course(planned)
    assert told["changed_pairs"] == []  # also after the third round
    assert [(row["step"], row["by"], row["why"]) for row in told["steps"]] == [
        ("pause study", "carol", "for pause"),
        ("open study", "carol", "for open"),
        ("third round", "carol", "for third"),
        ("close study", "carol", "for close"),
        ("unblind study", "carol", "for unblind"),
    ]
    assert told["unblinded"] == {"at_utc": NOW.isoformat(), "by": "carol", "why": "for unblind"}


def test_every_change_of_people_is_told(planned):
    staffing.pause(planned, "ada", why="ill", **WHO)
    staffing.resume(planned, "ada", **WHO)
    staffing.remove(planned, "ben", why="left", **WHO)
    staffing.replace(planned, "cleo", "eve", why="busy", actor="owner", now=NOW)
    staffing.add(planned, "fay", [Role.REVIEWER], **WHO)
    staffing.add(planned, "chris", [Role.COORDINATOR], **WHO)
    told = history.study_course(planned)["people"]
    assert {row.pop("at_utc") for row in told} == {NOW.isoformat()}
    columns = ("change", "by", "name", "successor", "why")
    assert [tuple(row[column] for column in columns) for row in told] == [
        ("pause reviewer", "carol", "ada", None, "ill"),
        ("resume reviewer", "carol", "ada", None, None),
        ("remove reviewer", "carol", "ben", None, "left"),
        ("replace reviewer", "owner", "cleo", "eve", "busy"),
        ("join", "carol", "fay", None, None),
    ]


def test_what_is_left_out_is_told_with_the_reason_as_long_as_it_is(planned):
    browsing.exclude(planned, item_name(3), "cut off", **WHO)
    browsing.exclude(planned, item_name(4), "doubled", **WHO)
    browsing.include(planned, item_name(4), "no, it is not", **WHO)
    assert history.study_course(planned)["excluded"] == [{"item": item_name(3), "why": "cut off"}]
    assert assigning.not_counted(planned) == {item_name(3)}


def test_items_of_the_calibration_round_do_not_count_and_the_round_has_its_own_numbers(study):
    assigning.confirm_plan(study, PlanParameters(seed=3, retest=0, calibration=2), **WHO)
    answer_everything(study, SPLIT)
    assert set(calibrating.item_names(study)) == assigning.not_counted(study)
    assert set(assigning.item_roles(study).values()) == {"counted", "calibration"}
    told = history.study_course(study)["calibration"]
    assert (told["n_items"], told["passed"]) == (2, True)
    assert told["percent"]["value"] == pytest.approx(1 / 2)
    browsing.exclude(study, calibrating.item_names(study)[0], "cut off", **WHO)
    assert assigning.not_counted(study) == set(calibrating.item_names(study))


def test_pairs_that_changed_are_those_who_share_an_item_that_one_of_them_took_over(tmp_path):
    plan = PlanParameters(seed=3, overlap=0.1, retest=0)
    with new_study(tmp_path / "x.study", n_items=16, plan=plan) as db:
        for _ in range(3):
            answer_next(db, "ada", "similar")
        staffing.remove(db, "ada", why="left", **WHO)
        staffing.replace(db, "ben", "eve", why="busy", **WHO)
        answer_everything(db, {"cleo": "similar", "dan": "dissimilar", "eve": "similar"})
        taken = {
            (kept.assignment.reviewer, kept.assignment.item)
            for kept in assignments.everything(db)
            if kept.origin is Origin.CHANGE
        }
        assert taken
        by_item = labels.table(db).groupby("item")["reviewer"].agg(set)
        expected = Counter()
        for item, names in by_item.items():
            for pair in combinations(sorted(names), 2):
                expected[pair] += any((name, item) in taken for name in pair)
        found = {(row["a"], row["b"]): row["items"] for row in history.study_course(db)["changed_pairs"]}
        assert found == +expected
        assert list(found) == sorted(found)


def test_the_history_is_in_every_report_in_numbers_and_in_words(planned):
    submit(planned, "ada", offers(planned, "ada")[0], "similar", flag=True, comment="cut off <b>")
    answer_everything(planned, SPLIT)
    staffing.remove(planned, "dan", why="changed jobs", **WHO)
    browsing.exclude(planned, item_name(3), "one run was cut off", **WHO)
    course.change_state(planned, Step.CLOSE, why="every label is there", **WHO)
    course.change_state(planned, Step.UNBLIND, why="the paper is due", **WHO)
    files = reporting.files_of_study(planned, reporting.QUICK, actor="owner", now=NOW)
    content = json.loads(files["report.json"])
    assert content["course"] == json.loads(json.dumps(history.study_course(planned)))
    for name in ("report.html", "report.md"):
        for words in ("changed jobs", "one run was cut off", "every label is there", "the paper is due"):
            assert words in files[name]
    (flag,) = content["course"]["flags"]
    assert (flag["reviewer"], flag["flag"], flag["comment"]) == ("ada", True, "cut off <b>")
    assert f"<td>{flag['code']}</td><td>ada</td><td>yes</td><td>cut off &lt;b&gt;</td>" in files["report.html"]


@pytest.mark.slow
def test_the_items_with_the_most_disagreement_are_drawn_after_unblinding_only(planned):
    answer_everything(planned, SPLIT)
    before = reporting.files_of_study(planned, reporting.QUICK, actor="owner", now=NOW)
    assert not [name for name in before if "disputed-items" in name]
    assert "disputed-items" not in before["report.md"]
    course.change_state(planned, Step.CLOSE, why="every label is there", **WHO)
    course.change_state(planned, Step.UNBLIND, why="the paper is due", **WHO)
    after = reporting.files_of_study(planned, reporting.QUICK, actor="owner", now=NOW)
    disputed = json.loads(after["report.json"])["agreement"]["disputed"]["items"]
    drawing = ElementTree.fromstring(after["figures/disputed-items.svg"])
    assert [text.text for text in drawing.findall(f"{SVG}text")] == [row["item"] for row in disputed]
    assert len(drawing.findall(f"{SVG}g/{SVG}svg")) == len(disputed) > 0
    assert "figures/disputed-items.svg" in after["report.md"]
    assert after["figures/disputed-items.svg"] in after["report.html"]
    assert "latex/figures/disputed-items.pdf" in after
