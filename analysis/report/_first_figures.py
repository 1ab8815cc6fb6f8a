"""The figures of the first screen of a report: how clear the answers are, whether people agree, and each classifier.

Each figure is drawn for one of two widths. A narrow figure is laid out anew, so that its texts stay readable.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

from analysis.document import joined, percent, shortened
from analysis.document.drawing import Drawing, text_width
from analysis.raters.agreement import PairAgreement
from analysis.raters.evaluation import BETTER
from analysis.report._figures import SHADES
from analysis.report._report import Report, judges_classifiers
from analysis.report._settings import CategorySet, row_title
from analysis.statistics.intervals import Estimate

CLEAR, PAIRS, METHODS = "clear-answers", "pairs-of-people", "methods-and-people"
WIDE, NARROW = 600, 340  # width of a figure in pixels: beside a text, and on a telephone
MOST_SQUARES = 100  # items; more items are a bar
MOST_IN_MATRIX = 8  # reviewers; more reviewers are dots on one line
SQUARE, SPACE = 18, 4
NAME = 26  # maximum number of characters of a name
ALWAYS = "always "  # how the name of the majority rule begins
DARKEST = 0.6  # share of the colour in a cell with full agreement, so that its text stays readable


def first_figures(report: Report, *, narrow: bool = False, adapts: bool = False) -> dict[str, str]:
    """Draw the figures that have data, as name -> SVG text."""
    width = NARROW if narrow else WIDE
    parts: Mapping[str, Callable[[Report, float], Drawing | None]] = {
        CLEAR: _clear, PAIRS: _pairs, METHODS: _methods
    }  # fmt: skip
    drawn = {name: draw(report, width) for name, draw in parts.items()}
    return {name: drawing.to_svg(adapts=adapts) for name, drawing in drawn.items() if drawing is not None}


@dataclass(frozen=True)
class Group:
    """Items with the same kind of result."""

    name: str
    n: int
    fill: str


def groups_of_items(report: Report) -> list[Group]:
    """Return how many items are clear, by category, and how many are not; groups without an item are left out."""
    decided, of = report.consensus, report.style.category_set
    colours = _colours(report, of)
    groups = [Group(name, decided.agreed_by_category[name], colours[name]) for name in of.names]
    groups += [
        Group("split, settled", decided.settled, "hatched"),
        Group("split, open", decided.split - decided.settled, ""),
        Group("fewer than two labels", decided.incomplete, "none"),
    ]
    return [group for group in groups if group.n]


def _colours(report: Report, of: CategorySet) -> dict[str, str]:
    if of.is_binary:
        return {of.negative: "light", str(of.positive): "dark"}
    asked = {row["name"]: row.get("colour") for row in (report.question or {}).get("category", ())}
    return {name: asked.get(name) or shade for name, shade in zip(of.names, cycle(SHADES), strict=False)}


def _clear(report: Report, width: float) -> Drawing | None:
    groups = groups_of_items(report)
    if not groups:
        return None
    words = joined([f"{group.n} {group.name}" for group in groups])
    drawing = Drawing(CLEAR, width, words)
    n = sum(group.n for group in groups)
    (_squares if n <= MOST_SQUARES else _bar)(drawing, groups)
    return drawing


def _squares(drawing: Drawing, groups: Sequence[Group]) -> None:
    """Draw a square for each item, in blocks of groups; a block that does not fit begins a new line."""
    step, gap = SQUARE + SPACE, 26
    per_line = int(drawing.width // step)
    n_rows = 2 if sum(group.n for group in groups) <= 40 else 3
    x, y, tallest = 0.0, 0.0, 0
    for group in groups:
        columns = min(-(-group.n // n_rows), per_line)
        rows = -(-group.n // columns)
        wide = max(columns * step - SPACE, _legend_width(group))
        if x and x + wide > drawing.width:
            x, y, tallest = 0.0, y + tallest * step + 34, 0
        for at in range(group.n):
            _cell(drawing, x + at % columns * step, y + at // columns * step, SQUARE, SQUARE, group)
        _count(drawing, x, y + rows * step + 14, group)
        x, tallest = x + wide + gap, max(tallest, rows)


def _bar(drawing: Drawing, groups: Sequence[Group]) -> None:
    """Draw one bar of all items, with the groups named below it."""
    n, x = sum(group.n for group in groups), 0.0
    for group in groups:
        part = drawing.width * group.n / n
        _cell(drawing, x, 0, max(part - 2, 1), 34, group)
        x += part
    x, y = 0.0, 62.0
    for group in groups:
        wide = _legend_width(group) + SQUARE + 8
        if x and x + wide > drawing.width:
            x, y = 0.0, y + 26
        _cell(drawing, x, y - 13, SQUARE, SQUARE - 2, group)
        _count(drawing, x + SQUARE + 8, y, group)
        x += wide + 26


def _cell(drawing: Drawing, x: float, y: float, width: float, height: float, group: Group) -> None:
    """Draw the area of a group: filled, hatched, with a frame (open) or with a cross (no result)."""
    if group.fill not in ("", "none"):
        drawing.rect(x, y, width, height, group.fill)
        return
    drawing.rect(x + 0.75, y + 0.75, max(width - 1.5, 0.5), height - 1.5, "paper", stroke="hatch")
    if group.fill == "none" and width >= SQUARE:
        drawing.line(x + 5, y + 5, x + SQUARE - 5, y + height - 5, "hatch", 1.5)
        drawing.line(x + SQUARE - 5, y + 5, x + 5, y + height - 5, "hatch", 1.5)


def _count(drawing: Drawing, x: float, y: float, group: Group) -> None:
    number = f"{group.n}"
    drawing.text(x, y, number, bold=True)
    drawing.text(x + text_width(number, bold=True) + 7, y, _group_name(group))


def _group_name(group: Group) -> str:
    return shortened([group.name], NAME)[group.name]


def _legend_width(group: Group) -> float:
    return text_width(f"{group.n}", bold=True) + 7 + text_width(_group_name(group))


def _pairs(report: Report, width: float) -> Drawing | None:
    pairs = [pair for pair in report.agreement.pairs if pair.percent.value is not None]
    if not pairs:
        return None
    names = list(dict.fromkeys(name for pair in pairs for name in (pair.a, pair.b)))
    shares = [pair.percent.value or 0.0 for pair in pairs]
    if len(names) <= MOST_IN_MATRIX:
        words = joined([f"{pair.a} and {pair.b} {percent(pair.percent.value)}" for pair in pairs])
        drawing = Drawing(PAIRS, width, f"Agreement of pairs of reviewers: {words}")
        _matrix(drawing, names, pairs, report)
        return drawing
    ends = f"from {percent(min(shares))} to {percent(max(shares))}"
    drawing = Drawing(PAIRS, width, f"Agreement of {len(pairs)} pairs of reviewers, {ends}")
    _dots(drawing, shares, report)
    return drawing


def _matrix(drawing: Drawing, names: Sequence[str], pairs: Sequence[PairAgreement], report: Report) -> None:
    """Draw the pairs below a diagonal of names, like the distances of towns on a map."""
    short = shortened(names, NAME if drawing.width == WIDE else 12)
    last = max(text_width(short[name], bold=True) for name in names[-2:]) + 8
    wide, high = min(92.0, (drawing.width - last) / (len(names) - 1)), 34.0
    place = {name: at for at, name in enumerate(names)}
    least = report.agreement.least_pair
    unit = " %" if wide >= 48 else ""
    for at, name in enumerate(names):
        drawing.text(at * wide + 4, at * high + 22, short[name], bold=True)
    for pair in pairs:
        (column, row), share = sorted((place[pair.a], place[pair.b])), pair.percent.value or 0.0
        is_least = least is not None and {least.a, least.b} == {pair.a, pair.b}
        x, y = column * wide, row * high
        frame = {"stroke": "mark", "stroke-width": "2.5"} if is_least else {}
        strength = f"{DARKEST * share**2:.3f}"  # squared, because most shares are above one half
        drawing.rect(x + 2, y, wide - 4, high - 4, "shade", **{"fill-opacity": strength, **frame})
        drawing.text(x + wide / 2, y + 20, f"{100 * share:.0f}{unit}", end="middle", bold=is_least)


def _dots(drawing: Drawing, shares: Sequence[float], report: Report) -> None:
    """Draw each pair as a dot above its agreement; dots at the same place stand on each other."""
    left, right = 14.0, drawing.width - 20
    heights: dict[int, int] = {}
    for share in shares:
        heights[round(50 * share)] = heights.get(round(50 * share), 0) + 1
    step = min(9.0, 150 / max(heights.values()))
    floor = step * max(heights.values()) + 10
    for place, n in heights.items():
        for at in range(n):
            drawing.circle(left + (right - left) * place / 50, floor - step * (at + 0.5), 3.5, "dark")
    overall = report.agreement.percent.value
    if overall is not None:
        x = left + (right - left) * overall
        drawing.line(x, 0, x, floor, "mark", 1.5)
        drawing.text(x, floor + 36, f"all pairs {100 * overall:.0f} %", end="middle", fill="mark")
    _axis(drawing, left, right, floor, floor, labels_at=floor + 18)


def _axis(drawing: Drawing, left: float, right: float, top: float, floor: float, *, labels_at: float) -> None:
    drawing.line(left, floor, right, floor, "line")
    for tick in range(0, 101, 25):
        x = left + (right - left) * tick / 100
        drawing.line(x, min(top, floor - 4), x, floor, "line")
        drawing.text(x, labels_at, f"{tick} %", end="middle", fill="soft")


@dataclass(frozen=True)
class Dot:
    """A row of the figure of classifiers: the agreement of a classifier, or of the majority rule, with people."""

    name: str
    agreement: Estimate
    is_rule: bool = False
    is_better: bool = False


def rows_of_methods(report: Report, *, judges: bool) -> list[Dot]:
    """Return the classifiers, the one that agrees most first, and then the majority rule.

    If the labels cannot judge classifiers, the names decide the order, so that nothing looks like a ranking.
    """
    found = [(name, row.people) for name, row in report.classifiers.items() if row.people.agreement.value is not None]
    if judges:
        found.sort(key=lambda entry: -(entry[1].agreement.value or 0.0))
    rows = [
        Dot(row_title(name), people.agreement, is_better=judges and people.verdict == BETTER) for name, people in found
    ]
    most = max((people for _, people in found), key=lambda people: people.n, default=None)
    if most is not None and most.rule.value is not None:
        category = str(most.rule_category)
        rows.append(Dot(f"{ALWAYS}{shortened([category], NAME - len(ALWAYS))[category]}", most.rule, is_rule=True))
    return rows


def _methods(report: Report, width: float) -> Drawing | None:
    rows, people = rows_of_methods(report, judges=judges_classifiers(report)), report.agreement.percent
    if not rows:
        return None
    words = joined([f"{row.name} {percent(row.agreement.value)}" for row in rows])
    drawing = Drawing(METHODS, width, f"Agreement with people: {words}; people with each other {percent(people.value)}")
    is_wide = width == WIDE
    short = shortened([row.name for row in rows], NAME)
    left = max(text_width(text, bold=True) for text in short.values()) + 12 if is_wide else 12.0
    right, top, step = width - 46, 26.0, 28.0 if is_wide else 44.0
    floor = top + step * len(rows)

    def at(share: float) -> float:
        return left + (right - left) * share

    if people.value is not None:
        low, high = (people.value if end is None else end for end in (people.low, people.high))
        drawing.rect(at(low), 6, max(at(high) - at(low), 3), floor - 6, "band")
    _axis(drawing, left, right, 6, floor, labels_at=floor + 18)
    if people.value is not None:
        title = "people with each other"
        half = text_width(title) / 2
        drawing.text(min(max(at(people.value), half), width - half), 19, title, end="middle", fill="soft")
    for place, row in enumerate(rows):
        y = top + step * (place + 0.5) + (0 if is_wide else 8)
        _method(drawing, row, short[row.name], at, y, left, is_wide=is_wide)
    return drawing


def _method(
    drawing: Drawing, row: Dot, name: str, at: Callable[[float], float], y: float, left: float, *, is_wide: bool
) -> None:
    fill, stroke = ("soft", "hatch") if row.is_rule else ("ink", "dark")
    drawing.text(*(left - 12, y + 4) if is_wide else (left, y - 10), name, end="end" if is_wide else "start",
                 fill=fill, bold=row.is_better)  # fmt: skip
    value, low, high = row.agreement.value or 0.0, row.agreement.low, row.agreement.high
    if low is not None and high is not None:
        drawing.line(at(low), y, at(high), y, stroke, 3)
    if row.is_rule:
        drawing.rect(at(value) - 5, y - 5, 10, 10, "paper", **{"stroke": "hatch", "stroke-width": "2"})
    else:
        drawing.circle(at(value), y, 6, "dark")
    drawing.text(at(1) + 10, y + 4, f"{100 * value:.0f} %", fill=fill, bold=row.is_better)
