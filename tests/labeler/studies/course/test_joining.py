"""One link for all: who may ask, who is admitted, and what the log keeps."""

from datetime import timedelta

import pytest

from labeler.errors import InputError, NotAllowed, SignInFailed, UnknownLink
from labeler.studies.audit import audit
from labeler.studies.course import joining
from labeler.studies.handover import anonymising
from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.preparing import verifying
from labeler.studies.store import Database, events, open_database
from tests.making import NOW, WHO, end_study, log, offers

TODAY, DAY = NOW.date(), timedelta(days=1)


def open_link(db, *, admits=0, days=7, asks_email=True):
    return joining.open_link(db, admits=admits, until=TODAY + days * DAY, asks_email=asks_email, **WHO)


def ask(db, link, name, email="", *, now=NOW):
    return joining.ask(db, link, name, email, now=now)


def admit(db: Database, *names: str):
    chosen = [one.secret_hash for one in joining.waiting(db) if not names or one.name in names]
    return [one.name for one in joining.admit(db, chosen, **WHO)]


def who_comes(db, personal):
    """The name of the person who signs in with this secret."""
    return identity.person_of_invitation(db, personal, now=NOW).name


def waiting(db):
    return [(one.name, one.email) for one in joining.waiting(db)]


def test_who_asked_waits_until_a_coordinator_admits_and_then_signs_in_with_the_same_secret(study):
    link = open_link(study)
    eve, fay = ask(study, link, " Eve ", "eve@example.org"), ask(study, link, "Fay")
    assert waiting(study) == [("Eve", "eve@example.org"), ("Fay", "")]
    with pytest.raises(SignInFailed):
        identity.sign_in(study, eve, now=NOW)
    assert admit(study) == ["Eve", "Fay"]
    assert (who_comes(study, eve), who_comes(study, fay), waiting(study)) == ("Eve", "Fay", [])
    assert identity.emails(study) == {"Eve": "eve@example.org"}
    assert {one.name: one.roles for one in identity.everyone(study)}["Eve"] == {Role.REVIEWER}
    assert [joining.waits(study, secret) for secret in (eve, "made up")] == [False, False]


def test_who_is_turned_away_is_as_unknown_as_anybody(study):
    link = open_link(study)
    eve, fay = ask(study, link, "Eve"), ask(study, link, "Fay")
    (first, _) = joining.waiting(study)
    assert joining.turn_away(study, [first.secret_hash, "made up"], **WHO) == 1
    assert [joining.waits(study, secret) for secret in (eve, fay)] == [False, True]
    assert joining.admit(study, [first.secret_hash], **WHO) == []
    with pytest.raises(UnknownLink):
        who_comes(study, eve)


def test_after_the_plan_who_is_admitted_gets_open_items_and_the_plan_can_be_repeated(planned):
    link = open_link(planned)
    ask(planned, link, "Eve")
    assert admit(planned) == ["Eve"]
    ask(planned, open_link(planned, admits=1), "Fay")
    assert offers(planned, "Eve") and offers(planned, "Fay")
    assert verifying.verify_plan(planned).problems == ()
    assert audit.audit(planned).faults == ()


def test_a_link_admits_so_many_people_by_itself_and_nobody_more(study):
    link = open_link(study, admits=2)
    for name in ("Eve", "Fay"):
        assert who_comes(study, ask(study, link, name, "unchecked@example.org")) == name
    assert (waiting(study), identity.emails(study)) == ([], {})  # nobody would check the addresses
    with pytest.raises(UnknownLink):
        ask(study, link, "Gil")
    assert (joining.LINK, "add person") in log(study)


def full(db):
    link = open_link(db)
    for number in range(joining.MAX_WAITING):
        ask(db, link, f"person {number}")
    return link


def ended(db):
    link = open_link(db)
    joining.end_link(db, **WHO)
    return link


def replaced(db):
    link = open_link(db)
    open_link(db)
    return link


def unknown(_db):
    return "made up"


@pytest.mark.parametrize("make", [unknown, full, ended, replaced])
def test_a_full_an_ended_and_an_unknown_link_give_one_reply_and_leave_no_trace(study, make):
    link = make(study)
    before = log(study)
    with pytest.raises(UnknownLink) as caught:
        ask(study, link, "Eve")
    assert str(caught.value).startswith("This sign-in link is not valid.")
    assert log(study) == before


def test_a_link_works_on_its_last_day_and_not_after_it(study):
    link = open_link(study, days=3)
    ask(study, link, "Eve", now=NOW + 3 * DAY)
    with pytest.raises(UnknownLink):
        ask(study, link, "Fay", now=NOW + 4 * DAY)


def test_nobody_joins_a_study_that_is_closed(planned):
    link = open_link(planned)
    ask(planned, link, "Eve")
    end_study(planned)
    with pytest.raises(UnknownLink):
        ask(planned, link, "Fay")
    for step in (admit, open_link):
        with pytest.raises(NotAllowed):
            step(planned)
    assert [name for name, _ in waiting(planned)] == ["Eve"]


