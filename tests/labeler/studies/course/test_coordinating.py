import json
from dataclasses import asdict, replace
from datetime import timedelta

import pytest

from labeler.errors import InputError, NotAllowed, StudyError
from labeler.studies.course import coordinating
from labeler.studies.course.coordinating import Progress
from labeler.studies.labelling import reviewing
from labeler.studies.model import ALL, PlanParameters, Protocol, Role, State
from labeler.studies.people import identity
from labeler.studies.preparing import assigning
from labeler.studies.store import open_database, studies
from tests.making import NOW, PARAMETERS, REVIEWERS, WHO, answer_next, last_event, log, new_study, submit


def create(path, name="Caches", question="Alike?", coordinator="carol"):
    return coordinating.create_study(path, name=name, question=question, coordinator=coordinator, now=NOW)


def confirm(db, parameters=PARAMETERS):
    return assigning.confirm_plan(db, parameters, **WHO)


def describe(db, name, question):
    coordinating.describe_study(db, name, question, **WHO)


def assigned(db):
    """(reviewer, item, kind, block, position) -> code."""
    rows = db.execute(
        """SELECT p.name, i.name, a.kind, a.block, a.position, a.code FROM assignments a
           JOIN people p USING (person_id) JOIN items i USING (item_id)"""
    )
    return {tuple(row): code for *row, code in rows}


def test_a_new_study_is_a_draft_with_one_coordinator(study_path):
    create(study_path, name=" Caches ", question=" Alike? ")
    with open_database(study_path) as made:
        study = coordinating.get_study(made)
        assert (study.name, study.question.text, study.state) == ("Caches", "Alike?", State.DRAFT)
        assert (study.protocol, study.plan_hash) == (Protocol("levels", 0.15), None)
        assert [(person.name, person.roles) for person in identity.everyone(made)] == [
            ("carol", frozenset({Role.COORDINATOR}))
        ]
        assert log(made) == [("owner", "create study"), ("owner", "add person"), ("owner", "invite")]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"name": " "}, "needs a name"),
        ({"question": ""}, "needs a name"),
        ({"coordinator": "\t"}, "coordinator a name"),
        ({"coordinator": "c" * 61}, "1 to 60 printable"),
        ({"coordinator": "c\x07"}, "1 to 60 printable"),
    ],
)
def test_a_study_that_cannot_be_made_leaves_no_file_behind(study_path, texts, message):
    with pytest.raises(InputError, match=message):
        create(study_path, **texts)
    assert list(study_path.parent.iterdir()) == []


def test_name_and_question_change_until_somebody_has_answered(planned):
    for texts in (("", "Same?"), ("Stores", "  ")):
        with pytest.raises(InputError, match="needs a name"):
            describe(planned, *texts)
    with pytest.raises(StudyError, match="already exists"):
        create(planned.path)  # over another study
    describe(planned, "Stores", " Same? ")
    assert (coordinating.get_study(planned).name, reviewing.brief(planned).question.text) == ("Stores", "Same?")
    answer_next(planned, "ada", "not sure")
    with pytest.raises(NotAllowed, match="answered the question"):
        describe(planned, "Stores", "Different?")
    assert reviewing.brief(planned).question.text == "Same?"
    describe(planned, "Stores and caches", "Same?")  # the name is free
    assert coordinating.get_study(planned).name == "Stores and caches"
    assert log(planned).count(("carol", "describe study")) == 2


@pytest.mark.parametrize("parameters", [PARAMETERS, PlanParameters(7), PlanParameters(7, 3), PlanParameters(7, 2, 1.0)])
def test_what_the_preview_shows_is_what_is_kept(study, parameters):
    before = log(study)
    preview = assigning.preview_plan(study, parameters)
    assert assigned(study) == {}
    assert log(study) == before
    plan = confirm(study, parameters)
    assert plan == preview
    assert set(assigned(study)) == {
        (a.reviewer, a.item, a.kind, None if a.block == ALL else a.block, a.position) for a in plan.assignments
    }
    kept = coordinating.get_study(study)
    assert (kept.state, kept.plan_hash, kept.plan_parameters) == (State.OPEN, plan.hash, asdict(parameters))
    assert log(study)[-1] == ("carol", "draw plan")
    drawn_from = {"items": [item.name for item in coordinating.list_items(study)], "reviewers": list(REVIEWERS)}
    told = last_event(study)[2]
    assert told == asdict(parameters) | {"hash": plan.hash} | drawn_from


