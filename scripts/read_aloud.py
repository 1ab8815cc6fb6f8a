"""Print what the application says in each state of a study, so that a person can read it.

    python scripts/read_aloud.py [--out FILE] [--only commands|help|errors|pages|reports|files|questions]

The texts are those of the pages, the commands with their help and errors, the reports, and the methods for files, for
studies with no, one, two and several items and reviewers, in each state. Texts that differ only in numbers and names
appear once, with the place where they came first. Write the texts before and after a change to two files, and compare
the files to see which sentences changed.
"""

import argparse
import html
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import chdir, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory
from typing import Any

import click
from click.testing import CliRunner

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from labeler.cli import main as cli  # noqa: E402 - the folder is on the path only now
from labeler.studies import demo  # noqa: E402
from labeler.studies.course import coordinating, course, staffing  # noqa: E402
from labeler.studies.labelling import own_result, reviewing  # noqa: E402
from labeler.studies.model import PlanParameters, Role  # noqa: E402
from labeler.studies.people import identity  # noqa: E402
from labeler.studies.plan.lifecycle import Step  # noqa: E402
from labeler.studies.preparing import assigning  # noqa: E402
from labeler.studies.questions import NOT_SURE  # noqa: E402
from labeler.studies.results import splits  # noqa: E402
from labeler.studies.store import Database, open_database  # noqa: E402
from labeler.studies.verdicts import computing  # noqa: E402
from tests.making import id_of, import_all, item_name, result_file, series, submission  # noqa: E402

Text = tuple[str, str]  # place, text
PEOPLE = ("ada", "ben", "cleo", "dan")
BEGIN = datetime(2026, 11, 2, 9, tzinfo=UTC)
SIZES = ((0, 0), (1, 1), (2, 2), (8, 3), (8, 4))  # numbers of items and of reviewers
N_ROWS = 4  # lines of a table that are shown
DONE: dict[str, Any] = {"actor": "carol"}
VARYING = (
    (r"\S*/labeler-aloud-\w+/?", "FOLDER/"),
    (r"/join/[\w-]+", "/join/SECRET"),
    (r"\b[0-9a-f]{12,}\b", "HASH"),
    (r"example__app\d#bench_\d+#size=\d+|example/app\d|bench_\d+(#size=\d+)?", "ITEM"),
    (rf"\b({'|'.join(PEOPLE)})\b", "NAME"),
    (r"\b[A-Z0-9]{4,8}-?\d\w*\b", "CODE"),
    (r"\d+(?:[.,:]\d+)*", "#"),
    (r"(?:(?:NAME|ITEM)(?:, | and )?)+", "NAMES "),
    (r"-{3,}|={3,}|[█▏▎▍▌▋▊▉▒░]+", "-"),
    (r"\s+", " "),
)


def main() -> None:
    """Collect the texts and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=None, help="file to write [default: standard output]")
    parser.add_argument("--only", choices=list(SOURCES), action="append", default=None, help="repeatable")
    options = parser.parse_args()
    seen: dict[str, Text] = {}
    with TemporaryDirectory(prefix="labeler-aloud-") as folder, chdir(folder):
        for name in options.only or SOURCES:
            for place, text in SOURCES[name](Path(folder)):
                if re.search(r"[A-Za-z]{2}", text):
                    seen.setdefault(template(text), (place, text.replace(folder, "FOLDER")))
    lines, last = [], ""
    for place, text in seen.values():
        if place != last:
            lines.append(f"\n== {place}")
        lines.append(text)
        last = place
    content = "\n".join([*lines, "", f"{len(seen)} texts", ""])
    if options.out:
        options.out.write_text(content, encoding="utf-8")
    else:
        sys.stdout.write(content)


def template(text: str) -> str:
    """Return a text with its numbers and names replaced, so that texts of one template are equal."""
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text)
    return text.strip()


# The studies


def studies(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield a study of each size in each state that it reaches, with a name for the state."""
    for n_items, n_reviewers in SIZES:
        path = folder / f"{n_items}-{n_reviewers}.study"
        coordinating.create_study(
            path, name="Caches", question="Are these runs similar?", coordinator="carol", plan_secret="", now=BEGIN
        )
        size = f"{n_items} items, {n_reviewers} reviewers"
        with open_database(path) as db:
            for state in _states(db, n_items, PEOPLE[:n_reviewers]):
                target = folder / f"{n_items}-{n_reviewers}-{state.replace(' ', '-')}.study"
                db.backup(target)
                yield f"{size}, {state}", target


