"""Attention checks: hidden items with a known answer, at random places, outside of all results."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

from labeler.errors import InputError, NotAllowed
from labeler.studies.audit import audit
from labeler.studies.course import calibrating, course, staffing
from labeler.studies.handover import anonymising, exchange
from labeler.studies.items import browsing, importing
from labeler.studies.labelling import inbox, label_file
from labeler.studies.model import Kind, PlanParameters, Role
from labeler.studies.plan.design import CHECK_NAME, draw_plan
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning, verifying
from labeler.studies.results import attention, next_items
from labeler.studies.store import assignments, items, open_database, runs
from tests.labeler.studies.handover.test_publishing import OPTIONS, publish
from tests.making import (
    NOW,
    REVIEWERS,
    WHO,
    end_study,
    item_name,
    new_study,
    offers,
    report_of,
    result_file,
    series,
    submit,
)
from tests.sentences import says

PLAN = PlanParameters(seed=3, overlap=0.25, retest=0, attention=4)
WHY = {"why": "because", **WHO}
RIGHT = "right"


@pytest.fixture
def checked(tmp_path):
    with new_study(tmp_path / "checked.study", n_items=16, plan=PLAN) as db:
        yield db


def checks_of(db, reviewer):
    """The positions of a reviewer's active checks, and of all active assignments."""
    standing = [row.assignment for row in assignments.everything(db) if not row.ended]
    own = [assignment for assignment in standing if assignment.reviewer == reviewer]
    return sorted(a.position for a in own if a.kind is Kind.ATTENTION), sorted(a.position for a in own)


def answer_all(db, reviewer, *, right=True, other="similar"):
    """Answer everything; checks are answered with the known answer, or with the other one."""
    known = {check.item_id: check.answer for check in items.attention_checks(db)}
    while tasks := offers(db, reviewer):
        answer = known.get(tasks[0].item_id, other)
        if tasks[0].item_id in known and not right:
            answer = "similar" if answer == "dissimilar" else "dissimilar"
        submit(db, reviewer, tasks[0], answer)


# --- the plan


def test_everybody_gets_the_same_checks_spread_over_the_own_work_at_own_places(checked):
    places = {}
    for name in REVIEWERS:
        own, everything = checks_of(checked, name)
        assert everything == list(range(len(everything)))
        n_others = len(everything) - len(own)
        for number, place in enumerate(own):
            assert number * n_others // 4 <= place - number <= (number + 1) * n_others // 4
        places[name] = tuple(own)
    assert len(set(places.values())) > 1


def test_the_items_of_checks_leave_the_plan_and_each_check_has_a_known_answer_of_both_kinds(checked):
    found = items.attention_checks(checked)
    sources = {check.source for check in found}
    assigned = Counter(row.assignment.item for row in assignments.everything(checked))
    assert len(sources) == 4
    assert not sources & assigned.keys()
    assert Counter(check.answer for check in found) == {"similar": 2, "dissimilar": 2}
    assert {assigned[check.name] for check in found} == {len(REVIEWERS)}


def test_a_dissimilar_check_has_one_run_that_takes_half_as_long_again_and_a_similar_one_repeats_a_run(checked):
    for check in items.attention_checks(checked):
        source = items.by_name(checked, check.source)
        before, after = runs.of_item(checked, source.item_id), runs.of_item(checked, check.item_id)
        ratios = sorted(float(np.median(b) / np.median(a)) for a, b in zip(before, after, strict=True))
        if check.answer == "dissimilar":
            assert ratios == pytest.approx([1, 1, 1.5])
        else:
            assert any(all(np.isin(new, old).all() for new in after) for old in before)
            assert len({new.tobytes() for new in after}) == len(after)


def test_without_checks_plans_and_their_hashes_are_as_before():
    found = {f"item {n}": "org" for n in range(20)}
    with_none, with_two = (draw_plan(found, REVIEWERS, PlanParameters(1, attention=n)) for n in (0, 2))
    assert with_none.checks == {}
    assert with_two.checks.keys() == {CHECK_NAME.format(1), CHECK_NAME.format(2)}
    assert with_none.hash != with_two.hash


def test_too_many_checks_are_refused(study):
    with pytest.raises(InputError, match="At most 6 of 8 items can be calibration items and attention checks, not 7"):
        assigning.preview_plan(study, replace(PLAN, calibration=3))


