"""Back up a study every second while people label without pause and somebody changes people and states.

    python -m tests.reliability.backups [--seconds 60] [--items 300] [--writers 4] [--quick]

Every backup must open and be sound. It must have the first answers of each writer in order: all that were acknowledged
before it began, none that was sent after it ended, none that was refused. Its plan must verify, and labelling must
continue in it. The script prints the time of a backup, and the time of answers with and without backups.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import count, cycle
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path

from labeler.errors import LabelerError, StudyError
from labeler.studies.course import coordinating, course, staffing
from labeler.studies.items import browsing
from labeler.studies.labelling import reviewing
from labeler.studies.model import PlanParameters, Role, State, Submission
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import verifying
from labeler.studies.store import labels, open_database
from tests.browser import studies
from tests.making import id_of, item_name, series
from tests.reliability.outcome import Case, main, parser

ACTOR = "carol"
N_RUNS, N_ITERATIONS = 10, 300
CHANGE_EVERY_S = 0.25
END_LIMIT_S = 300  # each process checks after every answer whether to stop; SQLite's lock timeout limits an answer
QUIET_SHARE = 0.25  # the share of time without backups, for comparison


@dataclass(frozen=True)
class Sent:
    """An answer with the times of sending and acknowledgement; None if it was refused."""

    event_id: str
    at: float
    acknowledged: float | None


@dataclass(frozen=True)
class Backup:
    """A copy and its time, on the clock that all processes share."""

    path: Path
    begun: float
    ended: float


def make(study: Path, n_items: int, writers: Sequence[str]) -> None:
    items = {item_name(n): series(n, N_RUNS, N_ITERATIONS) for n in range(n_items)}
    plan = PlanParameters(1, per_item=len(writers), overlap=0, retest=0)
    studies.make(study, items, reviewers=writers, parameters=plan)


def write(study: Path, name: str, stop: Event, told: Path) -> None:
    """Answer the offered items, then revise all items again and again, until told to stop."""
    codes: list[str] = []
    with told.open("w", encoding="utf-8", buffering=1) as out:
        for number in count():
            if stop.is_set():
                return
            event_id, sent = f"{name}-{number}", time.monotonic()
            try:
                answered(study, name, event_id, codes, number)
                out.write(f"{event_id} {sent} {time.monotonic()}\n")
            except StudyError as error:
                out.write(f"{event_id} {sent} {type(error).__name__}\n")
            except LabelerError:  # paused, or the item moved to another reviewer
                out.write(f"{event_id} {sent} refused\n")


def answered(study: Path, name: str, event_id: str, codes: list[str], number: int) -> None:
    """Give one answer on a new connection, as the server does."""
    with open_database(study) as db:
        person = id_of(db, name)
        offers = reviewing.review_queue(db, person).offers
        task = offers[0] if offers else reviewing.task_by_code(db, person, codes[number % len(codes)])
        answer = ("similar", "dissimilar")[number % 2]
        sent = Submission(event_id, task.code, task.revision, answer, 900 + number, {"axis": "core"})
        reviewing.submit(db, person, sent, now=datetime.now(UTC))
        if offers:
            codes.append(task.code)


def change(study: Path, stop: Event, told: Path) -> None:
    """Pause and open, exclude and include, let people join and leave, create links, until told to stop."""
    n_done, problems = 0, []
    for number, step in zip(count(), cycle(CHANGES), strict=False):
        if stop.wait(CHANGE_EVERY_S):
            break
        try:
            with open_database(study) as db:
                step(db, f"joiner {number // len(CHANGES)}", {"actor": ACTOR, "now": datetime.now(UTC)})
            n_done += 1
        except LabelerError as error:
            problems.append(repr(error))
    told.write_text("\n".join([str(n_done), *problems]), encoding="utf-8")


CHANGES = (
    lambda db, name, by: course.change_state(db, Step.PAUSE, why="a break", **by),
    lambda db, name, by: course.change_state(db, Step.OPEN, why="on it goes", **by),
    lambda db, name, by: browsing.exclude(db, item_name(0), "a broken build", **by),
    lambda db, name, by: staffing.add(db, name, [Role.REVIEWER], **by),
    lambda db, name, by: identity.invite(db, name, Role.REVIEWER, **by),
    lambda db, name, by: browsing.include(db, item_name(0), "it was none", **by),
    lambda db, name, by: staffing.remove(db, name, why="no time", **by),
    lambda db, name, by: coordinating.describe_study(db, f"Backups {name}", studies.QUESTION, **by),
)


def back_up(study: Path, folder: Path, until: float, every_s: float) -> list[Backup]:
    """Make each backup when it is due; a backup that takes longer delays the next one."""
    made: list[Backup] = []
    for number in count():
        due = time.monotonic()
        if due >= until:
            return made
        path = folder / f"backup-{number}.study"
        with open_database(study) as db:
            begun = time.monotonic()
            db.backup(path)
            made.append(Backup(path, begun, time.monotonic()))
            time.sleep(max(0.0, min(due + every_s, until) - time.monotonic()))  # the requested interval
    raise AssertionError("count() has no end")


def read(told: Path) -> tuple[list[Sent], list[str]]:
    """Return the answers of a writer, and the errors."""
    sent, problems = [], []
    for line in told.read_text(encoding="utf-8").splitlines():
        event_id, at, end = line.split(" ")
        if end[0].isdigit():
            sent.append(Sent(event_id, float(at), float(end)))
        elif end == "refused":
            sent.append(Sent(event_id, float(at), None))
        else:
            problems.append(f"{event_id}: {end}")
    return sent, problems


def not_a_prefix(stored: Sequence[str], sent: Sequence[Sent], backup: Backup) -> str:
    """The fault in the answers of one writer in a backup; empty if there is none."""
    kept = [one for one in sent if one.acknowledged is not None]
    if list(stored) != [one.event_id for one in kept[: len(stored)]]:
        return "other answers than the first so many"
    n_before = sum(one.acknowledged < backup.begun for one in kept if one.acknowledged is not None)
    n_until = sum(one.at <= backup.ended for one in kept)
    if not n_before <= len(stored) <= n_until:
        return f"{len(stored)} answers, and {n_before} to {n_until} were given"
    return ""


def wrong(backup: Backup, sent: dict[str, list[Sent]]) -> dict[str, list[str]]:
    """The faults of a backup by question; the backup is used as a study at the end."""
    found: dict[str, list[str]] = {what: [] for what in ASKED}
    name = backup.path.name
    try:
        with open_database(backup.path) as db:
            if db.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                found["opens and is sound"].append(name)
            stored = labels.table(db)
            for writer, answers in sent.items():
                of_writer = stored.loc[stored["reviewer"] == writer, "event_id"].tolist()
                problem = not_a_prefix(of_writer, answers, backup)
                found["has the first answers of each writer"] += [f"{name}, {writer}: {problem}"] if problem else []
            found["verifies"] += [f"{name}: {problem}" for problem in verifying.verify_plan(db).problems]
        found["accepts further labels"] += go_on(backup.path, list(sent))
    except LabelerError as error:
        found["opens and is sound"].append(f"{name}: {error!r}")
    return found


ASKED = ("opens and is sound", "has the first answers of each writer", "verifies", "accepts further labels")


def go_on(path: Path, writers: Sequence[str]) -> list[str]:
    """Whether everybody can label in the backup when it replaces the study."""
    with open_database(path) as db:
        if coordinating.get_study(db).state is State.PAUSED:
            course.change_state(db, Step.OPEN, why="restored", actor=ACTOR, now=datetime.now(UTC))
        before = labels.n_labels(db)
        for name in writers:
            own = reviewing.own_labels(db, id_of(db, name))
            answered(path, name, f"restored-{name}", [own[0].task.code] if own else [], 0)
        problems = verifying.verify_plan(db).problems
        n_new = labels.n_labels(db) - before
    return [*problems, *([] if n_new == len(writers) else [f"{path.name}: {n_new} new labels of {len(writers)}"])]


def run(options: argparse.Namespace) -> Iterator[Case]:
    """Write and back up, then check everything."""
    seconds, n_items = (8.0, 60) if options.quick else (options.seconds, options.items)
    writers = [f"writer-{number}" for number in range(options.writers)]
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        study = folder / "load.study"
        make(study, n_items, writers)
        backups, quiet_until = under_load(study, folder, writers, seconds)
        read_back = {writer: read(folder / writer) for writer in writers}
        sent = {writer: answers for writer, (answers, _) in read_back.items()}
        problems = [one for _, found in read_back.values() for one in found]
        n_changes, *of_changes = (folder / "changes").read_text(encoding="utf-8").splitlines()
        yield written(sent, problems + of_changes, int(n_changes))
        yield from judged(backups, sent)
        yield timed(study, backups, [one for answers in sent.values() for one in answers], quiet_until)


def under_load(study: Path, folder: Path, writers: Sequence[str], seconds: float) -> tuple[list[Backup], float]:
    """Let everybody work without and then with backups; returns these, and when the first was due."""
    context = get_context("spawn")
    stop = context.Event()
    processes = [context.Process(target=write, args=(study, name, stop, folder / name)) for name in writers]
    processes.append(context.Process(target=change, args=(study, stop, folder / "changes")))
    for process in processes:
        process.start()
    try:
        started(folder, writers)
        quiet_until = time.monotonic() + QUIET_SHARE * seconds
        time.sleep(QUIET_SHARE * seconds)  # the measured time
        return back_up(study, folder, quiet_until + (1 - QUIET_SHARE) * seconds, 1.0), quiet_until
    finally:
        stop.set()
        for process in processes:
            process.join(END_LIMIT_S)
            process.kill()


def started(folder: Path, writers: Sequence[str]) -> None:
    """Wait, up to a limit, until every writer has had an answer saved."""
    deadline = time.monotonic() + END_LIMIT_S
    while not all((folder / name).exists() and (folder / name).stat().st_size for name in writers):
        if time.monotonic() > deadline:
            raise AssertionError(f"the writers had written nothing after {END_LIMIT_S} s")
        time.sleep(0.02)  # polls


def written(sent: dict[str, list[Sent]], problems: list[str], n_changes: int) -> Case:
    """Check that there was a load, and that nothing failed under it."""
    n_kept = sum(one.acknowledged is not None for answers in sent.values() for one in answers)
    n_refused = sum(len(answers) for answers in sent.values()) - n_kept
    passed = not problems and n_kept > 0 and n_changes > 0
    figures = f"{n_kept} answers kept, {n_refused} refused while paused or reassigned, {n_changes} changes"
    return Case("no error under load", "; ".join([figures, *problems[:3]]), passed)


def judged(backups: Sequence[Backup], sent: dict[str, list[Sent]]) -> Iterator[Case]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(partial(wrong, sent=sent), backups))
    for what in ASKED:
        problems = [problem for one in found for problem in one[what]]
        n_wrong = sum(bool(one[what]) for one in found)
        yield Case(
            f"every backup {what}",
            "; ".join([f"{len(backups) - n_wrong} of {len(backups)}", *problems[:3]]),
            bool(backups) and not problems,
        )


def timed(study: Path, backups: Sequence[Backup], sent: Sequence[Sent], quiet_until: float) -> Case:
    """The times of a backup, and of answers without, with, and during backups; none of them may time out."""
    took = [1000 * (one.ended - one.begun) for one in backups]
    parts = {
        "without backups": [one for one in sent if one.at < quiet_until],
        "with backups": [one for one in sent if one.at >= quiet_until],
        "during a backup": [one for one in sent if any(b.begun <= one.at <= b.ended for b in backups)],
    }
    told = [f"{len(backups)} backups of {study.stat().st_size / 1e6:.1f} MB: {_p50_p95(took)} ms"]
    for word, answers in parts.items():
        times = [1000 * (one.acknowledged - one.at) for one in answers if one.acknowledged is not None]
        told.append(f"an answer {word} {_p50_p95(times)} ms")
    return Case("time, p50 / p95", ", ".join(told), bool(backups))


def _p50_p95(times: Sequence[float]) -> str:
    if len(times) < 2:
        return "too few to say"
    cuts = statistics.quantiles(times, n=20, method="inclusive")
    return f"{cuts[9]:.0f} / {cuts[18]:.0f}"


if __name__ == "__main__":
    made = parser(__doc__)
    made.add_argument("--seconds", type=float, default=60.0, help="a quarter of them without backups")
    made.add_argument("--items", type=int, default=300, help="of 10 runs of 300 iterations")
    made.add_argument("--writers", type=int, default=4)
    made.add_argument("--folder", type=Path, default=None, help="where study and backups are put [default: temporary]")
    made.add_argument("--quick", action="store_true", help="8 seconds, 60 items")
    main(made, run)
