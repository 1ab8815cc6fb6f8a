"""Reports as a reader of report.json has them: numbers as plain values, and pages made again from these values."""

from functools import partial
from typing import Any

from analysis import report
from analysis.document import json_values
from analysis.report import Report


def summarise(*args: Any, **options: Any) -> dict[str, Any]:
    """Return all numbers of a report as plain values."""
    content: dict[str, Any] = json_values(report.summarise(*args, **options))
    return content


def _again(make: Any, content: dict[str, Any], *args: Any, **options: Any) -> Any:
    return make(Report.of(content), *args, **options)


to_html, to_markdown, to_latex, draw, document = (
    partial(_again, make)
    for make in (report.to_html, report.to_markdown, report.to_latex, report.draw, report.document)
)
