"""Create a study from some items of another study."""

import json
from datetime import timedelta

import pytest

from labeler.errors import InputError, StudyError
from labeler.model import CalibrationGate, PlanParameters, Protocol, Role, State
from labeler.screen import binning
from labeler.service.handover import triage
from labeler.service.items import browsing
from labeler.service.labelling import auditing
from labeler.service.people import identity
from labeler.service.plan import assigning
from labeler.service.results import exchange
from labeler.service.study import coordinating, staffing
from labeler.service.verdicts import computing, stored_verdicts
from labeler.store import events, items, labels, open_database, people, runs, studies
from tests.labeler.conftest import unprivileged
from tests.making import NOW, WHO, answer_everything, import_all, item_name, log, result_file, series
from tests.sentences import says

CHOSEN = [item_name(1), item_name(4), item_name(6)]


def make(db, path, names=CHOSEN, *, name="Split ones", coordinator="dora", **options):
    return triage.make_study(db, names, path, name=name, coordinator=coordinator, **WHO, **options)


def of_item(db, name):
    """Return all stored data about an item's measurements."""
    item = items.by_name(db, name)
    (parameters,) = db.execute("SELECT parameters FROM items WHERE name = ?", (name,)).fetchone()
    return {
        "item": (item.benchmark, item.application, item.unit, item.better, item.n_runs, item.n_iterations),
        "hash": item.data_hash,
        "parameters": parameters,
        "runs": [run.tolist() for run in runs.of_item(db, item.item_id)],
        "bins": runs.bins_of_item(db, item.item_id, binning.VERSION),
    }


def test_the_new_study_has_the_chosen_items_once_with_all_that_was_measured(study, study_path):
    expected = {name: of_item(study, name) for name in CHOSEN}
    study.execute("UPDATE bins SET version = version - 1 WHERE item_id = 2")  # are made anew
    make(study, study_path, [*CHOSEN, *CHOSEN])
    with open_database(study_path) as new:
        assert [item.name for item in items.all_items(new)] == sorted(CHOSEN)
        assert {name: of_item(new, name) for name in CHOSEN} == expected


def test_the_new_study_asks_the_same_question_under_the_same_protocol(study, study_path):
    coordinating.set_protocol(study, Protocol("full", 0.3, True, True, "Look twice."), **WHO)
    make(study, study_path)
    with open_database(study_path) as new:
        was, now = studies.get(study), studies.get(new)
        assert (now.name, now.question, now.protocol) == ("Split ones", was.question, was.protocol)
        assert (now.state, now.plan_hash) == (State.DRAFT, None)


def test_neither_people_nor_labels_nor_plan_come_along_and_the_secret_signs_the_new_coordinator_in(planned, study_path):
    answer_everything(planned, {"ada": "similar", "ben": "dissimilar"})
    secret = make(planned, study_path)
    with open_database(study_path) as new:
        assert [(person.name, person.roles) for person in people.all_people(new)] == [("dora", {Role.COORDINATOR})]
        assert labels.n_labels(new) == 0
        assert new.execute("SELECT count(*) FROM assignments").fetchone() == (0,)
        token = identity.sign_in(new, secret, now=NOW + timedelta(days=1))
        assert identity.person_of_session(new, token, now=NOW + timedelta(days=1)).name == "dora"


def test_verdicts_on_these_measurements_come_along_with_their_evidence_and_others_stay_behind(study, study_path):
    computing.compute_verdicts(study, actor="carol")
    other = items.by_name(study, CHOSEN[0]).item_id
    study.execute("UPDATE verdicts SET data_hash = 'of before' WHERE item_id = ?", (other,))
    make(study, study_path)
    with open_database(study_path) as new:
        assert (computing.n_missing(new), set(stored_verdicts.verdict_table(new)["item"])) == (1, set(CHOSEN[1:]))
        assert new.execute("SELECT count(*) FROM verdicts WHERE data_hash = 'of before'").fetchone() == (0,)
        was = stored_verdicts.verdict_table(study)
        was = was[was["item"].isin(CHOSEN)].reset_index(drop=True)
        assert stored_verdicts.verdict_table(new).to_dict("records") == was.to_dict("records")
        evidence = "SELECT pairs, linkage, used_utc FROM shown_verdicts WHERE name = ? ORDER BY classifier"
        for name in CHOSEN[1:]:
            assert new.execute(evidence, (name,)).fetchall() == study.execute(evidence, (name,)).fetchall()


def test_both_logs_name_the_other_file_and_the_number_of_items(study, study_path):
    make(study, study_path)
    last = events.table(study).iloc[-1]
    assert (last["actor"], last["action"]) == ("carol", "triage")
    assert json.loads(last["details"]) == {"into": study_path.name, "items": 3}
    with open_database(study_path) as new:
        last = events.table(new).iloc[-1]
        assert (last["action"], json.loads(last["details"])) == ("triage", {"from": study.path.name, "items": 3})


def test_the_old_study_changes_by_one_event_only(study, study_path):
    def dumped():
        added = ("triage", "sqlite_sequence", 'INSERT INTO "links"')  # the event, its number and its link
        return [line for line in study._connection.iterdump() if not any(text in line for text in added)]

    before = dumped()
    make(study, study_path)
    assert dumped() == before


