"""Create the studies of tests/golden/studies, each with the code of an earlier version from the history.

    python scripts/old_studies.py --out tests/golden/studies [NAME=COMMIT ...]

Codes, secrets and times of verdicts differ in each run, so new files and expected.json differ too. The same
script runs in a parent process, which checks out the code of each commit, and in a child process, which runs with that
code and can use only what all versions have in common.
"""

import argparse
import gzip
import importlib
import json
import os
import random
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

# The last commit of every version of the schema. Version 1 had several forms; version 2 follows its second form.
COMMITS = {
    "1-first": "d59ded7", "1": "d2a1ff2", "1-used": "491a582", "1-shown": "60dfebe", "1-left-out": "e2e4771",
    "2": "b3d1e3a", "3": "8c76ca8", "4": "cd4c30a", "5": "1433c1a", "6": "5c57e5f", "7": "b577017", "8": "17ad67e",
    "9": "98ca603", "10": "e904a5bc", "11": "69742641", "12": "6a35c11b", "13": "7aaf43a7",
}  # fmt: skip
OVER = "-over"  # for versions that can finish a study: the same study, continued until it is unblinded
REVIEWERS = ("ada", "ben", "Cléo", "dan")
N_ITEMS, N_RUNS, N_ITERATIONS = 8, 3, 60
LIMIT = 60  # nobody gives more answers
PLAN_SECRET = "2" * 32
COMMENTS = {"1": "=1+1", "3": "Tom & „Jerry“ <b>?</b>\n'twice'", "6": "a step, I think"}


