"""The page Progress, which shows the progress of each reviewer, but no answers.

After the study is closed, the page also shows the agreement.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import streamlit as st

from labeler.plan.lifecycle import Action
from labeler.screen import course_charts
from labeler.service import overview
from labeler.service.people import identity
from labeler.service.results import splits
from labeler.service.results.splits import InterimAgreement
from labeler.service.study import progress
from labeler.store import Database, open_database
from labeler.ui.coordinator.escaping import escape_markdown

REFRESH_S = 20
NAME_PX, NUMBER_PX, SHORT_PX, FINISH_PX = 84, 76, 64, 176  # both tables fit into a window of 800 px
PROGRESS = ("reviewer", "state", "share", "labels", "finish")
PACE = ("reviewer", "days", "seconds per item", "labels per day", "hours left", "not sure", "last seen (UTC)")


def render(db: Database, person: str) -> None:
    """Show the progress, which is refreshed periodically, and the agreement.

    The agreement is shown only to a person who may see it.
    """
    st.write("See the progress and the estimated finish of each reviewer. This page shows no answers.")
    watch(str(db.path), person)
    st.subheader("Agreement so far", anchor=False)
    hidden = identity.why_hidden(db, person, Action.SEE_AGREEMENT)
    if hidden:
        st.caption(hidden)
    else:
        agreement(splits.current_agreement(db))


@st.fragment(run_every=REFRESH_S)
def watch(path: str, person: str) -> None:
    """Show the overall progress, the labels over time, the time per item, and a row per reviewer.

    The page refreshes this part periodically.
    """
    now = datetime.now(UTC)
    with open_database(Path(path)) as db:
        if not identity.is_coordinator(db, person):
            return
        paces = progress.reviewer_paces(db, now=now)
        counts, seconds = overview.labels_over_time(db), progress.time_on_task(db)
    n_done, n_all = (sum(getattr(pace, name) for pace in paces) for name in ("n_done", "n_assigned"))
    if not n_all:
        st.info("There is no plan yet. Create it on the page Plan; progress then appears here.")
        return
    st.progress(n_done / n_all, f"{n_done} of {n_all} labels given")
    if finish := progress.finish_of_all(paces):
        st.write(escape_markdown(finish))
    for sentence in filter(None, (progress.warning(paces), progress.fast_warning(paces))):
        st.warning(escape_markdown(sentence))
    table(paces)
    left, right = st.columns(2) if len(counts) > 1 else (st, st)
    if len(counts) > 1:
        left.altair_chart(course_charts.labels_over_time(counts))
    if seconds:
        right.altair_chart(course_charts.time_per_item(seconds))
    st.caption(f"Refreshes every {REFRESH_S} s. Last refresh: {now:%H:%M:%S} UTC.")


def table(paces: Sequence[progress.Pace]) -> None:
    """Show two rows per reviewer, in two tables that fit into a narrow window: the progress, and the pace.

    An unknown value is shown as a dash.
    """
    rows = [
        {**row, "share": 100 * pace.n_done / pace.n_assigned if pace.n_assigned else 0.0, "days": list(pace.by_day),
         "labels": f"{pace.n_done} of {pace.n_assigned}", "finish": finish(pace),
         "last seen (UTC)": seen(pace.last_seen_utc)}
        for row, pace in zip(progress.rows(paces), paces, strict=True)
    ]  # fmt: skip
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    config = {
        "reviewer": text(width=NAME_PX),
        "share": st.column_config.ProgressColumn("done", format="%.0f %%", max_value=100, width=NUMBER_PX),
        "labels": text(width=NUMBER_PX),
        "finish": text("estimated finish", width=FINISH_PX, help="80 % interval in brackets."),
        "last seen (UTC)": text("last seen", width=NUMBER_PX, help="Day of the last answer or sign-in, in UTC."),
        "seconds per item": number("s per item", width=NUMBER_PX, help="Median time on task in seconds."),
        "labels per day": number("per day", width=SHORT_PX, help="Mean labels per day with an answer."),
        "days": st.column_config.BarChartColumn("by day", help="Labels on each day.", y_min=0, width=SHORT_PX),
        "hours left": number(format="%.1f", width=NUMBER_PX),
        "not sure": number(width=SHORT_PX),
    }
    for columns in PROGRESS, PACE:
        st.dataframe(rows, hide_index=True, placeholder="—", column_order=columns, column_config=config)


def finish(pace: progress.Pace) -> str:
    """Return the estimated finish with its interval, such as "25 Nov (24 Nov to 27 Nov)"."""
    between = pace.end_between
    interval = f" ({short(between[0])} to {short(between[1])})" if between and between[0] != between[1] else ""
    return f"{short(pace.estimated_end)}{interval}" if pace.estimated_end else "—"


def seen(at_utc: str | None) -> str:
    """Return the day of a time; a dash if it is unknown."""
    return short(datetime.fromisoformat(at_utc).date() if at_utc else None)


def short(day: date | None) -> str:
    """Return a day without its year; a dash if it is unknown."""
    return f"{day:%-d %b}" if day else "—"


def agreement(result: InterimAgreement) -> None:
    """Show the agreement of the first labels, without names."""
    for sentence in result.sentences:
        st.write(escape_markdown(sentence))