def _states(db: Database, n_items: int, names: Sequence[str]) -> Iterator[str]:
    """Change the study, and yield after each change that is worth a look."""
    import_all(db, *(result_file(item_name(n), series(n)) for n in range(n_items)))
    for name in names:
        identity.add_person(db, name, [Role.REVIEWER], now=BEGIN, **DONE)
    yield "draft"
    if n_items < 2 or len(names) < 2:
        return
    calibration = 2 if len(names) == 3 else 0
    attention = min(calibration, n_items - 4)
    plan = PlanParameters(seed=1, overlap=0.25, retest=1, calibration=calibration, attention=max(attention, 0))
    assigning.confirm_plan(db, plan, now=BEGIN, **DONE)
    yield "calibration" if calibration else "planned"
    if calibration:
        _label(db, names, BEGIN + timedelta(hours=1))
        yield "calibration labelled"
        _change(db, Step.OPEN, force=True)
    _label(db, names[:1], BEGIN + timedelta(days=1), most=1)
    yield "one label"
    _change(db, Step.PAUSE)
    yield "paused"
    _change(db, Step.OPEN)
    _label(db, names[:-1], BEGIN + timedelta(days=2), flag=True)
    if len(names) > 3:
        staffing.pause(db, names[-1], why="on holiday", now=BEGIN, **DONE)
        yield "one reviewer paused"
        staffing.resume(db, names[-1], now=BEGIN, **DONE)
    yield "some labels"
    _label(db, names, BEGIN + timedelta(days=3))
    computing.compute_verdicts(db, **DONE)
    yield "all labels"
    if len(names) > 2:
        with suppress(Exception):
            _change(db, Step.THIRD)
            yield "third-label round"
            _label(db, names, BEGIN + timedelta(days=4), most=2)
    _change(db, Step.CLOSE)
    yield "closed"
    for split in splits.split_items(db)[:1]:
        splits.adjudicate(db, split.item.name, "dissimilar", "two levels", now=BEGIN + timedelta(days=5), **DONE)
    _change(db, Step.UNBLIND)
    for name in names:
        own_result.allow(db, name, True, now=BEGIN + timedelta(days=6), **DONE)
    yield "unblinded"


def _change(db: Database, step: Step, *, force: bool = False) -> None:
    course.change_state(db, step, why="as planned", force=force, now=BEGIN + timedelta(days=4), **DONE)


def _label(db: Database, names: Iterable[str], when: datetime, *, most: int = 200, flag: bool = False) -> None:
    """Let reviewers answer their open tasks: mostly alike, and now and then not sure."""
    for k, name in enumerate(names):
        reviewer = id_of(db, name)
        for number in range(most):
            offers = reviewing.review_queue(db, reviewer).offers
            if not offers:
                break
            answer = NOT_SURE if number == 3 else "similar" if (number + k) % 3 else "dissimilar"
            answered = submission(offers[0], answer)
            if flag and number == 0:
                answered = replace(answered, flag=True, comment="The first run looks cut off.")
            reviewing.submit(db, reviewer, answered, now=when + timedelta(minutes=number))


# The texts


def ran(place: str, line: str | Sequence[object]) -> Iterator[Text]:
    """Run a command in this process, and yield the lines that it prints."""
    words = shlex.split(line) if isinstance(line, str) else [str(word) for word in line]
    result = CliRunner().invoke(cli, words, env={"COLUMNS": "120"}, prog_name="labeler")
    shown = " ".join(Path(word).name if word.startswith("/") else word for word in words)
    output = [*_beginning_of_tables(result.stdout.splitlines()), *result.stderr.splitlines()]
    if result.exception and not isinstance(result.exception, SystemExit):
        output.append(f"TRACEBACK {result.exception!r}")
    for text in output:
        yield f"{place}: labeler {shown}", text.rstrip()


