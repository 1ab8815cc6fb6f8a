"""The shell commands that measure more runs."""

import subprocess

import pytest

from labeler.files.formats import FORMATS
from labeler.files.formats.more_runs import FALSE_ALARMS, MORE_RUNS, false_alarms, more_runs

LINES = {**MORE_RUNS, "another tool": more_runs("another tool")}


def test_every_tool_with_lines_is_a_format():
    assert set(MORE_RUNS) <= set(FORMATS)
    assert set(FALSE_ALARMS) <= set(MORE_RUNS)


@pytest.mark.parametrize("name", LINES)
def test_the_lines_are_a_shell_script_that_takes_turns_and_then_checks(name):
    done = subprocess.run(
        ["/bin/bash", "-n"], input=LINES[name], text=True, capture_output=True, check=False, env={"LC_ALL": "C"}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "i=0; for v in $(yes OLD NEW NEW OLD | head -n 5); do i=$((i+1))\n" in LINES[name]
    assert LINES[name].splitlines()[-1].startswith("labeler check NEW")
    assert max(map(len, LINES[name].splitlines())) <= 96  # indented by four, and never wrapped


def test_the_false_alarms_of_repetitions_are_those_of_the_tool_or_of_those_measured():
    assert "49 % of unchanged benchmarks with Go" in false_alarms("go", "Go")
    assert "49 to 82 % of unchanged benchmarks" in false_alarms("jmh", "JMH")
