"""The progress of each reviewer, without the answers.

After the study is closed, the page also shows the agreement.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import streamlit as st

from labeler.plan.lifecycle import Action
from labeler.screen import course_charts
from labeler.service.people import visibility
from labeler.service.plan import overview, watching
from labeler.service.results import interim_agreement
from labeler.service.results.interim_agreement import InterimAgreement
from labeler.store import Database, open_database
from labeler.ui.coordinator.escaping import plain

REFRESH_S = 20


def render(db: Database, person: str) -> None:
    """Show the progress, which refreshes itself.

    The agreement is shown only to a person who may see it.
    """
    st.write("Progress and estimated finish of each reviewer. Answers are not shown.")
    watch(str(db.path), person)
    st.subheader("Agreement so far", anchor=False)
    hidden = visibility.why_not(db, person, Action.SEE_AGREEMENT)
    if hidden:
        st.caption(hidden)
    else:
        agreement(interim_agreement.current_agreement(db))


@st.fragment(run_every=REFRESH_S)
def watch(path: str, person: str) -> None:
    """Show the overall progress, the labels over time, the time per item, and a row per reviewer.

    The page refreshes this part periodically.
    """
    now = datetime.now(UTC)
    with open_database(Path(path)) as db:
        if not visibility.is_coordinator(db, person):
            return
        paces = watching.progress(db, now=now)
        counts, seconds = overview.labels_over_time(db), watching.time_on_task(db)
    n_done, n_all = (sum(getattr(pace, name) for pace in paces) for name in ("n_done", "n_assigned"))
    if not n_all:
        st.info("There is no plan yet. Create it on the page Plan; progress then appears here.")
        return
    st.progress(n_done / n_all, f"{n_done} of {n_all} labels given")
    if finish := watching.finish_of_all(paces):
        st.write(plain(finish))
    for sentence in filter(None, (watching.warning(paces), watching.fast_warning(paces))):
        st.warning(plain(sentence))
    table(paces)
    left, right = st.columns(2) if len(counts) > 1 else (st, st)
    if len(counts) > 1:
        left.altair_chart(course_charts.labels_over_time(counts))
    if seconds:
        right.altair_chart(course_charts.time_per_item(seconds))
    st.caption(f"Refreshes every {REFRESH_S} s. Last refresh: {now:%H:%M:%S} UTC.")


def table(paces: Sequence[watching.Pace]) -> None:
    """Show a row per reviewer with a progress bar and the labels per day.

    An unknown value is shown as a dash.
    """
    rows = [
        {**row, "done": 100 * pace.n_done / pace.n_assigned if pace.n_assigned else 0.0, "days": list(pace.by_day),
         **{name: "—" if row[name] is None else row[name] for name in ("last seen (UTC)", "estimated finish")}}
        for row, pace in zip(watching.rows(paces), paces, strict=True)
    ]  # fmt: skip
    st.dataframe(
        rows, hide_index=True, placeholder="—",
        column_order=("reviewer", "state", "done", "assigned", "estimated finish", "last seen (UTC)", "days",
                      "seconds per item", "labels per day", "hours left", "not sure"),
        column_config={
            "done": st.column_config.ProgressColumn("done", format="%.0f %%", max_value=100, width="small"),
            "days": st.column_config.BarChartColumn("by day", help="Labels on each day.", y_min=0, width="small"),
            "estimated finish": st.column_config.TextColumn("estimated finish", help="80 % interval in brackets."),
            "hours left": st.column_config.NumberColumn("hours left", format="%.1f"),
        },
    )  # fmt: skip


def agreement(result: InterimAgreement) -> None:
    """Show the agreement of the first labels, without names."""
    st.write(f"{result.n_agreed} items agreed, {result.n_split} split, {result.n_incomplete} incomplete.")
    for name, estimate in (("Percent agreement", result.percent), ("Fleiss' kappa", result.kappa)):
        st.write(f"{name}: {plain(interim_agreement.in_words(estimate))}")
