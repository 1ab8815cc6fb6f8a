"""The place Results: the report, the classifiers compared and learned, and the figures."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from labeler.errors import InputError
from labeler.files import outputs
from labeler.studies import background
from labeler.studies.course import coordinating
from labeler.studies.items import browsing
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Action
from labeler.studies.results import attention, learning, reporting, written_reports
from labeler.studies.store import Database, open_database
from labeler.studies.ui import component
from labeler.studies.ui.coordinator.shared import Bar, document, download, errors_here, escape_markdown, refresh
from labeler.studies.verdicts import computing, evidence

FULL, QUICK = "Full report", "Without bootstrap and latent class (faster)"
REPORT_KIND = "report-kind"  # key in the session state: which report is shown
REPORT_REFRESH_S = 1.0
MARKS_PAGE = "marks.html"  # the file of a report on marks
LEARN = "Learn a classifier"
MONOTONE_HELP = "A larger measure can never make the positive category less probable."
USUAL_S = 8.0
AGREED_HELP = """These are the numbers of the report, where they have intervals. *difference* is the accuracy minus that
of the majority rule, which gives every item the most frequent category."""
RATES = {
    **{
        name: st.column_config.NumberColumn(name, format="percent")
        for name in ("sensitivity", "specificity", "accuracy", "balanced accuracy", "difference")
    },
    **{name: st.column_config.NumberColumn(name, format="%.3f") for name in ("mcc", "p")},
}
COST_HELP = "The cost of a missed item of the positive category, if a false alarm costs 1."
SCHEMATIC = "Figure 1: measures on simulated pairs of runs"
BY_APPLICATION = "Figure 2: measures by application"
BY_BENCHMARK = "Figure 3: measures by benchmark of one application"
RUNS_OF_ONE = "Figure 4: the runs of one benchmark"


def render_report(db: Database, person: str) -> None:
    """Show the report; if it is not written yet, write it in the background."""
    hidden = identity.why_hidden(db, person, Action.SEE_NAMES)
    if hidden:
        st.info(f"{hidden} The report appears when you unblind the study.")
        return
    quick = st.session_state.get(REPORT_KIND, FULL) == QUICK
    report = written_reports.cached_report(db, quick=quick)
    if report is None:
        problem = written_reports.why_not_written(db, quick=quick)
        if problem:
            st.error(problem)
            if st.button("Write the report", type="primary"):
                write_report_again(db, person, quick=quick)
            return
        wait_for_report(str(db.path), person, quick)
        return
    page = "report.html"
    if MARKS_PAGE in report.files:
        parts = {"Places of the marks": MARKS_PAGE, "Whether there are marks": page}
        page = parts[str(st.radio("Part", list(parts), horizontal=True, label_visibility="collapsed"))]
    document(report.files[page].decode(), partial(report_downloads, db, person, report, quick=quick))


def report_downloads(db: Database, person: str, report: written_reports.CachedReport, *, quick: bool) -> None:
    """Offer the report as PDF and its other files, and to write it again."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if written_reports.can_print():
            page = report.files["report.html"].decode()
            make = partial(written_reports.to_pdf, page)
            st.download_button("Download the report (PDF)", make, "report.pdf", type="primary", on_click="ignore")
        with st.popover("Other files"):
            for name, content in report.files.items():
                st.download_button(f"Download {name}", content, name, key=f"download-{name}", on_click="ignore")
        with st.popover("Write it again"):
            st.radio(
                "Report", [FULL, QUICK], key=REPORT_KIND, help="The log of the study records who wrote the report."
            )
            if st.button("Write the report again"):
                write_report_again(db, person, quick=quick)
        st.caption(f"Written on {report.made:%-d %B %Y at %H:%M} UTC")


def write_report_again(db: Database, person: str, *, quick: bool) -> None:
    """Write the report anew."""
    written_reports.forget_report(db, quick=quick)
    written_reports.begin_report(db, quick=quick, actor=person)
    refresh()


@st.fragment(run_every=REPORT_REFRESH_S)
def wait_for_report(path: str, person: str, quick: bool) -> None:
    """Show that the report is being written; when it is there, show it.

    If the verdicts are still being computed, the report waits for them.
    """
    with open_database(Path(path)) as db, errors_here():
        if identity.why_hidden(db, person, Action.SEE_NAMES):
            return
        job = computing.latest_job(db)
        if job is not None and background.is_running(job):
            st.progress(
                job.n_done / max(job.n_total, 1), "The classifiers judge the items; then the report is written."
            )
            return
        if written_reports.cached_report(db, quick=quick) or written_reports.why_not_written(db, quick=quick):
            st.rerun()
        written_reports.begin_report(db, quick=quick, actor=person)
        done_s, whole_s = written_reports.writing_progress(db, quick=quick)
    words = f"The report is being written, about {whole_s:.0f} seconds. You can leave this page."
    st.progress(min(done_s / whole_s, 0.97), words)


