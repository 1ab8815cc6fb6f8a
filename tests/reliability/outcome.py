"""The results of a script in this folder: cases as they come, PASS or FAIL, an exit code, figures as JSON."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.performance.measuring import machine

N_NAMED = 3


class CannotTry(Exception):
    """This machine, or the user who runs this, does not allow the test; the message gives the reason."""


@dataclass(frozen=True)
class Case:
    """One tested case; `passed` is None if it could not be tested here, and `figures` gives the reason."""

    what: str
    figures: str
    passed: bool | None

    @property
    def word(self) -> str:
        return {True: "PASS", False: "FAIL", None: "SKIP"}[self.passed]


@dataclass
class Tally:
    """The number of checks, and the failures."""

    what: str
    unit: str
    n: int = 0
    wrong: list[str] = field(default_factory=list)

    def check(self, right: bool, otherwise: str) -> None:
        """Count one check; `otherwise` describes the failure."""
        self.n += 1
        if not right:
            self.wrong.append(otherwise)

    def none(self, found: Sequence[object], what: str) -> None:
        """Count one check: nothing was found."""
        self.check(not found, f"{what} {found}")

    def case(self, more: str = "") -> Case:
        """The row; at least one check is required."""
        named = "; ".join(one[:300] for one in self.wrong[:N_NAMED])
        figures = f"{self.n} {self.unit}, {len(self.wrong)} wrong" + (f", {more}" if more else "")
        return Case(self.what, figures + (f": {named}" if named else ""), self.n > 0 and not self.wrong)


def case(what: str, figures: str, problems: Sequence[str]) -> Case:
    """A case that passed if there are no problems; they follow the figures."""
    return Case(what, "; ".join([figures, *dict.fromkeys(problems)]), not problems)


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return the options of every script; the caller adds more."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--json", type=Path, default=None, help="write the cases to this file as well")
    return made


def main(
    made: argparse.ArgumentParser,
    run: Callable[[argparse.Namespace], Iterable[Case]],
    arguments: Sequence[str] | None = None,
) -> None:
    """Run a script: print each case when it is known, and a last line for all; exit code 1 if any failed."""
    options = made.parse_args(arguments)
    print("Machine: " + ", ".join(f"{name} {value}" for name, value in machine().items()), flush=True)
    begun, cases = time.monotonic(), []
    for case in run(options):
        print(f"{case.word}  {case.what}: {case.figures}", flush=True)
        cases.append(case)
    seconds, passed = time.monotonic() - begun, all(case.passed is not False for case in cases) and bool(cases)
    n_skipped = sum(case.passed is None for case in cases)
    skipped = f", {n_skipped} could not be tried" if n_skipped else ""
    print(
        f"{'PASS' if passed else 'FAIL'}: {sum(case.passed is True for case in cases)} of {len(cases)} cases{skipped}, "
        f"{seconds:.0f} s"
    )
    if options.json:
        result = {
            "passed": passed,
            "seconds": round(seconds, 1),
            "machine": machine(),
            "cases": [asdict(case) for case in cases],
        }
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    sys.exit(not passed)


def load(path: Path) -> dict[str, Any]:
    """The content of a `--json` file; raises ValueError if it is anything else."""
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict) or "cases" not in found:
        raise ValueError(f"{path} holds no cases")
    return found


def cases(result: dict[str, Any]) -> list[Case]:
    """Return the cases in the content from `load`."""
    return [Case(**case) for case in result["cases"]]
