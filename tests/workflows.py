"""Run workflows of build servers here: their steps in a real shell, with the variables that a server would set."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent
ACTION = ROOT / "action.yml"
EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


def example(page: str, language: str, heading: str) -> Any:
    """Return the first block of a language under a heading of a page in docs, parsed as YAML."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    return yaml.safe_load(re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)[0])


@dataclass
class Runner:
    """A runner of GitHub Actions for one job: no container, no network; `labeler` and `pip` are those in `tools`.

    The cache of our action already has its environment, unless `has_cache` is false.

    Attributes
    ----------
    workspace, temp, tools : Path
        The checkout, the folder for what steps leave, and a folder in front of PATH.
    event : dict
        What the server tells about the pull request.
    """

    workspace: Path
    temp: Path
    tools: Path
    event: dict[str, Any]
    outputs: dict[str, str] = field(default_factory=dict)
    has_cache: bool = True
    log: str = ""
    code: int = 0

    @property
    def summary(self) -> str:
        """The summary page of the job."""
        path = self.temp / "summary.md"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    @property
    def annotations(self) -> list[str]:
        """The lines that become annotations."""
        return re.findall(r"^::(?:error|warning|notice) .*", self.log, flags=re.MULTILINE)

    def job(self, job: Mapping[str, Any]) -> None:
        """Run the steps of a job until one fails; steps that use actions of others are skipped."""
        for step in job["steps"]:
            uses = step.get("uses", "")
            if "benchmark-run-labeler" in uses:
                self.action(step.get("with", {}))
            elif not uses:
                self.step(step, {})
            if self.code:
                return

    def action(self, given: Mapping[str, str]) -> None:
        """Run our action."""
        if self.has_cache:
            programs = self.temp / "benchmark-run-labeler" / "bin"
            programs.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.tools / "labeler", programs)
        action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
        assert set(given) <= set(action["inputs"])
        inputs = {name: entry.get("default", "") for name, entry in action["inputs"].items()}
        inputs |= {name: self._filled(value, {}) for name, value in given.items()}
        for step in action["runs"]["steps"]:
            if "run" in step:
                self.step(step, inputs)
            if self.code:
                return

    def step(self, step: Mapping[str, Any], inputs: Mapping[str, str]) -> None:
        """Run the script of one step."""
        assert not EXPRESSION.search(step["run"])  # an expression inside a script would execute its value
        output = self.temp / "output"
        output.write_text("")
        environment = self._environment() | {
            name: self._filled(value, inputs) for name, value in step.get("env", {}).items()
        }
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(shell, cwd=self.workspace, env=environment | {"GITHUB_OUTPUT": str(output)},
                              capture_output=True, text=True)  # fmt: skip
        self.log += done.stdout + done.stderr
        self.code = done.returncode
        self.outputs |= dict(line.split("=", 1) for line in output.read_text().splitlines())

    def _environment(self) -> dict[str, str]:
        event = self.temp / "event.json"
        event.write_text(json.dumps(self.event))
        return {
            "PATH": f"{self.tools}:{os.environ['PATH']}", "HOME": str(self.temp), "CI": "true",
            "GITHUB_EVENT_PATH": str(event), "GITHUB_STEP_SUMMARY": str(self.temp / "summary.md"),
            "GITHUB_PATH": str(self.temp / "path"), "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_TEMP": str(self.temp),
        }  # fmt: skip

    def _filled(self, text: str, inputs: Mapping[str, str]) -> str:
        values = {
            "runner.temp": str(self.temp), "github.action_path": str(ROOT),
            "github.ref_name": self.event.get("ref", "").removeprefix("refs/tags/"),
            "github.repository": "Owner/Benchmark-Run-Labeler",
            "github.base_ref": self.event.get("pull_request", {}).get("base", {}).get("ref", ""),
            **{f"inputs.{name}": value for name, value in inputs.items()},
        }  # fmt: skip
        return EXPRESSION.sub(lambda found: values[found[1]], text)


def tools(folder: Path) -> Path:
    """Return a folder with this environment's `labeler` and `python`, and a `pip` that does nothing."""
    folder.mkdir()
    for name, lines in {
        "labeler": f'exec "{sys.executable}" -m labeler "$@"',
        "python": f'exec "{sys.executable}" "$@"',
        "pip": "exit 0",
    }.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{lines}\n")
        path.chmod(0o755)
    return folder
