"""One link for all: people with the link ask to take part. A coordinator admits them, or the link does so by itself.

The audit log keeps the link, and who asked. The secret that a person gets by asking becomes the person's sign-in link.
Only hashes of secrets are stored.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import date, datetime
from hmac import compare_digest

from labeler.errors import InputError, UnknownLink
from labeler.studies.course import staffing
from labeler.studies.course.staffing import StaffChange
from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import ALLOWED, Action, require
from labeler.studies.store import Database, actions, events, people, studies

MAX_WAITING = 200  # people who wait to be admitted; as many can a link admit by itself
MAX_DAYS = 365  # until the last day of a link
LINK = "one link for all"  # who acts in the log if the link does something by itself


@dataclass
class LinkForAll:
    """The link for all that was created last and not ended."""

    secret_hash: str
    admits: int  # people whom the link admits by itself; 0 if a coordinator admits
    until: date  # the last day
    asks_email: bool
    n_asked: int = 0


@dataclass(frozen=True)
class Waiting:
    """A person who asked to take part; `name` is told apart from other names, which the person must not see."""

    secret_hash: str
    name: str
    email: str
    asked_utc: str


@dataclass(frozen=True)
class Admitted:
    """A person who was admitted, and how the plan changed."""

    name: str
    change: StaffChange
    email_of_other: str = ""  # the address that the person gave, if another person has it, so that it was left out


@dataclass
class _Request:
    name: str
    email: str
    asked_utc: str


@dataclass
class Joining:
    """The link for all, if there is one, and the requests of those who wait, by the hashes of their secrets."""

    link: LinkForAll | None = None
    requests: dict[str, _Request] = field(default_factory=dict)


def current(db: Database) -> Joining:
    """Return the link for all, and who waits, in the order in which they asked."""
    found = Joining()
    relevant = (actions.OPEN_LINK, actions.END_LINK, actions.ASK_TO_JOIN, actions.TURN_AWAY, actions.INVITE)
    for event in events.of_actions(db, relevant):
        action, details = event.action, event.details
        if action == actions.OPEN_LINK.name and "link" in details:  # a copy without names has no links
            until = date.fromisoformat(details["until"])
            found.link = LinkForAll(details["link"], details["admits"], until, details["asks_email"])
        elif action == actions.END_LINK.name:
            found.link = None
        elif action == actions.ASK_TO_JOIN.name and "secret" in details:
            found.requests[details["secret"]] = _Request(details["name"], details["email"], event.at_utc)
            if found.link is not None and found.link.secret_hash == details["link"]:
                found.link.n_asked += 1
        elif action == actions.TURN_AWAY.name:
            found.requests.pop(details.get("secret", ""), None)
        elif action == actions.INVITE.name:
            found.requests.pop(details.get("link", ""), None)
    return found


def waiting(db: Database) -> list[Waiting]:
    """Return who waits to be admitted, in the order in which they asked."""
    requests = current(db).requests
    names = identity.told_apart(db, [one.name for one in requests.values()])
    rows = zip(requests.items(), names, strict=True)
    return [Waiting(secret, name, one.email, one.asked_utc) for (secret, one), name in rows]


def open_link(db: Database, *, admits: int, until: date, asks_email: bool, actor: str, now: datetime) -> str:
    """Create the link for all, and return its secret; an earlier link ends.

    With `admits` above 0, the link admits so many people by itself. Such a link asks for no address, because nobody
    would check it. Raises InputError if a number or the day is not possible; raises NotAllowed if the study is closed.
    """
    if not 0 <= admits <= MAX_WAITING:
        raise InputError(f"A link can admit 1 to {MAX_WAITING} people by itself, not {admits}.")
    if not 0 <= (until - now.date()).days <= MAX_DAYS:
        raise InputError(f"The last day of a link is at most {MAX_DAYS} days away, and not in the past.")
    secret = identity.new_secret()
    with events.by(db, actor, now) as deed:
        require(studies.get(db), Action.PEOPLE)
        asks_email = asks_email and not admits
        link, day = identity.hashed(secret), until.isoformat()
        deed.log(actions.OPEN_LINK, link=link, admits=admits, until=day, asks_email=asks_email)
    return secret


def end_link(db: Database, *, actor: str, now: datetime) -> None:
    """End the link for all; who waits can still be admitted."""
    with events.by(db, actor, now) as deed:
        if current(db).link is not None:
            deed.log(actions.END_LINK)


def usable_link(db: Database, secret: str, *, now: datetime) -> LinkForAll:
    """Return the link for all with this secret.

    Raises UnknownLink, always with the same words, if the link is unknown, ended, past its last day or full, or nobody
    can join the study any more.
    """
    found = current(db)
    link = found.link
    if link is None or not compare_digest(link.secret_hash, identity.hashed(secret)):
        raise UnknownLink
    is_full = link.n_asked >= link.admits if link.admits else len(found.requests) >= MAX_WAITING
    if is_full or now.date() > link.until or studies.get(db).phase not in ALLOWED[Action.PEOPLE]:
        raise UnknownLink
    return link


def waits(db: Database, secret: str) -> bool:
    """Return whether the person who has this personal secret waits to be admitted."""
    wanted = identity.hashed(secret)
    return any(compare_digest(secret_hash, wanted) for secret_hash in current(db).requests)


def ask(db: Database, secret: str, name: str, email: str = "", *, now: datetime) -> str:
    """Ask to take part with the link for all, and return the personal secret, which signs in once admitted.

    Equal names are accepted. Raises InputError if the name or the address is invalid; raises UnknownLink as
    `usable_link` does.
    """
    name, email = identity.checked_name(name), identity.checked_email(email)
    personal = identity.new_secret()
    own = identity.hashed(personal)
    with events.by(db, LINK, now) as deed:
        link = usable_link(db, secret, now=now)
        email = email if link.asks_email else ""
        deed.log(actions.ASK_TO_JOIN, name=name, email=email, link=link.secret_hash, secret=own)
        if link.admits:
            admit(db, [own], actor=LINK, now=now)
    return personal


def admit(
    db: Database,
    chosen: Collection[str],
    *,
    actor: str,
    now: datetime,
    advance: Callable[[int, int], object] = lambda _n_done, _n: None,
) -> list[Admitted]:
    """Admit people who wait, by the hashes of their secrets, as reviewers; return who was admitted.

    An address that another person has is left out. After the plan, each gets open items as everybody who joins late.
    `advance` gets the number of people so far, and of all. Raises NotAllowed if the study is closed.
    """
    admitted = []
    for n_done, secret_hash in enumerate(chosen):
        advance(n_done, len(chosen))
        with events.by(db, actor, now) as deed:  # one by one, so that answers are saved in between
            one = next((one for one in waiting(db) if one.secret_hash == secret_hash), None)
            if one is None:
                continue  # another coordinator was faster
            person, change = staffing.add(db, one.name, [Role.REVIEWER], look_alike=True, actor=actor, now=now)
            is_taken = bool(one.email) and people.by_email(db, one.email) is not None
            if one.email and not is_taken:
                identity.set_email(db, person.name, Role.REVIEWER, one.email, actor=actor, now=now)
            identity.accept(deed, person, one.secret_hash)
        admitted.append(Admitted(person.name, change, one.email if is_taken else ""))
    return admitted


def turn_away(db: Database, chosen: Collection[str], *, actor: str, now: datetime) -> int:
    """Turn away people who wait, by the hashes of their secrets; return how many."""
    with events.by(db, actor, now) as deed:
        found = [one for one in waiting(db) if one.secret_hash in chosen]
        for one in found:
            deed.log(actions.TURN_AWAY, name=one.name, secret=one.secret_hash)
    return len(found)
