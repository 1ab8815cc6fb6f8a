"""Render a document as one HTML page that needs no fonts or other external files."""

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from analysis.document._content import Document, anchor_of, clean

if TYPE_CHECKING:
    import jinja2

LONG_WORD = 16  # number of letters above which a word may break
LONG_TEXT = 30  # number of letters above which a text in the first column gets a minimum width in print
_INTERVAL = re.compile(r"([^()]{1,12}) (\([^()]{1,24} to [^()]{1,12}\))((?: \([a-z]+\))?)")


NO_FIGURES: Mapping[str, str] = {}


def to_html(document: Document, figures: Mapping[str, str], narrow: Mapping[str, str] = NO_FIGURES) -> str:
    """Render a document as one HTML page that needs no other files; escape all external texts.

    `figures` has SVG text by name of figure; missing figures are left out. In a narrow window, the figures in `narrow`
    replace those with the same name.
    """
    return _template().render(report=document, figures=figures, narrow=narrow)


@cache  # compiling the template takes longer than filling it in
def _template() -> "jinja2.Template":
    import jinja2  # imported here, because only HTML needs it

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("analysis.document"),
        autoescape=True,
        finalize=_cleaned,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["anchor"] = anchor_of
    environment.filters["lines"] = _lines_of_cell
    environment.filters["classes"] = _classes_of_cell
    return environment.get_template("report.html.j2")


def _lines_of_cell(text: str) -> tuple[str, ...]:
    """Split a cell such as "50.0 % (25.0 to 75.0 %)" into value and interval, so that each stays on one line."""
    match = _INTERVAL.fullmatch(clean(text))
    return (text,) if match is None else (match[1], match[2] + match[3])


def _classes_of_cell(text: str, column: int, numeric: Collection[int]) -> str:
    """Return the classes of a cell: a number, a word that may break, or a long text in the first column."""
    has_long_word = max(map(len, text.split()), default=0) > LONG_WORD
    kinds = {"n": column in numeric, "b": has_long_word, "l": column == 0 and len(text) > LONG_TEXT}
    return " ".join(name for name, applies in kinds.items() if applies)


def _cleaned(value: Any) -> Any:
    """Remove characters that HTML forbids from external texts; return figures unchanged and marked as safe."""
    return value if hasattr(value, "__html__") else clean(value)