def main() -> None:
    """Create all studies, or one study in a child process."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("studies", nargs="*", metavar="NAME=COMMIT", help="instead of the commits named in this script")
    made.add_argument("--out", type=Path, required=True)
    made.add_argument("--within", default=None, help=argparse.SUPPRESS)
    options = made.parse_args()
    if options.within:
        Story(options.out, options.within).tell()
        return
    chosen = dict(text.split("=", 1) for text in options.studies) or COMMITS
    file = options.out / "expected.json.gz"
    expected = json.loads(gzip.decompress(file.read_bytes())) if options.studies else {}  # others stay as they are
    for name, commit in chosen.items():
        expected |= make(name, commit, options.out)
    text = json.dumps(expected, indent=0, ensure_ascii=False, sort_keys=True)
    file.write_bytes(gzip.compress(text.encode(), mtime=0))


def make(name: str, commit: str, out: Path) -> dict[str, object]:
    """Create the study of one commit as a compressed file, with the results of its own code."""
    repository = Path(__file__).resolve().parent.parent
    with TemporaryDirectory() as folder:
        tree, files = Path(folder, "tree"), Path(folder, "files")
        files.mkdir()
        git = ["git", "-C", str(repository), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            command = [sys.executable, __file__, "--within", name, "--out", str(files)]
            subprocess.run(command, cwd=tree, env=os.environ | {"PYTHONPATH": str(tree)}, check=True, timeout=300)
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)
        expected = {}
        for study in sorted(files.glob("*.study")):
            packed = gzip.compress(study.read_bytes(), 9, mtime=0)
            (out / f"schema-{study.stem}.study.gz").write_bytes(packed)
            expected[f"schema-{study.stem}"] = {
                "commit": commit,
                **json.loads(study.with_suffix(".json").read_text(encoding="utf-8")),
            }
            print(f"{study.name}: {len(packed)} bytes")
    return expected


class Story:
    """One study, created by the code that is first on the path; every step takes a minute on its clock."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path, self.folder, self.name = folder / "at-work", folder, name
        self.version = int(name.partition("-")[0])
        self.time = datetime(2026, 11, 20, 12, tzinfo=UTC)
        self.secrets: dict[str, str] = {}
        self.tokens: dict[str, str] = {}
        self.n_answers = 0
        self.model, self.store = (importlib.import_module(f"labeler.{module}") for module in ("model", "store"))
        if Path(self.model.__file__).parent.parent != Path.cwd():
            raise SystemExit(f"the code of {self.model.__file__} is not that of {Path.cwd()}")

    @property
    def said_by(self) -> dict[str, object]:
        """Return the person and the time of the next step."""
        self.time += timedelta(minutes=1)
        return {"actor": "carol", "now": self.time}

    def tell(self) -> None:
        """Create a half-labelled study and, if the version can finish a study, a finished copy in a second file."""
        self.begin()
        with self.store.open_database(self.path) as db:
            self.invite(db)
            self.service("computing").compute_verdicts(db, actor="carol")
            self.answer_all(db, least_open=2)
            self.change_people(db)
            self.answer_all(db, least_open=2)
            self.bring_in_others(db)
            self.keep(db, self.name)
            if self.version >= 4:
                self.end(db)
                self.keep(db, self.name + OVER)

    def service(self, *names: str):
        """Import a module of the services, which later versions keep in folders: the first of these that exists."""
        root = Path.cwd() / "labeler" / "service"
        file = next(file for name in names for file in root.rglob(f"{name}.py"))
        return importlib.import_module(".".join(file.relative_to(Path.cwd()).with_suffix("").parts))

    def begin(self) -> None:
        """Create a study with measurements, people and a plan, and also a calibration round if possible."""
        coordinating, identity, importing = map(self.service, ("coordinating", "identity", "importing"))
        protocol = (
            {"protocol": self.model.Protocol("pooled", 0.2, True, False, "Look twice.")} if self.version > 2 else {}
        )
        if self.version >= 9:  # a secret with which the story below finds its items in the right places
            protocol["plan_secret"] = PLAN_SECRET
        secret = coordinating.create_study(
            self.path, name="Old study", question="Alike?", coordinator="carol", now=self.time, **protocol
        )
        self.secrets["carol"] = secret
        with self.store.open_database(self.path) as db:
            files = [importing.upload(f"org{n % 2}__app#bench_{n}#n={n}.json", runs(n)) for n in range(N_ITEMS)]
            for result in importing.import_files(db, files, **self.said_by):
                if result.refused:
                    raise SystemExit(result.refused)
            for name in REVIEWERS:
                identity.add_person(db, name, [self.model.Role.REVIEWER], **self.said_by)
            calibration = {"calibration": 2} if self.version >= 4 else {}
            parameters = self.model.PlanParameters(seed=7, overlap=0.25, retest=1, **calibration)
            planning = self.service("assigning" if self.version >= 4 else "coordinating")
            planning.confirm_plan(db, parameters, **self.said_by)
            if self.version >= 4:
                self.calibrate(db)

    def calibrate(self, db) -> None:
        """Label the calibration round, which reaches the required result."""
        calibrating = self.service("calibrating")
        calibrating.set_gate(db, self.model.Gate("reviewers", 0.1), **self.said_by)
        name = calibrating.item_names(db)[0]
        calibrating.set_reference(db, {name: self.model.Category.SIMILAR}, **self.said_by)
        self.answer_all(db, least_open=0)
        self.move(db, "open", "passed or not", force=True)

    def invite(self, db) -> None:
        """Create a link for everybody; ben's first link is replaced, and ada signs in."""
        identity = self.service("identity")
        for key, name in (("ben, replaced", "ben"), *zip(REVIEWERS, REVIEWERS, strict=True)):
            self.secrets[key] = identity.invite(db, name, self.model.Role.REVIEWER, **self.said_by)
        self.tokens["ada"] = identity.sign_in(db, self.secrets["ada"], now=self.time)
        if self.version >= 3:
            identity.set_email(db, "ada", self.model.Role.REVIEWER, "ada@example.org", **self.said_by)

    def answer_all(self, db, *, least_open: int) -> None:
        """Let every reviewer answer until this many items are open; the second reviewer answers all items.

        Some reviewers undo an answer, are not sure at first, or change an answer.
        """
        for number, name in enumerate(self.active(db)):
            person = db.execute("SELECT person_id FROM people WHERE name = ?", (name,)).fetchone()[0]
            for _ in range(LIMIT):
                n_open = db.execute(OPEN_ITEMS, (person,)).fetchone()[0]
                offers = self.offers(db, person)
                if n_open <= (0 if number == 1 else least_open) or not offers:
                    break
                self.answer(db, person, offers[0], number)

    def answer(self, db, person: int, task, number: int) -> None:
        """Give one answer, and sometimes a comment or a second answer."""
        item = db.execute("SELECT name FROM items WHERE item_id = ?", (task.item_id,)).fetchone()[0][-1]
        answer = "dissimilar" if (int(item) % 2 == 1) != (number == 1 and item in "256") else "similar"
        comment = COMMENTS.get(item) if number == 0 else None
        if self.n_answers % 5 == 1 and task.answer is None:
            self.say(db, person, task, "not sure")
        else:
            self.say(db, person, task, answer, comment=comment, flag=comment is not None)
        if self.n_answers % 7 == 3:
            for again in ("withdrawn", answer):
                self.say(db, person, self.service("reviewing").task_by_code(db, person, task.code), again)
        elif self.n_answers % 7 == 5:
            task = self.service("reviewing").task_by_code(db, person, task.code)
            self.say(db, person, task, "similar" if answer == "dissimilar" else "dissimilar")

    def say(self, db, person: int, task, answer: str, **more) -> None:
        """Submit an answer, as the review screen does."""
        self.n_answers += 1
        submission = self.model.Submission(
            f"{task.code}-{task.revision}", task.code, task.revision, getattr(self.model, "Answer", str)(answer),
            1000 + 37 * self.n_answers, {"axis": "core", "runs": [2, 0, 1]},
            confidence=None if answer == "withdrawn" else 1 + self.n_answers % 3, **more,
        )  # fmt: skip
        self.service("reviewing").submit(db, person, submission, now=self.said_by["now"])

    def offers(self, db, person: int):
        """Return the items that the reviewer may answer next."""
        reviewing = self.service("reviewing")
        queue = reviewing.offers if self.version < 3 else getattr(reviewing, "review_queue", None) or reviewing.desk
        return queue(db, person) if self.version < 3 else queue(db, person).offers

    def active(self, db) -> list[str]:
        """Return the reviewers who label now."""
        everyone = self.service("identity").everyone(db)
        return [
            person.name
            for person in everyone
            if person.active and self.model.Role.REVIEWER in person.roles and not getattr(person, "paused", False)
        ]

    def change_people(self, db) -> None:
        """Replace, add, pause and remove reviewers, exclude an item, and reply to a comment."""
        if self.version < 4:
            return
        staffing, inbox, curating = *map(self.service, ("staffing", "inbox")), self.service("curating", "browsing")
        staffing.replace(db, "dan", "eve", why="dan has no time", **self.said_by)
        staffing.add(db, "finn", [self.model.Role.REVIEWER], **self.said_by)
        staffing.pause(db, "ben", why="on holiday", **self.said_by)
        staffing.resume(db, "ben", **self.said_by)
        messages = inbox.messages(db)
        inbox.reply(db, messages[0].code, "Look at the second run.", **self.said_by)
        counted = {row.item for row in messages} - set(self.service("calibrating").item_names(db))
        curating.exclude(db, sorted(counted)[0], "a broken build", **self.said_by)

    def bring_in_others(self, db) -> None:
        """Import labels and verdicts from files."""
        tables = importlib.import_module("labeler.formats.tables")
        importing, exchange = self.service("importing"), self.service("exchange")
        names = [name for (name,) in db.execute("SELECT name FROM items ORDER BY name LIMIT 2")]
        rows = "".join(f"{name},gus,dissimilar\n" for name in names)
        labels = tables.read_labels(importing.upload("labels.csv", f"item,reviewer,label\n{rows}".encode()))
        exchange.import_labels(db, labels, **self.said_by)
        judged = self.folder / "judged.csv"
        judged.write_text("item,classifier,verdict\n" + "".join(f"{name},eye,similar\n" for name in names))
        if self.name not in ("1-first", "1", "1-used"):
            self.service("judged" if self.version < 6 else "stored_verdicts").import_verdicts(
                db, judged, None, **self.said_by
            )

    def end(self, db) -> None:
        """Complete the labels and third labels, decide the split items, and unblind."""
        self.answer_all(db, least_open=0)
        self.move(db, "third", "settle what is split")
        self.answer_all(db, least_open=0)
        self.move(db, "close", "every label is there")
        splits = self.service("splits")
        split = [one.item.name for one in splits.split_items(db)]
        for category, why in (("similar", "noise alone"), ("dissimilar", "two levels: \\section{'}")):
            splits.adjudicate(db, split[0], self.model.Category(category), why, **self.said_by)
        self.move(db, "unblind", "done")

    def move(self, db, step: str, why: str, **more) -> None:
        """Change the state of the study."""
        lifecycle = importlib.import_module("labeler.lifecycle" if self.version < 6 else "labeler.plan.lifecycle")
        course = self.service("course")
        change_state = getattr(course, "change_state", None) or course.move
        change_state(db, lifecycle.Step(step), why=why, **more, **self.said_by)

    def keep(self, db, name: str) -> None:
        """Save a copy of the study with the results of its own code."""
        told = self.expected(db)
        db.backup(self.folder / f"{name}.study")
        (self.folder / f"{name}.json").write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")

    def expected(self, db) -> dict[str, object]:
        """Return every number and row of the study, before newer code reads the file."""
        reporting = self.service("reporting")
        answers = self.service("exchange").export_labels(db, **self.said_by)
        quick = [reporting.QUICK] if hasattr(reporting, "QUICK") else []
        files = reporting.files_of_study(db, *quick, **self.said_by)
        return {
            "schema": db.execute("PRAGMA user_version").fetchone()[0],
            "secrets": self.secrets,
            "sessions": self.tokens,
            "now": self.time.isoformat(),
            "status": plain(self.service("coordinating").status(db)),
            "labels": rows(answers),
            "labels_csv": (reporting if hasattr(reporting, "as_csv") else self.service("outputs")).as_csv(answers),
            "events": rows(self.service("coordinating").event_log(db)),
            "verdicts": rows(self.store.verdicts.table(db)),
            "plan": list(db.execute(PLAN)),
            "report": files["report.json"],
        }


OPEN_ITEMS = """SELECT count(*) FROM assignments a LEFT JOIN current_answers c USING (assignment_id)
    WHERE a.person_id = ? AND coalesce(c.answer, 'withdrawn') IN ('withdrawn', 'not sure')"""
PLAN = """SELECT p.name, i.name, i.data_hash, a.kind, a.block, a.position, a.code
    FROM assignments a JOIN people p USING (person_id) JOIN items i USING (item_id) ORDER BY a.code"""


def runs(number: int) -> bytes:
    """Return runs of noise with two digits; every second item has a slower run."""
    rng = random.Random(number)
    slower = [1.0, 1.0, 1.0 + 0.5 * (number % 2)]
    made = [[round(factor * rng.uniform(1, 1.3), 2) for _ in range(N_ITERATIONS)] for factor in slower]
    return json.dumps(made).encode()


def rows(table) -> list[list[object]]:
    """Return a table with its header, in built-in types."""
    return [list(table.columns), *json.loads(table.to_json(orient="values"))]


def plain(status) -> dict[str, object]:
    """Return the main counts of a study."""
    return json.loads(json.dumps(status.json_values()))


if __name__ == "__main__":
    main()
