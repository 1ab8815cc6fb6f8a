import io
import re
import warnings

import numpy as np
import pytest
from PIL import Image

from analysis.document import figures
from labeler.studies.screen import binning, charts
from tests.analysis.drawn import contrast, parts, titles

BORDER_PX = 4  # elements this close to the border of a panel belong to its axes


def noise(n_runs=3, n_iterations=60, level=1.0, seed=1):
    return level * np.random.default_rng(seed).uniform(1, 1.2, (n_runs, n_iterations))


def drawn(runs, unit="s", rule="levels", **options):
    return charts.runs(binning.payload([np.asarray(run, float) for run in runs], unit, rule=rule), **options)


def encodings(chart):
    """Return the encodings of the dots in each panel."""
    return [panel["layer"][1]["encoding"] for panel in chart.to_dict()["concat"]]


def limits(encoding):
    """Return the range between the lanes."""
    low, high = encoding["y"]["scale"]["domain"]
    lane = (high - low) * charts.LANE_SHARE / (1 + 2 * charts.LANE_SHARE)
    return low + lane, high - lane


def named(chart):
    """Return the titles of the panels."""
    return [panel["title"] for panel in chart.to_dict()["concat"]]


def first_panel(chart):
    return next(part for part in parts(chart) if (part.width, part.height) == (170, 110))


def picture(chart, panel):
    """Return the content of a panel, in grey."""
    image = np.asarray(Image.open(io.BytesIO(figures.render(chart, "png"))).convert("L"))
    scale, more = figures.PNG_SCALE, float(re.search(r'viewBox="-?([\d.]+) ', figures.to_svg(chart))[1])  # at the left
    left, top = round((panel.x + more) * scale), round(panel.y * scale)
    return image[top : top + round(110 * scale), left : left + round(170 * scale)]


@pytest.mark.parametrize(
    ("level", "unit", "title"),
    [(1.0, "s", "time per iteration (s)"), (9e-4, "s", "time per iteration (µs)"), (1e-6, "ops/s", "ops/s"),
     (1e-6, "", "measurement")],
)  # fmt: skip
def test_times_are_in_the_unit_that_suits_their_median_and_other_units_stay(level, unit, title):
    shown = encodings(drawn(np.full((2, 60), level), unit))
    assert {encoding["y"]["title"] for encoding in shown} == {title}
    factor = 1e6 if title.endswith("(µs)") else 1
    low, high = limits(shown[0])
    assert low < level * factor < high


@pytest.mark.parametrize("rule", binning.AXIS_RULES)
def test_all_panels_have_the_axes_of_the_rule(rule):
    runs = noise(2, 200)
    expected = binning.axis_limits(list(runs), rule=rule)[rule]
    for encoding in encodings(drawn(runs, rule=rule)):
        assert limits(encoding) == pytest.approx(expected)
        assert encoding["x"]["scale"]["domain"] == [0, 200]


@pytest.mark.parametrize("view", binning.VIEWS)
def test_another_view_can_be_drawn(view):
    payload = binning.payload(list(noise(2, 200)), "s")
    for encoding in encodings(charts.runs(payload, rule=view)):
        assert limits(encoding) == pytest.approx(payload["axes"][view])


def test_how_much_lies_outside_stands_in_the_title_of_its_run():
    runs = np.ones((3, 200))
    runs[0, :6], runs[2, 5], runs[2, 6] = 50, 50, 0.001
    assert named(drawn(runs)) == ["run 1 (▲ 3 %)", "run 2", "run 3 (▲ <1 % ▼ <1 %)"]
    assert named(drawn(runs[:2], rule="full")) == ["run 1", "run 2"]


@pytest.mark.parametrize(
    ("n_iterations", "where", "number", "median"),
    [(49, list(range(49)), 7, noise(2, 49)[0, 7]), (60, [0, 60], 0, np.median(noise(2, 60)[0])),
     (200, [25, 75, 125, 175], 1, np.median(noise(2, 200)[0, 50:100]))],
)  # fmt: skip
def test_short_runs_show_every_iteration_and_long_runs_medians_of_fifty(n_iterations, where, number, median):
    chart = drawn(noise(2, n_iterations)).to_dict()
    points = chart["datasets"][chart["concat"][0]["layer"][4]["data"]["name"]]
    assert [point["iteration"] for point in points] == where
    assert points[number]["median"] == pytest.approx(median)


@pytest.mark.parametrize(
    "runs",
    [
        np.zeros((2, 100)), [[1.0], [2.0]], [[1.0] * 10, [2.0] * 3000], noise(2, 70, level=1e300),
        noise(2, 70, level=-1.0),
    ],
    ids=["constant", "one iteration", "unequal", "huge", "negative"],
)  # fmt: skip
def test_every_kind_of_runs_is_drawn_without_a_warning(runs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f"run {len(runs)}" in " ".join(titles(drawn(runs)))


@pytest.mark.slow
@pytest.mark.parametrize(("n_iterations", "at"), [(20, 10), (50, 25), (200, 100), (3000, 1500), (3000, 2999)])
def test_no_spike_is_lost(n_iterations, at):
    runs = noise(2, n_iterations)
    runs[1, n_iterations // 2] = 3.0  # so that the axis is the same without the spike
    chart = drawn(runs, rule="full")
    panel, upper = first_panel(chart), slice(0, 110)  # the half that contains only the spike
    runs[0, at] = 2.9
    spiky = drawn(runs, rule="full")
    assert not np.array_equal(picture(spiky, panel)[upper], picture(chart, panel)[upper])


def test_runs_of_fifty_iterations_are_not_invisible():
    chart = drawn(noise(2, 50))
    assert picture(chart, first_panel(chart))[BORDER_PX:-BORDER_PX, BORDER_PX:-BORDER_PX].min() < 200


def test_band_line_and_paper_differ_in_greyscale():
    assert contrast(charts.INK, charts.BAND) > 3
    assert contrast(charts.BAND, charts.PAPER) > 1.8


def test_a_hostile_unit_is_text():
    assert "<script>alert('1')</script>" in titles(drawn(noise(), "<script>alert('1')</script>"))


def test_the_runs_are_written_as_pdf():
    assert len(figures.render(drawn(noise(2, 300)), "pdf")) > 5000
