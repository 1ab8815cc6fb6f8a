"""Run every command of the guides in docs, in order, and write its output below it.

python scripts/guides.py [coordinator check ci spread trust order contexts steady trend classifiers]

Commands are the lines `    $ ...` of a page; the indented lines below them are their output. Long output is cut, unless
a comment before the command says what to show: `<!-- shows: 20 -->` shows the first 20 lines, and
`<!-- shows: In short; Left out 4 -->` shows two sections, the second cut to four lines. An exit code other than 0 gets
a separate line. A picture `img/methods-NAME.svg` is the figure that a command wrote as `figures/NAME.svg`; the main
figure of a method has the name of the method.

At `<!-- the reviewers label: 40 -->` every reviewer labels up to 40 items, deterministically. Secrets in links, dates,
progress bars and the output of `labeler serve` are left out. Plans have a fixed secret, so that they are the same in
each run.
"""

import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

from click.testing import CliRunner

from analysis.categories import DISSIMILAR, SIMILAR
from labeler.cli import main
from labeler.studies.course import coordinating
from labeler.studies.labelling import reviewing
from labeler.studies.model import NewLabel
from labeler.studies.people import identity
from labeler.studies.plan.design import key
from labeler.studies.store import Database, open_database

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
GUIDES = ("coordinator", "check", "ci", "spread", "trust", "order", "contexts", "steady", "trend", "classifiers")
STUDY = Path("runs.study")
COMMAND = "    $ "
AT_WORK = re.compile(r"<!-- the reviewers label: (\d+) -->")
SHOWS = re.compile(r"<!-- shows: (.+) -->")
PICTURE = re.compile(r"img/methods-([\w-]+)\.svg")
MAIN = {"spread": "max-spread", "trust": "rejections", "order": "order-medians", "contexts": "contexts-sorted"}
NOT_RUN = ("labeler serve", "make ")
PROGRESS = {"Reading", "Importing", "Judging", "Computing", "Spread", "Order", "Trust", "Contexts", "Measuring"}
N_SHOWN = 10  # lines of output per command


def filled(page: str, pictures: Path | None = None) -> str:
    """Return the page with the current output of each command, and write the figures to the folder `pictures`."""
    lines: list[str] = []
    with _own_folder():
        for line in _without_output(page.splitlines()):
            at_work = AT_WORK.fullmatch(line)
            if at_work:
                _label(int(at_work[1]))
            shows = _shown_before(lines)
            lines.append(line)
            if line.startswith(COMMAND) and not line.removeprefix(COMMAND).startswith(NOT_RUN):
                output = _output(line.removeprefix(COMMAND))
                lines += [f"    {text}".rstrip() for text in _cut(output, shows)]
        if pictures is not None:
            for name in PICTURE.findall(page):
                shutil.copy(f"figures/{MAIN.get(name, name)}.svg", pictures / f"methods-{name}.svg")
    return "\n".join(lines) + "\n"


def _without_output(lines: list[str]) -> Iterator[str]:
    """Return the page without output; a blank line remains before the text that follows an output."""
    in_output = False
    for line in lines:
        if line.startswith(COMMAND):
            in_output = True
        elif in_output and (not line or line.startswith("    ")):
            continue
        elif in_output:
            in_output = False
            yield ""
        yield line


def _shown_before(lines: list[str]) -> str:
    """Return the parts to show from the comment before a block of commands; empty if there is no comment."""
    written = [line for line in lines[-2:] if line]
    shows = SHOWS.fullmatch(written[-1]) if written else None
    return shows[1] if shows else ""


@contextmanager
def _own_folder() -> Iterator[None]:
    """Work in a temporary folder with the files that the guides start with, and set the study in the environment."""
    before = Path.cwd(), os.environ.get("LABELER_STUDY")
    fixed_secret = mock.patch.object(coordinating.secrets, "token_hex", lambda n: "1" * 2 * n)
    with tempfile.TemporaryDirectory() as folder, fixed_secret:
        os.chdir(folder)
        Path("data").symlink_to(ROOT / "data")
        Path("results").mkdir()
        Path("results/measured.parquet").symlink_to(ROOT / "data" / "demo" / "demo.parquet")
        os.environ["LABELER_STUDY"] = str(STUDY)
        try:
            yield
        finally:
            os.chdir(before[0])
            os.environ.pop("LABELER_STUDY")
            if before[1] is not None:
                os.environ["LABELER_STUDY"] = before[1]


