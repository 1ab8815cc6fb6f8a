"""Export and import generated studies with hostile names and texts, and check that nothing changes.

    python -m tests.reliability round-trip [--quick]

For each study: its label file can be imported into a fresh study of the same measurements and exported again as the
same file; the same holds for external verdicts; the numbers of the report are the same; its measurements have the same
hashes in every format that `labeler convert` writes; the anonymised study has the same numbers, and so does a study
with the labels that were given in a copy.
"""

import hashlib
import io
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.document import json_values
from analysis.report import differences
from labeler.errors import LabelerError
from labeler.files import gathering
from labeler.studies.course import coordinating
from labeler.studies.handover import anonymising, exchange
from labeler.studies.items import browsing, importing
from labeler.studies.labelling import label_file
from labeler.studies.model import Role, measurement_hash
from labeler.studies.plan.lifecycle import ALLOWED, Action
from labeler.studies.preparing import assigning
from labeler.studies.results import reporting
from labeler.studies.store import Database, assignments, items, open_database, people, runs
from labeler.studies.verdicts import stored_verdicts
from tests.reliability._made_up import ACTOR, BEGUN, By, MadeUp, new_study
from tests.reliability.cases import Case, Room, case

BY: By = {"actor": ACTOR, "now": BEGUN}
# Numbers that are internal to a study: an assignment has another number in another study.
OF_THE_STUDY = ["assignment"]
# The results in a report; the rest describes the plan, the people, the course and the files.
RESULTS = ("parameters", "agreement", "consensus", "left_out", "classifiers", "comparisons", "measures", "notes")
FORMS = ("parquet", "csv", "icpe")  # that have room for several runs of an item
Question = Callable[[MadeUp, Path], list[str] | None]  # None if it cannot be asked about this study


def csv_of(db: Database) -> str:
    """The label file of a study."""
    return reporting.as_csv(exchange.export_labels(db, **BY))


def verdicts_csv(db: Database) -> str:
    """Return the file of the external verdicts."""
    table = stored_verdicts.export_table(db, **BY)
    return reporting.as_csv(table[table["classifier"] == "eye"])


def hashed(text: str, *, without: list[str]) -> str:
    table = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    return hashlib.sha256(table.drop(columns=without).to_csv(index=False).encode()).hexdigest()


def again(made: MadeUp, folder: Path) -> Path:
    """Return a fresh study of the same measurements, with the labels and verdicts of another study."""
    path = folder / "again.study"
    new_study(path, made.source)
    with open_database(made.path) as db:
        (folder / "labels.csv").write_text(csv_of(db), encoding="utf-8", newline="")
        (folder / "verdicts.csv").write_text(verdicts_csv(db), encoding="utf-8", newline="")
    with open_database(path) as db:
        exchange.import_label_file(db, folder / "labels.csv", **BY)
        stored_verdicts.import_verdicts(db, folder / "verdicts.csv", None, **BY)
        for name in made.excluded:
            browsing.exclude(db, name, "as there", **BY)
    return path


# The questions about each study: each returns a list of faults


def of_tables(made: MadeUp, folder: Path) -> list[str]:
    """Label and verdict files are exported, imported and exported again; importing them again adds nothing."""
    path = again(made, folder)
    with open_database(path) as db:
        ours, theirs = csv_of(db), (folder / "labels.csv").read_bytes().decode()
        problems = (
            [] if hashed(ours, without=OF_THE_STUDY) == hashed(theirs, without=OF_THE_STUDY) else ["other labels"]
        )
        if verdicts_csv(db) != (folder / "verdicts.csv").read_bytes().decode():
            problems.append("other verdicts")
        if exchange.import_label_file(db, folder / "labels.csv", **BY).n_new:
            problems.append("the same labels come in twice")
    return problems


def of_reports(made: MadeUp, folder: Path) -> list[str] | None:
    """The results in the reports of the study and of the study made from its files.

    The new study has no plan. Items that the plan left out count there, so such studies cannot be compared.
    """
    with open_database(made.path) as db:
        planned = {row.assignment.item for row in assignments.everything(db)}
        if planned and {item.name for item in items.all_items(db)} - planned:
            return None
    path = again(made, folder)
    return other_numbers(results(made.path), results(path))


def results(path: Path) -> dict[str, Any]:
    with open_database(path) as db:
        content = json_values(reporting.gathered_study(db, reporting.QUICK, **BY).report())
    return {name: content[name] for name in RESULTS}


