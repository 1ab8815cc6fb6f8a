"""Manage people: roles, invitations, sign-in and sessions, and what a coordinator may see in the browser.

A sign-in secret leaves this module only once, when the person gets the secret. The study stores only SHA-256 hashes.
A secret has 192 random bits, so a hash without salt is safe enough.
"""

import hashlib
import re
import secrets
import unicodedata
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta

from analysis.text import counted
from labeler.errors import InputError, NotAllowed, SignInFailed, UnknownLink
from labeler.studies.model import Person, Role, State
from labeler.studies.plan import lifecycle
from labeler.studies.plan.lifecycle import Action
from labeler.studies.store import Database, access, actions, chain, events, people, studies
from labeler.studies.store.events import Deed
from labeler.text import is_storable

MAX_NAME_LENGTH, MAX_EMAIL_LENGTH, MAX_REASON_LENGTH = 60, 254, 1000
INVITATION_DAYS, MAX_INVITATION_DAYS = 90, 3650
SESSION_DAYS, MAX_SESSIONS = 180, 100  # of a session, and open sessions of a person on all devices
N_SESSION_DIGITS = 12
_LOOKS_LIKE = dict(
    zip(
        "01|АВСЕНІЈКМОРЅТХУаеіјорсухѕԁԛԝһӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανρυι",
        "OllABCEHIJKMOPSTXYaeijopcyxsdqwhlABEZHIKMNOPTYXoavpui",
        strict=True,
    )
)
_ACCENTS = re.compile("[\u0300-\u036f]")


def add_person(
    db: Database, name: str, roles: Iterable[Role], *, look_alike: bool = False, actor: str, now: datetime
) -> Person:
    """Add a reviewer or a coordinator; no items are assigned (`staffing.add` also assigns items).

    Raises InputError if the name is empty, too long or not printable, or if another person has this name, in upper or
    lower case and whatever its Unicode form. If the name only looks like the name of another person, `look_alike` must
    confirm that these are two people.
    """
    name, roles = checked_name(name), frozenset(roles)
    with events.by(db, actor, now) as deed:
        check_new_name(db, name, look_alike=look_alike)
        person_id = people.add(db, name, roles, deed.at_utc)
        deed.log(actions.ADD_PERSON, name=name, roles=sorted(roles))
    return Person(person_id, name, roles, active=True)


def check_new_name(db: Database, name: str, *, look_alike: bool) -> None:
    """Raise InputError if a new person cannot have this name; see `add_person`."""
    _check_free(db, name, _all_names(db), look_alike=look_alike)


def _way_on(db: Database, name: str) -> str:
    """Return what to do if a name is taken: a person who has left or is paused can be resumed."""
    person = people.by_name(db, name)
    if person is not None and (person.paused or not person.active):
        state = "is paused" if person.active else "has left"
        return f"{person.name} {state}; to let {person.name} label again, choose Resume (labeler reviewers resume)."
    return "Choose another name."


def _check_free(db: Database, name: str, taken: Iterable[str], *, look_alike: bool) -> None:
    """Raise InputError if a name is one of those that are taken, or looks like one and this is not confirmed."""
    for other in taken:
        if people.folded(other) == people.folded(name):
            raise InputError(f"The study already has a person called {other}. {_way_on(db, other)}")
        if not look_alike and _look_alike(name, other):
            raise InputError(
                f"{name} looks like {other}, but has other characters. If these are two people, confirm it "
                "(--force); otherwise, choose another name."
            )


def shown_names(db: Database) -> dict[str, str]:
    """Return the names that pages show for people who were renamed, as name -> shown name.

    The plan, the log, the hash chain and exports keep the name under which a person was added.
    """
    renamed = {
        event.details["name"]: event.details["shown"] for event in events.of_actions(db, [actions.RENAME_PERSON])
    }
    return {name: shown for name, shown in renamed.items() if shown != name}


def shown_name(db: Database, name: str) -> str:
    """Return the name that pages show for a person."""
    return shown_names(db).get(name, name)