def test_a_plan_is_not_drawn_again_after_an_answer_even_if_it_was_taken_back(planned):
    task = answer_next(planned, "ada", "similar")
    submit(planned, "ada", replace(task, revision=1), "withdrawn", dwell_ms=None)
    before, events_before = assigned(planned), log(planned)
    with pytest.raises(NotAllowed, match="cannot be replaced"):
        confirm(planned)
    assert assigned(planned) == before
    assert log(planned) == events_before


def test_codes_are_opaque_and_do_not_follow_from_the_seed(study):
    confirm(study)
    first = assigned(study)
    confirm(study)
    second = assigned(study)
    assert set(first) == set(second)
    assert not set(first.values()) & set(second.values())
    assert all(
        len(code) == assigning.CODE_LENGTH and set(code) <= set(assigning.CODE_ALPHABET) for code in first.values()
    )
    in_order = [code for _, code in sorted(first.items())]
    assert in_order != sorted(in_order)


def test_codes_are_all_different_and_none_is_taken():
    drawn = assigning.new_codes(300, lambda code: code[0] in assigning.CODE_ALPHABET[:16])
    assert len(set(drawn)) == 300
    assert drawn != sorted(drawn)
    assert {code[0] for code in drawn} <= set(assigning.CODE_ALPHABET[16:])
    assert assigning.new_codes(0, lambda _: False) == []


@pytest.mark.parametrize(
    ("n_items", "reviewers", "message"),
    [(0, REVIEWERS, "no items to plan"), (4, REVIEWERS[:1], "needs 2.*1"), (4, (), "the study has 0")],
)
def test_a_study_with_too_little_in_it_is_not_planned(study_path, n_items, reviewers, message):
    with new_study(study_path, n_items=n_items, reviewers=reviewers) as made, pytest.raises(InputError, match=message):
        confirm(made)


def test_a_plan_leaves_out_items_without_measurements_and_people_who_take_no_part(study):
    study.execute("UPDATE people SET active = 0 WHERE name = 'dan'")
    study.execute("UPDATE items SET n_runs = 0 WHERE name LIKE '%bench_3%'")
    plan = confirm(study)
    assert {a.reviewer for a in plan.assignments} == {"ada", "ben", "cleo"}
    assert len({a.item for a in plan.assignments}) == 7


def test_a_seed_is_found_for_those_who_name_none():
    seeds = {assigning.random_seed() for _ in range(20)}
    assert len(seeds) == 20
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_the_status_shows_how_far_everyone_is(planned):
    answer_next(planned, "ada", "similar", now=NOW)
    answer_next(planned, "ada", "not sure", now=NOW + timedelta(minutes=1))
    status = coordinating.status(planned)
    assert (status.n_items, status.n_reviewers, status.n_answers) == (8, 4, 2)
    last = (NOW + timedelta(minutes=1)).isoformat()
    assert status.reviewers[:2] == (Progress("ada", 5, 1, 1, last), Progress("ben", 5, 0, 0, None))
    plain = json.loads(json.dumps(status.json_values()))
    assert plain["state"] == "open"
    assert plain["plan_hash"] == coordinating.get_study(planned).plan_hash
    assert plain["reviewers"][0] == {
        "reviewer": "ada", "n_assigned": 5, "n_done": 1, "n_not_sure": 1, "last_answer_utc": last,
    }  # fmt: skip
    assert (plain["study"], plain["items"], plain["answers"]) == ("Caches", 8, 2)


def test_a_backup_is_logged_and_holds_the_study(planned, tmp_path):
    target = tmp_path / "copy.study"
    coordinating.back_up(planned, target, **WHO)
    assert log(planned)[-1] == ("carol", "backup")
    with open_database(target) as copy:
        assert studies.get(copy) == studies.get(planned)
        assert assigned(copy) == assigned(planned)
    before = log(planned)
    with pytest.raises(StudyError, match="already exists"):
        coordinating.back_up(planned, target, **WHO)
    assert log(planned) == before
