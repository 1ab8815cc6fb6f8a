"""The report as one page that needs nothing else: no script, no font, no picture from outside."""

from collections.abc import Mapping
from typing import Any

import jinja2
import pandas as pd

from analysis.classifiers import CLASSIFIERS
from analysis.report import figures, measure_figures

CLASSIFIER_STATISTICS = ("sensitivity", "specificity", "precision", "accuracy", "balanced_accuracy", "f1")


def to_html(content: Mapping[str, Any], drawn: Mapping[str, str] | None = None) -> str:
    """Render the report.

    Parameters
    ----------
    content : mapping
        What `summarise` returned, or the same read back from JSON.
    drawn : mapping of str to str, optional
        What `draw` made of it, where that is there already.

    Returns
    -------
    str
        One self-contained HTML document; every text from outside is escaped.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("analysis.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": percent,
        "number": number,
        "interval": interval,
        "words": _words,
        "value": value_in_words,
    }
    return environment.get_template("report.html.j2").render(
        report=content,
        in_short=in_short(content),
        figures=draw(content) if drawn is None else drawn,
        statistics=CLASSIFIER_STATISTICS,
    )


def draw(content: Mapping[str, Any]) -> dict[str, str]:
    """The report's figures as SVG text by name; one that has nothing to show is left out."""
    charts = {"pair-agreement": figures.pair_agreement(content), "measures-by-application": measure_figure(content)}
    return {name: figures.to_svg(chart) for name, chart in charts.items() if chart is not None}


def measure_figure(content: Mapping[str, Any], classifier: str = "heuristic") -> figures.Chart | None:
    """The classifier's measures by application; None where there are none."""
    rows = content["measures"].get(classifier)
    if not rows:
        return None
    table = pd.DataFrame([{"application": row["application"], "n": row["n"], **row["means"]} for row in rows])
    return measure_figures.measures_by_application(table, theta=CLASSIFIERS[classifier].parameters.get("theta"))


def in_short(content: Mapping[str, Any]) -> list[str]:
    """The report in a few sentences."""
    sentences = [_agreement_in_words(content), _kappa_in_words(content["agreement"]["fleiss_kappa"])]
    sentences += [_classifier_in_words(name, row) for name, row in content["classifiers"].items()]
    return [sentence for sentence in sentences if sentence]


def percent(share: float | None) -> str:
    """A share as a percentage with one decimal; a dash where there is none."""
    return "–" if share is None else f"{100 * share:.1f} %"


def number(value: float | None, digits: int = 3) -> str:
    """A number with a fixed number of decimals and a true minus sign; a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")


def interval(estimate: Mapping[str, Any], as_percent: bool = True) -> str:
    """The ends of an interval; empty where there is none."""
    if estimate["low"] is None:
        return ""
    write = percent if as_percent else number
    return f"{write(estimate['low']).removesuffix(' %')} to {write(estimate['high'])}"


def value_in_words(value: Any) -> str:
    """A parameter as people read it.

    Examples
    --------
    >>> value_in_words({"theta": 0.25, "keep_mean": True}), value_in_words(False), value_in_words("core")
    ('theta = 0.25, keep mean = yes', 'no', 'core')
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{_words(str(name))} = {value_in_words(entry)}" for name, entry in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(value_in_words, value))
    return "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _agreement_in_words(content: Mapping[str, Any]) -> str:
    share, decided = content["agreement"]["percent"], content["consensus"]
    if share["value"] is None:
        return f"Agreement cannot be computed yet: {share['reason']}."
    n_two = content["agreement"]["n_items_with_two_labels"]
    return (
        f"Reviewers agree on {decided['agreed']} of {n_two} items with two or more labels: "
        f"{decided['agreed_dissimilar']} dissimilar, {decided['agreed_similar']} similar. "
        f"Agreement over all is {percent(share['value'])} ({interval(share)})."
    )


def _kappa_in_words(kappa: Mapping[str, Any]) -> str:
    if kappa["value"] is None:
        return f"Fleiss' kappa is undefined: {kappa['reason']}."
    text = f"Corrected for chance, Fleiss' kappa is {number(kappa['value'])}"
    if kappa["low"] is None:
        return f"{text} ({kappa['reason']})."
    low, high = kappa["band_low"], kappa["band_high"]
    bands = f"“{low}”" if low == high else f"from “{low}” to “{high}”"
    return f"{text} (interval {interval(kappa, as_percent=False)}), which is {bands} in the words of Landis and Koch."


def _classifier_in_words(name: str, row: Mapping[str, Any]) -> str:
    if not row["n"]:
        return ""
    cells, accuracy, baseline = (
        row["confusion"],
        row["accuracy"]["value"],
        row["always_dissimilar"]["accuracy"]["value"],
    )
    title = CLASSIFIERS[name].title if name in CLASSIFIERS else name
    n_dissimilar, n_similar = cells["tp"] + cells["fn"], cells["tn"] + cells["fp"]
    return (
        f"On {row['n']} agreed items, {title} calls {cells['tp']} of {n_dissimilar} dissimilar items "
        f"dissimilar (sensitivity {percent(row['sensitivity']['value'])}) and {cells['tn']} of "
        f"{n_similar} similar items similar (specificity {percent(row['specificity']['value'])}). "
        f"Its accuracy, {percent(accuracy)}, is {'below' if accuracy < baseline else 'not below'} that of calling "
        f"everything dissimilar, {percent(baseline)}."
    )