def own_name(db: Database, name: str) -> str:
    """Return the name that pages show to the person: that of `shown_name`, or as written behind the link for all.

    The number that `told_apart` adds is not shown, because it would tell that somebody else has this name.
    """
    asked: dict[str, str] = {}
    for event in events.of_actions(db, [actions.ASK_TO_JOIN, actions.INVITE]):
        if event.action == actions.ASK_TO_JOIN.name:
            asked[event.details.get("secret", "")] = event.details.get("name", "")
        elif event.details.get("name") == name and (written := asked.get(event.details["link"])):
            return shown_names(db).get(name, written)
    return shown_name(db, name)


def rename(
    db: Database, name: str, role: Role, shown: str, *, look_alike: bool = False, actor: str, now: datetime
) -> str:
    """Show a person under another name from now on, and return this name.

    Raises InputError if no person in this role has this name, or the new name is invalid, taken, or can be mistaken
    for another one.
    """
    shown = checked_name(shown)
    with events.by(db, actor, now) as deed:
        person = _named(db, name, role)
        taken = [other for other in _all_names(db) if other not in (person.name, shown_name(db, person.name))]
        _check_free(db, shown, taken, look_alike=look_alike)
        deed.log(actions.RENAME_PERSON, name=person.name, shown=shown)
    return shown


def _all_names(db: Database) -> list[str]:
    """Return the names of all people, and the names under which pages show them."""
    return [*(person.name for person in people.all_people(db)), *shown_names(db).values()]


def add_role(db: Database, name: str, role: Role, *, actor: str, now: datetime) -> None:
    """Give a person an additional role; if the person already has this role, nothing changes.

    Raises InputError if the study has no such person.
    """
    with events.by(db, actor, now) as deed:
        person = people.by_name(db, name)
        if person is None:
            raise InputError(f"The study has no person called {name}.")
        if role not in person.roles:
            people.set_roles(db, person.person_id, {*person.roles, role})
            deed.log(actions.ADD_ROLE, name=person.name, role=role)


def told_apart(db: Database, names: Iterable[str]) -> list[str]:
    """Return each name with a number behind it if it equals, or looks like, a person's name or one before it."""
    taken = [set(forms) for forms in zip(*map(_forms, _all_names(db)), strict=True)]
    found = []
    last: Counter[str] = Counter()  # the last number behind each name
    for name in names:
        free = name
        while any(form in known for form, known in zip(_forms(free), taken, strict=True)):
            last[name] = max(2, last[name] + 1)
            suffix = f" ({last[name]})"
            free = name[: MAX_NAME_LENGTH - len(suffix)].rstrip() + suffix
        for form, known in zip(_forms(free), taken, strict=True):
            known.add(form)
        found.append(free)
    return found


def _forms(name: str) -> tuple[str, str, str]:
    return people.folded(name), *_skeletons(name)


def _look_alike(name: str, other: str) -> bool:
    """Return whether two names can be mistaken for each other on the screen."""
    return any(a == b for a, b in zip(_skeletons(name), _skeletons(other), strict=True))


def _skeletons(name: str) -> tuple[str, str]:
    """Return two forms of a name that are equal for names that look the same: one as written, one with I read as l.

    Both are without accents and case, and letters of other alphabets that look like Latin letters are replaced. In the
    second form, L keeps its case: Ian looks like lan, but not like Lan.
    """
    letters = "".join(_LOOKS_LIKE.get(letter, letter) for letter in unicodedata.normalize("NFKC", name))
    latin = _ACCENTS.sub("", unicodedata.normalize("NFD", letters))
    latin = "".join(_LOOKS_LIKE.get(letter, letter) for letter in latin)
    return people.folded(latin), "L".join(people.folded(part.replace("I", "l")) for part in latin.split("L"))


def checked_name(name: str) -> str:
    """Return the name of a person without spaces at its ends; raises InputError if the name is invalid."""
    name = name.strip()
    if not name or len(name) > MAX_NAME_LENGTH or not name.isprintable():
        raise InputError(f"{name[:80]!r} is not a valid name. A name has 1 to {MAX_NAME_LENGTH} printable characters.")
    return name


def checked_email(email: str) -> str:
    """Return an e-mail address, or "", without spaces at its ends; raises InputError if the address is invalid."""
    email = email.strip()
    if email and (
        len(email) > MAX_EMAIL_LENGTH or not email.isprintable() or not re.fullmatch(r"[^@\s]+@[^@\s]+", email)
    ):
        raise InputError(f"{email[:80]!r} is not an e-mail address.")
    return email


