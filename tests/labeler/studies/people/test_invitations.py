"""Sign-in links that no longer work, each with its own message; the end of sessions; sign-in by e-mail."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from labeler.errors import InputError, SignInFailed
from labeler.studies.model import Role
from labeler.studies.people import identity
from tests.conftest import examples
from tests.making import NOW, WHO, id_of, last_event, log

DAY = timedelta(days=1)
MOMENT = timedelta(microseconds=1)


def invite(db, name="ada", role=Role.REVIEWER, *, now=NOW, **more):
    return identity.invite(db, name, role, actor="carol", now=now, **more)


def revoke(db, name="ada", role=Role.REVIEWER, *, now=NOW):
    identity.revoke(db, name, role, actor="carol", now=now)


def sign_in(db, secret, *, now=NOW):
    return identity.sign_in(db, secret, now=now)


def who(db, token, *, now=NOW):
    person = identity.person_of_session(db, token, now=now)
    return person.name if person else None


def set_email(db, name, email, role=Role.REVIEWER):
    identity.set_email(db, name, role, email, **WHO)


def came_as(db, email):
    """Return the name of the person who signs in with this provider address; None if it is refused."""
    try:
        return who(db, identity.sign_in_as(db, email, now=NOW))
    except SignInFailed:
        return None


def refused(db, secret, part, *, now=NOW):
    """Check that the secret is refused with this part of a message, and that the study stays unchanged."""
    before = log(db), db.execute("SELECT count(*) FROM sessions").fetchone()
    with pytest.raises(SignInFailed) as caught:
        sign_in(db, secret, now=now)
    assert part in str(caught.value)
    assert (log(db), db.execute("SELECT count(*) FROM sessions").fetchone()) == before


def test_an_unknown_link_is_refused_with_what_to_do(study):
    sentence = "This sign-in link is not valid. "
    secret = invite(study)
    for wrong in ("", "made up", secret[:-1], secret + "x", secret.swapcase(), "x" * 10_000, "ünïcode"):
        refused(study, wrong, sentence)
    assert who(study, sign_in(study, secret)) == "ada"


def test_a_link_works_for_90_days_and_then_says_when_it_expired(study):
    secret = invite(study)
    assert sign_in(study, secret, now=NOW + 90 * DAY - MOMENT)
    sentence = "This sign-in link expired on 2027-02-18. Ask your coordinator for a new link."
    refused(study, secret, sentence, now=NOW + 90 * DAY)
    refused(study, secret, sentence, now=NOW + 4000 * DAY)
    assert sign_in(study, invite(study, now=NOW + 91 * DAY), now=NOW + 91 * DAY)


@pytest.mark.parametrize("days", [0, -1, 3651, 10**9])
def test_a_link_is_valid_for_one_day_to_ten_years_and_the_one_before_stays_if_refused(study, days):
    secret, before = invite(study), log(study)
    with pytest.raises(InputError, match=rf"^A sign-in link can be valid for 1 to 3650 days, not {days}\.$"):
        invite(study, valid_days=days)
    assert log(study) == before
    assert sign_in(study, secret)


def test_a_replaced_link_says_when_and_to_open_the_newer_one(study):
    first = invite(study)
    second = invite(study, now=NOW + 2 * DAY)
    refused(study, first, "replaced by a newer link on 2026-11-22")
    third = invite(study, now=NOW + 5 * DAY, valid_days=1)
    refused(study, first, "replaced by a newer link on 2026-11-22")
    refused(study, second, "replaced by a newer link on 2026-11-25")
    assert sign_in(study, third)
    refused(study, first, "replaced by a newer link on 2026-11-22. Open the newer link.", now=NOW + 20 * DAY)


def test_a_revoked_link_says_when_and_nobody_stays_signed_in_by_it(study):
    secret = invite(study)
    windows = [sign_in(study, secret) for _ in range(3)]
    ben = sign_in(study, invite(study, "ben"))
    assert [who(study, token) for token in windows] == ["ada"] * 3
    revoke(study, "ADA", now=NOW + 3 * DAY)
    assert [who(study, token) for token in windows] == [None] * 3
    assert who(study, ben) == "ben"
    refused(study, secret, "revoked on 2026-11-23")
    assert log(study)[-1] == ("carol", "revoke")
    assert last_event(study)[2] == {"name": "ada", "links": 1, "sessions": 3}


@pytest.mark.parametrize(("name", "role"), [("nobody", Role.REVIEWER), ("ada", Role.COORDINATOR), ("", Role.REVIEWER)])
def test_only_a_person_of_this_role_is_revoked_or_given_an_address(study, name, role):
    before = log(study)
    for act in (lambda: revoke(study, name, role), lambda: set_email(study, name, "x@example.org", role)):
        with pytest.raises(InputError, match=f"There is no {role} called {name} in this study"):
            act()
    assert log(study) == before


def test_who_takes_no_part_any_more_is_told_so_whatever_became_of_the_link(study):
    links = [invite(study, "ada"), invite(study, "ada"), invite(study, "ben"), invite(study, "cleo", valid_days=1)]
    revoke(study, "ben")
    study.execute("UPDATE people SET active = 0")
    sentence = "You no longer take part in this study. If that is a mistake, tell your coordinator."
    for secret in links:
        refused(study, secret, sentence, now=NOW + 2 * DAY)


def test_a_session_outlives_its_link_and_ends_180_days_after_it_began_however_much_it_was_used(study):
    token = sign_in(study, invite(study, valid_days=1))
    invite(study, now=NOW + DAY)
    for days in (1, 100, 179, 180):
        assert who(study, token, now=NOW + days * DAY) == "ada"
    assert who(study, token, now=NOW + 180 * DAY + MOMENT) is None
    assert who(study, token, now=NOW + 181 * DAY) is None


steps = st.lists(
    st.tuples(st.sampled_from(["invite", "revoke", "sign in", "wait"]), st.sampled_from(["ada", "ben"]),
              st.integers(1, 120)),
    max_size=12,
)  # fmt: skip


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_whatever_happens_only_the_last_link_works_as_long_as_it_is_neither_old_nor_revoked(study, steps):
    study.execute("DELETE FROM sessions")
    study.execute("DELETE FROM invitations")
    now, given_out, tokens = NOW, [], []  # [name, secret, until] and [name, token, until]; None: not any more
    for what, name, number in steps:
        match what:
            case "invite":
                given_out = [[n, s, None if n == name else until] for n, s, until in given_out]
                given_out.append([name, invite(study, name, now=now, valid_days=number), now + number * DAY])
            case "revoke":
                revoke(study, name, now=now)
                given_out = [[n, s, None if n == name else until] for n, s, until in given_out]
                tokens = [[n, t, None if n == name else until] for n, t, until in tokens]
            case "sign in":
                for owner, secret, until in given_out:
                    if until is not None and now < until:
                        tokens.append([owner, sign_in(study, secret, now=now), now + 180 * DAY])
            case "wait":
                now += number * DAY
    for owner, secret, until in given_out:
        if until is None or now >= until:
            with pytest.raises(SignInFailed, match=r" on 20\d\d-\d\d-\d\d\. "):
                sign_in(study, secret, now=now)
        else:
            assert who(study, sign_in(study, secret, now=now), now=now) == owner
    for owner, token, until in tokens:
        assert who(study, token, now=now) == (owner if until is not None and now <= until else None)


def test_a_person_is_found_by_the_address_that_was_set_whatever_its_capitals(study):
    set_email(study, "Ada", " Ada.L@Example.org ")
    assert log(study)[-1] == ("carol", "set e-mail")
    assert last_event(study)[2] == {"name": "ada", "email": "Ada.L@Example.org"}
    for written in ("Ada.L@Example.org", "ada.l@example.org", "ADA.L@EXAMPLE.ORG"):
        assert came_as(study, written) == "ada"
    assert came_as(study, "ada.l@example.com") is None


def test_an_address_is_replaced_and_cleared(study):
    set_email(study, "ada", "old@example.org")
    set_email(study, "ada", "new@example.org")
    assert came_as(study, "old@example.org") is None
    set_email(study, "ada", "NEW@example.org")  # one's own address in other letter case is not a conflict
    assert came_as(study, "new@example.org") == "ada"
    set_email(study, "ada", "  ")
    assert came_as(study, "new@example.org") is None
    assert came_as(study, "") is None
    set_email(study, "ben", "new@example.org")  # free again
    assert came_as(study, "new@example.org") == "ben"


def test_an_address_is_one_persons(study):
    set_email(study, "ada", "Same@example.org")
    before = log(study)
    with pytest.raises(InputError, match=r"^same@example.org is already the address of ada\.$"):
        set_email(study, "ben", "same@example.org")
    with pytest.raises(InputError, match="address of ada"):
        set_email(study, "carol", "same@example.org", Role.COORDINATOR)
    assert log(study) == before


NO_ADDRESSES = [
    "ada", "@example.org", "ada@", "a@b@c", "a da@example.org", "ada@exa\nmple.org", "x" * 250 + "@x.org",
    "a\ud800@example.org", "a\0@example.org", "a\u202e@example.org",
]  # fmt: skip


@pytest.mark.parametrize("email", NO_ADDRESSES, ids=ascii)
def test_anything_but_an_address_is_refused_and_lets_nobody_in(study, email):
    longest = "x" * 242 + "@example.org"  # 254 characters
    set_email(study, "ada", longest)
    before = log(study)
    with pytest.raises(InputError, match=r" is not an e-mail address\.$"):
        set_email(study, "ada", email)
    assert log(study) == before
    assert (came_as(study, email), came_as(study, longest)) == (None, "ada")


def test_who_comes_under_an_address_that_nobody_has_is_told_which(study):
    set_email(study, "ada", "ada@example.org")
    before = log(study)
    for email in ("ben@example.org", "", "ada@example.org "):
        with pytest.raises(SignInFailed) as caught:
            identity.sign_in_as(study, email, now=NOW)
        assert str(caught.value) == (
            f"You signed in as {email}, but nobody in this study has this address. Ask your coordinator."
        )
    assert log(study) == before


def test_who_takes_no_part_any_more_does_not_sign_in_by_address(study):
    set_email(study, "ada", "ada@example.org")
    token = identity.sign_in_as(study, "ada@example.org", now=NOW)
    assert log(study)[-1] == ("ada", "sign in")
    set_email(study, "ben", "ben@example.org")
    ben = identity.sign_in_as(study, "ben@example.org", now=NOW)
    revoke(study, "ben")  # signs out who came by address, and takes the address away
    assert (who(study, ben), came_as(study, "ben@example.org")) == (None, None)
    study.execute("UPDATE people SET active = 0 WHERE person_id = ?", (id_of(study, "ada"),))
    assert who(study, token) is None
    with pytest.raises(SignInFailed, match=r"ada@example.org, but nobody"):
        identity.sign_in_as(study, "ada@example.org", now=NOW)
