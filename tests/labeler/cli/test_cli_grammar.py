"""One grammar for all commands: the tables in docs/commands.md hold for every command, also for new ones."""

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from labeler.cli import main
from tests.labeler.commands import run, write_results

PAGE = Path(__file__).parents[3] / "docs" / "commands.md"
SERVERS = {"serve", "demo"}
INTERNAL = {"--actor", "--until-stdin-ends"}  # for pages and other processes
CHANGING = {  # commands that import, remove or publish
    "import", "labels", "verdicts", "reviewers remove", "reviewers replace", "publish", "anonymise",
}  # fmt: skip


def commands(group: click.Group = main, prefix: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} ")
        elif command is not None:
            yield prefix + name, command


COMMANDS = dict(commands())


def table(heading: str) -> list[list[str]]:
    section = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("| ") for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip().strip("`").replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)] for row in rows]


def options(command: click.Command) -> Iterator[click.Option]:
    return (option for option in command.params if isinstance(option, click.Option))


def name_of(option: click.Option) -> str:
    return max(option.opts, key=len)


def value_of(option: click.Option) -> str:
    if option.is_flag:
        return ""
    if option.metavar is None and isinstance(option.type, click.Choice):
        return "choice"
    return option.metavar or str(option.type.name).upper()


def test_options_of_several_commands_have_one_meaning_and_the_values_in_the_table():
    used = defaultdict(list)
    for command in COMMANDS.values():
        for option in options(command):
            if not option.hidden:
                used[name_of(option)].append(value_of(option))
    shared = {name: sorted({*values} - {""}) for name, values in used.items() if len(values) > 1}
    told = {row[0]: sorted(filter(None, row[1].split(", "))) for row in table("Options with one meaning")}
    assert told == shared


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_follows_the_grammar(name):
    command = COMMANDS[name]
    names = {name_of(option) for option in options(command)}
    assert "--json" in names or name in SERVERS
    assert "--dry-run" in names or name not in CHANGING
    assert {name_of(option) for option in options(command) if option.hidden} <= INTERNAL
    for option in options(command):
        assert option.hidden or option.help, f"{name} {name_of(option)}: no help"
        assert not re.match(r"--(output|export|write|to-file)$", name_of(option)), "the main result goes to --out"
    for argument in command.params:
        if isinstance(argument, click.Argument):
            assert "study" not in str(argument.metavar).lower(), "a study is --study, a new file is --out"
    takes_study = any(option.name == "study" for option in options(command))
    assert takes_study == ("--study" in names)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Result files, and a study of them."""
    folder = write_results(tmp_path_factory.mktemp("grammar"))
    path = folder / "cache.study"
    run("init", "--study", path)
    run("import", "--study", path, folder)
    run("reviewers", "add", "--study", path, "ada", "ben", "dan")
    run("reviewers", "pause", "--study", path, "dan", "--reason", "x")
    return folder


@pytest.fixture
def study(folder, tmp_path):
    return shutil.copy(folder / "cache.study", tmp_path / "own.study")


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        ("init --study NEW", {"name", "link"}),
        ("reviewers add cleo --study S", {"name", "link"}),
        ("reviewers link ada --study S", {"name", "link"}),
        ("reviewers revoke ada --study S", {"name", "revoked"}),
        ("reviewers email ada a@example.org --study S", {"name", "email"}),
        ("reviewers pause ada --reason x --study S", {"name", "paused"}),
        ("reviewers resume dan --study S", {"name", "n_moved", "n_given_up", "shortfalls", "is_new"}),
        ("reviewers result ada --study S", {"name", "sees_result"}),
        ("reviewers replace ada eve --reason x --dry-run --study S", {"name", "successor", "n_moved", "links"}),
        ("reviewers remove ben --reason x --dry-run --study S", {"name", "n_moved"}),
        ("exclude org__project#bench.Method0#size=0 --reason x --study S", {"item", "excluded"}),
        ("backup --out COPY --study S", {"file", "chain"}),
        ("anonymise --out COPY --dry-run --study S", {"file", "n_reviewers", "n_comments"}),
        ("convert FOLDER --to csv --out COPY", {"out", "n_benchmarks", "n_values", "refused"}),
        ("plan --seed 1 --retest 0 --study S", {"reviewer"}),
        ("state pause --reason x --study S", {"state", "remarks"}),
        ("labels --out COPY --study S", {"file", "rows"}),
        ("publish --init --publish-file COPY --study S", {"file"}),
        ("measure --init COPY", {"file"}),
    ],
)
def test_a_command_that_does_something_says_what_as_json(folder, study, tmp_path, line, keys):
    paths = {"S": study, "NEW": tmp_path / "new.study", "COPY": tmp_path / "copy", "FOLDER": folder}
    code = None if line.startswith("convert") else 0  # the folder also has the study, which is refused
    content = json.loads(run(*(paths.get(word, word) for word in line.split()), "--json", code=code).stdout)
    (first, *_) = content if isinstance(content, list) else [content]
    assert first.keys() >= keys


def test_a_dry_run_changes_nothing(study, tmp_path):
    labels, verdicts = tmp_path / "labels.csv", tmp_path / "verdicts.csv"
    labels.write_text("item,reviewer,label\norg__project#bench.Method1#size=1,zoe,similar\n", encoding="utf-8")
    verdicts.write_text("item,verdict\norg__project#bench.Method1#size=1,similar\n", encoding="utf-8")
    before = run("log", "--study", study).stdout
    for line in (
        ("labels", "--import", labels), ("verdicts", "--import", verdicts, "--classifier", "mine"),
        ("reviewers", "remove", "ben", "--reason", "x"), ("anonymise", "--out", tmp_path / "copy.study"),
    ):  # fmt: skip
        result = run(*line, "--dry-run", "--study", study)
        assert "ould" in result.stderr or "Nothing was saved" in result.stderr
    assert run("log", "--study", study).stdout == before
    rows = json.loads(run("reviewers", "list", "--json", "--study", study).stdout)
    assert [row["reviewer"] for row in rows] == ["ada", "ben", "dan"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.csv", "own.study", "verdicts.csv"]
