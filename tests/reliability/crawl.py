"""Test whether any page, message, address or error reveals hidden data to a reviewer, in every state and role.

    python -m tests.reliability crawl [--quick]

A small study goes through all its states while one server shows it. In each state every kind of person visits
everything, just after a coordinator has browsed the same server. Everything that was sent is searched for every name,
person, comment, verdict, number and code in the study. Then order, sizes and times are compared. `--quick` leaves out
states and pages that are like others.
"""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from labeler.studies.store import open_database
from labeler.studies.ui.coordinator.places import PLACES
from tests.browser import studies
from tests.browser.conftest import free_port, path_of, start_server, stop_server
from tests.reliability import _crawl_study as made, _crawl_times, _crawl_window as visits, _telltales
from tests.reliability._crawl_window import Caller, Heard, Unseen, Visit
from tests.reliability._hidden import Hidden, from_reviewer, from_reviewing_coordinator
from tests.reliability._telltales import strange_keys, tokens_in
from tests.reliability.cases import Case, Room

SHOWS = {
    "draft": "The study has not begun yet",
    "calibration": made.QUESTION,
    "open": made.QUESTION,
    "paused": "The study is paused at the moment",
    "third": made.QUESTION,
    "closed": "The study is closed for labelling",
    "unblinded": "The study is closed for labelling",
}
SENDER = "-sender"  # ends the name of the part that sends answers, which depends only on its page
QUICK = ("draft", "calibration", "open", "unblinded")  # the states of a quick crawl; pages of the others are alike
CAN_LABEL = ("calibration", "open", "third")
TITLES = frozenset(word for title in (*PLACES, "Item") for word in title.lower().split())  # in the menu of both roles
CODES = re.compile(r'(?:Item |"code": ?"|revise-|revision-)([A-HJ-NP-Z2-9]{6})\b')
N_TOLD = 6


@dataclass(frozen=True)
class Scene:
    """A served study in one of its states, the signed-in people, and the thoroughness of the search.

    `traces` are those of a coordinator who has just visited everything.
    """

    stage: str
    study: Path
    url: str
    links: made.Links
    cookies: dict[str, str]
    quick: bool
    traces: visits.Traces | None = None

    @property
    def is_thorough(self) -> bool:
        """Whether pages that do not depend on the state are visited; a quick crawl does so only in the open study."""
        return not self.quick or self.stage == "open"

    def caller(self, name: str, heard: Heard) -> Caller:
        """Return a signed-in client."""
        return Caller(self.url, heard, self.cookies[name])

    def stranger(self, heard: Heard) -> Caller:
        """Return a client without a session, from a separate address, because failed sign-ins block an address."""
        return Caller(self.url, heard, source=f"127.0.1.{list(SHOWS).index(self.stage) + 1}")


Act = Callable[[Scene, Heard], None]


def crawl(url: str, study: Path, links: made.Links, *, quick: bool) -> Iterator[Case]:
    """A case for each state and role; the study changes state while it is served."""
    names = (made.OWN, made.BOTH, made.PAUSED, made.REMOVED, made.COORDINATOR)
    of_program: set[str] = set()
    cookies = {name: Caller(url, Heard()).sign_in(links.good[name]).cookie for name in names}
    for stage, reach in made.STAGES.items():
        with open_database(study) as db:
            reach(db)
        if quick and stage not in QUICK:
            continue
        scene = Scene(stage, study, url, links, cookies, quick)
        yield from _of_stage(scene)
        if stage == "draft":
            of_program = _tokens(scene.caller(made.OWN, Heard()))
        elif stage == "open":
            yield _partners(scene, of_program)


