"""Run the experiment of docs/measuring.md, and write the output of each command below it.

python scripts/measuring_guide.py            measure, which takes minutes; results go to data/measuring
python scripts/measuring_guide.py --again    only the commands that read the results; the output of measuring is kept

Commands are the lines `    $ ...`, as in `scripts/guides.py`. A test runs the second form and compares the output.
After a command `labeler measure`, the second form puts the number of runs that the command reported into the folder.
"""

import csv
import gzip
import os
import re
import runpy
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "measuring.md"
DATA = ROOT / "data" / "measuring"
KEPT = DATA / "measurements.csv.gz"
TABLE = Path("results/measurements.csv")
MEASURE = "labeler measure"
OF_THE_MACHINE = ("machine", "kernel", "processor")  # are not published
GUIDES = runpy.run_path(str(ROOT / "scripts" / "guides.py"))
COMMAND = GUIDES["COMMAND"]


def filled(page: str, *, again: bool) -> str:
    """Return the page with the output of its commands, from new or from stored measurements."""
    lines: list[str] = []
    outputs = _outputs(page.splitlines())
    with _own_folder():
        for line in GUIDES["_without_output"](page.splitlines()):
            shows = GUIDES["_shown_before"](lines)
            lines.append(line)
            if line.startswith(COMMAND):
                command = line.removeprefix(COMMAND)
                if again and command.startswith(MEASURE):
                    output = outputs[command]
                    _put_runs(output)
                    lines += output
                else:
                    lines += [f"    {text}".rstrip() for text in GUIDES["_cut"](GUIDES["_output"](command), shows)]
        if not again:
            _keep()
    return "\n".join(lines) + "\n"


def _outputs(lines: list[str]) -> dict[str, list[str]]:
    """Run the commands and return the lines of their output, by command."""
    outputs: dict[str, list[str]] = {}
    command = ""
    for line in lines:
        if line.startswith(COMMAND):
            command = line.removeprefix(COMMAND)
            outputs[command] = []
        elif command and (not line or line.startswith("    ")):
            outputs[command].append(line)
        else:
            command = ""
    return {command: "\n".join(lines).rstrip().split("\n") for command, lines in outputs.items()}


@contextmanager
def _own_folder() -> Iterator[None]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in ("plan.toml", "work.py"):
            shutil.copy(DATA / name, name)
        try:
            yield
        finally:
            os.chdir(before)


def _keep() -> None:
    """Store the measurements without the data that identify the machine."""
    rows = list(csv.DictReader(TABLE.open(newline="", encoding="utf-8")))
    for row in rows:
        row.update({f"recorded:{name}": "" for name in OF_THE_MACHINE})
    KEPT.write_bytes(gzip.compress(_as_csv(rows).encode(), mtime=0))


def _put_runs(output: list[str]) -> None:
    """Put the number of runs that the command reported into the folder."""
    there = re.search(r"^    ([\d,]+) of [\d,]+ runs are in", "\n".join(output), flags=re.MULTILINE)
    if not there:
        return
    n = int(there[1].replace(",", ""))
    rows = list(csv.DictReader(StringIO(gzip.decompress(KEPT.read_bytes()).decode())))
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(_as_csv([row for row in rows if int(row["recorded:step"]) < n]), encoding="utf-8")


def _as_csv(rows: list[dict[str, str]]) -> str:
    text = StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), again="--again" in sys.argv), encoding="utf-8")
