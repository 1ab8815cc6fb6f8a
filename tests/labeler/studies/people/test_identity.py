import hashlib
import json
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from labeler.errors import InputError, NotAllowed, SignInFailed
from labeler.studies.audit import audit
from labeler.studies.course import coordinating
from labeler.studies.handover import anonymising
from labeler.studies.model import Person, Role
from labeler.studies.people import identity
from labeler.studies.preparing import assigning
from labeler.studies.store import events, labels, open_database, people, studies
from tests.conftest import examples
from tests.making import NOW, WHO, answer_next, id_of, last_event, log


def add(db, name, *roles):
    return identity.add_person(db, name, roles or [Role.REVIEWER], **WHO)


def invite(db, name, role=Role.REVIEWER):
    return identity.invite(db, name, role, **WHO)


def person_of(db, token, now=NOW):
    return identity.person_of_session(db, token, now=now)


def deactivate(db, name):
    db.execute("UPDATE people SET active = 0 WHERE name = ?", (name,))


def bytes_on_disk(db):
    return b"".join(path.read_bytes() for path in db.path.parent.iterdir() if path.name.startswith(db.path.name))


def test_a_person_is_added_under_the_name_given_and_listed(db):
    ada = add(db, "  ada ")
    both = add(db, "Zoe Müller-Lüdenscheidt", Role.REVIEWER, Role.COORDINATOR)
    assert ada == Person(ada.person_id, "ada", frozenset({Role.REVIEWER}), active=True)
    assert identity.everyone(db) == [ada, people.by_name(db, "carol"), both]
    assert log(db)[-2:] == [("carol", "add person")] * 2
    assert last_event(db)[2] == {"name": "Zoe Müller-Lüdenscheidt", "roles": ["coordinator", "reviewer"]}


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("ada\n\n ben ", [("ada", ""), ("ben", "")]),
        ("ada, ben,cleo", [("ada", ""), ("ben", ""), ("cleo", "")]),
        ("Lovelace, Ada <ada@x.org>; Ben", [("Lovelace, Ada", "ada@x.org"), ("Ben", "")]),
        ('"Lovelace, Ada" <ada@x.org>, Ben <ben@x.org>', [("Lovelace, Ada", "ada@x.org"), ("Ben", "ben@x.org")]),
        ("<ada@x.org>\nben@x.org", [("ada", "ada@x.org"), ("ben", "ben@x.org")]),
        (" , ;\n", []),
    ],
)
def test_a_pasted_list_has_one_person_per_line_comma_or_semicolon(text, people):
    assert identity.people_in(text) == people


def test_who_has_left_is_resumed_and_not_added_again(db):
    for name in ("ada", "ben"):
        add(db, name, Role.REVIEWER)
    deactivate(db, "ada")
    for name, way_on in (("ada", "ada has left; to let ada label again, choose Resume"), ("ben", "Choose another")):
        with pytest.raises(InputError, match=way_on):
            add(db, name)


@pytest.mark.parametrize("name", ["", "   ", "a" * 61, "ada\nben", "ada\x00", "\u202eada", "ada\u200b", "a\tb"])
def test_a_name_that_cannot_be_shown_is_refused(db, name):
    with pytest.raises(InputError, match="1 to 60 printable"):
        add(db, name)
    assert len(identity.everyone(db)) == 1
    assert add(db, "x" * 60).name == "x" * 60


@pytest.mark.parametrize(
    ("first", "again"),
    [*(("ada", name) for name in ("ada", "Ada", " ADA ")), ("Ömer", "ömer"),
     *(("Zoë", name) for name in ("Zoe\u0308", "ＺＯË", "zoë"))],
)  # fmt: skip
def test_a_name_is_given_once_whatever_its_capitals_and_unicode_form(db, first, again):
    add(db, first)
    before = log(db)
    with pytest.raises(InputError, match=rf"already has a person called (?i:{first})"):
        add(db, again)
    assert log(db) == before


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=70))
def test_any_text_is_a_name_or_is_refused_in_words(db, name):
    try:
        person = add(db, name)
    except InputError:
        return
    assert people.by_id(db, person.person_id) == person
    assert person.name == name.strip()
    db.execute("DELETE FROM people WHERE person_id = ?", (person.person_id,))


