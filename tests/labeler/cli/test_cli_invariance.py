"""Copying, renaming, splitting or shuffling files, and shuffling rows or options, changes no number.

The numbers of single runs are listed in the order of the runs. Where files number their runs separately, their names
decide this order, and nothing else changes.
"""

import csv
import json
import random
import re

import numpy as np
import pytest

from tests.conftest import some_slow
from tests.labeler.commands import run
from tests.labeler.files.formats.examples import csv_bytes

COLUMNS = ("benchmark", "run", "iteration", "value", "unit", "version", "context", "order_type")
OPTIONS = {
    "check": (("--warmup", 1), ("--alpha", 0.1)),
    "spread": (("--warmup", 1), ("--aggregate", "median")),
    "order": (("--baseline", "old"), ("--seed", 3)),
    "trust": (("--runs", 2), ("--seed", 3)),
    "contexts": (("--baseline", "old"), ("--seed", 3)),
    "convert": (),
    "import": (("--dry-run",),),
}


def table():
    """Rows of two benchmarks, versions, contexts and orders with three runs of three iterations each."""
    rng = np.random.default_rng(5)
    cells = [(b, v, c, o) for b in ("sort", "merge") for v in ("old", "new") for c in "xy" for o in ("fixed", "random")]
    return [
        (benchmark, number, at, float(rng.lognormal()), "ms", version, context, order)
        for number, (benchmark, version, context, order, _run) in enumerate(
            (*cell, at) for cell in cells for at in range(3)
        )
        for at in range(3)
    ]


def write(folder, files):
    folder.mkdir()
    for name, rows in files.items():
        (folder / name).write_bytes(csv_bytes(rows, COLUMNS))
    return [folder / name for name in files]


def answer(command, folder, files, *options):
    """Return the JSON output of a command, without names of files and runs."""
    given = [word for option in (*OPTIONS[command], *options) for word in option]
    if command == "convert":
        out = folder / "out.csv"
        run("convert", *files, *given, "--to", "csv", "-o", out)
        with out.open(newline="", encoding="utf-8") as file:
            return sorted(tuple(cell for name, cell in row.items() if name != "run") for row in csv.DictReader(file))
    printed = json.loads(run(command, *files, *given, "--json", code=None).stdout)
    if command == "import":
        shown = ("benchmark", "runs", "iterations", "unit", "better", "refused")
        return sorted([row[name] for name in shown] for row in printed if row["benchmark"])
    return without_order(printed) if ("--file-is", "run") in options else printed


def without_order(content):
    """Sort the lists of one number per run, which are in the order of the runs."""
    if isinstance(content, list):
        return [without_order(entry) for entry in content]
    if not isinstance(content, dict):
        return content
    return {
        name: sorted(entry) if name in OF_RUNS and entry is not None else without_order(entry)
        for name, entry in content.items()
    }


def shuffled(rows):
    rows = list(rows)
    random.Random(2).shuffle(rows)
    return rows


def by(column):
    """One file for each level of a column."""
    rows = table()
    return {
        f"{level}.csv": [row for row in rows if row[column] == level]
        for level in dict.fromkeys(r[column] for r in rows)
    }


def of_part(part):
    """Return every fourth run."""
    return [row for row in table() if row[1] % 4 == part]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("expected")
    files = write(folder / "files", {"a.csv": table()})
    return {command: answer(command, folder, files) for command in OPTIONS}


OF_RUNS = ("values", "run_values", "baseline_runs", "candidate_runs")  # one number per run, in the order of the runs
CHANGED = {
    "a copy beside it": ({"a.csv": table(), "copy of a.csv": table()}, ()),
    "another name": ({"zz 10.csv": table()}, ()),
    "rows in another order": ({"a.csv": shuffled(table())}, ()),
    "the same in another order of rows beside it": ({"a.csv": table(), "b.csv": shuffled(table())}, ()),
    "a file a benchmark": (by(0), ()),
    "files in another order": (dict(reversed(by(0).items())), ()),
    "a file for every fourth run": ({f"{part}.csv": of_part(part) for part in range(4)}, (("--file-is", "run"),)),
    "other names for these": ({f"{9 - part}.csv": of_part(part) for part in range(4)}, (("--file-is", "run"),)),
}  # fmt: skip


@pytest.mark.parametrize("command", some_slow(OPTIONS, {"trust", "spread", "order"}))  # files are read alike
@pytest.mark.parametrize("change", some_slow(CHANGED, set(list(CHANGED)[::2])))
def test_no_number_depends_on_names_copies_or_the_order_of_files_and_rows(tmp_path, expected, command, change):
    files, options = CHANGED[change]
    found, wanted = answer(command, tmp_path, write(tmp_path / "files", files), *options), expected[command]
    assert found == (without_order(wanted) if options else wanted)


@pytest.mark.parametrize("command", OPTIONS)
def test_two_files_that_contradict_each_other_are_named_by_every_command(tmp_path, command):
    other = [(*row[:3], row[3] + 1, *row[4:]) for row in table()]
    a, b = write(tmp_path / "files", {"a.csv": table(), "b.csv": other})
    words = ("--to", "csv", "-o", tmp_path / "o.csv") if command == "convert" else ()
    done = run(command, a, b, *(word for option in OPTIONS[command] for word in option), *words, code=None)
    assert done.exit_code == (1 if command in ("convert", "import") else 2)  # 1: the other files are done
    said = " ".join(done.stderr.split())
    assert re.search(
        r"b\.csv: benchmark '(sort|merge)': \S+a\.csv has different measurements of this benchmark\. If both", said
    )


@pytest.mark.parametrize(
    "command", some_slow([name for name in OPTIONS if name not in ("convert", "import")], {"trust"})
)
def test_a_copy_is_counted_once_and_said(tmp_path, command):
    files = write(tmp_path / "files", {"a.csv": table(), "b.csv": table()})
    done = run(command, *files, *(word for option in OPTIONS[command] for word in option), code=None)
    assert re.search(
        rf"{files[1]}: this file has the same content as {files[0]} and is counted once", " ".join(done.stderr.split())
    )


@pytest.mark.parametrize("command", some_slow(["check", "order", "trust", "contexts"], {"order", "trust", "contexts"}))
def test_nothing_is_called_faster_or_slower_where_nobody_knows_what_is_better(tmp_path, command):
    (file,) = write(tmp_path / "files", {"a.csv": [(*row[:4], "", *row[5:]) for row in table()]})
    against = ("--against", file) if command == "check" else ()
    options = [word for option in OPTIONS[command] for word in option]
    content = run(command, file, *against, *options, "--json", code=None).stdout
    results = content.replace('"fail_on": "worse"', "").replace(str(tmp_path), "")  # an option and a folder
    values = re.findall(r': "([^"]*)"', results)
    assert not [value for value in values if re.search("faster|slower", value)]
    known = run(command, file, *against, *options, "--better", "higher", "--json", code=None).stdout
    assert ('"higher"' in known) or "faster" in known or command in ("check", "trust")
