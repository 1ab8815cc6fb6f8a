"""Plans and the content of their tables, for the tests of measuring."""

import csv
import sys

from labeler.files.measuring.plan_file import parse_plan
from labeler.files.measuring.session import measure

PYTHON = f'"{sys.executable}", "-I", "-S", "-c"'
OF_THIS_TIME = ("value", "time", "duration", "cpu_s", "load_before", "load_after", "cpu_mhz", "temperature_c",
                "memory_available_mb")  # fmt: skip


def plan_of(program, more="", top=""):
    """Return a plan of one benchmark that is a Python program."""
    return parse_plan(f'{top}\n[[benchmarks]]\nname = "b"\ncommand = [{PYTHON}, """{program}"""]\n{more}')


def rows_of(folder):
    """Return the rows of the table, read by another program."""
    with (folder / "measurements.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def measured(tmp_path, plan, base=None):
    """Return the rows that a plan gives."""
    tmp_path.mkdir(exist_ok=True)
    measure(plan, tmp_path / "results", base or tmp_path)
    return rows_of(tmp_path / "results")


def but_for_times(rows):
    """Return the parts of the rows that do not depend on the time of measurement."""
    return [
        {name: text for name, text in row.items() if name.removeprefix("recorded:") not in OF_THIS_TIME} for row in rows
    ]
