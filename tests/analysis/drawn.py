"""Read texts, areas and marks with their positions from the SVG of a figure."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.document import figures

SVG = "{http://www.w3.org/2000/svg}"
ALLOWED_TAGS = {"svg", "g", "path", "text", "tspan", "line", "rect", "defs", "clipPath", "style", "title"}


@dataclass(frozen=True)
class Part:
    """An element of a figure; x, y is its anchor, or the upper left corner of an area."""

    tag: str
    role: str  # role of its group: "title-text", "axis-label", "mark", ...
    text: str
    label: str  # text for screen readers
    x: float
    y: float
    width: float
    height: float
    fill: str
    path: str

    @property
    def value(self) -> float:
        """Return the value that the area represents."""
        return float(self.label.rpartition("value: ")[2])

    def holds(self, other: "Part") -> bool:
        """Return whether the anchor of the other part is inside this area."""
        return self.x <= other.x <= self.x + self.width and self.y <= other.y <= self.y + self.height


@dataclass(frozen=True)
class Cell:
    """A cell of a heat map: the label of its row, the label of its column, and its text."""

    row: str
    column: str
    value: float
    text: str
    marked: bool
    fill: str
    ink: str


def parts(chart) -> list[Part]:
    """Return all elements in drawing order; raise ParseError if the SVG is not valid XML."""
    root = ET.fromstring(figures.to_svg(chart))
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= ALLOWED_TAGS
    return list(_walk(root, 0.0, 0.0, ""))


def texts(chart) -> list[str]:
    """Return all texts of the figure."""
    return [part.text for part in parts(chart) if part.text]


def titles(chart) -> list[str]:
    """Return the title, subtitle and axis titles."""
    return [part.text for part in parts(chart) if part.role in {"title-text", "title-subtitle", "axis-title"}]


def cells(chart) -> list[Cell]:
    """Return the cells of a heat map or matrix by their positions on the page, row by row."""
    return cells_of(parts(chart))


def cells_of(drawn: list[Part]) -> list[Cell]:
    """Return the cells from the parts of a figure."""
    shaded = [part for part in drawn if part.role == "mark" and part.width and part.fill.startswith("rgb")]
    areas = sorted(shaded, key=lambda part: (part.y, part.x))
    labels = [part for part in drawn if part.role == "axis-label"]
    points = [part for part in drawn if part.role == "mark" and part.tag == "path" and not part.width]
    numbers = [part for part in drawn if part.role == "mark" and part.tag == "text"]
    left = min(area.x for area in areas)
    found = []
    for area in areas:
        inside = [number for number in numbers if area.holds(number)]
        found.append(
            Cell(
                row=" / ".join(at.text for at in labels if at.x < left and area.y <= at.y <= area.y + area.height),
                column=" / ".join(at.text for at in labels if at.x > left and area.x <= at.x <= area.x + area.width),
                value=area.value,
                text=" / ".join(number.text for number in inside),
                marked=any(area.holds(point) for point in points),
                fill=area.fill,
                ink=inside[0].fill if inside else "",
            )
        )
    return found


def rows(chart) -> list[str]:
    """Return the rows of a heat map from top to bottom."""
    return list(dict.fromkeys(cell.row for cell in cells(chart)))


def luminance(colour: str) -> float:
    """Compute the relative luminance of a colour (WCAG 2), which is its brightness in greyscale."""
    if colour.startswith("#"):
        channels = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    else:
        channels = [int(number) for number in re.findall(r"\d+", colour)]
    linear = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Compute the contrast ratio of two colours (WCAG 2), from 1 for equal colours to 21 for black on white."""
    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


def _walk(element, x: float, y: float, role: str) -> Iterator[Part]:
    moved = re.match(r"translate\(([^,]+),([^)]+)\)", element.get("transform", ""))
    x, y = (x + float(moved[1]), y + float(moved[2])) if moved else (x, y)
    named = re.search(r"role-([\w-]+)", element.get("class", ""))
    role = named[1] if named else role
    tag = element.tag.removeprefix(SVG)
    if tag in {"text", "path", "line"}:
        text = " ".join("".join(part.itertext()) for part in element.iter(SVG + "tspan")) or element.text or ""
        area = re.fullmatch(r"M([-\d.]+),([-\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+Z", element.get("d", ""))
        at_x, at_y, width, height = map(float, area.groups()) if area else (0.0, 0.0, 0.0, 0.0)
        yield Part(
            tag, role, text, element.get("aria-label", ""), x + at_x, y + at_y, width, height,
            element.get("fill", ""), element.get("d", ""),
        )  # fmt: skip
    for child in element:
        yield from _walk(child, x, y, role)
