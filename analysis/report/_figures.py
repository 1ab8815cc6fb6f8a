"""Figures of the report as SVG text: readable in greyscale, every axis with its unit."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd
import vl_convert

Chart = alt.Chart | alt.LayerChart | alt.FacetChart

INK, SOFT = "#1b2a41", "#8a94a6"


def to_svg(chart: Chart) -> str:
    """The chart as SVG, without a browser and without the network."""
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