def render_classifiers(db: Database, person: str) -> None:
    """Compare the classifiers with the agreed labels; learn a classifier on request, and offer its files."""
    hidden = identity.why_hidden(db, person, Action.SEE_NAMES)
    if hidden:
        st.info(f"{hidden} The comparison of classifiers appears here.")
        return
    rows = reporting.classifier_rows(reporting.current_report(db))
    if rows:
        st.header("Classifiers on the agreed items", anchor=False)
        st.write(AGREED_HELP)
        st.dataframe(rows, hide_index=True, placeholder="—", column_config=RATES)
    st.header("A learned classifier", anchor=False)
    st.write(
        "Learn a logistic model of the measures, and compare it with all classifiers on held-out applications. This "
        "needs 60 items with a category, at least 10 per category, from 5 applications."
    )
    options = learn_options(with_positive=learning.detects(db))
    key = f"classifiers-{options}"
    if st.button(LEARN, type="primary"):
        bar = Bar("Computing")
        with errors_here():
            st.session_state[key] = background.files_of(
                "learn", into="out", study=db.path, actor=person, **options,
                waiting=lambda seconds: bar.show(seconds, USUAL_S),
            )  # fmt: skip
        bar.end()
    if key in st.session_state:
        show_files(st.session_state[key])


def render_attention(db: Database, person: str) -> None:
    """Show how often each reviewer was right about attention checks, and offer all answers for download."""
    hidden = identity.why_hidden(db, person, Action.SEE_ATTENTION)
    if hidden:
        st.info(hidden)
        return
    found = attention.checks(db)
    for sentence in attention.sentences(found):
        st.write(escape_markdown(sentence))
    if found.answers:
        st.dataframe(attention.rows(found), hide_index=True, alt="What the attention checks say about each reviewer")
        download({"attention.csv": attention.as_csv(found)})


def learn_options(*, with_positive: bool) -> dict[str, Any]:
    """Show the fields for the options of the command `learn`, and return the options.

    Only a model that detects a positive category of two has costs and can be monotone (`with_positive`).
    """
    left, right = st.columns(2)
    target = left.selectbox("Truth", list(learning.TARGETS), format_func=learning.TARGETS.__getitem__, key="target")
    if not with_positive:
        return {"consensus": str(target)}
    cost = right.number_input("Cost ratio", 0.05, 20.0, 1.0, 0.5, key="cost-ratio", help=COST_HELP)
    monotone = left.checkbox("Monotone model", value=False, key="monotone", help=MONOTONE_HELP)
    return {"consensus": str(target), "cost_ratio": f"{cost:g}", "monotone": monotone}


def show_files(files: dict[str, bytes]) -> None:
    """Show the report and offer its files for download."""
    page = next(content for name, content in files.items() if name.endswith(".html"))
    document(page.decode(), partial(download, files))


def render_figures(db: Database, person: str) -> None:
    """Let the person choose a figure, then show the figure and offer it for download."""
    st.write("This page draws the figures of the paper from the measurements of this study.")
    hidden = identity.why_hidden(db, person, Action.SEE_VERDICTS)
    if hidden:
        st.info(f"{hidden} Figures 2 and 3 show the measures behind the verdicts, so they are hidden too.")
    titles = [SCHEMATIC, RUNS_OF_ONE] if hidden else [SCHEMATIC, BY_APPLICATION, BY_BENCHMARK, RUNS_OF_ONE]
    title = st.selectbox("Figure", titles, key="figure")
    name, chart = chosen_figure(db, title)
    words = title.partition(": ")[2].capitalize()
    component.still(outputs.as_svg(chart), words)
    st.caption(words)
    with st.container(horizontal=True):
        for form in outputs.FIGURE_FORMATS:
            make: Callable[[], bytes] = partial(outputs.as_file, chart, form)
            file = f"{name}.{form}"
            st.download_button(f"Download {file}", make, file, key=f"{name}-{form}", on_click="ignore")


def chosen_figure(db: Database, title: str) -> tuple[str, Any]:
    """Show the fields for the options of a figure; return the file name and the chart of the figure."""
    if title == SCHEMATIC:
        return "schematic-pairs", evidence.schematic_pairs()
    if title == BY_APPLICATION:
        return "measures-by-application", evidence.by_application(db)
    if title == BY_BENCHMARK:
        application = st.selectbox("Application", evidence.applications(db), key="figure-application")
        return "measures-by-benchmark", evidence.by_benchmark(db, application)
    names = [item.name for item in coordinating.list_items(db)]
    if not names:
        raise InputError("There are no items yet. Add them on Items.")
    item = browsing.item_named(db, st.selectbox("Benchmark", names, key="figure-item"))
    views = evidence.views_of_items(db)
    view = st.radio("Vertical axis", list(views), horizontal=True, key="figure-axis", format_func=views.get)
    return "runs", evidence.runs_of_item(db, item, view)
