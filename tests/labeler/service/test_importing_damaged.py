"""Damaged files of every format imported into a study: a refusal with a message, or consistent items."""

import random
import time
from pathlib import Path

import numpy as np
import pytest

from labeler.formats import FORMATS, Source
from labeler.service.items import importing
from labeler.store import items, runs
from tests.labeler.formats.examples import COMMITTED
from tests.labeler.formats.mutations import mutated
from tests.labeler.formats.test_read import FILES
from tests.making import NOW

PROCESSOR_SECONDS, MEGABYTES = 5, 1000
PEAK = Path("/proc/self/clear_refs"), Path("/proc/self/status")


def files_of(format_name):
    known = FORMATS[format_name]
    made = [(f"made/{format_name}", FILES[format_name])] if format_name in FILES else []
    paths = [path for path in sorted(COMMITTED.rglob("*")) if path.is_file()]
    return made + [(str(path), path.read_bytes()) for path in paths if known.detect(str(path), path.read_bytes())]


def check_imports(db, format_name, n, seed):
    """Import two files at a time, so that files of one run are joined."""
    rng = random.Random(seed)
    samples = files_of(format_name)
    PEAK[0].write_text("5")  # the peak counts from here, whatever ran before in this process
    before = peak_mb()
    for _ in range(n):
        chosen = [rng.choice(samples) for _ in range(2)]
        files = [Source(f"{at}/{name}", data=mutated(content, rng)) for at, (name, content) in enumerate(chosen)]
        options = importing.read_options(
            None, {}, file_is=rng.choice((None, "run", "study")), values_are=rng.choice((None, "runs", "iterations"))
        )
        began = time.process_time()
        results = list(importing.import_files(db, files, options, as_new=True, actor="carol", now=NOW))
        assert time.process_time() - began < PROCESSOR_SECONDS
        assert results
        assert all(result.refused or result.already_there or result.names or result.benchmarks for result in results)
        assert all(len(result.refused) > 9 for result in results if result.refused)
        assert not [result.refused for result in results if "please report it" in result.refused]
    assert peak_mb() - before < MEGABYTES
    check_items(db)


def peak_mb():
    return next(int(line.split()[1]) for line in PEAK[1].read_text().splitlines() if line.startswith("VmHWM:")) / 1024


def check_items(db):
    for item in items.all_items(db):
        series = runs.of_item(db, item.item_id)
        assert len(series) == item.n_runs >= 2
        assert all(len(run) and np.isfinite(run).all() for run in series)
        assert all(len(texts) == item.n_runs for texts in runs.conditions_of_item(db, item.item_id).values())


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_few_damaged_files_are_imported_or_refused_and_nothing_else(db, format_name):
    check_imports(db, format_name, 40, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("format_name", FORMATS)
def test_many_damaged_files_are_imported_or_refused_and_nothing_else(db, format_name):
    check_imports(db, format_name, 1000, seed=2)
