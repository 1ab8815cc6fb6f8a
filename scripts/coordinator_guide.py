"""Run every command of docs/coordinator.md in order and write what each prints beneath it.

python scripts/coordinator_guide.py

A comment such as `<!-- the reviewers label: 40 -->` stands for people at work: every reviewer then labels up to so many
items, deterministically. Secrets in links are left out, and so is what `labeler serve` prints.
"""

import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from click.testing import CliRunner

from labeler.cli import main
from labeler.design import key
from labeler.model import Answer, Submission
from labeler.service import coordinating, identity, reviewing
from labeler.store import Database, open_database

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "coordinator.md"
STUDY = Path("runs.study")
AT_WORK = re.compile(r"<!-- the reviewers label: (\d+) -->")
SERVE = ("labeler serve", "make ")
N_SHOWN = 14  # lines of one command's output


def filled(page: str) -> str:
    """The page with the output of each of its commands as they print it now."""
    lines: list[str] = []
    with _own_folder():
        for line in _without_output(page.splitlines()):
            lines.append(line)
            at_work = AT_WORK.fullmatch(line)
            if at_work:
                _label(int(at_work[1]))
            elif line.startswith("    $ ") and not line[6:].startswith(SERVE):
                lines += [f"    {text}".rstrip() for text in _output(line[6:])]
    return "\n".join(lines) + "\n"


def _without_output(lines: list[str]) -> Iterator[str]:
    in_block = False
    for line in lines:
        if line.startswith("    $ "):
            in_block = True
            yield line
        elif not (in_block and line.startswith("    ")):
            in_block = False
            yield line


@contextmanager
def _own_folder() -> Iterator[None]:
    """A folder with the files that the guide begins with, and the study that it names in the environment."""
    before = Path.cwd(), os.environ.get("LABELER_STUDY")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
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
    if result.exit_code:
        raise SystemExit(f"{command}: {result.output}")
    text = re.sub(r"/join/[\w-]+", "/join/…", result.output)
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", "2026-11-20T12:00:00+00:00", text)
    text = re.sub(r"\d{4}-\d\d-\d\d( \d\d:\d\d)?", lambda found: "2026-11-20 12:00" if found[1] else "2026-11-20", text)
    lines = [line for line in text.split("\n") if line and "\r" not in line]  # progress bars are left out
    return lines if len(lines) <= N_SHOWN else [*lines[: N_SHOWN - 1], "…"]


def _label(n_items: int) -> None:
    """Every reviewer labels up to so many items: mostly what is right, and each in their own way now and then."""
    with open_database(STUDY) as db:
        names = {item.item_id: item.name for item in coordinating.list_items(db)}
        for person in identity.everyone(db):
            for _ in range(n_items):
                if not person.active or not _label_next(db, person.person_id, person.name, names):
                    break


def _label_next(db: Database, person_id: int, name: str, names: dict[int, str]) -> bool:
    try:
        offers = reviewing.desk(db, person_id).offers
    except reviewing.NotAllowed:
        return False
    if not offers:
        return False
    task, item = offers[0], names[offers[0].item_id]
    errs = int(key(1, "errs", name, item), 16) % 100 < 20
    is_dissimilar = (int(key(1, "truth", item), 16) % 100 < 55) is not errs
    answer = Answer.DISSIMILAR if is_dissimilar else Answer.SIMILAR
    comment = "One run is slower from the start." if int(key(1, "comment", name, item), 16) % 100 < 3 else None
    dwell_ms = 4000 + int(key(1, "time", name, item), 16) % 9000
    event = Submission(
        key(1, task.code, str(task.revision)), task.code, task.revision, answer, dwell_ms, comment=comment
    )
    reviewing.submit(db, person_id, event, now=datetime.now(UTC))
    return True


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