def test_who_has_an_invitation_signs_in_and_out(study):
    token = identity.sign_in(study, invite(study, "ada"), now=NOW)
    ada = people.by_name(study, "ada")
    assert person_of(study, token) == ada
    second = identity.sign_in(study, invite(study, "ada"), now=NOW)
    assert second != token
    identity.sign_out(study, token, now=NOW)
    assert person_of(study, token) is None
    assert person_of(study, second) == ada  # the other window stays signed in
    before = log(study)
    assert before[-1] == ("ada", "sign out")
    identity.sign_out(study, token, now=NOW)
    assert log(study) == before


def test_the_coordinator_who_made_the_study_signs_in_with_its_secret(study_path):
    secret = coordinating.create_study(study_path, name="x", question="?", coordinator="carol", now=NOW)
    with open_database(study_path) as made:
        token = identity.sign_in(made, secret, now=NOW)
        assert person_of(made, token).roles == {Role.COORDINATOR}


@pytest.mark.parametrize("secret", ["", "made up", "x" * 10_000])
def test_a_made_up_invitation_or_session_is_refused(study, secret):
    before = log(study)
    with pytest.raises(SignInFailed):
        identity.sign_in(study, secret, now=NOW)
    assert study.execute("SELECT count(*) FROM sessions").fetchone()[0] == 0
    assert log(study) == before
    identity.sign_in(study, invite(study, "ada"), now=NOW)
    assert (person_of(study, secret), person_of(study, None)) == (None, None)


def test_no_sign_in_ends_a_session_elsewhere_whatever_the_clock_said(study, monkeypatch):
    monkeypatch.setattr(identity, "MAX_SESSIONS", 4)
    secret, bens = invite(study, "ada"), identity.sign_in(study, invite(study, "ben"), now=NOW)
    tokens = [identity.sign_in(study, secret, now=NOW + timedelta(hours=1)) for _ in range(3)]  # the clock was ahead
    tokens.append(identity.sign_in(study, secret, now=NOW))
    with pytest.raises(SignInFailed, match="signed in on 4 devices"):
        identity.sign_in(study, secret, now=NOW)
    assert all(person_of(study, token) for token in (*tokens, bens))
    assert identity.sign_in(study, secret, before=tokens[0], now=NOW) == tokens[0]  # the same browser goes on
    identity.sign_out(study, tokens[0], now=NOW)
    assert person_of(study, identity.sign_in(study, secret, before=bens, now=NOW)).name == "ada"
    assert person_of(study, bens) is None  # another person now uses this browser


def test_the_log_names_who_invites_and_the_hash_of_the_session_and_nobody_can_sign_in_with_it(study):
    secret = invite(study, "ada")
    token = identity.sign_in(study, secret, now=NOW)
    assert log(study)[-2:] == [("carol", "invite"), ("ada", "sign in")]
    details = events.table(study)["details"]
    assert not details.str.contains(secret, regex=False).any()
    session = json.loads(details.iloc[-1])["session"]
    assert session == hashlib.sha256(token.encode()).hexdigest()
    assert person_of(study, session) is None


def test_secrets_are_nowhere_in_the_file(study):
    secrets = {invite(study, "ada") for _ in range(20)}
    assert (len(secrets), min(map(len, secrets)) >= 32) == (20, True)
    secret = invite(study, "ada")
    token = identity.sign_in(study, secret, now=NOW)
    for place in ("in the journal", "in the file"):
        content = bytes_on_disk(study)
        assert secret.encode() not in content, place
        assert token.encode() not in content, place
        assert identity.hashed(secret).encode() in content  # proves that the search would find it
        study.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@pytest.mark.parametrize(
    ("name", "role"), [("nobody", Role.REVIEWER), ("carol", Role.REVIEWER), ("ada", "coordinator")]
)
def test_only_a_person_of_this_role_is_invited(study, name, role):
    with pytest.raises(InputError, match=f"There is no {role} called {name} in this study"):
        invite(study, name, role)


