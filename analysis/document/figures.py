"""What all figures share: readable in greyscale, every axis with its unit.

Nothing is told by colour alone: dark and light differ in greyscale too, and what matters carries a mark or a word.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

import altair as alt
import vl_convert

from analysis.document._content import clean

Chart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart | alt.HConcatChart

INK, SOFT, PAPER = "#1b2a41", "#8a94a6", "#ffffff"
FORMATS = ("svg", "png", "pdf")
PNG_SCALE = 2.0


def render(chart: Chart, form: str) -> bytes:
    """The figure as a file, without a browser and without the network.

    Parameters
    ----------
    chart : Chart
    form : str
        "svg", "png" (twice the size on screen) or "pdf".

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        If the form is another one.
    """
    if form == "svg":
        return to_svg(chart).encode()
    spec = _spec(chart)
    if form == "png":
        return vl_convert.vegalite_to_png(spec, scale=PNG_SCALE, allowed_base_urls=[])
    if form == "pdf":
        return vl_convert.vegalite_to_pdf(spec, allowed_base_urls=[])
    raise ValueError(f"a figure is written as {', '.join(FORMATS)}, not {form!r}")


def to_svg(chart: Chart) -> str:
    """The figure as SVG text, without a browser and without the network."""
    svg: str = vl_convert.vegalite_to_svg(_spec(chart), allowed_base_urls=[])
    return _with_own_ids(svg)


def svg_to_pdf(svg: str) -> bytes:
    """A figure that is there as SVG text, as PDF for LaTeX."""
    return vl_convert.svg_to_pdf(svg)


def names_axis(names: Sequence[str | Sequence[str]], **more: Any) -> alt.Axis:
    """An axis over the numbers from 0 on that shows names, each of one line or several; equal ones stay apart."""
    texts = json.dumps(clean(list(names)))
    options = {"labelLimit": 0, "labelOverlap": False, "ticks": False, "domain": False} | more
    return alt.Axis(labelExpr=f"{texts}[datum.value]", **options)


def _with_own_ids(svg: str) -> str:
    """The same bytes for the same figure, and other ids than other figures on a page.

    Vega numbers clip paths over all figures of a process. Here they are numbered within the figure, after a hash of it.
    """
    numbers: dict[str, int] = {}
    numbered = _CLIP.sub(lambda match: f"clip{numbers.setdefault(match[1], len(numbers))}", svg)
    if not numbers:
        return svg
    digest = hashlib.sha256(numbered.encode()).hexdigest()[:8]
    return _CLIP.sub(rf"clip-{digest}-\1", numbered)


_CLIP = re.compile(r'(?<=id="|rl\(#)clip(\d+)(?=[")])')  # a look-behind has one length


def _spec(chart: Chart) -> str:
    """The figure with its data, however many, as JSON that can become XML; altair's limit is meant for browsers."""
    with alt.data_transformers.enable("default", max_rows=None):
        return json.dumps(clean(chart.to_dict(validate=False)))
