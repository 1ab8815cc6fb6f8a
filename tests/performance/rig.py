"""Studies of real measurements and of made-up labels."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import orjson

from labeler.config import bundled
from labeler.files.formats import Source, tables
from labeler.studies.course import coordinating
from labeler.studies.handover import exchange
from labeler.studies.items import importing
from labeler.studies.model import PlanParameters, Role
from labeler.studies.people import identity
from labeler.studies.preparing import assigning
from labeler.studies.store import items, open_database, runs
from labeler.studies.verdicts import stored_verdicts
from tests.performance.report import study as made_up_labels

ACTOR = "bench"


def challenge() -> Path:
    named = os.environ.get("LABELER_ICPE_DIR")
    return Path(named) / "timeseries" if named else bundled("data", "demo", "demo.parquet")


def sources(path: Path | None = None) -> list[Source]:
    return list(importing.files_below([path or challenge()]))


def new_study(study: Path, files: Sequence[Source] = ()) -> None:
    """A study of result files, of which none may be refused, in place of an earlier one."""
    for end in ("", "-wal", "-shm"):
        Path(f"{study}{end}").unlink(missing_ok=True)
    now = datetime.now(UTC)
    coordinating.create_study(study, name=ACTOR, question="Similar?", coordinator=ACTOR, now=now)
    with open_database(study) as db:
        for result in importing.import_files(db, files, actor=ACTOR, now=now):
            if result.refused:
                raise SystemExit(f"{result.file}: {result.refused}")


def make_study(study: Path, n_reviewers: int, *, n_items: int = 0) -> list[str]:
    """A study in which everybody labels every item; for more items, the runs are repeated with a little noise.

    Returns the names of the reviewers.
    """
    now = datetime.now(UTC)
    new_study(study, sources())
    with open_database(study) as db:
        measured = [(item.name, runs.of_item(db, item.item_id)) for item in items.all_items(db)]
        for copy in range(1, -(-n_items // len(measured))):
            made = [_noisy(name, series, copy) for name, series in measured]
            list(importing.import_files(db, made, actor=ACTOR, now=now))
        names = [f"r{number:02}" for number in range(max(n_reviewers, 2))]
        for name in names:
            identity.add_person(db, name, [Role.REVIEWER], actor=ACTOR, now=now)
        plan = PlanParameters(1, per_item=len(names), overlap=0, retest=0)
        assigning.confirm_plan(db, plan, actor=ACTOR, now=now)
        return names


def _noisy(name: str, series: Sequence[np.ndarray], copy: int) -> Source:
    rng = np.random.default_rng(copy)
    again = [np.abs(run * (1 + 0.001 * rng.normal(size=len(run)))).tolist() for run in series]
    return Source(f"{name}~{copy}.json", data=orjson.dumps(again))


def labelled_study(study: Path, n_items: int, n_reviewers: int, per_item: int) -> Path:
    """A study of made-up labels and verdicts without measurements."""
    now = datetime.now(UTC) - timedelta(days=2)
    new_study(study)
    answers, verdicts = made_up_labels(n_items, n_reviewers, per_item)
    for name, table in (("labels", answers[["item", "reviewer", "label"]]), ("verdicts", verdicts)):
        study.with_suffix(f".{name}.csv").write_text(tables.write(table))
    with open_database(study) as db:
        for name in sorted(set(answers["reviewer"])):
            identity.add_person(db, name, [Role.REVIEWER], actor=ACTOR, now=now)
        stored_verdicts.import_verdicts(db, study.with_suffix(".verdicts.csv"), None, actor=ACTOR, now=now)
        exchange.import_label_file(db, study.with_suffix(".labels.csv"), actor=ACTOR, now=now)
    return study
