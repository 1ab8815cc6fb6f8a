"""Search for secrets, session ids and e-mail addresses after the server has stopped."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from labeler.studies.course import coordinating, course
from labeler.studies.handover import anonymising, exchange
from labeler.studies.plan.lifecycle import Step
from labeler.studies.results import reporting
from labeler.studies.store import open_database
from labeler.studies.verdicts import stored_verdicts
from tests.browser.conftest import free_port, start_server, stop_server
from tests.reliability._ground import COORDINATOR, EMAILS, LEFT, REPOSITORY, REVIEWERS, Ground
from tests.reliability.cases import Tally

# Any other place in a traceback is an error that the pages did not expect.
OUTSIDE_UI = re.compile(rf"{re.escape(str(REPOSITORY))}/labeler/(?!(\w+/)?(ui|commands|cli|__main__))")


def in_clear(ground: Ground) -> list[str]:
    """All secrets and session ids in plain text, and the wrong secrets that were tried."""
    given = [*ground.secrets.values(), *ground.private, *ground.wrong]
    return sorted({one for one in given if len(one) > 20})


def look(tally: Tally, where: str, data: bytes, words: Iterable[str]) -> None:
    """Search some bytes for each word; the output does not repeat the words."""
    for word in words:
        tally.check(word.encode() not in data, f"{where}: {word[:4]}…")


def in_the_output(ground: Ground) -> None:
    """Standard output and standard error of the server have no secrets and no unexpected errors."""
    tally, written = ground.tally, ground.output.read_bytes()
    look(tally, "output", written, [*in_clear(ground), *EMAILS.values()])
    text = written.decode(errors="replace")
    ours = [one for one in re.split(r"(?m)^(?=Traceback)", text)[1:] if OUTSIDE_UI.search(one)]
    tally.check(not ours, f"an error outside of the pages: {ours[:1]}")
    tally.more = f"{len(written)} bytes, {text.count('Traceback')} logged errors"


def in_the_study(ground: Ground) -> None:
    """The study file has only hashes of secrets, and its log has no addresses of sessions."""
    tally, n_bytes = ground.tally, 0
    for path in ground.folder.glob(f"{ground.study.name}*"):
        data = path.read_bytes()
        n_bytes += len(data)
        look(tally, path.name, data, in_clear(ground))
    tally.more = f"{n_bytes} bytes"


def in_what_leaves_it(ground: Ground) -> None:
    """Exports, reports, the log and the copy for publication of the study, once it is over, have no secrets."""
    tally, now = ground.tally, datetime.now(UTC)
    over, copy = ground.folder / "over.study", ground.folder / "published.study"
    with open_database(ground.study) as db:
        db.backup(over)
    with open_database(over) as db:
        for step in (Step.CLOSE, Step.UNBLIND):
            course.change_state(db, step, why="x", force=True, actor=COORDINATOR, now=now)
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
    tally.more = f"{len(files)} files"


def what_serve_prints(ground: Ground) -> None:
    """`labeler serve` prints the link of a new study once, on standard output, and no link of an existing study."""
    tally, port = ground.tally, free_port()
    for what, n_links in (("a new study", 1), ("the same again", 0)):
        with (ground.folder / "out.txt").open("wb") as out, (ground.folder / "err.txt").open("wb") as err:
            stop_server(start_server(ground.folder / "new.study", port, stdout=out, stderr=err))
        found = [(ground.folder / name).read_text(encoding="utf-8").count("/join/") for name in ("out.txt", "err.txt")]
        tally.check(found == [n_links, 0], f"{what}: {found} links")