def test_items_with_a_reference_label_come_first_and_stay_as_they_are(tmp_path):
    with new_study(tmp_path / "known.study", n_items=16) as db:
        calibrating.set_reference(db, {item_name(2): "similar", item_name(5): "dissimilar"}, **WHO)
        assigning.confirm_plan(db, replace(PLAN, attention=3), **WHO)
        found = {check.source: (check.answer, check.is_changed) for check in items.attention_checks(db)}
        assert found[item_name(2)] == ("similar", False)
        assert found[item_name(5)] == ("dissimilar", False)
        assert len(found) == 3
        assert verifying.verify_plan(db).problems == ()


def test_without_a_known_change_each_check_needs_a_reference_label(tmp_path, monkeypatch):
    monkeypatch.setattr("labeler.studies.preparing.attention.changes_of", lambda _question: ())
    with new_study(tmp_path / "known.study", n_items=16) as db:
        with pytest.raises(InputError, match=r"need 1 reference label, .* but there are none"):
            assigning.preview_plan(db, replace(PLAN, attention=1))
        calibrating.set_reference(db, {item_name(2): "similar"}, **WHO)
        with pytest.raises(InputError, match=r"need 2 reference labels, .* but there is 1"):
            assigning.preview_plan(db, replace(PLAN, attention=2))
        assert list(assigning.preview_plan(db, replace(PLAN, attention=1)).checks.values()) == [item_name(2)]


def test_a_new_plan_replaces_the_checks_of_the_earlier_one(checked):
    assigning.confirm_plan(checked, replace(PLAN, seed=4, attention=2), **WHO)
    assert len(items.attention_checks(checked)) == 2
    assert audit.audit(checked).faults == ()


def test_changes_of_people_and_later_items_keep_the_plan_verifiable_and_joiners_get_checks(tmp_path):
    with new_study(tmp_path / "live.study", n_items=24) as db:
        assigning.confirm_plan(db, PLAN, first=16, **WHO)
        answer_all(db, "ada")
        staffing.add(db, "eve", [Role.REVIEWER], **WHO)
        staffing.remove(db, "ben", **WHY)
        staffing.replace(db, "cleo", "fay", **WHY)
        next_items.next_items(db, 4, random_share=1.0, **WHO)
        for name in ("dan", "eve", "fay"):
            own, everything = checks_of(db, name)
            assert len(own) == 4
            assert len(set(everything)) == len(everything)
            answer_all(db, name)
        assert verifying.verify_plan(db).problems == ()
        assert audit.audit(db).faults == ()


def test_the_audit_finds_a_changed_known_answer_and_a_check_of_another_item(checked):
    checked.execute("UPDATE items SET known_answer = 'similar' WHERE name = ?", (CHECK_NAME.format(1),))
    assert "was changed" in {fault.what for fault in audit.audit(checked).faults}
    other = items.by_name(checked, next(iter(assigning.active_plan(checked).standing))[1]).item_id
    checked.execute("UPDATE items SET made_from = ? WHERE name = ?", (other, CHECK_NAME.format(2)))
    assert says(str(verifying.verify_plan(checked).problems), "attention checks are not made from the items")


# --- outside of all results


def test_no_result_no_list_and_no_file_has_a_check(checked):
    for name in REVIEWERS:
        answer_all(checked, name)
    end_study(checked)
    names = {check.name for check in items.attention_checks(checked)}
    sources = {check.source for check in items.attention_checks(checked)}
    report = report_of(checked)
    report["course"].pop("attention")
    assert not {name for name in names if name in str(report)}
    assert report["study"]["items"] == 12
    assert not names & {item.name for item in items.all_items(checked)}
    rows = label_file.all_answers(checked)
    assert not (names | sources) & set(rows["item"])
    assert Kind.ATTENTION not in set(rows["kind"])
    assert items.n_items(checked) == 16
    with pytest.raises(InputError, match="attention check 1"):
        browsing.item_named(checked, "attention check 1")


def test_the_report_is_that_of_a_study_in_which_nobody_was_attentive(checked, tmp_path):
    checked.backup(tmp_path / "careless.study")
    with open_database(tmp_path / "careless.study") as careless:
        for db, right in ((checked, True), (careless, False)):
            for name in REVIEWERS:
                answer_all(db, name, right=right)
            end_study(db)
        reports = [report_of(checked), report_of(careless)]
    for report in reports:
        assert report["course"].pop("attention")["guess"] == 0.5
        report["study"].pop("chain")
    assert reports[0] == reports[1]