def _of_stage(scene: Scene) -> Iterator[Case]:
    """All roles, most of them at the same time; read-only roles first, so that a busy study delays nobody."""
    coordinator = scene.caller(made.COORDINATOR, Heard())
    is_unblinded = scene.stage == "unblinded"
    results = (visits.FIGURES, *(() if scene.quick else (visits.REPORT,))) if is_unblinded else ()
    left_open = visits.left_open(coordinator, (*results, visits.LOG), everything=scene.is_thorough)
    with left_open as traces, ThreadPoolExecutor(4) as pool:
        scene = replace(scene, traces=traces)
        reading: dict[str, tuple[str, Act]] = {"a paused reviewer": (made.PAUSED, _paused)}
        if scene.stage == "open":
            reading["a reviewer while the study is busy"] = (made.OWN, _busy)
        done = [pool.submit(case, scene, who, *one) for who, one in reading.items()]
        if scene.is_thorough and not is_unblinded:
            done.append(pool.submit(_coordinators_pages, scene))
        yield from (one.result() for one in done)
        writing: dict[str, tuple[str, Act]] = {
            "a reviewer": (made.OWN, _own),
            "a reviewer who is also a coordinator": (made.BOTH, _both),
            "a stranger": ("", _stranger),
        }
        if scene.stage not in ("draft", "calibration"):
            writing["a removed reviewer"] = (made.REMOVED, _removed)
        done = [pool.submit(case, scene, who, *one) for who, one in writing.items()]
        yield from (one.result() for one in done)
        if scene.stage == "open" or not scene.quick:
            yield case(scene, "a reviewer in a coordinator's window", made.OWN, _intruder)


def _partners(scene: Scene, of_program: set[str]) -> Case:
    """Marks that are sent to both of two reviewers with shared items, and to nobody without items."""
    with open_database(scene.study) as db:
        n_common = made.n_in_common(db, made.OWN, made.PARTNERS[0])
    other = Caller(scene.url, Heard()).sign_in(scene.links.good[made.PARTNERS[0]])
    own, others = _tokens(scene.caller(made.OWN, Heard())), _tokens(other)
    shared = sorted(mark for mark in own & others - of_program if not mark.endswith(SENDER))
    figures = (
        f"{n_common} items in common; {len(own)} and {len(others)} marks, without plots; in both but not in an empty "
        f"study: {', '.join(shared[:N_TOLD]) or 'none'}"
    )
    return Case("open, two reviewers of the same items", figures, bool(n_common and own and others) and not shared)


def _tokens(caller: Caller) -> set[str]:
    with Visit(caller) as window:
        for page in ("", "my-labels", "feedback"):
            window.go(page)
    return tokens_in(caller.heard.texts()) - caller.heard.page_hashes()


def _busy(scene: Scene, heard: Heard) -> None:
    visits.wait_for_a_busy_study(scene.caller(made.OWN, heard), scene.study)


def _own(scene: Scene, heard: Heard) -> None:
    caller = scene.caller(made.OWN, heard)
    if scene.is_thorough:
        visits.see_addresses(caller)
    with Visit(caller) as window:
        _see_pages(scene, window, made.OWN, SHOWS[scene.stage])
        if scene.stage != "draft":
            visits.provoke(window, *_marks(scene))
        if scene.stage in CAN_LABEL:
            visits.label(window, made.words_of(made.OWN))
    if scene.traces is not None:
        visits.ask_for_traces(caller, scene.traces)


def _intruder(scene: Scene, heard: Heard) -> None:
    if scene.traces is not None:
        visits.take_over(scene.caller(made.OWN, heard), scene.traces, scene.caller(made.COORDINATOR, Heard()))


def _both(scene: Scene, heard: Heard) -> None:
    label = "label" if scene.stage in ("closed", "unblinded") else ""  # then Study is the first page
    with Visit(scene.caller(made.BOTH, heard)) as window:
        if scene.quick and scene.stage not in CAN_LABEL:
            window.go(label, SHOWS[scene.stage]).go("my-labels", "My labels")
            return
        _see_pages(scene, window, made.BOTH, SHOWS[scene.stage], label=label)
        if scene.stage in CAN_LABEL:
            visits.label(window, made.words_of(made.BOTH))


def _paused(scene: Scene, heard: Heard) -> None:
    is_over = scene.stage in ("closed", "unblinded")
    shows = SHOWS[scene.stage] if is_over else "You are paused at the moment"
    caller = scene.caller(made.PAUSED, heard)
    with Visit(caller) as window:
        if scene.quick and scene.stage != "open":
            window.go("", shows).go("my-labels", "My labels")
            return
        _see_pages(scene, window, made.PAUSED, shows)
    visits.see_addresses(caller)


def _removed(scene: Scene, heard: Heard) -> None:
    caller = replace(scene.stranger(heard), cookie=scene.cookies[made.REMOVED])
    if scene.is_thorough:
        visits.see_addresses(caller)
    if not visits.is_shut_out(caller, scene.links.good[made.REMOVED]):
        raise Unseen("somebody who was removed comes in")