def checked_reason(why: str) -> str:
    """Return a reason without spaces at its ends; raises InputError if the reason is invalid."""
    why = why.strip()
    if not why or len(why) > MAX_REASON_LENGTH or not is_storable(why):
        raise InputError(f"Give a reason of 1 to {MAX_REASON_LENGTH} characters. The audit log records the reason.")
    return why


def people_in(text: str) -> list[tuple[str, str]]:
    """Return the people in a pasted list, as (name, e-mail address); the address is "" if there is none.

    People are separated by lines, semicolons or commas; a line with semicolons may have commas in its names, as in
    lists of mail programs. An address stands behind the name in angle brackets, or alone.

    Examples
    --------
    >>> people_in("Ada, Ben <ben@example.org>\\ncleo@example.org")
    [('Ada', ''), ('Ben', 'ben@example.org'), ('cleo', 'cleo@example.org')]
    """
    found = []
    for line in text.splitlines():
        parts = re.split(r";" if ";" in line else r',(?=(?:[^"]*"[^"]*")*[^"]*$)', line)
        for part in filter(None, (part.strip(" \t,") for part in parts)):
            address = re.fullmatch(r"(?:(.*?)\s*<)?\s*([^<>@\s,;]+@[^<>@\s,;]+)\s*>?", part)
            name, email = (address[1] or "", address[2]) if address else (part, "")
            found.append((name.strip().strip('"').strip() or email.partition("@")[0], email))
    return found


def look_alikes(db: Database, names: Iterable[str]) -> list[str]:
    """Return the names that look like the name of another person, but are not equal to it."""
    known, found = _all_names(db), []
    for name in names:
        if any(_look_alike(name, other) and people.folded(name) != people.folded(other) for other in known):
            found.append(name)
        known.append(name)
    return found


def emails(db: Database) -> dict[str, str]:
    """Return the e-mail addresses of people, by name; only invitations use them, and no report or copy has them."""
    return {name: email for email, name in people.emails(db).items()}


def everyone(db: Database) -> list[Person]:
    """Return all people of the study, sorted by name."""
    return people.all_people(db)


def first_coordinator(db: Database) -> str:
    """Return the name of the coordinator who was added first."""
    coordinators = [person for person in people.all_people(db) if Role.COORDINATOR in person.roles]
    return min(coordinators, key=lambda person: person.person_id).name


def describe_people(db: Database) -> str:
    """Return how many people take part, as a sentence without its stop."""
    active = [person for person in people.all_people(db) if person.active]
    n_left = len(people.all_people(db)) - len(active)
    return ", ".join([
        counted(sum(Role.REVIEWER in person.roles for person in active), "reviewer"),
        counted(sum(Role.COORDINATOR in person.roles for person in active), "coordinator"),
        *([f"{n_left} who left"] if n_left else []),
    ])  # fmt: skip


def invite(db: Database, name: str, role: Role, *, valid_days: int = INVITATION_DAYS, actor: str, now: datetime) -> str:
    """Create a sign-in secret for a person.

    The previous secret stops working, but open sessions stay signed in. Raises InputError if no person in this role has
    this name, or `valid_days` is not from 1 to 3650.
    """
    if not 1 <= valid_days <= MAX_INVITATION_DAYS:
        raise InputError(f"A sign-in link can be valid for 1 to {MAX_INVITATION_DAYS} days, not {valid_days}.")
    secret = new_secret()
    with events.by(db, actor, now) as deed:
        accept(deed, _named(db, name, role), hashed(secret), valid_days=valid_days)
    return secret


def accept(deed: Deed, person: Person, secret_hash: str, *, valid_days: int = INVITATION_DAYS) -> None:
    """Let a person sign in with the secret that has this hash, and no longer with an earlier one."""
    access.replace_invitations(deed.db, person.person_id, deed.at_utc)
    expires = (deed.now + timedelta(days=valid_days)).isoformat()
    access.add_invitation(deed.db, secret_hash, person.person_id, deed.at_utc, expires)
    deed.log(actions.INVITE, name=person.name, expires=expires, link=secret_hash)