def other_numbers(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return the first differences between two reports."""
    found = differences(one, other)
    return [f"{difference.place} {difference.reported!r}, then {difference.recomputed!r}" for difference in found[:3]]


def of_measurements(made: MadeUp, folder: Path) -> list[str]:
    """The hashes of all items in every format; what a format cannot store is refused with a message."""
    before = data_hashes(made.path)
    problems = []
    for form in FORMS:
        out = folder / f"out.{form}"
        n_fit = sum(fits for _, fits in before.values()) if form == "icpe" else len(before)
        if not n_fit:
            continue
        done = gathering.convert([made.source], form, out)
        path = folder / f"{form}.study"
        coordinating.create_study(path, name=form, question="?", coordinator=ACTOR, now=BEGUN)
        with open_database(path) as db:
            refused = [one.refused for one in importing.import_files(db, list(importing.files_below([out])), **BY)]
        problems += [f"{form}: {why}" for why in refused if why]
        problems += other_measurements(form, before, data_hashes(path))
        if len(done.refused) != len(before) - n_fit:
            problems.append(f"{form}: {len(done.refused)} refused of {len(before) - n_fit} that have no place in it")
    return problems


def data_hashes(path: Path) -> dict[str, tuple[str, bool]]:
    """For each item its hash, and whether it is in seconds with lower values better."""
    with open_database(path) as db:
        stored = items.all_items(db)
        for item in stored:
            if measurement_hash(runs.of_item(db, item.item_id)) != item.data_hash:
                raise AssertionError(f"{item.name} has other measurements than its hash")
    return {item.name: (item.data_hash, (item.unit, item.better) == ("s", "lower")) for item in stored}


def other_measurements(form: str, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Different hashes; by name if the format keeps names that are not file names."""
    if form != "icpe":
        return [] if before == after else [f"{form}: other measurements"]
    fit = Counter(data_hash for data_hash, fits in before.values() if fits)
    return [] if fit == Counter(data_hash for data_hash, _ in after.values()) else [f"{form}: other measurements"]


def of_anonymised(made: MadeUp, folder: Path) -> list[str]:
    """Every number of the report, with new names in the order of the old names."""
    out = folder / "anonymised.study"
    with open_database(made.path) as db:
        everyone = people.all_people(db)
        anonymising.anonymise(db, out, token=token_in_order(everyone), **BY)
    return other_numbers(numbers(results(made.path)), numbers(results(out)))


def token_in_order(everyone: list[Any]) -> str:
    """A token for which the new names have the order of the old names; about one in 120 does so for five reviewers."""
    reviewers = sorted(person.name for person in everyone if Role.REVIEWER in person.roles)
    for token in islice(map(str, count()), 10_000):
        new = anonymising.pseudonyms(everyone, token)
        if sorted(reviewers, key=new.__getitem__) == reviewers:
            return token
    raise AssertionError("no token was found")


def numbers(value: Any) -> Any:
    """A report without texts, which contain the names; the name of a value may also be a person's name."""
    if isinstance(value, dict):
        return {str(place): numbers(entry) for place, entry in enumerate(value.values())}
    if isinstance(value, list):
        return [numbers(entry) for entry in value]
    return None if isinstance(value, str) else value


def of_joined(made: MadeUp, folder: Path) -> list[str] | None:
    """Labels that people gave in a copy are imported into the original: the label file and the numbers are the same."""
    copy, file = folder / "copy.study", folder / "labels.csv"
    with open_database(made.path) as db:
        db.backup(copy)
        closed = coordinating.get_study(db).state not in (ALLOWED[Action.LABEL] & ALLOWED[Action.ADD_LABELS])
        if closed or not assigning.active_plan(db).standing:
            return None
    home, made.path = made.path, copy
    with open_database(copy) as db:
        made.answer(db, 0.95)
        wanted = csv_of(db)
    file.write_text(wanted, encoding="utf-8", newline="")
    made.path = home
    with open_database(home) as db:
        exchange.import_label_file(db, file, **BY)
        found = csv_of(db)
        twice = exchange.import_label_file(db, file, **BY).n_new
    problems = [] if found == wanted else ["other labels than in the copy"]
    return problems + (["imported twice"] if twice else []) + other_numbers(results(copy), results(home))


QUESTIONS: dict[str, Question] = {
    "labels and verdicts, exported and imported": of_tables,
    "report of the imported data": of_reports,
    "measurements through parquet, csv and icpe": of_measurements,
    "anonymised": of_anonymised,
    "labels given in a copy, exported and imported": of_joined,
}


@dataclass
class RoundTrip:
    """Generated studies, and what was different after a trip."""

    studies: list[MadeUp]
    problems: list[str] = field(default_factory=list)
    n_asked: int = 0
    n_wrong: int = 0


@contextmanager
def generated(room: Room) -> Iterator[RoundTrip]:
    """The same studies for every row."""
    yield RoundTrip(room.shared(_made_up))


@contextmanager
def _made_up(room: Room) -> Iterator[list[MadeUp]]:
    found = [MadeUp(room.new_folder() / "made-up.study", room.seed + number) for number in range(room.n(200, 8))]
    for made in found:
        made.tell()
    yield found


def asked(question: Question) -> Callable[[RoundTrip], None]:
    """Ask a question about a copy of each study."""

    def happens(world: RoundTrip) -> None:
        for number, made in enumerate(world.studies):
            original, folder = made.path, Path(tempfile.mkdtemp(dir=made.path.parent))
            made.path = Path(shutil.copy(original, folder))
            try:
                found = question(made, folder)
            except LabelerError as error:
                found = [f"{type(error).__name__}: {error}"]
            made.path = original
            world.n_asked += found is not None
            world.n_wrong += bool(found)
            world.problems += [f"study {number}: {problem}" for problem in found or ()]

    return happens


def unchanged(world: RoundTrip) -> Case:
    """Count: nothing is different after the trip."""
    others = len(world.studies) - world.n_asked
    left_out = f"; that cannot be compared: {others}" if others else ""
    return case("", f"{world.n_asked - world.n_wrong} of {world.n_asked} studies{left_out}", world.problems)


def all_kinds(world: RoundTrip) -> Case:
    """Count: the studies have everything that could be lost."""
    there: Counter[str] = Counter()
    for made in world.studies:
        with open_database(made.path) as db:
            there.update(contents(db))
    figures = f"{len(world.studies)} studies: " + ", ".join(f"{n} {what}" for what, n in there.items())
    return case("", figures, [f"no {what}" for what, n in there.items() if not n])


def contents(db: Database) -> Counter[str]:
    """Counts of the content of a study that could be lost."""
    table = label_file.all_answers(db)
    return Counter(
        {
            "answers": len(table),
            "revisions": int((table["revision"] > 0).sum()),
            "comments": int(table["comment"].notna().sum()),
            "decisions": int((table["kind"] == "adjudicated").sum()),
            "third labels": int((table["kind"] == "third").sum()),
            "calibration labels": int((table["kind"] == "calibration").sum()),
        }
    )