def _stranger(scene: Scene, heard: Heard) -> None:
    visits.see_sign_in(scene.stranger(heard), scene.links.bad, scene.links.good[made.PARTNERS[0]])


def _coordinators_pages(scene: Scene) -> Case:
    with open_database(scene.study) as db:
        hidden = from_reviewing_coordinator(db, made.BOTH)
    what = f"{scene.stage}, coordinators' pages for a coordinator who also labels"
    return searched(what, Heard(), hidden, None, partial(_browse, scene))


def _browse(scene: Scene, heard: Heard) -> None:
    with Visit(scene.caller(made.BOTH, heard)) as window:
        visits.browse(window)


def _see_pages(scene: Scene, window: Visit, name: str, shows: str, *, label: str = "") -> None:
    foreign = visits.OF_COORDINATORS if scene.is_thorough else visits.OF_COORDINATORS[-2:]
    opens_study = label != ""  # then an unknown address shows the coordinator's page Study
    absent = (*(() if name == made.BOTH else foreign), *(() if opens_study else ("nowhere",)))
    visits.see_pages(window, shows, made.words_of(name), label=label, absent=absent, made_up=scene.is_thorough)


def _marks(scene: Scene) -> tuple[str, str, str]:
    with open_database(scene.study) as db:
        own, other = (min(made.own_codes(db, name)) for name in (made.OWN, made.PARTNERS[0]))
        event = db.execute(
            "SELECT event_id FROM labels JOIN assignments USING (assignment_id) WHERE person_id = ?",
            (made.id_of(db, made.PARTNERS[0]),),
        ).fetchone()
    return own, other, event[0]


def case(scene: Scene, who: str, name: str, visit: Act) -> Case:
    """Visit, then search the data for everything that this person must not see."""
    with open_database(scene.study) as db:
        hidden, codes = from_reviewer(db, name), {visits.NO_CODE}
        if name:
            codes |= made.own_codes(db, name)
        if name == made.OWN and scene.stage != "draft":
            codes |= set(_marks(scene)[:2])  # the server repeats which item was requested
    hidden = hidden.without(TITLES) if name == made.BOTH else hidden
    return searched(f"{scene.stage}, {who}", Heard(), hidden, codes, partial(visit, scene))


def searched(what: str, heard: Heard, hidden: Hidden, codes: set[str] | None, visit: Callable[[Heard], None]) -> Case:
    """Search the data of a visit for hidden words and, if own codes are given, for codes of others."""
    try:
        visit(heard)
    except Unseen as reason:
        return Case(what, str(reason), passed=False)
    found = heard.leaks(hidden)
    strange = {} if codes is None else foreign_codes(heard, codes) | new_members(heard)
    told = [f"{where}: {', '.join(names[:N_TOLD])}" for where, names in (found | strange).items()]
    figures = (
        f"{heard.n_places} places, {len(heard.frames)} messages, {heard.n_bytes / 1e6:.1f} MB searched for "
        f"{len(hidden)} words; found {'; '.join(told[:N_TOLD]) or 'nothing'}"
    )
    return Case(what, figures, passed=not told)


def foreign_codes(heard: Heard, own: set[str]) -> dict[str, list[str]]:
    """Codes of other people's items, by place."""
    found: dict[str, list[str]] = {}
    for where, piece in heard.came:
        strange = set(CODES.findall(piece.decode("latin-1"))) - own
        if strange:
            found[where] = sorted(strange.union(found.get(where, ())))
    return found


def new_members(heard: Heard) -> dict[str, list[str]]:
    """New fields in the data of the review component."""
    found = sorted(strange_keys(heard.screens()))
    return {"the review component": found} if found else {}


@contextmanager
def served(study: Path) -> Iterator[str]:
    studies.make(study.with_name("beside.study"), studies.many(2))  # the server has another study, too
    process = start_server(study.parent, port := free_port())
    try:
        yield f"http://127.0.0.1:{port}{path_of(study)}"
    finally:
        stop_server(process)


def cases(room: Room) -> Iterator[Case]:
    """All states and roles, then order, sizes and times. A short crawl leaves out states and pages that are alike."""
    folder = room.new_folder()
    study = folder / "sauerkraut.study"
    links = made.make(study)
    with served(study) as url:
        yield from crawl(url, study, links, quick=room.quick)
    yield from _telltales.cases(folder)
    yield from _crawl_times.cases(folder, quick=room.quick)