def test_a_copy_without_names_verifies_and_a_data_set_has_no_check(checked, tmp_path):
    for name in REVIEWERS:
        answer_all(checked, name)
    end_study(checked)
    anonymising.anonymise(checked, tmp_path / "copy.study", keep_benchmarks=False, **WHO)
    with open_database(tmp_path / "copy.study") as copy:
        assert audit.audit(copy).faults == ()
        assert [row.n_right for row in attention.checks(copy).reviewers] == [4] * 4
        assert not [item for item in items.all_items(copy, with_checks=True) if "bench_" in item.benchmark + item.name]
    folder = publish(checked, tmp_path / "out", options=replace(OPTIONS, html=False)).folder
    labelled = pd.read_csv(folder / "data/labels.csv")
    assert len(labelled) == sum(row.assignment.kind is not Kind.ATTENTION for row in assignments.everything(checked))
    roles = pd.read_parquet(folder / "data/items.parquet")["role"].value_counts().to_dict()
    assert roles == {"counted": 12, "attention": 4}


def test_a_comment_on_a_check_names_the_item_that_it_was_made_from(checked):
    while True:
        task = offers(checked, "ada")[0]
        submit(checked, "ada", task, comment="odd")
        if task.item_id in {check.item_id for check in items.attention_checks(checked)}:
            break
    names = {message.item for message in inbox.messages(checked)}
    assert names & {check.source for check in items.attention_checks(checked)}
    assert not [name for name in names if name.startswith("attention")]


def test_labels_of_a_check_cannot_be_imported(checked):
    file = pd.DataFrame([{"item": item_name(1), "reviewer": "ada", "label": "similar", "kind": "attention"}])
    with pytest.raises(InputError, match="kind 'attention' is not one of"):
        exchange.import_labels(checked, file, **WHO)


def test_an_import_whose_item_became_a_check_is_not_taken_back(tmp_path):
    with new_study(tmp_path / "part.study", n_items=16) as db:
        later = {**WHO, "now": NOW + timedelta(hours=1)}
        list(importing.import_files(db, [result_file(item_name(16), series(16))], **later))
        calibrating.set_reference(db, {item_name(16): "similar"}, **WHO)
        assigning.confirm_plan(db, replace(PLAN, attention=1), **WHO)
        assert says(importing.why_not_taken_back(db), item_name(16))


def test_an_imported_benchmark_with_the_name_of_a_check_is_another_item(checked):
    file = importing.upload("later.csv", b"benchmark,run,iteration,value\n" + b"".join(
        f"{CHECK_NAME.format(1)},{run},{n},{1 + n / 100}\n".encode() for run in range(2) for n in range(5)
    ))  # fmt: skip
    (result,) = importing.import_files(checked, [file], as_new=True, **WHO)
    assert result.names == (f"{CHECK_NAME.format(1)}#2",)


# --- the answers


def test_nobody_sees_the_answers_before_the_study_is_closed(checked):
    answer_all(checked, "ada")
    with pytest.raises(NotAllowed, match="only while the study is closed or unblinded"):
        attention.checks(checked)
    assert report_of(checked)["course"]["attention"] is None


def test_first_labels_count_and_not_sure_is_no_label(checked):
    known = {check.item_id: check.answer for check in items.attention_checks(checked)}
    first = iter(("wrong, then right", "right, then wrong", "not sure", "right"))
    while task := next(iter(offers(checked, "ada")), None):
        right = known.get(task.item_id, "similar")
        wrong = "similar" if right == "dissimilar" else "dissimilar"
        answers = {"wrong, then right": (wrong, right), "right, then wrong": (right, wrong), "right": (right,)}
        if task.item_id not in known:
            submit(checked, "ada", task)
        elif task.n_not_sure:
            submit(checked, "ada", task, "not sure")
        else:
            for number, answer in enumerate(answers.get(next(first), ("not sure",))):
                submit(checked, "ada", replace(task, revision=number), answer)
    course.change_state(checked, Step.CLOSE, **WHY)
    own = next(row for row in attention.checks(checked).reviewers if row.reviewer == "ada")
    assert (own.n_checks, own.n_labels, own.n_right) == (4, 3, 2)


def test_the_answers_say_when_each_check_came(checked):
    answer_all(checked, "ada")
    course.change_state(checked, Step.CLOSE, **WHY)
    found = [row for row in attention.checks(checked).answers if row.reviewer == "ada"]
    assert [row.place - 1 for row in found] == checks_of(checked, "ada")[0]
    assert all(row.right and row.at_utc and row.label == row.known for row in found)
    assert {row.change for row in found} == {"one run takes 50 % longer", "all runs are drawn anew from one run"}
