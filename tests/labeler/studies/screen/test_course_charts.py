"""Charts of the course of a study: each day is named once, and no forecast goes back in time."""

from datetime import UTC, date, datetime, timedelta

import pytest

from labeler.studies.screen import course_charts

BEGIN = datetime(2026, 11, 28, 9, 20, tzinfo=UTC)


def chart(hours, end=None, between=None, n_all=99):
    counts = [(BEGIN + timedelta(hours=hour), 1) for hour in hours]
    return course_charts.labels_by_day(counts, n_all, end, between, now=counts[-1][0] + timedelta(minutes=30)).to_dict()


def axis(drawn):
    return next(layer["encoding"]["x"]["axis"] for layer in drawn["layer"] if "x" in layer["encoding"])


@pytest.mark.parametrize(
    ("hours", "form", "most"),
    [((0, 1), "%H:%M", 9), ((0, 30), "%a %H:%M", 9), ((0, 72), "%a %e", 4), ((0, 24 * 60), "%e %b", 9)],
)
def test_an_axis_names_each_moment_once(hours, form, most):
    shown = axis(chart(hours))
    times = [  # numbers of milliseconds would leave the axis without words in a browser
        datetime(at["year"], at["month"], at["date"], at["hours"], at["minutes"], tzinfo=UTC) for at in shown["values"]
    ]
    assert shown["format"] == form
    assert 2 <= len(times) <= most
    assert len({time.strftime(form) for time in times}) == len(times)


def test_a_forecast_for_today_ends_after_now():
    today = date(2026, 11, 28)
    drawn = chart((0, 5), end=today, between=(today, today + timedelta(days=1)))
    rows = [row for rows in drawn["datasets"].values() for row in rows if "time" in row]
    now = max(row["time"] for row in rows if row["labels"] == 2)
    assert [row["time"] > now for row in rows if row["labels"] == 99] == [True, True, True]
