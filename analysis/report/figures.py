"""What all figures share, and those of reviewers: readable in greyscale, every axis with its unit.

Nothing is told by colour alone: dark and light differ in greyscale too, and what matters carries a mark or a word.
"""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd
import vl_convert

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
    spec = chart.to_json()
    if form == "png":
        return vl_convert.vegalite_to_png(spec, scale=PNG_SCALE, allowed_base_urls=[])
    if form == "pdf":
        return vl_convert.vegalite_to_pdf(spec, allowed_base_urls=[])
    raise ValueError(f"a figure is written as {', '.join(FORMATS)}, not {form!r}")


def to_svg(chart: Chart) -> str:
    """The figure as SVG text, without a browser and without the network."""
    svg: str = vl_convert.vegalite_to_svg(chart.to_json(), allowed_base_urls=[])
    return svg


def pair_agreement(content: Mapping[str, Any]) -> Chart | None:
    """Agreement of each pair with its interval, beside the agreement over all; None without pairs."""
    pairs = content["agreement"]["pairs"]
    if not pairs:
        return None
    rows = pd.DataFrame(
        {
            "pair": [f"{pair['a']} – {pair['b']} (n = {pair['n']})" for pair in pairs],
            "value": [pair["percent"]["value"] for pair in pairs],
            "low": [pair["percent"]["low"] for pair in pairs],
            "high": [pair["percent"]["high"] for pair in pairs],
        }
    )
    base = alt.Chart(rows).encode(y=alt.Y("pair:N", title=None, sort=None, axis=alt.Axis(labelLimit=0)))
    overall = alt.Chart(pd.DataFrame({"value": [content["agreement"]["percent"]["value"]]}))
    chart = alt.layer(
        overall.mark_rule(color=SOFT, strokeDash=[4, 3]).encode(x=_share("value:Q")),
        base.mark_rule(color=INK).encode(x=_share("low:Q"), x2="high:Q"),
        base.mark_point(color=INK, filled=True, size=60, opacity=1).encode(x=_share("value:Q")),
    )
    drawn: Chart = chart.properties(width=420, height=alt.Step(26)).configure_view(stroke=None)
    return drawn


def _share(field: str) -> alt.X:
    title = "share of the common items on which the pair agrees"
    return alt.X(field, title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