def test_the_new_study_can_be_extended_and_planned(study, study_path):
    make(study, study_path)
    with open_database(study_path) as new:
        known, other = import_all(new, result_file(item_name(1), series(1)), result_file(item_name(7), series(7)))
        assert (known.names, other.names) == ((), (item_name(7),))
        for name in ("ada", "ben"):
            identity.add_person(new, name, [Role.REVIEWER], actor="dora", now=NOW)
        plan = assigning.confirm_plan(new, PlanParameters(1, overlap=0, retest=0), actor="dora", now=NOW)
        assert {one.item for one in plan.assignments} == {*CHOSEN, item_name(7)}


def refused(db, folder, **options):
    """Return the error message; checks that nothing remains in the folder or the log."""
    before, logged = sorted(folder.iterdir()), log(db)
    with pytest.raises((InputError, StudyError)) as caught:
        make(db, **options)
    assert sorted(folder.iterdir()) == before
    assert log(db) == logged
    return str(caught.value)


def test_a_choice_that_is_none_is_refused_and_leaves_nothing_behind(study, tmp_path):
    browsing.exclude(study, item_name(2), "twice in it", **WHO)
    path = tmp_path / "new.study"
    assert "No items match" in refused(study, tmp_path, path=path, names=[])
    assert says(refused(study, tmp_path, path=path, names=[CHOSEN[0], "x"]), "no item 'x'")
    assert "is excluded" in refused(study, tmp_path, path=path, names=[item_name(2)])
    assert set(triage.usable(browsing.catalogue(study))["item"]) == {item_name(n) for n in (0, 1, 3, 4, 5, 6, 7)}
    for wrong in ({"name": " "}, {"coordinator": ""}, {"coordinator": "x" * 100}):
        assert "name" in refused(study, tmp_path, path=path, **wrong)


def test_items_without_measurements_are_refused(db, tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text("item,reviewer,label\nx,ada,similar\n")
    exchange.import_label_file(db, file, **WHO)
    assert "has no measurements" in refused(db, tmp_path, path=tmp_path / "new.study", names=["x"])


def test_a_file_that_is_there_stays_as_it_is(study, tmp_path):
    path = tmp_path / "new.study"
    path.write_text("mine")
    assert "already exists" in refused(study, tmp_path, path=path)
    assert path.read_text() == "mine"
    assert "already exists" in refused(study, tmp_path, path=study.path)


def test_a_folder_that_is_not_there_or_closed_is_said(study, tmp_path):
    gone = tmp_path / "gone" / "new.study"
    assert f"could not be written to {gone}: No such file" in refused(study, tmp_path, path=gone)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    with unprivileged(closed), pytest.raises(StudyError, match=r"written to .*Permission denied"):
        make(study, closed / "new.study")


def test_a_failure_in_the_middle_leaves_nothing_behind(study, tmp_path):
    study.execute("DELETE FROM bins")
    study.execute("DELETE FROM runs WHERE item_id = ?", (items.by_name(study, CHOSEN[2]).item_id,))  # a damaged study
    before, logged = sorted(tmp_path.iterdir()), log(study)
    with pytest.raises(ValueError):
        make(study, tmp_path / "new.study")
    assert sorted(tmp_path.iterdir()) == before
    assert log(study) == logged


def test_beside_the_study_the_file_is_called_like_the_new_study(study, tmp_path):
    command, way_in = triage.make_beside(study, "Split ones", CHOSEN, coordinator="carol", now=NOW)
    path = study.path.with_name("Split ones.study")
    assert command == f"labeler serve --study '{path}'"
    with open_database(path) as new:
        assert studies.get(new).name == "Split ones"
        assert identity.sign_in(new, way_in.removeprefix("/join/"), now=NOW)
    with pytest.raises(InputError, match="valid file name"):
        triage.make_beside(study, "../x", CHOSEN, coordinator="carol", now=NOW)


def test_a_template_has_the_question_the_guide_and_the_people_and_nothing_else(planned, study_path):
    coordinating.set_protocol(planned, Protocol("full", 0.3, False, True, "Look twice."), **WHO)
    identity.set_email(planned, "ada", Role.REVIEWER, "ada@example.org", **WHO)
    identity.add_role(planned, "ben", Role.COORDINATOR, **WHO)
    staffing.remove(planned, "dan", **WHO)
    studies.set_gate(planned, CalibrationGate("reviewers", 0.8))
    answer_everything(planned, {"ada": "similar", "ben": "similar", "cleo": "similar"})
    secret = triage.make_template(planned, study_path, name="Next", coordinator="carol", **WHO)
    old = studies.get(planned)
    with open_database(study_path) as new:
        study = studies.get(new)
        assert (study.question, study.protocol, study.gate) == (old.question, old.protocol, old.gate)
        assert (study.name, study.state, study.plan_hash) == ("Next", State.DRAFT, None)
        assert {one.name: one.roles for one in people.all_people(new)} == {
            "ada": {Role.REVIEWER}, "ben": {Role.REVIEWER, Role.COORDINATOR}, "carol": {Role.COORDINATOR},
            "cleo": {Role.REVIEWER},
        }  # fmt: skip
        assert people.emails(new) == {"ada@example.org": "ada"}
        assert (items.n_items(new), labels.n_labels(new)) == (0, 0)
        assert identity.person_of_invitation(new, secret, now=NOW).name == "carol"
        assert auditing.audit(new).faults == ()
    assert log(planned)[-1] == ("carol", "template")
