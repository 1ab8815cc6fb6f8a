"""Printed commands begin as the program was started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from labeler import program
from tests.labeler.commands import run

COMMANDS = ("serve", "reviewers", "report")


@pytest.mark.parametrize(
    ("started", "how"),
    [
        (".venv/bin/labeler", ".venv/bin/labeler"), ("my venv/labeler", "'my venv/labeler'"),
        ("labeler/__main__.py", "bin/python -m labeler"), ("pytest", "labeler"),
    ],
)  # fmt: skip
def test_the_path_that_was_used_is_printed(started, how, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / started)])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin/python"))
    monkeypatch.setenv("PATH", str(tmp_path / "elsewhere"))
    assert program.program() == how
    text = "Next: labeler serve --study a. See labeler-x serve, report of labeler serves, labeler report"
    kept = "See labeler-x serve, report of labeler serves,"
    assert program.as_started(text, COMMANDS) == f"Next: {how} serve --study a. {kept} {how} report"


def test_the_name_is_printed_if_the_shell_finds_it(tmp_path, monkeypatch):
    file = tmp_path / "labeler"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(file)])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program.program() == "labeler"


def test_a_printed_command_runs_where_it_is_printed(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-m", "labeler", "init", "--study", "runs.study"]
    made = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    printed = made.stderr.partition("Next: ")[2].strip()
    assert printed.startswith(f"{sys.executable} -m labeler import --study runs.study")
    help_of = printed.replace("FOLDER", "--help")
    assert subprocess.run(help_of, shell=True, cwd=tmp_path, env=environment, check=True, capture_output=True)


def test_a_study_keeps_its_address_and_serve_ends_if_its_port_is_taken(tmp_path):
    import socket

    study = tmp_path / "runs.study"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        assert f"coordinator: {url}/s/" in run("init", "--study", str(study), "--url", url).stdout
        assert f"ada: {url}/s/" in run("reviewers", "add", "ada", "--study", str(study)).stdout
        refused = run("serve", "--study", str(study), code=2).stderr
        assert f"The sign-in links of {study} begin with {url}." in refused
        assert "New links are then needed: labeler reviewers link NAME" in refused


def test_init_takes_the_first_free_port(tmp_path, monkeypatch):
    monkeypatch.setattr("labeler.studies.commands.serving.free_port", lambda: 8504)
    assert "http://127.0.0.1:8504/s/" in run("init", "--study", str(tmp_path / "runs.study")).stdout
