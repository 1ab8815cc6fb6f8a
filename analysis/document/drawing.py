"""Draw simple figures as SVG, which fit a width, need no browser, and can follow the dark theme of a reader.

Altair draws the figures with axes; these drawings are for what it does not draw: squares, hatched areas, and one layout
for each width.
"""

from xml.etree.ElementTree import Element, SubElement, tostring

from analysis.document._content import clean

FONT_PX = 13  # size of all texts, at the natural size of the drawing
LETTER_PX = 7.2  # width of a letter, a little more than in most fonts
DARK_SIDE = "@media screen and (prefers-color-scheme: dark)"
ADAPTS = "adapts"  # class of a drawing that follows the theme of the reader

# name -> colour on paper, colour on a dark page; neighbours also differ in greyscale
COLOURS = {
    "ink": ("#12233d", "#e6edf7"), "soft": ("#5b6577", "#a3aec0"), "line": ("#c9d0dc", "#3a4558"),
    "paper": ("#ffffff", "#14181f"), "light": ("#9fc3e6", "#4d7fb3"), "dark": ("#1f5b99", "#a9d0f5"),
    "shade": ("#1f5b99", "#3f7fc4"), "band": ("#e4e8ee", "#2a323d"), "grey": ("#d9dde4", "#3a4558"),
    "hatch": ("#7c8798", "#8f9bb0"), "mark": ("#b4531a", "#f0a06a"),
}  # fmt: skip


class Drawing:
    """A figure in SVG; `words` describe it for people who cannot see it."""

    def __init__(self, name: str, width: float, words: str) -> None:
        """Begin an empty drawing of this width in pixels."""
        self.name, self.width, self.height = name, width, 0.0
        self._root = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "aria-label": clean(words)})
        self._hatch = ""

    def rect(self, x: float, y: float, width: float, height: float, fill: str, **more: str) -> None:
        """Draw a rectangle with rounded corners; `fill` names a colour, is a colour, or is "hatched"."""
        self._reaches(y + height)
        fill = f"url(#{self._hatching()})" if fill == "hatched" else fill
        self._add("rect", {"x": x, "y": y, "width": width, "height": height, "rx": 3}, fill=fill, **more)

    def line(self, x1: float, y1: float, x2: float, y2: float, stroke: str, width: float = 1) -> None:
        """Draw a line."""
        self._reaches(max(y1, y2))
        self._add("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "stroke-width": width}, stroke=stroke)

    def circle(self, x: float, y: float, radius: float, fill: str) -> None:
        """Draw a disc."""
        self._reaches(y + radius)
        self._add("circle", {"cx": x, "cy": y, "r": radius}, fill=fill)

    def text(self, x: float, y: float, text: str, *, end: str = "start", fill: str = "ink", bold: bool = False) -> None:
        """Write a text on the baseline y; `end` says which part of it is at x: start, middle or end."""
        self._reaches(y + 4)
        weight = {"font-weight": "600"} if bold else {}
        element = self._add("text", {"x": x, "y": y, "text-anchor": end}, fill=fill, **weight)
        element.text = clean(text)

    def to_svg(self, *, adapts: bool) -> str:
        """Return the drawing as text; if it `adapts`, its colours follow the theme of the reader."""
        size = {"width": f"{self.width:g}", "height": f"{self.height:g}"}
        root = Element("svg", {**self._root.attrib, **size, "viewBox": f"0 0 {self.width:g} {self.height:g}"})
        root.attrib |= {"font-family": "system-ui, sans-serif", "font-size": str(FONT_PX)}
        if adapts:
            root.set("class", ADAPTS)
            rules = (f".{part}-{name} {{ {part}: {dark} }}" for name, (_, dark) in COLOURS.items() for part in _PARTS)
            SubElement(root, "style").text = f"{DARK_SIDE} {{ {' '.join(rules)} }}"
        root.extend(self._root)
        return tostring(root, encoding="unicode")

    def _add(self, kind: str, numbers: dict[str, float | str], **colours: str) -> Element:
        """Add an element with colours by name, which a reader's dark theme can change."""
        element = SubElement(self._root, kind, {name: _written(value) for name, value in numbers.items()})
        classes = []
        for part, name in colours.items():
            if name in COLOURS:
                classes.append(f"{part}-{name}")
            if name:
                element.set(part, COLOURS[name][0] if name in COLOURS else name)
        if classes:
            element.set("class", " ".join(classes))
        return element

    def _hatching(self) -> str:
        """Return the name of the pattern of hatched areas, which no other drawing of the page has."""
        if not self._hatch:
            self._hatch = f"hatch-{self.name}-{self.width:g}"
            size = {"width": "6", "height": "6", "patternUnits": "userSpaceOnUse", "patternTransform": "rotate(45)"}
            pattern = SubElement(SubElement(self._root, "defs"), "pattern", {"id": self._hatch, **size})
            for width, name in (("6", "grey"), ("2", "hatch")):
                SubElement(pattern, "rect", {"width": width, "height": "6", "fill": COLOURS[name][0],
                                             "class": f"fill-{name}"})  # fmt: skip
        return self._hatch

    def _reaches(self, y: float) -> None:
        self.height = max(self.height, y + 2)


_PARTS = ("fill", "stroke")


def _written(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def text_width(text: str, *, bold: bool = False) -> float:
    """Return about how many pixels a text needs; wide characters, such as Chinese ones, count twice."""
    letters = sum(2 if ord(letter) >= 0x1100 else 1 for letter in text)
    return letters * LETTER_PX * (1.06 if bold else 1)