def test_a_role_is_required_not_only_a_name(study):
    carol = id_of(study, "carol")
    assert identity.require(study, carol, Role.COORDINATOR).name == "carol"
    for person_id, role in ((carol, Role.REVIEWER), (id_of(study, "ada"), Role.COORDINATOR), (999, Role.REVIEWER)):
        with pytest.raises(NotAllowed, match=f"Only {role}s of the study"):
            identity.require(study, person_id, role)


LOOK_ALIKES = [
    ("Paula", "PauIa"), ("Paula", "Pau1a"), ("Paula", "Pau|a"), ("Paula", "paul\u00e1"), ("Ida", "lda"),
    ("Otto", "0tto"), ("Rosa", "Ros\u0430"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "other"), LOOK_ALIKES)
def test_names_with_similar_characters_must_be_confirmed(study, name, other):
    identity.add_person(study, name, [Role.REVIEWER], **WHO)
    with pytest.raises(InputError, match=f"looks like {name}"):
        identity.add_person(study, other, [Role.REVIEWER], **WHO)
    added = identity.add_person(study, other, [Role.REVIEWER], look_alike=True, **WHO)
    assert added.name == other


def test_names_that_do_not_look_the_same_need_no_confirmation(study):
    for name in ("Ian", "Lan", "r1", "r2", "r10", "Paula", "Paul"):
        assert identity.add_person(study, name, [Role.REVIEWER], **WHO).name == name


def test_a_person_is_shown_under_another_name_and_keeps_the_first_in_plan_log_and_exports(planned):
    before = assigning.active_plan(planned).hash
    assert identity.rename(planned, "ada", Role.REVIEWER, " Ada Lovelace ", **WHO) == "Ada Lovelace"
    assert (identity.shown_name(planned, "ada"), identity.shown_name(planned, "ben")) == ("Ada Lovelace", "ben")
    assert people.by_name(planned, "ada") is not None and people.by_name(planned, "Ada Lovelace") is None
    answer_next(planned, "ada", "similar")
    assert labels.table(planned)["reviewer"].tolist() == ["ada"]
    assert assigning.active_plan(planned).hash == before
    assert audit.audit(planned).faults == ()
    identity.rename(planned, "ada", Role.REVIEWER, "ada", **WHO)
    assert identity.shown_names(planned) == {}


def test_a_shown_name_is_taken_like_any_other_name(planned):
    identity.rename(planned, "ada", Role.REVIEWER, "Ada Lovelace", **WHO)
    for name, reason in (("ada lovelace", "already has a person called Ada Lovelace"), ("ADA", "called ada"),
                         ("Ada LoveIace", "looks like Ada Lovelace"), ("", "not a valid name")):  # fmt: skip
        with pytest.raises(InputError, match=reason):
            identity.rename(planned, "ben", Role.REVIEWER, name, **WHO)
    with pytest.raises(InputError, match="already has a person called Ada Lovelace"):
        identity.add_person(planned, "Ada Lovelace", [Role.REVIEWER], **WHO)
    identity.rename(planned, "ada", Role.REVIEWER, "Ada King", **WHO)
    with pytest.raises(InputError, match="no reviewer called nobody"):
        identity.rename(planned, "nobody", Role.REVIEWER, "x", **WHO)


def test_an_anonymised_copy_has_neither_the_first_nor_the_shown_names(planned, tmp_path):
    for shown in ("Ada Lovelace", "Ada King"):
        identity.rename(planned, "ada", Role.REVIEWER, shown, **WHO)
    coordinating.describe_study(planned, "Caches of Ada Lovelace", "Same?", **WHO)
    anonymising.anonymise(planned, tmp_path / "copy.study", **WHO)
    with open_database(tmp_path / "copy.study") as copy:
        everything = studies.get(copy).name + "".join(events.table(copy)["details"])
        assert audit.audit(copy).faults == ()
    assert not [word for word in ("Lovelace", "King", '"ada"') if word in everything]


def test_it_is_said_how_many_take_part_in_which_role(study):
    assert identity.describe_people(study) == "4 reviewers, 1 coordinator"
    identity.add_person(study, "chris", [Role.COORDINATOR], **WHO)
    people.set_part(study, id_of(study, "ada"), active=False, paused=False)
    assert identity.describe_people(study) == "3 reviewers, 2 coordinators, 1 who left"
