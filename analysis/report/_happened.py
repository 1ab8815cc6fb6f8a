"""What happened to a study between its first labels and its report, in one sentence."""

from collections import Counter
from collections.abc import Iterator

from analysis.document import counted, joined
from analysis.report._report import Report

# change of the people, as the log names it -> what it says of one person, and of several
CHANGES = {
    "remove reviewer": ("left", "left"),
    "replace reviewer": ("was replaced", "were replaced"),
    "join": ("joined later", "joined later"),
}


def happened(report: Report) -> str:
    """Return the sentence; "" if nothing happened that a reader has to know."""
    parts = [part for part in (_settled(report), *_excluded(report), *_people(report)) if part]
    return f"In the course of the study, {joined(parts)}." if parts else ""


def _settled(report: Report) -> str:
    decided = report.consensus
    by = [
        counted(n, noun)
        for n, noun in ((decided.majority.n_third_labels, "third label"), (decided.majority.adjudicated, "decision"))
        if n
    ]
    if not by:
        return ""
    return f"{joined(by)} settled {decided.settled or 'none'} of {counted(decided.split, 'split item')}"


def _excluded(report: Report) -> Iterator[str]:
    n = int(report.study.more.get("excluded_items", 0))
    if n:
        yield f"{counted(n, 'item')} {'was' if n == 1 else 'were'} excluded"


def _people(report: Report) -> Iterator[str]:
    counts = Counter(row.change for row in (report.course.people if report.course else ()))
    for change, (one, several) in CHANGES.items():
        if counts[change]:
            yield f"{counted(counts[change], 'reviewer')} {one if counts[change] == 1 else several}"
