"""Result files -> the check of a build."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from analysis import check as checking
from analysis.benchmark import Sampling
from analysis.check import DEFAULT_RULES, FAIL_ON, FOUND, INCONCLUSIVE, NOTHING_FOUND, Check, Rules
from analysis.classifiers import CLASSIFIERS as REGISTRY
from analysis.comparison import TESTS
from analysis.document import Document, plain, to_html, to_json, to_markdown, to_text
from labeler.errors import InputError, sentence
from labeler.formats import DEFAULTS, Format, ReadOptions
from labeler.formats.more_runs import false_alarms, more_runs
from labeler.service.data.gathering import Gathered, from_files, sampling

__all__ = [
    "CLASSIFIERS", "FAIL_ON", "FORMS", "FOUND", "INCONCLUSIVE", "NOTHING_FOUND", "TESTS", "Checked", "check_files",
    "from_files", "rules", "sampling",
]  # fmt: skip

CLASSIFIERS = tuple(REGISTRY)


@dataclass(frozen=True)
class Checked:
    """A check, and what is needed to write it down."""

    check: Check
    formats: tuple[Format, ...] = ()

    @property
    def outcome(self) -> int:
        """The exit code."""
        return self.check.outcome

    @cached_property
    def document(self) -> Document:
        """In words and tables."""
        commands = [(f"To measure ten processes of each version with {one.title}:", more_runs(one.name))
                    for one in self.formats]  # fmt: skip
        return checking.document(self.check, commands=commands)

    @property
    def content(self) -> Any:
        """Every number, as plain values."""
        return plain(self.check)


FORMS: Mapping[str, Callable[[Checked], str]] = {
    "text": lambda checked: to_text(checked.document),
    "json": lambda checked: to_json(checked.content),
    "markdown": lambda checked: to_markdown(checked.document),
    "html": lambda checked: to_html(checked.document, {}),
    "junit": lambda checked: checking.to_junit(checked.check),
}


def rules(**options: Any) -> Rules:
    """What counts as a finding; raises InputError if an option cannot be used."""
    try:
        return Rules(**options)
    except ValueError as error:
        raise InputError(sentence(error)) from None


def check_files(
    candidate: Gathered,
    baseline: Gathered | None = None,
    rules: Rules = DEFAULT_RULES,
    *,
    sampling: Sampling,
    options: ReadOptions = DEFAULTS,
) -> Checked:
    """Judge benchmarks, and compare them with a baseline.

    Raises
    ------
    InputError
        If an option cannot be used.
    """
    formats = {one.name: one for gathered in (candidate, baseline) if gathered for one in gathered.formats}
    warnings = [
        false_alarms(one.name, one.title)
        for one in formats.values()
        if options.values_are == "runs" and one.values_are != "runs"
    ]
    before = None if baseline is None else baseline.benchmarks
    try:
        found = checking.check(candidate.benchmarks, before, rules, sampling=sampling, warnings=warnings)
    except ValueError as error:
        raise InputError(sentence(error)) from None
    return Checked(found, tuple(formats.values()))