def test_places_become_free_when_people_are_admitted_or_turned_away(study, monkeypatch):
    monkeypatch.setattr(joining, "MAX_WAITING", 2)
    link = open_link(study)
    for name in ("Eve", "Fay"):
        ask(study, link, name)
    with pytest.raises(UnknownLink):
        ask(study, link, "Gil")
    admit(study, "Eve")
    ask(study, link, "Gil")
    joining.turn_away(study, [joining.waiting(study)[0].secret_hash], **WHO)
    ask(study, link, "Hal")
    assert [name for name, _ in waiting(study)] == ["Gil", "Hal"]


def test_who_waits_can_be_admitted_after_the_link_has_ended(study):
    link = open_link(study)
    eve = ask(study, link, "Eve")
    joining.end_link(study, **WHO)
    joining.end_link(study, **WHO)  # a second time changes nothing
    assert log(study).count(("carol", "end link")) == 1
    admit(study)
    assert who_comes(study, eve) == "Eve"


def test_equal_names_and_names_that_look_equal_are_told_apart_for_coordinators_only(study):
    link = open_link(study)
    names = ("Ada", "ADA", "\u0410da", "Eve", "Eve", "x" * 60, "x" * 60)  # the third has a Cyrillic letter
    secrets = [ask(study, link, name) for name in names]
    told = ["Ada (2)", "ADA (3)", "\u0410da (4)", "Eve", "Eve (2)", "x" * 60, "x" * 56 + " (2)"]
    assert [name for name, _ in waiting(study)] == told
    assert admit(study, "Eve (2)") == ["Eve (2)"]  # and the other Eve keeps her name
    assert sorted(admit(study)) == sorted(set(told) - {"Eve (2)"})
    people = [who_comes(study, secret) for secret in secrets]
    assert people == told
    assert [identity.own_name(study, name) for name in people] == list(names)
    assert identity.own_name(study, "ada") == "ada"
    identity.rename(study, "Ada (2)", Role.REVIEWER, "Ada L.", **WHO)
    assert identity.own_name(study, "Ada (2)") == "Ada L."


def test_an_address_that_a_person_has_already_is_left_out_and_only_the_coordinator_is_told(study):
    identity.set_email(study, "ada", Role.REVIEWER, "ada@example.org", **WHO)
    link, steps = open_link(study), []
    ask(study, link, "Eve", "ADA@example.org")
    ask(study, link, "Fay", "fay@example.org")
    chosen = [one.secret_hash for one in joining.waiting(study)]
    admitted = joining.admit(study, chosen, advance=lambda *step: steps.append(step), **WHO)
    assert [(one.name, one.email_of_other) for one in admitted] == [("Eve", "ADA@example.org"), ("Fay", "")]
    assert steps == [(0, 2), (1, 2)]
    identity.set_email(study, "Fay", Role.REVIEWER, "", **WHO)
    assert identity.emails(study) == {"ada": "ada@example.org"}


@pytest.mark.parametrize(("name", "email"), [("", ""), (" ", ""), ("x" * 61, ""), ("a\nb", ""), ("Eve", "not one")])
def test_a_name_or_address_that_is_none_is_refused(study, name, email):
    link = open_link(study)
    before = log(study)
    with pytest.raises(InputError):
        ask(study, link, name, email)
    assert log(study) == before


@pytest.mark.parametrize(("admits", "days"), [(-1, 1), (201, 1), (0, -1), (0, 366)])
def test_a_link_has_a_last_day_and_a_limit(study, admits, days):
    with pytest.raises(InputError):
        open_link(study, admits=admits, days=days)
    assert joining.current(study).link is None


def test_the_study_has_only_hashes_of_the_secrets(study):
    link = open_link(study)
    secrets = (link, ask(study, link, "Eve"))
    assert min(map(len, secrets)) >= 32  # of 64 characters each: 192 bits
    details = events.table(study)["details"]
    assert [bool(details.str.contains(secret, regex=False).any()) for secret in secrets] == [False, False]


def test_a_copy_without_names_tells_nothing_of_those_who_asked(study, tmp_path):
    link = open_link(study)
    for name in ("Eve", "Mallory"):
        ask(study, link, name, f"{name}@example.org")
    admit(study, "Eve")
    ask(study, link, "Trudy")
    joining.turn_away(study, [joining.waiting(study)[0].secret_hash], **WHO)
    anonymising.anonymise(study, tmp_path / "copy.study", **WHO)
    with open_database(tmp_path / "copy.study") as copy:
        everything = events.table(copy).to_csv()
        words = ("Eve", "Mallory", "Trudy", "@example.org", identity.hashed(link))
        assert [word in everything for word in words] == [False] * 5
        assert (joining.waiting(copy), joining.current(copy).link) == ([], None)
        assert audit.audit(copy).faults == ()
