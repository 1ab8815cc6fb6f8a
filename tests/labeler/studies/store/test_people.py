import sqlite3
from datetime import timedelta

import pytest

from labeler.studies.model import Person, Role
from labeler.studies.store import access, people
from labeler.studies.store.access import Invitation
from tests.making import NOW, id_of

AT = NOW.isoformat()


def test_people_come_back_with_their_roles_in_order_of_name(db):
    both = people.add(db, "Zoe", [Role.REVIEWER, Role.COORDINATOR], AT)
    ben = people.add(db, "ben", [Role.REVIEWER], AT)
    assert people.by_id(db, both) == Person(both, "Zoe", frozenset(Role), active=True)
    assert [person.name for person in people.all_people(db)] == ["ben", "carol", "Zoe"]
    assert [person.name for person in people.reviewers(db)] == ["ben", "Zoe"]
    assert people.by_id(db, 999) is people.by_name(db, "nobody") is people.by_email(db, "nobody@x") is None
    assert people.by_id(db, ben) == people.by_name(db, "BEN")


def test_people_are_found_by_their_address_whatever_its_capitals_until_it_is_taken_away(study):
    ada, ben = id_of(study, "ada"), id_of(study, "ben")
    people.set_email(study, ada, "Ada@Example.org")
    assert people.by_email(study, "ada@example.ORG") == people.by_id(study, ada)
    with pytest.raises(sqlite3.IntegrityError, match=r"people\.email"):
        people.set_email(study, ben, "ADA@example.org")
    for person_id in (ada, ben):  # several people may have no address
        people.set_email(study, person_id, None)
    assert people.by_email(study, "ada@example.org") is None


def test_of_several_invitations_each_is_found_with_what_became_of_it(study):
    ada, ben = id_of(study, "ada"), id_of(study, "ben")
    access.add_invitation(study, "a1", ada, "1", "9")
    access.replace_invitations(study, ada, "2")
    access.add_invitation(study, "a2", ada, "2", "8")
    access.add_invitation(study, "b1", ben, "2", "9")
    assert access.revoke_invitations(study, ada, "3") == 1
    access.replace_invitations(study, ada, "4")  # earlier ends stay unchanged
    assert access.revoke_invitations(study, ada, "5") == 0
    assert [access.find_invitation(study, name) for name in ("a1", "a2", "b1", "none")] == [
        Invitation(ada, "1", "9", "2", None),
        Invitation(ada, "2", "8", None, "3"),
        Invitation(ben, "2", "9", None, None),
        None,
    ]


def test_secrets_whose_hashes_begin_alike_are_distinguished(study):
    ada, ben = id_of(study, "ada"), id_of(study, "ben")
    alike = "0123456789abcdef"
    for rest, person_id in (("0" * 48, ada), ("f" * 48, ben)):
        access.add_invitation(study, alike + rest, person_id, "1", "9")
        access.add_session(study, alike + rest, person_id, "1")
    for rest, person_id in (("0" * 48, ada), ("f" * 48, ben)):
        assert access.find_invitation(study, alike + rest).person_id == person_id
        assert access.person_of_session(study, alike + rest, "").person_id == person_id
    for hashed in (alike + "8" * 48, alike, "", "g" * 64):
        assert access.find_invitation(study, hashed) is None
        assert access.person_of_session(study, hashed, "") is None


@pytest.mark.parametrize("taken", ["carol", "Carol", "CAROL"])
def test_a_name_is_taken_whatever_its_capitals(db, taken):
    with pytest.raises(sqlite3.IntegrityError, match=r"people\.name"):
        people.add(db, taken, [Role.REVIEWER], AT)


def test_sessions_end_one_by_one_or_all_of_a_person(study):
    ada, ben = id_of(study, "ada"), id_of(study, "ben")
    for session, person in (("a1", ada), ("a2", ada), ("a3", ada), ("b1", ben)):
        access.add_session(study, session, person, AT)
    assert access.person_of_session(study, "a1", AT) == people.by_id(study, ada)
    assert access.person_of_session(study, "a1", (NOW + timedelta(microseconds=1)).isoformat()) is None
    access.end_session(study, "a1")
    assert [access.person_of_session(study, name, "") for name in ("a1", "zz")] == [None, None]
    assert [access.end_sessions(study, ada) for _ in range(2)] == [2, 0]
    assert [access.person_of_session(study, name, "") is None for name in ("a2", "a3", "b1")] == [True, True, False]