def revoke(db: Database, name: str, role: Role, *, actor: str, now: datetime) -> None:
    """Revoke a person's sign-in link and e-mail address, and end all sessions of the person.

    Raises InputError if no person in this role has this name.
    """
    with events.by(db, actor, now) as deed:
        person = _named(db, name, role)
        n_links = access.revoke_invitations(db, person.person_id, deed.at_utc)
        n_sessions = access.end_sessions(db, person.person_id)
        people.set_email(db, person.person_id, None)
        deed.log(actions.REVOKE, name=person.name, links=n_links, sessions=n_sessions)


def set_email(db: Database, name: str, role: Role, email: str, *, actor: str, now: datetime) -> None:
    """Let a person sign in through the identity provider with this e-mail address.

    If the given address is empty, the stored address is removed. Raises InputError if no person in this role has this
    name, or the address is invalid or belongs to another person.
    """
    email = checked_email(email)
    with events.by(db, actor, now) as deed:
        person = _named(db, name, role)
        holder = people.by_email(db, email) if email else None
        if holder is not None and holder != person:
            raise InputError(f"{email} is already the address of {holder.name}.")
        people.set_email(db, person.person_id, email or None)
        deed.log(actions.SET_EMAIL, name=person.name, email=email)


def sign_in(db: Database, secret: str, *, before: str = "", now: datetime) -> str:
    """Begin a session for the person whose invitation has this secret; return the token of the session.

    `before` is the session of this browser: if it is the same person's, it goes on; if it is another person's, it ends.
    Raises SignInFailed if the invitation is unknown, expired, replaced or revoked, its person no longer takes part, or
    has too many sessions. No sign-in ends a session on another device.
    """
    with db.atomic():
        return _session_in(db, person_of_invitation(db, secret, now=now), before, now)


def person_of_invitation(db: Database, secret: str, *, now: datetime) -> Person:
    """Return the person whose invitation has this secret, without beginning a session.

    Raises SignInFailed in the same cases as `sign_in`.
    """
    invitation = access.find_invitation(db, hashed(secret))
    if invitation is None:
        raise UnknownLink
    person = people.by_id(db, invitation.person_id)
    why_not = _why_not(invitation, now)
    if person is None or not person.active:
        why_not = "You no longer take part in this study. If that is a mistake, tell your coordinator."
    if person is None or why_not:
        raise SignInFailed(why_not)
    return person


def sign_in_as(db: Database, email: str, *, before: str = "", now: datetime) -> str:
    """Begin a session for the person who has this e-mail address, as `sign_in` does.

    The identity provider must have confirmed the address. Raises SignInFailed if no active person has this address, or
    the person has too many sessions.
    """
    with db.atomic():
        return _session_in(db, person_of_email(db, email), before, now)


def person_of_email(db: Database, email: str) -> Person:
    """Return the active person who has this e-mail address; raises SignInFailed if there is none."""
    person = people.by_email(db, email) if email.isprintable() else None
    if person is None or not person.active:
        address = repr(email[:MAX_EMAIL_LENGTH]).strip("'")
        raise SignInFailed(
            f"You signed in as {address}, but nobody in this study has this address. Ask your coordinator."
        )
    return person


def person_of_session(db: Database, token: str | None, *, now: datetime) -> Person | None:
    """Return the person who is signed in with this session token.

    Return None if the session is unknown or older than 180 days, or if the person is deactivated.
    """
    oldest = now - timedelta(days=SESSION_DAYS)
    person = access.person_of_session(db, hashed(token), oldest.isoformat()) if token else None
    return person if person is not None and person.active else None


def session_id(token: str) -> str:
    """Return a short id of a session, which labels store; nobody can sign in with it."""
    return hashed(token)[:N_SESSION_DIGITS]


def study_id(db: Database) -> str:
    """Return an id that distinguishes a study from all other studies on the same host.

    The ids of two studies differ even if their files have the same name.
    """
    return hashed(studies.get(db).created_utc)[:N_SESSION_DIGITS]


def n_links(db: Database) -> int:
    """Return the length of the hash chain: of several copies of a study, the longest one is the newest."""
    return chain.head(db).n_links


def path_of_study(study_id: str) -> str:
    """Return the path under which a server has all pages of a study.

    Examples
    --------
    >>> path_of_study("0123456789ab")
    '/s/0123456789ab'
    """
    return f"/s/{study_id}"


def sign_in_path(db: Database, secret: str) -> str:
    """Return the path of the sign-in link with this secret, which follows the address of the server."""
    return f"{path_of_study(study_id(db))}/join/{secret}"


