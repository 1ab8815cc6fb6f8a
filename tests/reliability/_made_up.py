"""Generated studies for `round_trip`: hostile names and texts, any measurements, answers of every kind."""

import csv
import io
import random
import string
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypedDict

import pandas as pd

from analysis.categories import CATEGORIES
from labeler.files.formats import Source
from labeler.studies.course import coordinating, course
from labeler.studies.items import browsing, importing
from labeler.studies.labelling import reviewing
from labeler.studies.model import NewLabel, PlanParameters, Protocol, Role
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.questions import NOT_SURE, WITHDRAWN
from labeler.studies.results import reporting, splits
from labeler.studies.store import Database, items, open_database
from labeler.studies.verdicts import stored_verdicts

BEGUN = datetime(2026, 11, 20, 12, tzinfo=UTC)
ACTOR = "carol"
WORDS = (
    "sort", "=1+1", "+2", "-3", "@sum(A1)", "'=1", "''", "a,b;c", 'say "no"', "tab\tin", "Ünï Çødé", "日本語", "👩‍💻",
    "<b>x</b>", "\\input{x}", "&amp;", "%s{}", "NULL", "nan", "1e5", "007", "True", "../../etc", "#n=1", "x" * 40,
    "ﬁ", "e\u0301", " lead", "trail ", "a  b", "|pipe|", "`tick`", "$HOME",
)  # fmt: skip
IN_COMMENTS = ("two\nlines", "cr\rlf\r\n.", "\u2028", " inside ", "\x7f", "\u202eabc")
LIMIT = 500  # nobody gives more answers


class By(TypedDict):
    """The person and the time of an action."""

    actor: str
    now: datetime


class MadeUp:
    """A study generated from a seed; every step takes a second on its clock."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path, self.rng, self.time, self.n_answers = path, random.Random(seed), BEGUN, 0
        self.source = measurements(self.rng)
        self.excluded: list[str] = []
        self.all_sure = self.rng.random() < 0.6  # nobody answers "not sure", so the study can be finished

    @property
    def by(self) -> By:
        """The person and the time of the next step."""
        self.time += timedelta(seconds=1)
        return {"actor": ACTOR, "now": self.time}

    def tell(self) -> None:
        """Take the study from creation to any stage."""
        new_study(self.path, self.source)
        with open_database(self.path) as db:
            self.plan(db)
            self.bring_verdicts(db)
            self.answer(db, self.rng.choice([0.95, 1.0, 1.0]))
            if self.rng.random() < 0.3:
                self.excluded.append(items.all_items(db)[0].name)
                browsing.exclude(db, self.excluded[0], self.rng.choice(WORDS), **self.by)
            if self.rng.random() < 0.7 and self.is_complete(db):
                self.end(db)

    def plan(self, db: Database) -> None:
        """People with random names, and a plan for them."""
        for name in self.rng.sample([word for word in WORDS if word.isprintable()], self.rng.randint(2, 5)):
            identity.add_person(db, name, [Role.REVIEWER], **self.by)
        calibration = self.rng.choice([0, 0, 1])
        parameters = PlanParameters(
            self.rng.randrange(1000), overlap=self.rng.choice([0, 0, 0.5, 1]), retest=self.rng.choice([0, 1]),
            calibration=calibration, attention=self.rng.choice([0, 1]),
        )  # fmt: skip
        assigning.confirm_plan(db, parameters, **self.by)
        if calibration:
            self.answer(db, 1.0)
            course.change_state(db, Step.OPEN, why="enough", force=True, **self.by)

    def bring_verdicts(self, db: Database) -> None:
        """Verdicts of an external classifier, some missing, some with a score."""
        rows = [
            [
                item.name,
                "eye",
                self.rng.choice(["similar", "dissimilar", None]),
                self.rng.choice([None, 0.1, 1e-9]),
                0.1,
            ]
            for item in items.all_items(db)
        ]
        table = pd.DataFrame(rows, columns=["item", "classifier", "verdict", "score", "threshold"], dtype=object)
        file = self.path.with_suffix(".verdicts.csv")
        file.write_text(reporting.as_csv(table), encoding="utf-8", newline="")
        stored_verdicts.import_verdicts(db, file, None, **self.by)

    def answer(self, db: Database, share: float) -> None:
        """Everybody gives random answers in random order and continues after each with the probability `share`."""
        everyone = identity.everyone(db)
        left = [person.person_id for person in everyone if Role.REVIEWER in person.roles and person.active]
        for _ in range(LIMIT):
            if not left or self.rng.random() > share:
                return
            person = self.rng.choice(left)
            offers = reviewing.review_queue(db, person).offers
            if not offers:
                left.remove(person)
                continue
            self.say(db, person, offers[0].code, offers[0].revision, self.category())
            if self.rng.random() < 0.2:
                self.say(db, person, offers[0].code, offers[0].revision + 1, WITHDRAWN)
            elif self.rng.random() < 0.2:
                self.say(db, person, offers[0].code, offers[0].revision + 1, self.category())

    def category(self) -> str:
        """Return the category that a reviewer chooses for an item."""
        sure = ["similar", "similar", "dissimilar"]
        return self.rng.choice(sure if self.all_sure else [*sure, NOT_SURE])

    def say(self, db: Database, person: int, code: str, revision: int, answer: str) -> None:
        """An answer with random details, parsed as the server parses the browser's message."""
        self.n_answers += 1
        event = {
            "event_id": f"{code}-{revision}", "code": code, "revision": revision, "answer": answer,
            "dwell_ms": self.rng.randrange(500, 10**6),
            "view": {"axis": self.rng.choice(["core", "all"]), self.rng.choice(WORDS): [1, 2.5, None]},
            "confidence": self.rng.choice([1, 2, 3]), "flag": self.rng.random() < 0.2,
            "comment": self.rng.choice([None, *WORDS, *IN_COMMENTS]),
        }  # fmt: skip
        submission: NewLabel = reviewing.submission_from(event)
        reviewing.submit(db, person, submission, now=self.by["now"])

    def is_complete(self, db: Database) -> bool:
        """Whether everybody has labelled everything."""
        return all(row.n_assigned == row.n_done for row in coordinating.status(db).reviewers)

    def end(self, db: Database) -> None:
        """A third-label round if reviewers are available, decisions, and perhaps the end."""
        if self.rng.random() < 0.7:
            course.change_state(db, Step.THIRD, why="settle", **self.by)
            self.answer(db, 1.0)
        course.change_state(db, Step.CLOSE, why="done", **self.by)
        for split in splits.split_items(db)[: self.rng.randint(0, 3)]:
            for _ in range(self.rng.randint(1, 2)):
                why = self.rng.choice([*WORDS, *IN_COMMENTS]).strip() or "so"
                splits.adjudicate(db, split.item.name, self.rng.choice(CATEGORIES), why, **self.by)
        if self.rng.random() < 0.5:
            course.change_state(db, Step.UNBLIND, why="done", **self.by)


