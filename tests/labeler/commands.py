"""Run the command `labeler` inside the test."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner, Result

from labeler.cli import main


def run(*arguments: Any, code: int | None = 0) -> Result:
    """Run a command; returns its output, and raises unexpected errors. `code` None accepts any exit code."""
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert code is None or result.exit_code == code, result.output
    return result


def refused(*arguments: Any, words: str = "", code: int = 2) -> str:
    """Run a command that must be refused: one sentence, no output, and no file in the current folder changed.

    The sentence, which is returned, must say the words; " … " stands for anything.
    """
    before = contents(Path.cwd())
    result = run(*arguments, code=code)
    assert result.stdout == ""
    assert [line for line in result.stderr.splitlines() if "Traceback" in line] == []
    assert len(re.findall(r"^Error: ", result.stderr, flags=re.MULTILINE)) == 1, result.stderr
    assert says_in_order(result.stderr, words), result.stderr
    assert contents(Path.cwd()) == before
    return result.stderr.partition("Error: ")[2]


def says_in_order(text: str, words: str) -> bool:
    """Return whether a text says the words, however its lines are wrapped; " … " stands for anything."""
    pattern = ".*".join(re.escape(" ".join(part.split())) for part in words.split(" … "))
    return re.search(pattern, " ".join(text.split())) is not None


def contents(folder: Path) -> dict[Path, Any]:
    """Return what everything in a folder holds: the rows of studies, and the bytes of other files."""
    return {path: _content(path) for path in folder.rglob("*") if not path.name.endswith(("-wal", "-shm"))}


def _content(path: Path) -> Any:
    if not path.is_file():
        return None
    content = path.read_bytes()
    if not content.startswith(b"SQLite format 3"):
        return content
    with closing(sqlite3.connect(path)) as db:
        return list(db.iterdump())


def write_results(folder: Path) -> Path:
    """Write three small files of measurements in the ICPE format."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(5)
    for index in range(3):
        runs = (1e-6 * (10 + rng.random((4, 60)))).tolist()
        (folder / f"org__project#bench.Method{index}#size={index}.json").write_text(json.dumps(runs))
    return folder
