"""Two windows, two devices, sessions of other people, and open windows of people who lost access."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime

from labeler.model import Role
from labeler.plan.lifecycle import Step
from labeler.service.people import identity
from labeler.service.study import course, staffing
from labeler.store import Database, open_database
from tests.performance.wire import is_saved
from tests.reliability._asking import ask
from tests.reliability._ground import COORDINATOR, OTHER, OWN, PAUSED, REMOVED, REVOKED, Ground
from tests.reliability._strangers import opens
from tests.reliability._tally import Tally
from tests.reliability._window import FIGURES, LIMIT_S, ReviewersWindow, Window, body, demand
from tests.reliability.outcome import Case

SILENCE_S = 2  # an answer takes a fraction of it


def cases(ground: Ground, *, quick: bool) -> Iterator[Case]:
    """Yield all cases; those that change the study for everybody come last."""
    n = 2 if quick else 20
    yield at_once(ground, "two tabs", 2 * [ground.sign_in(OWN)], n)
    yield at_once(ground, "two devices", [ground.sign_in(OWN), ground.sign_in(OWN)], n)
    yield planted_cookies(ground)
    yield attached(ground, n)
    yield attached_while_busy(ground, n)
    yield open_windows(ground)
    yield files_after_the_end(ground)


def at_once(ground: Ground, what: str, cookies: list[str], n: int) -> Case:
    """Two windows answer one item at the same time: one event is saved once, and only one of two events is saved."""
    tally = Tally(f"{what}: the same item at once", "pairs of answers")
    with Window(ground.url, cookies[0]).open() as one, Window(ground.url, cookies[1]).open() as two:
        for number in range(3 * n):
            same = one.event()
            first, second = ((same, same), (same, two.event()), (same, two.event("dissimilar")))[number % 3]
            before = ground.answers()
            sent = ((one, body(first)), (two, body(second)))
            for window, message in sent:
                window.post(message)
            for window, message in sent:
                window.wait(message)
            acks, new = [window.ack or {} for window in (one, two)], ground.answers()[len(before) :]
            n_saved = sum(map(is_saved, acks))
            right = len(new) == 1 and n_saved == (2 if first is second else 1)
            tally.check(right, f"{number}: kept {new}, told {acks}")
            for window in (one, two):
                window.send(window.rerun())
    return tally.case()


def planted_cookies(ground: Ground) -> Case:
    """A cookie from before the sign-in has no effect afterwards; each sign-in creates a new cookie."""
    tally, stolen = Tally("session fixation: cookies planted before signing in", "sign-ins"), ground.sign_in(OTHER)
    for planted in (f"{ground.cookie}=planted", f"{ground.cookie}={'a' * 43}", stolen):
        given = ground.sign_in(OWN, cookie=planted)
        tally.check(given != planted, f"{planted} is the session now")
        tally.check(
            ask(ground.url, "GET", "/", headers={"Cookie": planted}).status == 303, f"{planted[:24]} lets somebody in"
        )
        with Window(ground.url, given).open() as window:
            tally.check(
                window.data["reviewer"] == ground.mark(OWN), f"{planted[:24]}: shown to {window.data['reviewer']}"
            )
        for cookies in (f"{given}; {planted}", f"{planted}; {given}"):
            answer = ask(ground.url, "GET", "/", headers={"Cookie": cookies})
            tally.check(answer.status in (200, 303), f"two cookies: {answer.status}")
    return tally.case()


def attached(ground: Ground, n: int) -> Case:
    """A client that names another person's Streamlit session gets its own session, and acts as itself."""
    tally = Tally("session fixation: another person's Streamlit session", "windows")
    for number in range(n):
        victim = (OTHER, COORDINATOR)[number % 2]
        with Window(ground.url, ground.sign_in(victim)).open() as theirs:
            for script in list(theirs.pages.values())[:2]:
                theirs.send(theirs.rerun(page_script_hash=script))
            n_before = len(theirs.frames)
            intrude(ground, theirs, tally, victim, "connected")
            theirs.limit_s = SILENCE_S
            with suppress(TimeoutError):  # once another client took over the session, this window gets nothing
                theirs.send(theirs.rerun())
            after = b"\n".join(theirs.frames[n_before:])
            tally.check(ground.mark(OWN).encode() not in after, f"{victim} is shown what is {OWN}'s")
        intrude(ground, theirs, tally, victim, "gone")
    return tally.case()