def new_study(path: Path, source: Source) -> None:
    """A study that has only measurements."""
    protocol = Protocol(asks_confidence=True)
    coordinating.create_study(path, name="x", question="Alike?", coordinator=ACTOR, protocol=protocol, now=BEGUN)
    with open_database(path) as db:
        for result in importing.import_files(db, [source], actor=ACTOR, now=BEGUN):
            if result.refused:
                raise AssertionError(f"the made-up measurements are refused: {result.refused}")


def measurements(rng: random.Random) -> Source:
    """A long table of benchmarks with random names and numbers, with runs of unequal length and different units."""
    out = io.StringIO()
    table = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    table.writerow(["benchmark", "application", "run", "iteration", "value", "unit", "better"])
    for name in rng.sample(WORDS, rng.randint(4, 8)):
        application = rng.choice(["", "org/app", rng.choice(WORDS).strip()])
        unit, better = rng.choice(
            [("s", "lower"), ("s", "lower"), ("ms", "lower"), ("ops/s", "higher"), ("B", "lower")]
        )
        for run in range(rng.randint(2, 5)):
            for iteration in range(rng.randint(1, 70)):
                table.writerow([name, application, run, iteration, repr(number(rng)), unit, better])
    return importing.upload("made-up.csv", out.getvalue().encode())


def number(rng: random.Random) -> float:
    """Return a measurement: an ordinary number, or an extreme one."""
    digits = "".join(rng.choices(string.digits, k=rng.randint(1, 17)))
    return rng.choice([rng.uniform(1, 1.2), float(f"0.{digits}"), rng.uniform(1e-12, 1e-9), float(rng.randrange(1, 9)),
                       5e-324, 1e-308, 1e150, 0.1 + 0.2])  # fmt: skip
