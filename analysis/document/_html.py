"""A document as one page that needs nothing else: no font, nothing from outside."""

from collections.abc import Mapping
from typing import Any

from analysis.document._content import Document, clean


def to_html(document: Document, figures: Mapping[str, str]) -> str:
    """Any document as one self-contained page; every text from outside is escaped.

    Parameters
    ----------
    document : Document
    figures : mapping of str to str
        SVG text by name of figure; a figure that is not there is left out.
    """
    import jinja2  # here, as text and JSON do without it

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("analysis.document"),
        autoescape=True,
        finalize=_cleaned,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(report=document, figures=figures)


def _cleaned(value: Any) -> Any:
    """Texts from outside without what HTML forbids; figures, which are marked as safe, as they are."""
    return value if hasattr(value, "__html__") else clean(value)