def sign_out(db: Database, token: str, *, now: datetime) -> None:
    """End the session with this token; if the token is unknown, nothing happens."""
    with db.atomic():
        person = access.person_of_session(db, hashed(token), "")
        if person is not None:
            access.end_session(db, hashed(token))
            Deed(db, person.name, now).log(actions.SIGN_OUT, session=hashed(token))


def require(db: Database, person_id: int, role: Role) -> Person:
    """Return the person with this id, who must be active and have this role.

    Raises NotAllowed if the person is unknown, is not active or does not have the role.
    """
    return required(people.by_id(db, person_id), role)


def required(person: Person | None, role: Role) -> Person:
    """Return a person who is active and has this role; raises NotAllowed as `require` does."""
    if person is None or not person.active or role not in person.roles:
        raise NotAllowed(f"Only {role}s of the study can do this.")
    return person


def _session_in(db: Database, person: Person, before: str, now: datetime) -> str:
    """Return the token of the session with which a person goes on in a browser that had the session `before`."""
    current = person_of_session(db, before, now=now)
    if current is not None and current.person_id == person.person_id:
        return before
    if access.n_sessions(db, person.person_id, (now - timedelta(days=SESSION_DAYS)).isoformat()) >= MAX_SESSIONS:
        raise SignInFailed(
            f"You are signed in on {MAX_SESSIONS} devices or browsers, and no more are possible. Sign out on one of "
            "them, or ask your coordinator to revoke your access and to send you a new link."
        )
    sign_out(db, before, now=now)
    token = secrets.token_urlsafe(32)
    deed = Deed(db, person.name, now)
    access.add_session(db, hashed(token), person.person_id, deed.at_utc)
    deed.log(actions.SIGN_IN, session=hashed(token))
    return token


def _named(db: Database, name: str, role: Role) -> Person:
    person = people.by_name(db, name)
    if person is None or role not in person.roles:
        raise InputError(f"There is no {role} called {name} in this study.")
    return person


def _why_not(invitation: access.Invitation, now: datetime) -> str:
    """Return why an invitation no longer works, and what to do; return "" if the invitation works."""
    next_step = "Ask your coordinator for a new link."
    if invitation.replaced_utc is not None:
        return f"This sign-in link was replaced by a newer link on {invitation.replaced_utc[:10]}. Open the newer link."
    if invitation.revoked_utc is not None:
        return f"This sign-in link was revoked on {invitation.revoked_utc[:10]}. {next_step}"
    if now >= datetime.fromisoformat(invitation.expires_utc):
        return f"This sign-in link expired on {invitation.expires_utc[:10]}. {next_step}"
    return ""


def new_secret() -> str:
    """Return a new random sign-in secret."""
    return secrets.token_urlsafe(24)


def hashed(secret: str) -> str:
    """Return the hash by which the study knows a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def why_hidden(db: Database, coordinator: str, action: Action) -> str:
    """Return why labels, agreement or verdicts are hidden from this coordinator now; return "" if they are visible.

    `action` is one of `labeler.studies.plan.lifecycle.SIGHTS`. Commands act as the owner of the study, who may see
    everything, and do not ask.
    """
    person = people.by_name(db, coordinator)
    if person is None or not is_coordinator(db, coordinator):
        return "Only coordinators of the study can see this."
    return lifecycle.why_hidden(studies.get(db), person.roles, action)


def is_coordinator(db: Database, name: str) -> bool:
    """Return whether the person with this name is a coordinator of the study now.

    Pages that refresh automatically call this function at each refresh.
    """
    person = people.by_name(db, name)
    return person is not None and person.active and Role.COORDINATOR in person.roles


def require_visible(db: Database, coordinator: str, action: Action) -> None:
    """Raise NotAllowed if `why_hidden` returns a reason; the reason is the message of the error."""
    reason = why_hidden(db, coordinator, action)
    if reason:
        raise NotAllowed(reason)


def reviews_too(db: Database, coordinator: str) -> bool:
    """Return whether a coordinator is also a reviewer and the study is not unblinded.

    If so, other people's labels could influence the coordinator's own labels.
    """
    person = people.by_name(db, coordinator)
    return person is not None and Role.REVIEWER in person.roles and studies.get(db).phase is not State.UNBLINDED
