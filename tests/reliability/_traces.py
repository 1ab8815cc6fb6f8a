"""What is left of secrets, session ids and e-mail addresses once the server has ended."""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from labeler.plan.lifecycle import Step
from labeler.service.plan import coordinating, course
from labeler.service.results import anonymising, exchange, reporting
from labeler.service.verdicts import stored_verdicts
from labeler.store import open_database
from tests.browser.conftest import free_port, stop_server, wait_until_served
from tests.reliability._ground import COORDINATOR, EMAILS, LEFT, REPOSITORY, REVIEWERS, Ground
from tests.reliability._tally import Tally
from tests.reliability.outcome import Case


def cases(ground: Ground, *, quick: bool) -> Iterator[Case]:
    """End the server, then look through everything."""
    stop_server(ground.process)
    yield in_the_output(ground)
    yield in_the_study(ground)
    yield in_what_leaves_it(ground)
    if not quick:
        yield what_serve_prints(ground)


def in_clear(ground: Ground) -> list[str]:
    """Every secret and session id there was, and the wrong secrets that were tried."""
    given = [*ground.secrets.values(), *ground.ended.values(), *ground.private, *ground.wrong]
    return sorted({one for one in given if len(one) > 20})


def look(tally: Tally, where: str, data: bytes, words: Iterable[str]) -> None:
    """Look for each word in some bytes; what is found is not repeated."""
    for word in words:
        tally.check(word.encode() not in data, f"{where}: {word[:4]}…")


def in_the_output(ground: Ground) -> Case:
    """Standard output and standard error of the server, and nothing in it that nobody had thought of."""
    tally, written = Tally("the server's output", "words looked for"), ground.output.read_bytes()
    look(tally, "output", written, [*in_clear(ground), *EMAILS.values()])
    text = written.decode(errors="replace")
    ours = [one for one in re.split(r"(?m)^(?=Traceback)", text)[1:] if f"{REPOSITORY}/labeler/service" in one]
    tally.check(not ours, f"an error in a service: {ours[:1]}")
    return tally.case(f"{len(written)} bytes, {text.count('Traceback')} errors noted")


def in_the_study(ground: Ground) -> Case:
    """The bytes of the study file: hashes of secrets only. The log names no address of a session either."""
    tally, n_bytes = Tally("the study file", "words looked for"), 0
    for path in ground.folder.glob(f"{ground.study.name}*"):
        data = path.read_bytes()
        n_bytes += len(data)
        look(tally, path.name, data, in_clear(ground))
    return tally.case(f"{n_bytes} bytes")


def in_what_leaves_it(ground: Ground) -> Case:
    """Reports, exports, the log of events and the copy for publication."""
    tally, now = Tally("exports, reports, the log, the copy for publication", "words looked for"), datetime.now(UTC)
    copy = ground.folder / "published.study"
    with open_database(ground.study) as db:
        for step in (Step.CLOSE, Step.UNBLIND):
            course.move(db, step, why="x", anyway=True, actor=COORDINATOR, now=now)
        files = reporting.files_of_study(db, reporting.QUICK, actor=COORDINATOR, now=now)
        files["export"] = reporting.as_csv(exchange.export_labels(db, actor=COORDINATOR, now=now))
        files["verdicts"] = reporting.as_csv(stored_verdicts.export_table(db, actor=COORDINATOR, now=now))
        log = reporting.as_csv(coordinating.event_log(db))
        anonymising.anonymise(db, copy, keep_comments=True, actor=COORDINATOR, now=now)
    for name, text in files.items():
        look(tally, name, text.encode() if isinstance(text, str) else text, [*in_clear(ground), *EMAILS.values()])
    look(tally, "log", log.encode(), in_clear(ground))
    names = [name for name in (*REVIEWERS, COORDINATOR) if len(name) > 3 and name != LEFT]
    look(tally, "copy", copy.read_bytes(), [*in_clear(ground), *EMAILS.values(), *names])
    return tally.case(f"{len(files)} files")


def what_serve_prints(ground: Ground) -> Case:
    """The link of a study that is made at the start, once, on standard output; of one that is there, nothing."""
    tally, port = Tally("what `labeler serve` prints", "starts"), free_port()
    for what, n_links in (("a new study", 1), ("the same again", 0)):
        with (ground.folder / "out.txt").open("wb") as out, (ground.folder / "err.txt").open("wb") as err:
            command = [
                sys.executable,
                "-m",
                "labeler",
                "serve",
                "--study",
                str(ground.folder / "new.study"),
                "--port",
                str(port),
            ]
            process = subprocess.Popen(command, stdout=out, stderr=err)
        wait_until_served(process, port)
        stop_server(process)
        found = [(ground.folder / name).read_text(encoding="utf-8").count("/join/") for name in ("out.txt", "err.txt")]
        tally.check(found == [n_links, 0], f"{what}: {found} links")
    return tally.case()
