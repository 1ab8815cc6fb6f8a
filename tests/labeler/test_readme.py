"""The commands of the README, run as printed, in order, beside a running demo."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE_S = 300


def until(log, pattern):
    """Wait for a line in the output of a server; return what the pattern finds."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if found := re.search(pattern, log.read_text()):
            return found[1]
        time.sleep(0.2)
    raise AssertionError(log.read_text())


@pytest.mark.slow
def test_the_commands_of_the_readme_work_as_printed_beside_a_running_demo(tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## For coordinators\n")[2]
    commands = re.findall(r"^    \$ (labeler .+)$", text, flags=re.MULTILINE)
    assert {command.split()[1] for command in commands} >= {"init", "import", "plan", "verdicts", "serve", "report"}
    (tmp_path / "data").symlink_to(ROOT / "data")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "labeler").write_text(f'#!/bin/sh\nexec {sys.executable} -m labeler "$@"\n')
    (tmp_path / "bin" / "labeler").chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    servers = []

    def start(command):
        log = tmp_path / f"{len(servers)}.log"
        with log.open("w") as out:
            servers.append(subprocess.Popen(
                ["sh", "-c", f"exec {command}"], cwd=tmp_path, env=environment, stdout=out, stderr=out
            ))  # fmt: skip
        return log

    try:
        of_demo = until(start("labeler demo"), r"coordinator: (http\S+)")
        link = ""
        for command in commands:
            if command.startswith("labeler serve"):
                until(start(command), r"(Serving) ")
                with urlopen(link, timeout=60) as page:
                    assert page.status == 200
                    assert "not valid" not in page.read().decode()
                continue
            done = subprocess.run(
                ["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )  # fmt: skip
            assert done.returncode == (1 if command.startswith("labeler check") else 0), done.stderr
            link = link or done.stdout.partition("coordinator: ")[2].strip()
        assert link.split("/s/")[0] != of_demo.split("/s/")[0]  # another port
        numbers = json.loads((tmp_path / "report" / "report.json").read_text())
        assert numbers["agreement"]["n_labels"] > 100
    finally:
        for server in servers:
            server.send_signal(signal.SIGINT)
        for server in servers:
            server.wait(timeout=60)
