"""The JavaScript of the review component: its own tests, run by node, and its lint."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import missing

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "labeler" / "studies" / "ui" / "component" / "js"
TESTS = ROOT / "tests" / "js"
MODULES = sorted([*SOURCE.glob("*.js"), *TESTS.glob("*.mjs")])
NODE_VERSION = (18, 15)  # Debian 12 has 18.19
LIMIT_S = 600  # generous, for a busy machine
MAX_WIDTH = 120

ALLOWED = {
    "no-array-sort": "what is sorted is a copy",
    "no-underscore-dangle": "window.__review is what the browser tests wait on",
    "unicorn/prefer-set-has": "a list of two",
    "unicorn/consistent-function-scoping": "a helper of one test reads best inside it",
}
DENIED = (
    "array-callback-return", "complexity", "eqeqeq", "import/named", "import/no-cycle", "import/no-duplicates",
    "max-depth", "no-alert", "no-console", "no-else-return", "no-eval", "no-implicit-coercion", "no-loop-func",
    "no-param-reassign", "no-prototype-builtins", "no-self-compare", "no-sequences", "no-shadow", "no-undef",
    "no-unused-vars", "no-var", "object-shorthand", "prefer-const", "prefer-template", "radix",
)  # fmt: skip


def node() -> str:
    """Return the path of node; without it, the test is skipped."""
    path = shutil.which("node")
    if path is not None:
        version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True, timeout=LIMIT_S)
        if tuple(map(int, re.findall(r"\d+", version.stdout)[:2])) >= NODE_VERSION:
            return path
    return missing(f"node of version {NODE_VERSION[0]}.{NODE_VERSION[1]} or newer", "apt install nodejs")


def lint(folder: Path, environment: str, config: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Lint a folder with oxlint; the known globals can only be set in a file."""
    rules = {
        "plugins": ["eslint", "import", "oxc", "unicorn"],
        "categories": {"correctness": "error", "suspicious": "error", "perf": "error"},
        "env": {"builtin": True, environment: True},
        "rules": dict.fromkeys(DENIED, "error") | dict.fromkeys(ALLOWED, "off"),
    }
    config.write_text(json.dumps(rules), encoding="utf-8")
    oxlint = Path(sys.executable).parent / "oxlint"
    command: list[str | Path] = [oxlint, "--config", config, "--deny-warnings", "--format=unix", *more, folder]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=LIMIT_S)


def test_the_tests_of_the_javascript_pass():
    """All run in one process, in the Test Anything Protocol; there is no warning, and none is marked as failing."""
    command = [node(), "--test", "--test-reporter=tap", *sorted(map(str, TESTS.glob("*.test.mjs")))]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=LIMIT_S)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"^# pass (\d+)$", done.stdout, flags=re.MULTILINE)[1]) > 0
    assert re.findall(r"^ok \d+ - .* # TODO .*$", done.stdout, flags=re.MULTILINE) == []
    assert done.stderr == ""


@pytest.mark.slow
def test_no_words_overlap_at_any_width_with_any_number_of_runs():
    command, environment = [node(), "--test", TESTS / "text.test.mjs"], {**os.environ, "ALL_SIZES": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=LIMIT_S)
    assert done.returncode == 0, done.stdout


def test_the_component_has_no_lint(tmp_path):
    said = lint(SOURCE, "browser", tmp_path / "lint.json")
    assert said.returncode == 0, said.stdout + said.stderr


def test_the_tests_of_the_javascript_have_no_lint(tmp_path):
    said = lint(TESTS, "node", tmp_path / "lint.json")
    assert said.returncode == 0, said.stdout + said.stderr


def test_lint_is_found_where_it_is(tmp_path):
    (tmp_path / "bad.js").write_text("export function twice(one) {\n  return 2 * two;\n}\n", encoding="utf-8")
    said = lint(tmp_path, "browser", tmp_path / "lint.json")
    assert said.returncode == 1
    assert "no-undef" in said.stdout
    assert "no-unused-vars" in said.stdout


def test_lines_of_javascript_fit_the_screen():
    lines = [f"{path.name}: {line}" for path in MODULES for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line for line in lines if len(line.partition(": ")[2]) > MAX_WIDTH] == []
