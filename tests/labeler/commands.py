"""Run the command `labeler` inside the test."""

from typing import Any

from click.testing import CliRunner, Result

from labeler.cli import main


def run(*arguments: Any, code: int | None = 0) -> Result:
    """Run a command; returns its output, and raises unexpected errors. `code` None accepts any exit code."""
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert code is None or result.exit_code == code, result.output
    return result
