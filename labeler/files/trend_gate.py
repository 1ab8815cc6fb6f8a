"""What only the method trend has: decisions of people on changes, and exit codes."""

from collections.abc import Iterator
from pathlib import Path

from analysis.methods.trend import ChangeDecision, TrendSurvey
from labeler.errors import InputError
from labeler.files.formats import sources

DECIDED = {"accepted": True, "refused": False}


def exit_code(survey: TrendSurvey, *, is_gate: bool) -> int:
    """Return the exit code of `labeler trend`: 0, 1 if a benchmark became worse, or 3 if the answer is open.

    Unless it is a gate, only histories that are all too short have another code than 0.
    """
    if is_gate and survey.is_worse:
        return 1
    return 3 if not survey.is_judged or (is_gate and survey.is_inconclusive) else 0


def read_decisions(path: Path) -> list[ChangeDecision]:
    """Read a table with the columns benchmark, version and decision (accepted or refused)."""
    return list(_decisions(path))


def _decisions(path: Path) -> Iterator[ChangeDecision]:
    (source,) = sources([path])
    from labeler.files.formats import tables

    table = tables.read_table(source, ("benchmark", "version", "decision"))
    for line, row in table.iterrows():
        if row["decision"] not in DECIDED:
            raise InputError(f"{path}, line {line}: the decision is {row['decision']!r}. Write accepted or refused.")
        yield ChangeDecision(row["benchmark"], row["version"], DECIDED[row["decision"]])
