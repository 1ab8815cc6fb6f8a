"""Write the result of a check for build servers: as JUnit XML, as GitHub annotations or as a GitLab report."""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path

from analysis.check import FOUND, INCONCLUSIVE, NOTHING_FOUND, Check, Finding
from analysis.document import clean
from labeler.safe_text import one_line

SUITE = "labeler check"
N_SHOWN = 10  # number of annotations per level that GitHub shows for a step; GitHub drops further annotations silently
LEVELS: Mapping[int, str] = {FOUND: "error", INCONCLUSIVE: "warning", NOTHING_FOUND: "notice"}
RESULTS: Mapping[int, str] = {FOUND: "failure", INCONCLUSIVE: "error", NOTHING_FOUND: "skipped"}  # in JUnit
SEVERITIES: Mapping[int, str] = {FOUND: "major", INCONCLUSIVE: "minor", NOTHING_FOUND: "info"}


def to_junit(checked: Check) -> str:
    """Return the check as JUnit XML, with one test case per benchmark.

    The test case of a finding has failed, and the test case of an inconclusive result has an error. If a change is
    allowed or known, its test case is skipped.
    """
    from xml.etree import ElementTree as ET  # imported here because few checks write it

    names = dict.fromkeys([*(row.name for row in checked.benchmarks), *checked.only_in_baseline])
    by_name: dict[str, list[Finding]] = {name: [] for name in names}
    for finding in checked.findings:
        by_name.setdefault(finding.name or SUITE, []).append(finding)
    words = {change.name: change.words for change in checked.changes}
    suites = ET.Element("testsuites", name=SUITE)
    suite = ET.SubElement(suites, "testsuite", name=SUITE)
    n_of_kind = dict.fromkeys(RESULTS.values(), 0)
    for name, findings in by_name.items():
        case = ET.SubElement(suite, "testcase", name=clean(name), classname="benchmark")
        if findings:
            worst = min(findings, key=lambda finding: list(LEVELS).index(finding.outcome))
            message = clean("; ".join(_describe(finding) for finding in findings))
            ET.SubElement(case, RESULTS[worst.outcome], message=message, type=worst.kind)
            n_of_kind[RESULTS[worst.outcome]] += 1
        if words.get(name):
            ET.SubElement(case, "system-out").text = clean(words[name])
    counts = {"tests": len(by_name), "failures": n_of_kind["failure"], "errors": n_of_kind["error"]}
    for element in (suites, suite):
        element.attrib |= {name: str(n) for name, n in (counts | {"skipped": n_of_kind["skipped"], "time": 0}).items()}
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def github_annotations(checked: Check, files: Sequence[str]) -> str:
    """Return the findings as commands for a GitHub workflow, one per line, so that GitHub shows each finding at a file.

    GitHub shows at most ten annotations per level, so the function returns at most ten lines per level. A benchmark
    whose name contains no source file is shown at the first file.
    """
    lines: list[str] = []
    for outcome, level in LEVELS.items():
        findings = [finding for finding in checked.findings if finding.outcome == outcome]
        n_shown = len(findings) if len(findings) <= N_SHOWN else N_SHOWN - 1
        lines += [
            f"::{level} file={_escaped(_place(finding.name, files), ',:')},"
            f"title={_escaped(one_line(finding.name or SUITE, 200), ',:')}::{_escaped(_describe(finding))}"
            for finding in islice(findings, n_shown)
        ]
        if len(findings) > n_shown:
            lines.append(
                f"::{level} title={SUITE}::{len(findings) - n_shown} more findings are in the summary of the job."
            )
    return "".join(f"{line}\n" for line in lines)


def gitlab_report(checked: Check, files: Sequence[str]) -> str:
    """Return the findings as the JSON of a code quality report, which GitLab shows in a merge request.

    The parameters are the same as for `github_annotations`.
    """
    entries = [
        {
            "description": f"{one_line(finding.name or SUITE, 200)}: {_describe(finding)}",
            "check_name": f"benchmark {finding.kind}",
            "fingerprint": sha256(f"{finding.kind}\0{finding.name}".encode("utf-8", "replace")).hexdigest(),
            "severity": SEVERITIES[finding.outcome],
            "location": {"path": _place(finding.name, files), "lines": {"begin": 1}},
        }
        for finding in _once(checked.findings)
    ]
    return json.dumps(entries, indent=1) + "\n"


def _once(findings: Iterable[Finding]) -> Iterable[Finding]:
    """Return only the first finding of each kind for each benchmark.

    Further findings would have the same fingerprint, and GitLab merges entries with the same fingerprint.
    """
    first: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        first.setdefault((finding.kind, finding.name), finding)
    return first.values()


def _describe(finding: Finding) -> str:
    return one_line(f"{finding.words} (known: {finding.known})" if finding.known else finding.words)


def _place(name: str, files: Sequence[str]) -> str:
    """Return the source file that the name of a benchmark contains; return the first result file if there is none.

    For example, the name `tests/test_sort.py::test_sort` from pytest contains the file `tests/test_sort.py`.
    """
    source, separator, _ = name.partition("::")
    try:
        is_here = bool(separator) and source.isprintable() and not Path(source).is_absolute() and Path(source).is_file()
    except OSError:  # the file name is too long
        is_here = False
    return source if is_here else files[0]


def _escaped(text: str, signs: str = "") -> str:
    """Escape a text for a workflow command, so that the text cannot end the command or begin another command."""
    return "".join(f"%{ord(sign):02X}" if sign in f"%\r\n{signs}" else sign for sign in text)
