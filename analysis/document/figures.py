"""Define the common style of all figures: they are readable in greyscale and show the unit on every axis.

Colour is never the only information. Dark and light colours also differ in greyscale, and important parts have marks or
words.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import lru_cache, partial
from typing import Any

import altair as alt
import vl_convert

from analysis.document._content import clean

Chart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart | alt.HConcatChart

INK, SOFT, PAPER = "#1b2a41", "#8a94a6", "#ffffff"
FORMATS = ("svg", "png", "pdf")
PNG_SCALE = 2.0


def render(chart: Chart, form: str) -> bytes:
    """Render a figure as "svg", "png" (twice the size on screen) or "pdf", without a browser or network access.

    Raises ValueError if the form is unknown.
    """
    if form not in FORMATS:
        raise ValueError(f"format must be one of: {', '.join(FORMATS)}; got {form!r}")
    svg = to_svg(chart)
    if form == "png":
        return vl_convert.svg_to_png(svg, scale=PNG_SCALE)
    return svg_to_pdf(svg) if form == "pdf" else svg.encode()


def to_svg(chart: Chart) -> str:
    """Render a figure as SVG text, without a browser and without network access."""
    return _svg_of(_spec(chart))


def to_svgs(charts: Mapping[str, Chart], executor: Executor | None = None) -> dict[str, str]:
    """Render figures as SVG text.

    With an executor, another process renders them, and its memory for rendering (100 MB and more) is then free again.
    """
    if executor is None:
        return {name: to_svg(chart) for name, chart in charts.items()}
    svgs = executor.map(_rendering, map(_spec, charts.values()))
    return {name: _with_own_ids(svg) for name, svg in zip(charts, svgs, strict=True)}


def prepare_rendering(executor: Executor) -> None:
    """Let a process load what it needs for `to_svgs`, which takes about a second, while this process goes on."""
    executor.submit(_rendering, '{"data": {"values": []}, "mark": "point"}')


_rendering = partial(vl_convert.vegalite_to_svg, allowed_base_urls=[])


def svg_to_pdf(svg: str) -> bytes:
    """Convert a figure from SVG text to PDF for LaTeX."""
    return vl_convert.svg_to_pdf(svg)


def heading(title: str, subtitle: str | Sequence[str] = (), **more: Any) -> alt.TitleParams:
    """Build the title of a figure or panel, with lines below it; empty lines are left out."""
    lines = [subtitle] if isinstance(subtitle, str) else subtitle
    below = {"subtitle": written} if (written := clean([line for line in lines if line])) else {}
    return alt.TitleParams(clean(title), **{"anchor": "start", "fontSize": 12, "offset": 10, **below, **more})


def framed(layers: Sequence[Any], title: str, subtitle: str | Sequence[str] = ()) -> alt.LayerChart:
    """Put the layers of a figure together below its title, without a frame around the marks."""
    return alt.layer(*layers, title=heading(title, subtitle)).configure_view(stroke=None)


def readable(typical: float, unit: str) -> tuple[float, str]:
    """Return a factor and a unit for display, so that short times are shown in ms, µs or ns."""
    if unit != "s":
        return 1.0, unit
    scales = ((1.0, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns"))
    return next((by, name) for by, name in scales if abs(typical) * by >= 0.1 or by == 1e9)


def names_axis(names: Sequence[str | Sequence[str]], **more: Any) -> dict[str, Any]:
    """Build an axis that shows names at positions 0, 1, ...; equal names keep separate positions."""
    texts = json.dumps(clean(list(names)))
    options = {"labelLimit": 0, "labelOverlap": False, "ticks": False, "domain": False} | more
    return {"labelExpr": f"{texts}[datum.value]", **options}


def _with_own_ids(svg: str) -> str:
    """Replace the ids in an SVG figure by ids that depend on the content of the figure.

    With the new ids, equal figures have equal bytes, and different figures on a page have different ids. Each id
    contains a hash of the figure and a number. Vega itself numbers clip paths across all figures of a process. It also
    gives an empty group the role of a symbol without a name, which screen readers would announce.
    """
    numbers: dict[str, int] = {}
    named = _NAMELESS.sub("", _with_wide_margins(svg))
    numbered = _CLIP.sub(lambda match: f"clip{numbers.setdefault(match[1], len(numbers))}", named)
    if not numbers:
        return named
    digest = hashlib.sha256(numbered.encode()).hexdigest()[:8]
    return _CLIP.sub(rf"clip-{digest}-\1", numbered)


_CLIP = re.compile(r'(?<=id="|rl\(#)clip(\d+)(?=[")])')  # a look-behind needs a fixed length


_NAMELESS = re.compile(r' role="graphics-symbol" aria-roledescription="[\w -]+ mark container"(?=></g>|/>)')


def _with_wide_margins(svg: str) -> str:
    """Widen the margins, because texts in the font of a reader can be an eighth wider than Vega expects."""
    start = _START.match(svg)
    if start is None:
        return svg
    width, height, left = (float(start[number]) for number in (2, 3, 5))
    more = math.ceil(0.15 * left)
    wide = math.ceil(more + 1.04 * width)
    size = f'width="{wide}" height="{height:g}"'
    head = f'{start[1]}{size} viewBox="{-more} 0 {wide} {height:g}"><rect x="{-more}" {size}{start[4]}'
    return head + svg[start.end() :]


_START = re.compile(
    r'(<svg [^>]*?)width="([\d.]+)" height="([\d.]+)" viewBox="[^"]*"><rect width="[\d.]+" height="[\d.]+"'
    r'( fill="white"/><g [^>]*translate\(([\d.]+),[^>]*>)'
)


@lru_cache(maxsize=16)  # pages show the same figure often, and rendering takes up to a second
def _svg_of(spec: str) -> str:
    return _with_own_ids(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))


def _spec(chart: Chart) -> str:
    """Return the figure with all its data as JSON text that is valid in XML.

    Altair's limit on the number of rows does not apply.
    """
    with alt.data_transformers.enable("default", max_rows=None):
        return json.dumps(clean(chart.to_dict(validate=False)))
