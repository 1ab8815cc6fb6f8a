"""Small pictures of an item: well-formed, with all runs and every spike, small, and without scripts."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from labeler.studies.screen import binning, thumbnails
from tests.conftest import examples

SVG = "{http://www.w3.org/2000/svg}"
WIDTH, HEIGHT = 34, 26


def noise(n_runs=10, n_iterations=3000, seed=1):
    return list(np.random.default_rng(seed).uniform(1.0, 1.05, (n_runs, n_iterations)))


def drawn(runs, rule="levels", label="The runs of item ABC", panel=(WIDTH, HEIGHT)):
    return thumbnails.svg(binning.payload(runs, "s", rule=rule), label=label, panel=panel)


def panels(text):
    return ElementTree.fromstring(text).findall(f"{SVG}g")


def points(path):
    """Return the points of a path as (x, y)."""
    x = y = 0.0
    found = []
    for command, text in re.findall(r"([Mlhv])([-\d. ]*)", path.attrib["d"]):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", text)]
        right, down = {"h": (numbers[0], 0), "v": (0, numbers[0])}.get(command, tuple(numbers))
        x, y = (right, down) if command == "M" else (x + right, y + down)
        found.append((round(x, 1), round(y, 1)))
    return found


def band_and_line(panel):
    """Lanes come first; dots (if there is room) and bars have other colours."""
    paths = panel.findall(f"{SVG}path")
    (band,) = (path for path in paths if path.attrib.get("fill") == thumbnails.BAND)
    (line,) = (path for path in paths if path.attrib.get("stroke") == thumbnails.INK)
    return points(band), points(line)


def bars(panel):
    """Return the number of groups of bars above the axis and below it."""
    paths = [path for path in panel.findall(f"{SVG}path") if path.attrib.get("fill") == thumbnails.BEYOND]
    places = [[float(y) for y in re.findall(r"M[\d.]+ ([\d.]+)", path.attrib["d"])] for path in paths]
    return {"above" if max(ys) < HEIGHT / 2 else "below": len(ys) for ys in places}


def place(panel):
    x, y = re.fullmatch(r"translate\((\d+) (\d+)\)", panel.attrib["transform"]).groups()
    return int(x), int(y)


@pytest.mark.parametrize("n_runs", range(2, 21))
def test_every_run_has_a_panel_of_its_own_inside_the_picture(n_runs):
    rule = list(binning.AXIS_RULES)[n_runs % len(binning.AXIS_RULES)]
    text = drawn(noise(n_runs, 200), rule)
    root = ElementTree.fromstring(text)
    places = [place(panel) for panel in panels(text)]
    assert len(set(places)) == len(places) == n_runs
    columns, rows = (len(set(axis)) for axis in zip(*places, strict=True))
    assert columns <= 5
    assert (rows - 1) * columns < n_runs <= rows * columns
    left, top, width, height = (float(number) for number in root.attrib["viewBox"].split())
    assert (left, top) == (-0.5, -0.5)  # frames of one pixel are drawn in full
    assert (float(root.attrib["width"]), float(root.attrib["height"])) == (width, height)
    assert max(x for x, _ in places) + WIDTH <= width - 0.5
    assert max(y for _, y in places) + HEIGHT <= height - 0.5


lengths = st.lists(st.integers(1, 700), min_size=2, max_size=20)


@settings(max_examples=examples(60), deadline=None)
@given(lengths, st.integers(0, 99), st.sampled_from(binning.AXIS_RULES), st.sampled_from([(34, 26), (118, 84), (2, 2)]))
def test_nothing_is_drawn_outside_a_panel_whatever_the_lengths_of_runs(lengths, seed, rule, panel):
    rng = np.random.default_rng(seed)
    runs = [10.0 ** rng.uniform(-300, 300) * rng.lognormal(0, 2, n) for n in lengths]
    text = drawn(runs, rule, panel=panel)
    assert "nan" not in text
    assert len(panels(text)) == len(lengths)
    for shown, n in zip(panels(text), lengths, strict=True):
        end = panel[0] * n / max(lengths)
        for path in band_and_line(shown):
            assert all(0 <= x <= end + 0.05 and 0 <= y <= panel[1] for x, y in path)


@pytest.mark.parametrize("up", [True, False])
def test_iterations_beyond_the_axis_have_a_bar_in_their_lane_and_only_in_their_run(up):
    runs = noise(3, 3000)
    runs[1][1000:1010] = 9.0 if up else 0.1
    assert [bars(panel) for panel in panels(drawn(runs))] == [{}, {"above" if up else "below": 1}, {}]
    assert [bars(panel) for panel in panels(drawn(runs, "full"))] == [{}, {}, {}]


def test_spikes_are_dots_where_there_is_room_and_no_band():
    runs = noise(3, 3000)
    runs[1][1000] = 1.1
    small, large = (drawn(runs, "full", panel=panel) for panel in ((WIDTH, HEIGHT), (118, 84)))
    assert thumbnails.DOT not in small
    assert thumbnails.DOT in large
    for shown in panels(large):  # no solid band: half of the iterations, between lanes
        heights = [y for _, y in band_and_line(shown)[0]]
        assert max(heights) - min(heights) < 84 / 2


def test_the_band_of_a_run_worked_by_hand():
    # full axis 1 .. 3 between lanes of 2 of 26 pixels: 1.0 is at 24, 3.0 at 2; two iterations share 34 pixels
    band, line = band_and_line(panels(drawn([np.array([1.0, 2.0]), np.array([3.0, 3.0])], "full"))[0])
    assert band == [(0, 24), (17, 24), (17, 13), (34, 13), (17, 13), (17, 24), (0, 24)]
    assert line == [(0, 24), (8.5, 24), (25.5, 13), (34, 13)]


@pytest.mark.parametrize("rule", ["core", "levels"])
def test_a_run_on_a_level_of_its_own_lies_apart(rule):
    runs = noise(10)
    runs[4] *= 1.2
    middles = [np.mean([y for _, y in band_and_line(shown)[1]]) for shown in panels(drawn(runs, rule))]
    others = middles[:4] + middles[5:]
    assert np.ptp(others) < 1
    assert middles[4] < min(others) - HEIGHT / 2


HOSTILE = [
    '"><script>alert(1)</script>', "</svg><img src=x onerror=alert(1)>", "a & b &lt;c&gt;", "it's", '" onload="x',
    "]]>", "<!--", "&#x3c;script>", "ünïcode \u202e \U0001f600",
]  # fmt: skip


@pytest.mark.parametrize("label", HOSTILE)
def test_a_hostile_text_stays_a_text(label):
    text = drawn(noise(2, 60), label=label)
    root = ElementTree.fromstring(text)
    assert root.attrib["aria-label"] == label
    harmless = ElementTree.fromstring(drawn(noise(2, 60)))
    assert [element.tag for element in root.iter()] == [element.tag for element in harmless.iter()]
    assert set(root.attrib) == set(harmless.attrib)


def test_a_picture_is_an_image_with_words_and_runs_nothing():
    root = ElementTree.fromstring(drawn(noise()))
    assert (root.tag, root.attrib["role"]) == (f"{SVG}svg", "img")
    assert root.attrib["aria-label"] == "The runs of item ABC"
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {"svg", "style", "g", "path", "rect"}


@pytest.mark.parametrize("n_runs", [2, 10, 20])
@pytest.mark.parametrize("n_iterations", [20, 299, 301, 3000, 30_000])
def test_a_thumbnail_is_smaller_than_40_kb_however_long_the_runs(n_runs, n_iterations):
    assert len(drawn(noise(n_runs, n_iterations)).encode()) < 40_000
