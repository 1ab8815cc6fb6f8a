"""Create a study with the question, guide and people of another study."""

import json

import pytest

from labeler.errors import InputError, StudyError
from labeler.studies.audit import audit
from labeler.studies.course import calibrating, coordinating, staffing
from labeler.studies.handover import template
from labeler.studies.model import CalibrationGate, Protocol, Role, State
from labeler.studies.people import identity
from labeler.studies.store import events, items, labels, open_database, people, studies
from tests.labeler.conftest import unprivileged
from tests.making import NOW, WHO, answer_everything, log


def make(db, path, *, name="Next", coordinator="carol"):
    return template.make_template(db, path, name=name, coordinator=coordinator, **WHO)


def test_a_template_has_the_question_the_guide_and_the_people_and_nothing_else(planned, study_path):
    coordinating.set_protocol(planned, Protocol("full", 0.3, False, True, "Look twice."), **WHO)
    identity.set_email(planned, "ada", Role.REVIEWER, "ada@example.org", **WHO)
    identity.add_role(planned, "ben", Role.COORDINATOR, **WHO)
    staffing.remove(planned, "dan", **WHO)
    studies.set_gate(planned, CalibrationGate("reviewers", 0.8))
    answer_everything(planned, {"ada": "similar", "ben": "similar", "cleo": "similar"})
    secret = make(planned, study_path)
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
        assert audit.audit(new).faults == ()


def test_both_logs_name_the_other_file_and_the_number_of_people(study, study_path):
    make(study, study_path)
    last = events.table(study).iloc[-1]
    assert (last["actor"], last["action"]) == ("carol", "template")
    assert json.loads(last["details"]) == {"into": study_path.name, "people": 5}
    with open_database(study_path) as new:
        last = events.table(new).iloc[-1]
        assert (last["action"], json.loads(last["details"])) == ("template", {"from": study.path.name, "people": 5})


def refused(db, folder, path, **options):
    """Return the error message; checks that nothing remains in the folder or the log."""
    before, logged = sorted(folder.iterdir()), log(db)
    with pytest.raises((InputError, StudyError)) as caught:
        make(db, path, **options)
    assert sorted(folder.iterdir()) == before
    assert log(db) == logged
    return str(caught.value)


def test_a_template_that_cannot_be_made_leaves_nothing_behind(study, tmp_path):
    path, mine = tmp_path / "new.study", tmp_path / "mine.study"
    mine.write_text("mine")
    for wrong in ({"name": " "}, {"coordinator": ""}, {"coordinator": "x" * 100}):
        assert "name" in refused(study, tmp_path, path, **wrong)
    assert "already exists" in refused(study, tmp_path, mine)
    assert mine.read_text() == "mine"
    assert "already exists" in refused(study, tmp_path, study.path)
    gone = tmp_path / "gone" / "new.study"
    assert f"could not be written to {gone}: No such file" in refused(study, tmp_path, gone)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    with unprivileged(closed), pytest.raises(StudyError, match=r"written to .*Permission denied"):
        make(study, closed / "new.study")


def test_a_failure_in_the_middle_leaves_nothing_behind(study, tmp_path, monkeypatch):
    def fail(*_arguments, **_options):
        raise RuntimeError

    studies.set_gate(study, CalibrationGate("reviewers", 0.8))
    monkeypatch.setattr(calibrating, "set_gate", fail)
    before, logged = sorted(tmp_path.iterdir()), log(study)
    with pytest.raises(RuntimeError):
        make(study, tmp_path / "new.study")
    assert sorted(tmp_path.iterdir()) == before
    assert log(study) == logged


def test_beside_the_study_the_file_is_called_like_the_new_study(study):
    command, way_in = template.make_beside(study, "Next ones", coordinator="carol", now=NOW)
    path = study.path.with_name("Next ones.study")
    assert command == f"labeler serve --study '{path}'"
    with open_database(path) as new:
        assert studies.get(new).name == "Next ones"
        assert identity.sign_in(new, way_in.rpartition("/")[2], now=NOW)
    with pytest.raises(InputError, match="valid file name"):
        template.make_beside(study, "../x", coordinator="carol", now=NOW)