def _output(command: str) -> list[str]:
    words = shlex.split(command)
    if words[0] == "cat":
        return Path(words[1]).read_text(encoding="utf-8").splitlines()
    if words[0] == "printf":
        Path(words[-1]).write_text(words[1].encode().decode("unicode_escape"), encoding="utf-8")
        return []
    result = CliRunner().invoke(main, words[1:])
    if not isinstance(result.exception, SystemExit | None):
        raise result.exception
    text = re.sub(r"/s/[0-9a-f]{12}/join/[\w-]+", "/s/…/join/…", result.output)
    text = re.sub(r"Chain: \d+-[0-9a-f]+", "Chain: …", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", "2026-11-20T12:00:00+00:00", text)
    text = re.sub(r"202\d-\d\d-\d\d( \d\d:\d\d)?", lambda found: "2026-11-20 12:00" if found[1] else "2026-11-20", text)
    lines = [line for line in text.rstrip("\n").split("\n") if "\r" not in line and line not in PROGRESS]
    return [*lines, f"exit code {result.exit_code}"] if result.exit_code else lines


def _cut(lines: list[str], shows: str) -> list[str]:
    """Return the first lines of the output, or the sections to show, such as `Title; Other title 4`."""
    n_last = 1 if lines and lines[-1].startswith("exit code") else 0
    if not shows or shows.isdecimal():
        n = int(shows or N_SHOWN)
        return lines if len(lines) <= n else [*lines[: n - 1 - n_last], "…", *lines[len(lines) - n_last :]]
    parts = []
    for wanted in shows.split("; "):
        title, _, number = wanted.rpartition(" ")
        title, n = (title, int(number)) if number.isdecimal() else (wanted, len(lines))
        parts += _section(lines[: len(lines) - n_last], title, n)
    return ["…", *parts, *lines[len(lines) - n_last :]]


def _section(lines: list[str], title: str, n: int) -> list[str]:
    """Return a section of the output: the title, the first n lines below the title, and a mark for the rest."""
    start = lines.index(title)
    titles = [at - 1 for at, line in enumerate(lines) if line and set(line) == {"-"}]
    end = next((at for at in titles if at > start), len(lines))
    body = "\n".join(lines[start + 2 : end]).strip("\n").split("\n")
    return [*lines[start : start + 2], *"\n".join(body[:n]).rstrip("\n").split("\n"), "…"]


def _label(n_items: int) -> None:
    """Let every reviewer label up to `n` items, mostly correctly but with individual errors."""
    with open_database(STUDY) as db:
        names = {item.item_id: item.name for item in coordinating.list_items(db)}
        for person in identity.everyone(db):
            for _ in range(n_items):
                if not person.active or not _label_next(db, person.person_id, person.name, names):
                    break


def _label_next(db: Database, person_id: int, name: str, names: dict[int, str]) -> bool:
    try:
        offers = reviewing.review_queue(db, person_id).offers
    except reviewing.NotAllowed:
        return False
    if not offers:
        return False
    task, item = offers[0], names[offers[0].item_id]
    errs = int(key(1, "errs", name, item), 16) % 100 < 20
    is_dissimilar = (int(key(1, "truth", item), 16) % 100 < 55) is not errs
    answer = DISSIMILAR if is_dissimilar else SIMILAR
    comment = "One run is slower from the start." if int(key(1, "comment", name, item), 16) % 100 < 3 else None
    dwell_ms = 4000 + int(key(1, "time", name, item), 16) % 9000
    event = NewLabel(key(1, task.code, str(task.revision)), task.code, task.revision, answer, dwell_ms, comment=comment)
    reviewing.submit(db, person_id, event, now=datetime.now(UTC))
    return True


if __name__ == "__main__":
    for guide in sys.argv[1:] or GUIDES:
        file = DOCS / f"{guide}.md"
        file.write_text(filled(file.read_text(encoding="utf-8"), DOCS / "img"), encoding="utf-8")