def intrude(ground: Ground, theirs: Window, tally: Tally, victim: str, when: str) -> None:
    """Attach to a session as another person, also with a forged header; look around and label."""
    when, forged = f"{victim}, {when}", {"X_Labeler_Person": str(ground.ids[victim])}
    with ReviewersWindow(ground.url, ground.sign_in(OWN), session=theirs.session, **forged).open() as window:
        for script in list(theirs.pages.values())[::4]:
            window.send(window.rerun(page_script_hash=script))
        window.send(window.rerun())
        for fragment in sorted(theirs.ids)[:2]:
            window.send(window.rerun(fragment_id=fragment))
        for file in theirs.files:
            window.send(demand(file, theirs.session))
        tally.check(not ground.leaks(window.text, person=OWN), f"{when}: told {ground.leaks(window.text, person=OWN)}")
        tally.check(window.data.get("reviewer") == ground.mark(OWN), f"{when}: shown to {window.data.get('reviewer')}")
        tally.check(window.session != theirs.session, f"{when}: took the session over")
        n_before = len(ground.answers())
        window.label()
        new = ground.answers()[n_before:]
        tally.check([row[2] for row in new] == [ground.ids[OWN]], f"{when}: kept {new}")


def attached_while_busy(ground: Ground, n: int) -> Case:
    """The same while the other person's page is being computed: no part of it reaches the wrong window."""
    tally = Tally("session fixation: during another person's page run", "windows")
    cookie = ground.sign_in(OWN)
    for number in range(n):
        with Window(ground.url, ground.sign_in(COORDINATOR)).open() as theirs:
            its_own = theirs.session
            title = ("Items", "Results", "Item", "Study")[number % 4]
            theirs.post(theirs.rerun(page_script_hash=theirs.pages[title]))
            with Window(ground.url, cookie, session=theirs.session) as window:
                window.send(window.rerun())
                window.send(window.rerun())
                told = ground.leaks(window.text, person=OWN)
                taken = window.session == its_own
                tally.check(not told and not taken, f"{title}: told {told}, took the session over: {taken}")
    return tally.case()


def open_windows(ground: Ground) -> Case:
    """If the person was signed out, revoked, removed or paused, an answer from the open window is refused."""
    tally = Tally("open windows of people who may no longer label", "windows")
    for how, (name, end, words) in endings(ground).items():
        cookie = ground.sign_in(name)
        with Window(ground.url, cookie).open() as window:
            tally.check(is_saved(window.label()), f"{how}: could not label before")
            before, event = ground.answers(), window.event()
            with open_database(ground.study) as db:
                end(db, cookie)
            window.frames.clear()
            window.say(event)
            tally.check(ground.answers() == before and words in window.text, f"{how}: {window.ack}")
            tally.check(
                not ground.leaks(window.text, person=name), f"{how}: told {ground.leaks(window.text, person=name)}"
            )
        lets_in = opens(ground, cookie)
        tally.check(lets_in == ("paused" in how), f"{how}: a new window opens: {lets_in}")
    with open_database(ground.study) as db:
        course.change_state(db, Step.OPEN, why="x", actor=COORDINATOR, now=datetime.now(UTC))
    return tally.case()


def endings(ground: Ground) -> dict[str, tuple[str, Callable[[Database, str], object], bytes]]:
    """Return the ways to end access: for whom, by which action, and the message in their window."""

    def signed_out(_: Database, cookie: str) -> None:
        ask(ground.url, "POST", "/sign-out", headers={"Cookie": cookie, "Origin": ground.url})

    def told(act: Callable[..., object], **more: object) -> Callable[[Database, str], object]:
        return lambda db, _: act(db, actor=COORDINATOR, now=datetime.now(UTC), **more)

    return {
        "signed out": (OTHER, signed_out, b"not signed in"),
        "revoked": (REVOKED, told(identity.revoke, name=REVOKED, role=Role.REVIEWER), b"not signed in"),
        "removed": (REMOVED, told(staffing.remove, name=REMOVED, why="x"), b"not signed in"),
        "paused": (PAUSED, told(staffing.pause, name=PAUSED, why="x"), b"You are paused"),
        "study paused": (OWN, told(course.change_state, step=Step.PAUSE, why="x"), b"The study is paused"),
    }


def files_after_the_end(ground: Ground) -> Case:
    """A coordinator's window after signing out: no page, and no deferred download."""
    tally, cookie = Tally("a coordinator's window after signing out", "messages"), ground.sign_in(COORDINATOR)
    with Window(ground.url, cookie).open() as window:
        window.send(window.rerun(page_script_hash=window.pages["Results"], query_string=FIGURES))
        ask(ground.url, "POST", "/sign-out", headers={"Cookie": cookie, "Origin": ground.url})
        window.frames.clear()
        window.limit_s = SILENCE_S
        with suppress(TimeoutError):
            window.send(demand(min(window.files), window.session))
        tally.check(b"/media/" not in window.text, "a file was made for nobody")
        window.limit_s = LIMIT_S
        window.send(window.rerun(page_script_hash=window.pages["Results"], query_string=FIGURES))
        tally.check(b"not signed in" in window.text, "a page was shown to nobody")
    return tally.case()