def _beginning_of_tables(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines, but only the first four of successive lines of a table."""
    n_rows = 0
    for line in lines:
        n_rows = n_rows + 1 if re.search(r"\S {2,}\S", line) else 0
        if n_rows <= N_ROWS:
            yield line


def texts_of_commands(folder: Path) -> Iterator[Text]:
    """Yield what the commands print for each study; the changes are made in copies."""
    for state, study in studies(folder / made(folder, "commands")):
        for line in READING:
            yield from ran(state, [*shlex.split(line), "--study", study])
        for number, line in enumerate(CHANGING):
            target = study.with_name(f"{study.stem}-{number}.study")
            copy(study, target)
            new = study.with_name(f"{study.stem}-{number}-new")
            words = [new if word == "NEW" else word for word in shlex.split(line)]
            yield from ran(state, [*words, "--study", target])


READING = (
    "status", "status --agreement", "log", "flags", "reviewers list", "coordinators list", "adjudicate", "calibration",
    "attention", "browse", "browse --disagree", "classifiers", "classifiers --most-disputed 3", "classifiers --agreed",
    "agreement",
    "agreement --fail-under kappa:.2", "plan --verify", "audit", "planning", "labels --out -",
    "labels --layout wide --out -",
    "publish --dry-run", "spread", "trust", "steady", "learn",
)  # fmt: skip
REVIEWER_PAGES = ("first_visit", "label", "my_labels", "guide", "practice", "feedback")
HISTORIES = ROOT / "data" / "demo" / "histories"
ITEM = "example__app0#bench_0#size=0"
CHANGING = (
    f"exclude {ITEM} --reason cut", f"exclude {ITEM} --undo --reason whole", "exclude none --reason cut",
    "state open --reason x", "state pause --reason x", "state third --reason x", "state close --reason x",
    "state reopen --reason x", "state unblind --reason x", "plan --seed 1 --retest 0", "plan --seed 1 --dry-run",
    "plan --next 2", "plan --per-item 3 --seed 1", "plan --paper-design", "reviewers add ada", "reviewers add zoe yan",
    "reviewers add zoe", "reviewers link ada", "reviewers revoke ada", "reviewers email ada ada@example.org",
    'reviewers email ada ""', "reviewers pause ada --reason x", "reviewers resume ada", "reviewers result ada",
    "reviewers result ada --undo", "reviewers remove ada --reason x", "reviewers remove zoe --reason x",
    "reviewers replace ada zoe --reason x", f"adjudicate {ITEM} similar --reason x",
    f"flags --answer {ITEM} 'Look again.'",
    "verdicts", "verdicts --theta 0.3", "verdicts --remove heuristic@0.30", "backup --out NEW", "anonymise --out NEW",
    "anonymise --out NEW --keep-comments --dry-run", "template --out NEW",
    "publish --init", "publish --out NEW", "figures --out NEW", "report --out NEW --quick",
)  # fmt: skip


def made(folder: Path, name: str) -> str:
    """Create a folder in a folder, and return its name."""
    (folder / name).mkdir()
    return name


def texts_of_help(_folder: Path) -> Iterator[Text]:
    """Yield the help of each command, one paragraph or option at a time."""
    for name, _command in commands():
        arguments = [*name.split(), "--help"]
        output = (
            CliRunner().invoke(cli, arguments, terminal_width=200, max_content_width=10_000, prog_name="labeler").output
        )
        for text in output.splitlines():
            yield f"labeler {name} --help", text.strip()


@cache
def commands() -> list[tuple[str, click.Command]]:
    """Return each command with its name."""

    def within(group: click.Group, prefix: str) -> Iterator[tuple[str, click.Command]]:
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield prefix + name, command
                yield from within(command, f"{prefix}{name} ")
            elif command is not None:
                yield prefix + name, command

    return list(within(cli, ""))


def texts_of_errors(folder: Path) -> Iterator[Text]:
    """Yield the errors of each command with no study, no options, an unknown option, and files that are wrong."""
    here = folder / made(folder, "errors")
    files = {
        "empty.json": "", "text.json": "hello", "list.json": "[1, 2]", "nested.json": '{"a": {"b": 1}}',
        "bad.csv": "item,reviewer\n1,2\n", "number.csv": "benchmark,run,iteration,value\na,0,0,abc\n",
        "one.csv": "benchmark,run,iteration,value\na,0,0,1\n", "labels.csv": "item,reviewer,label\nx,ada,maybe\n",
        "negative.csv": "benchmark,run,iteration,value\na,0,0,-1\n", "bad.toml": "a = [", "plan.toml": "runs = -1\n",
    }  # fmt: skip
    for name, content in files.items():
        (here / name).write_text(content, encoding="utf-8")
    study = here / "s.study"
    yield from ran("errors", ["init", "--study", study])
    yield from ran("errors", ["init", "--study", study])
    for name, command in commands():
        if isinstance(command, click.Group) or name in ("serve", "demo"):
            continue
        yield from ran("errors", name)
        yield from ran("errors", [*name.split(), "--study", here / "none.study"])
        yield from ran("errors", [*name.split(), "--study", here / "text.json"])
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.is_flag and not parameter.hidden:
                yield from ran("errors", [*name.split(), max(parameter.opts, key=len), "-7"])
    for file in sorted(files):
        for name in ("check", "import --dry-run", "noise", "spread", "order", "trend", "convert --to csv --out x"):
            yield from ran("errors", [*name.split(), here / file])
        for option in ("labels --import", "verdicts --import", "calibration --reference", "report --out x --labels",
                       "agreement --labels", "init --question", "measure", "audit --against"):  # fmt: skip
            yield from ran(
                "errors", [*option.split(), here / file, *([] if option == "measure" else ["--study", study])]
            )
        for option in ("--limits", "--ack", "--renamed", "--model"):
            yield from ran("errors", ["check", here / "one.csv", option, here / file])


def texts_of_reports(folder: Path) -> Iterator[Text]:
    """Yield the lines of the report of each study, and of the labels of the replication."""
    here = folder / made(folder, "reports")
    for state, study in studies(here):
        out = study.with_suffix(".report")
        CliRunner().invoke(cli, ["report", "--study", str(study), "--out", str(out), "--quick"])
        yield from _lines(f"report of {state}", out / "report.md")
    replication = ROOT / "data" / "replication"
    labels = ["--labels", str(replication / "labels.csv"), "--verdicts", str(replication / "verdicts.csv")]
    CliRunner().invoke(cli, ["report", *labels, "--out", str(here / "replication"), "--prevalence", "0.1"])
    yield from _lines("report of the replication", here / "replication" / "report.md")


def _lines(place: str, file: Path) -> Iterator[Text]:
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            yield place, line


def texts_of_files(folder: Path) -> Iterator[Text]:
    """Yield what the methods say about the example files, and about parts of them."""
    data, runner = ROOT / "data", CliRunner()
    checks = data / "check"
    before, after = checks / "before.json", checks / "after.json"
    for words in (
        ["check", before], ["check", after, "--against", before], ["check", after, "--against", before, "-v"],
        ["check", after, "--against", before, "--max-slowdown", "5%", "-v"],
        ["check", after, "--against", before, "--min-change", "50%", "-v"],
        ["check", before, "--against", before, "-v"],
        ["check", before, "--classifier", "heuristic", "-v"], ["check", before, "--max-spread", "0.1%"],
        ["noise", before], ["formats"], ["questions"], ["questions", "similar"], ["planning"],
        ["planning", "--items", "1", "--reviewers", "2"], ["variants", "--factor", "v=a,b"],
        ["measure", "--dry-run", ROOT / "none.toml"], ["replicate"],
        ["points", HISTORIES / "marks.csv", "--series", HISTORIES / "histories.parquet", "--permutations", "50"],
    ):  # fmt: skip
        yield from ran("files", words)
    for n_versions in (1, 5, 12, 40):
        for name, levels in (
            ("none", []), ("one", [n_versions // 2]), ("newest", [n_versions - 1]), ("two-newest", [n_versions - 2]),
            ("many", [6, 12, 18, 24]),
        ):  # fmt: skip
            file = folder / f"history-{name}-{n_versions}.csv"
            rows = ["benchmark,version,run,value,unit"] + [
                f"sort,v{at},{run},{1 + 0.3 * sum(at >= place for place in levels) + 0.01 * ((7 * at + run) % 5)},s"
                for at in range(n_versions)
                for run in range(2)
            ]
            file.write_text("\n".join(rows) + "\n", encoding="utf-8")
            yield from ran("files", ["trend", "--fail-on", "worse", "--within", "5", file])
    examples = [*sorted((ROOT / "docs").rglob("*.csv")), *sorted(data.rglob("*.csv")), *sorted(data.rglob("*.parquet"))]
    for file in examples:
        if runner.invoke(cli, ["import", "--dry-run", str(file)]).exit_code:
            continue
        for method in ("spread", "order", "contexts", "steady --rule barrett", "trend", "trust --runs 3"):
            yield from ran("files", [*method.split(), file])


def texts_of_questions(folder: Path) -> Iterator[Text]:
    """Yield what commands, reports and pages say in the demos of the questions, and in the finished demo."""
    from tests.labeler.studies.ui import pages

    here, data = folder / made(folder, "questions"), ROOT / "data" / "demo"
    finished = here / "similar.study"
    demo.build_finished(finished, data, advance=lambda *_counts: None, now=BEGIN)
    yield from ran("demo", ["learn", "--study", finished])
    for name in sorted(demo.DEMOS):
        study, out = here / f"{name}.study", here / f"{name}.report"
        demo.build_for_question(study, data, name, now=BEGIN)
        for line in (
            "status",
            "agreement",
            "adjudicate",
            "classifiers",
            "learn",
            "planning",
            "plan --verify",
        ):
            yield from ran(f"question {name}", [*line.split(), "--study", study])
        CliRunner().invoke(cli, ["report", "--study", str(study), "--out", str(out), "--quick"])
        for file in sorted(out.glob("*.md")):
            yield from _lines(f"report of the question {name}", file)
        for place, view in (
            ("Study", "Guide"),
            ("Decide", "Splits"),
            ("Items", "All items"),
            ("Results", "Classifiers"),
        ):
            yield from _page(f"question {name}: {place}, {view}", partial(pages.coordinator_page, place, view, study))
        with open_database(study) as db:
            reviewer = next(person.name for person in identity.everyone(db) if Role.REVIEWER in person.roles)
        for module in REVIEWER_PAGES:
            yield from _page(f"question {name}: {module}", partial(pages.reviewer_page, module, study, reviewer))


def texts_of_pages(folder: Path) -> Iterator[Text]:
    """Yield what the pages of coordinators and reviewers show for each study."""
    from labeler.studies import background
    from labeler.studies.ui.coordinator.places import PLACES
    from tests.labeler.studies.ui import pages

    background.start_verdicts = lambda *_arguments, **_options: None
    for state, study in studies(folder / made(folder, "pages")):
        for place, views in PLACES.items():
            for view in views:
                yield from _page(f"{state}: {place}, {view}", partial(pages.coordinator_page, place, view, study))
        with open_database(study) as db:
            reviewers = [person.name for person in identity.everyone(db) if Role.REVIEWER in person.roles]
        for name in reviewers[:1] + reviewers[-1:]:
            for module in (*REVIEWER_PAGES, *(["result"] if state.endswith("unblinded") else [])):
                yield from _page(f"{state}: {module} of {name}", partial(pages.reviewer_page, module, study, name))


def _page(place: str, opened: Callable[[], Any]) -> Iterator[Text]:
    try:
        page = opened()
    except AssertionError as error:
        yield place, f"TRACEBACK {error}"
        return
    for element in [*page.main, *page.sidebar]:
        for text in _texts_of(element):
            yield place, text


def _texts_of(element: Any) -> Iterator[str]:
    """Yield the texts of an element and of the elements in it: values, labels, help, options, headings of tables."""
    proto = getattr(element, "proto", None)
    for name in ("label", "help", "value", "body", "placeholder", "caption"):
        for text in (getattr(element, name, None), getattr(proto, name, None)):
            if isinstance(text, str):
                yield from _plain(text)
    for option in list(getattr(element, "options", ()) or ())[:20]:
        yield from _plain(str(option))
    table: Any = getattr(element, "value", None)
    if getattr(table, "columns", None) is not None:
        yield " | ".join(map(str, table.columns))
        for row in table.astype(str).to_numpy().tolist()[:3]:
            yield " | ".join(map(str, row))
    for child in dict(getattr(element, "children", None) or {}).values():
        yield from _texts_of(child)


def _plain(text: str) -> Iterator[str]:
    """Yield the lines of a text, or of the text blocks of HTML."""
    text = re.sub(r"<(style|script|svg).*?</\1>", "", text, flags=re.DOTALL)
    for line in re.split(
        r"</?(?:p|div|li|ul|ol|h\d|td|th|tr|table|br|details|summary|figcaption|dt|dd|section)\b[^>]*>|\n", text
    ):
        line = html.unescape(re.sub(r"<[^>]+>", "", line)).strip()
        if line:
            yield line


SOURCES: dict[str, Callable[[Path], Iterator[Text]]] = {
    "help": texts_of_help, "commands": texts_of_commands, "errors": texts_of_errors, "files": texts_of_files,
    "reports": texts_of_reports, "pages": texts_of_pages, "questions": texts_of_questions,
}  # fmt: skip


if __name__ == "__main__":
    main()
