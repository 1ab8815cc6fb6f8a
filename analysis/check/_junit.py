"""A check as JUnit XML, as build servers show it: a test case for each benchmark."""

from xml.etree import ElementTree as ET

from analysis.check._check import FOUND, INCONCLUSIVE, Check, Finding
from analysis.document import clean

SUITE = "labeler check"


def to_junit(checked: Check) -> str:
    """The check as JUnit XML.

    A finding is a failure; what is inconclusive is an error, or skipped where the person allows it.

    Parameters
    ----------
    checked : Check

    Returns
    -------
    str
    """
    names = dict.fromkeys([*(row.name for row in checked.benchmarks), *checked.only_in_baseline])
    by_name: dict[str, list[Finding]] = {name: [] for name in names}
    for finding in checked.findings:
        by_name.setdefault(finding.name or SUITE, []).append(finding)
    changes = {change.name: change for change in checked.changes}
    kinds = {name: _kind(findings) for name, findings in by_name.items()}
    counts = {"tests": len(by_name)} | {
        f"{kind}{'' if kind == 'skipped' else 's'}": sum(result == kind for result in kinds.values())
        for kind in ("failure", "error", "skipped")
    }
    attributes = {name: str(count) for name, count in counts.items()}
    root = ET.Element("testsuites", {"name": SUITE, **attributes})
    suite = ET.SubElement(root, "testsuite", {"name": SUITE, **attributes})
    for name, findings in by_name.items():
        case = ET.SubElement(suite, "testcase", {"classname": "benchmark", "name": clean(name)})
        if kinds[name]:
            words = clean("; ".join(finding.words for finding in findings))
            ET.SubElement(case, kinds[name], {"message": words} | ({} if kinds[name] == "skipped" else {
                "type": findings[0].kind}))  # fmt: skip
        if name in changes and changes[name].words:
            ET.SubElement(case, "system-out").text = clean(changes[name].words)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _kind(findings: list[Finding]) -> str:
    outcomes = {finding.outcome for finding in findings}
    if FOUND in outcomes:
        return "failure"
    return "error" if INCONCLUSIVE in outcomes else "skipped" if findings else ""
