"""Commands that create a study of another question and import its items."""

import pytest

from tests.labeler.commands import run

CSV = "benchmark,run,iteration,value\n"


def rows(name, value):
    return "".join(f"{name},{run},{i},{value + run / 100 + i / 1000}\n" for run in range(2) for i in range(12))


@pytest.fixture
def files(tmp_path):
    """Two folders of results with one benchmark in both, and a table with both versions."""
    for side, value in (("old", 1.0), ("new", 1.2)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "r.csv").write_text(CSV + rows("parse", value) + rows(f"only_{side}", value))
    both = "".join(
        line.replace("parse,", f"parse,{side},") + "\n"
        for side, value in (("old", 1.0), ("new", 1.2))
        for line in rows("parse", value).splitlines()
    )
    (tmp_path / "both.csv").write_text("benchmark,version,run,iteration,value\n" + both)
    return tmp_path


@pytest.mark.parametrize(
    "sides", [("--before", "{}/old", "--after", "{}/new"), ("{}/both.csv", "--before", "old", "--after", "new")]
)
def test_two_versions_are_imported_from_two_folders_or_one_table(files, sides):
    study = str(files / "c.study")
    created = run("init", "--study", study, "--question", "change")
    assert "--before FOLDER --after FOLDER" in created.stderr
    arguments = [side.format(files) for side in sides]
    dry = run("import", *arguments, "--dry-run")
    assert "parse" in dry.stdout
    done = run("import", "--study", study, *arguments)
    assert "1 item imported" in done.stderr
    if sides[0] == "--before":
        assert "only_new is left out: no runs before the change" in done.stderr
        assert "only_old is left out: no runs after the change" in done.stderr


@pytest.mark.parametrize("name", ["change", "mark-changes", "mark-steady"])
def test_each_built_in_question_is_listed_and_printed_as_a_file_to_edit(files, name):
    assert name in run("questions").stdout
    printed = run("questions", name).stdout
    (files / "q.toml").write_text(printed)
    run("init", "--study", files / "q.study", "--question", files / "q.toml")
