"""The report as one page that needs nothing else: no font, nothing from outside."""

from collections.abc import Mapping
from typing import Any

import jinja2
import pandas as pd

from analysis.classifiers import CLASSIFIERS
from analysis.report import figures, measure_figures
from analysis.report._document import Document
from analysis.report._sections import document


def to_html(content: Mapping[str, Any], drawn: Mapping[str, str] | None = None) -> str:
    """Render the agreement report.

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
    return page(document(content), draw(content) if drawn is None else drawn)


def page(report: Document, drawn: Mapping[str, str]) -> str:
    """Any document as one self-contained page; every text from outside is escaped.

    Parameters
    ----------
    report : Document
    drawn : mapping of str to str
        SVG text by name of figure; a figure that is not there is left out.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("analysis.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(report=report, figures=drawn)


def draw(content: Mapping[str, Any]) -> dict[str, str]:
    """The report's figures as SVG text by name; one that has nothing to show is left out."""
    charts = {
        "pair-agreement": figures.pair_agreement(content),
        "measures-by-application": measure_figure(content),
        "roc": figures.roc(content),
        "precision-recall": figures.precision_recall(content),
    }
    return {name: figures.to_svg(chart) for name, chart in charts.items() if chart is not None}


def measure_figure(content: Mapping[str, Any], classifier: str = "heuristic") -> figures.Chart | None:
    """The classifier's measures by application; None where there are none."""
    rows = content["measures"].get(classifier)
    if not rows:
        return None
    table = pd.DataFrame([{"application": row["application"], "n": row["n"], **row["means"]} for row in rows])
    return measure_figures.measures_by_application(table, theta=CLASSIFIERS[classifier].parameters.get("theta"))
