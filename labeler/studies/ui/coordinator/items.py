"""The place Items: import result files, search and filter all items, and what the classifiers say."""

import base64
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import streamlit as st

from analysis.text import counted
from labeler.config import settings
from labeler.errors import InputError, NotAllowed
from labeler.studies import background
from labeler.studies.course import calibrating, coordinating
from labeler.studies.items import browsing, drawing, folders, importing
from labeler.studies.model import Item, State, combined_hash
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import ALLOWED, Action, require
from labeler.studies.preparing import assigning
from labeler.studies.results import reporting, splits
from labeler.studies.screen.kinds import kind_of
from labeler.studies.store import Database, open_database
from labeler.studies.ui.coordinator import one_item
from labeler.studies.ui.coordinator.clicks import KEEP_BOTH, READING, by_click
from labeler.studies.ui.coordinator.reading import ReadingFields, reading_fields
from labeler.studies.ui.coordinator.shared import (
    VIEW,
    address,
    box,
    done,
    errors_here,
    escape_markdown,
    fold,
    fresh,
    go_to,
    link,
    refresh,
    table,
)
from labeler.studies.verdicts import computing, stored_verdicts

IMPORT_OUTCOME = "import-outcome"  # key in the session state: the results of the last import, until they were read
AS_NEW = "import-as-new"
MAX_TABLE = 30
MAX_OPTION = 90  # characters of a name in a list of options
NO_FILES: folders.Files = []
PAGE_SIZE = 20
ROW_PX = 48
ITEM_TO_OPEN = "item-to-open"  # key in the session state: the item that was just chosen
PICTURE_PX, PANEL_PX = 42, 24  # of the small pictures
ORDERS = {"Name": ("item", True), "Largest range": ("spread", False), "Smallest range": ("spread", True),
          "Fewest iterations": ("iterations", True)}  # fmt: skip
SPREAD = "Largest minus smallest median of a run, as a share of the overall median."
THRESHOLD_HELP = """Add a classifier with another threshold to all tables and reports. For example, theta 0.30 adds
*heuristic@0.30* beside *heuristic*. Choose the threshold before you see labels; otherwise the classifier looks better
than it is. You can remove it here again."""
THRESHOLDS = {"Theta of the heuristics (usually 0.25)": "theta", "Cut of SAME (usually 0.20)": "cut"}
N_FIRST, SHARE_PX = 20, 54
AGREEMENT_HELP = "This table needs no labels."
POSITIVE_HELP = """The column *finds* is the share of the other classifier's {positive} items that this classifier also
calls {positive}. The column *clears* is the same share for all other items."""
FIRST_HELP = """Let reviewers label these items first, because the classifiers disagree most on them. The column
*margin* is the smallest distance of a score from its threshold, as a share of the threshold."""
SHARES = {
    **{
        name: st.column_config.NumberColumn(name, format="%.2f", width=SHARE_PX)
        for name in ("agree", "kappa", "finds", "clears")
    },
    **{name: st.column_config.NumberColumn(name, format="%.2f") for name in ("disagreement", "margin")},
    "n": st.column_config.NumberColumn("n", width=SHARE_PX - 10),
}


def render_add(db: Database, person: str) -> None:
    """Show the outcome of the last import, the drop zone, and the options; or say why nothing can be added now."""
    try:
        require(coordinating.get_study(db), Action.IMPORT)
    except NotAllowed as refusal:
        st.info(str(refusal))
        return
    if coordinating.get_study(db).state is State.OPEN:
        st.caption("The study is open: new items wait until you add them to the plan (Study, Plan).")
    has_outcome = show_outcome(db)
    drop_zone = st.container()
    offer_to_take_back(db, person)
    with st.expander(READING, type="compact"):
        reading = reading_fields("import")
        st.checkbox(KEEP_BOTH, key=AS_NEW)
    with st.expander("A folder on the server", type="compact"):
        offer_folder(db, reading, person)
    with drop_zone:
        if kind_of(coordinating.get_study(db).question).swapped is not None:
            offer_two_sides(db, reading, person)
        elif files := dropped_files("Add more files" if has_outcome else "Drop your result files here", "files"):
            with errors_here():
                import_files(db, files, reading, person)
    with fold("Which formats can be read", "formats") as formats:
        if formats.open:
            rows = [{name: by_click(str(cell)) for name, cell in row.items()} for row in importing.formats_table()]
            st.dataframe(rows, hide_index=True, alt="The formats that can be read")


def dropped_files(label: str, key: str) -> folders.Files:
    """Show a drop zone, and return the files that were dropped, including those in zip files."""
    files = st.file_uploader(
        label, folders.UPLOADED, True, key=fresh(key),
        help="JSON, CSV and the formats of common benchmark tools. Nothing leaves this server.",
    )  # fmt: skip
    return importing.uploads((file.name, file.getvalue()) for file in files or ())


def offer_two_sides(db: Database, reading: ReadingFields, person: str) -> None:
    """Show two drop zones, for the runs before and after a change; import both together."""
    left, right = st.columns(2)
    with left:
        before = dropped_files("Drop the result files from before the change here", "files-before")
    with right:
        after = dropped_files("Drop the result files from after the change here", "files-after")
    if st.button("Import both sides", type="primary", disabled=not (before and after)):
        with errors_here():
            import_files(db, before, reading, person, after=after)


def offer_folder(db: Database, reading: ReadingFields, person: str) -> None:
    """Offer the import of files that are already on the server."""
    root = settings().import_root or db.path.parent
    with st.form("folder", border=False):
        path = st.text_input(
            "Folder or file on the server",
            help="Enter a path relative to the folder below. For all its files, enter a dot (.).",
        )
        st.text(f"The path must be inside {root.resolve()}")
        if st.form_submit_button("Import from the server"):
            with errors_here():
                if not path.strip():
                    raise InputError("Enter a folder or a file. To import all files, enter a dot.")
                import_files(db, folders.result_files(root, path.strip(), study=db.path), reading, person)


def offer_to_take_back(db: Database, person: str) -> None:
    """Offer to take the last import back."""
    last = importing.last_import(db)
    if last is None:
        return
    with st.expander("Take the last import back", type="compact"):
        st.write(f"The last import: {escape_markdown(last.describe())}.")
        st.write("Its items and their verdicts are removed. The log still shows the import.")
        is_sure = st.checkbox("I know that this cannot be undone.", key=fresh("sure-to-take-back"))
        if st.button("Take this import back", disabled=not is_sure):
            with errors_here():
                importing.take_back(db, actor=person, now=datetime.now(UTC))
                st.session_state.pop(IMPORT_OUTCOME, None)
                done(f"Import taken back: {counted(len(last.items), 'item')} removed.")


def import_files(
    db: Database, files: folders.Files, reading: ReadingFields, person: str, after: folders.Files = NO_FILES
) -> None:
    """Import files with a progress bar, start to compute verdicts, and show the outcome on the page.

    If `after` has files, they have the runs after a change, and the other files those before it.
    """
    options = reading.options()
    bar, now = st.progress(0.0, "Importing …"), datetime.now(UTC)
    advance = folders.ImportProgress([*files, *after], time.monotonic, bar.progress)
    as_new = bool(st.session_state.get(AS_NEW))
    results = list(importing.import_files(
        db, files, options, after=after, as_new=as_new, advance=advance, actor=person, now=now,
    ))  # fmt: skip
    bar.empty()
    st.session_state[IMPORT_OUTCOME] = results
    st.query_params[VIEW] = address("Add")  # otherwise the page would show all items, because there are some now
    if any(result.names for result in results):
        background.start_verdicts(db.path, actor=person)
    refresh()


def show_outcome(db: Database) -> bool:
    """Say what became of each file of the last import, until the person has read it; return whether there is one."""
    results: Sequence[importing.FileResult] = st.session_state.get(IMPORT_OUTCOME, ())
    if not results:
        return False
    refused = [result for result in results if result.refused]
    with box(importing.describe_outcome(results)):
        if refused and len(refused) < len(results):
            others = len(results) - len(refused)
            files = counted(len(refused), "file")
            st.write(
                f"**{files} {'was' if len(refused) == 1 else 'were'} refused.** "
                f"The other {'file is' if others == 1 else f'{others} files are'} not affected."
            )
        rows = [
            {**row, "outcome": by_click(str(row["outcome"])), "warnings": by_click(str(row["warnings"]))}
            for row in map(folders.outcome, results)
        ]
        if len(rows) > MAX_TABLE:
            st.dataframe(rows, hide_index=True, alt="The outcome of each file")
        else:
            columns = ("file", "outcome", "runs", "iterations")
            shown = [{name.capitalize(): row[name] for name in columns} for row in rows]
            table(shown, "The outcome of each file")
        for row in rows:
            if row["warnings"]:
                st.caption(escape_markdown(f"{row['file']}: {row['warnings']}"))
        with st.container(horizontal=True):
            if coordinating.status(db).n_items and st.button("Next: invite people", type="primary"):
                del st.session_state[IMPORT_OUTCOME]
                go_to("People")
            if st.button("Close this list"):
                del st.session_state[IMPORT_OUTCOME]
                refresh()
    return True


def render_all_items(db: Database, person: str) -> None:
    """Show the matching items, and the folds below them."""
    hidden = identity.why_hidden(db, person, Action.SEE_VERDICTS)
    with_labels = not identity.why_hidden(db, person, Action.SEE_NAMES)
    show_outcome(db)
    table, categories = browsing.catalogue(db, verdicts=not hidden), coordinating.get_study(db).question.names
    if table.empty:
        st.info("No items yet. Drop your result files under Add.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="items-tools"):
        text = st.text_input("Search", placeholder="Search names", label_visibility="collapsed", key="items-search")
        with st.popover("Filters"):
            filters = ask_filter(table, text, categories)
        order = st.selectbox("Order", list(ORDERS), key="items-order", label_visibility="collapsed", width=200)
        matches = browsing.filtered(table, filters, categories)
        column, ascending = ORDERS[order]
        matches = matches.sort_values(column, ascending=ascending, kind="stable").reset_index(drop=True)
        st.download_button("Download CSV", partial(reporting.as_csv, matches), "items.csv", on_click="ignore")
    if matches.empty:
        st.info("No item matches. Clear the filters.")
    else:
        show_page(db, matches, with_labels=with_labels)
    if hidden:
        st.caption(hidden)
    with fold("Classifiers", "fold-classifiers") as part:
        if part.open:
            render_classifiers(db, person)
    if coordinating.get_study(db).phase in ALLOWED[Action.CALIBRATE]:
        offer_calibration(db, matches["item"].tolist(), person)
    with fold("Import log", "fold-import-log") as part:
        if part.open:
            log = [{**row, "outcome": by_click(row["outcome"])} for row in importing.import_log(db)]
            st.dataframe(log, hide_index=True, alt="The imports, the newest first")


def show_page(db: Database, matches: browsing.Catalogue, *, with_labels: bool) -> None:
    """Show one page of the matching items, the buttons for other pages, and the box that opens an item."""
    n_pages, key = -(-len(matches) // PAGE_SIZE), "items-page"
    number = min(st.session_state.get(key, 1), n_pages)
    begin = (number - 1) * PAGE_SIZE
    page = matches.iloc[begin : begin + PAGE_SIZE]
    show_rows(db, page, with_labels=with_labels)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        categories = coordinating.get_study(db).question.categories
        signs = ", ".join(f"{category.key.upper()}: {category.name}" for category in categories)
        st.caption(f"{begin + 1} to {begin + len(page)} of {len(matches)}. Click a row to open the item. {signs}.")
        if n_pages > 1:
            with st.container(horizontal=True, width="content"):
                for words, step in (("Previous", -1), ("Next", 1)):
                    st.button(words, disabled=not 1 <= number + step <= n_pages, key=f"items-{words}",
                              on_click=partial(_turn_to, key, number + step))  # fmt: skip
    names = page["item"].tolist()
    st.selectbox(
        "Open item", names, None, key="open-item", placeholder="Choose an item", on_change=_choose_named,
        format_func=dict(zip(names, browsing.short_names(names, MAX_OPTION), strict=True)).__getitem__,
    )  # fmt: skip
    name = st.session_state.pop(ITEM_TO_OPEN, None)
    if name is not None:
        open_item(matches, name)


def _choose_named() -> None:
    st.session_state[ITEM_TO_OPEN] = st.session_state.get("open-item")
    st.session_state["open-item"] = None  # so that nothing is chosen when the person comes back


def _choose_row(key: str, names: list[str]) -> None:
    for row, _ in st.session_state[key]["selection"]["cells"]:
        st.session_state[ITEM_TO_OPEN] = names[row]


def _turn_to(key: str, number: int) -> None:
    st.session_state[key] = number


def open_item(matches: browsing.Catalogue, name: str) -> None:
    """Open the page of an item, which also leads to the other matching items."""
    st.session_state[one_item.FOUND] = matches["item"].tolist()
    st.session_state[one_item.MOVED_TO] = name
    go_to("Item")


def show_rows(db: Database, page: browsing.Catalogue, *, with_labels: bool) -> None:
    """Show one page of the items as a table; a click anywhere in a row opens the item."""
    listed = [browsing.item_named(db, name) for name in page["item"]]
    question = coordinating.get_study(db).question
    signs = " · ".join(category.key.upper() for category in question.categories)
    shown = page.assign(
        runs_small=[small_picture(db, item) for item in listed], spread=100 * page["spread"],
        benchmark=browsing.short_names(page["benchmark"].tolist()),
    )  # fmt: skip
    columns = {
        "runs_small": st.column_config.ImageColumn("Runs", width=148),
        "benchmark": st.column_config.TextColumn("Benchmark", width="large"),
        **({"application": st.column_config.TextColumn("Application")} if page["application"].any() else {}),
    }
    if with_labels:
        shown = shown.assign(labels=splits.describe_labels(db, listed), result=splits.describe_results(db, listed))
        columns["labels"] = st.column_config.TextColumn("Labels")
    if browsing.classifiers(page):
        shown = shown.assign(verdicts=browsing.describe_verdicts(page, question.names))
        columns["verdicts"] = st.column_config.TextColumn(f"Classifiers {signs}", width="small")
    columns["spread"] = st.column_config.NumberColumn("Spread", format="%.3g %%", width="small", help=SPREAD)
    if with_labels:
        columns["result"] = st.column_config.TextColumn("Result")
    elif page["excluded"].notna().any():
        columns["excluded"] = st.column_config.TextColumn("Excluded")
    names = page["item"].tolist()
    key = f"found-{combined_hash(names)}"  # so that a selected row never refers to another item
    st.dataframe(
        shown, hide_index=True, on_select=partial(_choose_row, key, names), selection_mode="single-cell", key=key,
        column_order=list(columns), column_config=columns, row_height=ROW_PX, height="content", placeholder="—",
        alt="The matching items",
    )  # fmt: skip


def small_picture(db: Database, item: Item) -> str:
    """Return a small picture of the runs of an item, for a table; return "" if the item has no runs."""
    if not item.n_runs:
        return ""
    label, panel = f"The runs of {item.name}", (PANEL_PX, PICTURE_PX)
    svg = drawing.thumbnail_of_item(db, item.item_id, label=label, panel=panel, height=PICTURE_PX)
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def offer_calibration(db: Database, names: list[str], person: str) -> None:
    """Offer to use the matching items for the calibration round."""
    chosen, now = assigning.chosen_for_calibration(db), datetime.now(UTC)
    with st.expander("Use these items for calibration", type="compact"):
        st.write("Everybody labels the calibration items before the study, and no result uses them.")
        st.caption(
            f"You have chosen {counted(len(chosen), 'item')}; the next plan or second round begins with them."
            if chosen else "The plan chooses them at random. To choose them yourself, search or filter first."
        )  # fmt: skip
        with st.container(horizontal=True):
            if st.button(f"Use {counted(len(names), 'item')} for calibration", disabled=not names):
                with errors_here():
                    calibrating.choose_items(db, names, actor=person, now=now)
                    done(f"Chosen for calibration: {counted(len(names), 'item')}.", stays=True)
            if chosen and st.button("Choose at random"):
                calibrating.choose_items(db, [], actor=person, now=now)
                done("The plan chooses the calibration items at random.", stays=True)


def ask_filter(table: browsing.Catalogue, text: str, categories: Sequence[str]) -> browsing.Filter:
    """Show the fields for filters; return the filter with the text to search."""
    shares, lengths = browsing.SPREADS, sorted({0, 1, *table["iterations"].tolist()})
    applications = st.multiselect("Applications", sorted(set(table["application"])))
    spread = st.select_slider("Range of the runs' medians", shares, (shares[0], shares[-1]), browsing.describe_share)
    iterations = st.select_slider("Iterations", lengths, (lengths[0], lengths[-1]))
    judges = browsing.classifiers(table)
    judge = st.selectbox("Verdict of", judges, index=None) if judges else None
    return browsing.Filter(
        text=text,
        applications=applications,
        verdict=(judge, str(st.radio("is", list(categories), horizontal=True))) if judge else None,
        disagreeing=bool(judges) and st.toggle("Only items on which classifiers disagree"),
        spread=spread if spread != (shares[0], shares[-1]) else None,
        iterations=iterations,
        with_excluded=st.toggle("Include excluded items", value=True),
    )


def render_classifiers(db: Database, person: str) -> None:
    """Start the computation in a separate process, show its progress, and list the verdicts."""
    st.write("The classifiers decide for each item whether its runs are similar or dissimilar.")
    job = computing.latest_job(db)
    if job is not None and background.is_running(job):
        show_computation(str(db.path))
        return
    if job is not None and job.finished_utc is None:
        st.warning("The last computation was interrupted. Start it again; finished verdicts are kept.")
    elif job is not None and job.error:
        st.error(f"The last computation failed: {job.error}")
    missing = computing.n_missing(db)
    if missing:
        offer = st.empty()
        with offer.container():
            st.write(f"Items without verdicts: {missing}.")
            starts = st.button("Compute verdicts", type="primary")
        if starts:
            offer.empty()
            background.start_verdicts(db.path, actor=person)
            show_computation(str(db.path))
            return
    elif job is not None and coordinating.get_study(db).question.has_default_categories:
        add_threshold(db, person)
    hidden = identity.why_hidden(db, person, Action.SEE_VERDICTS)
    if hidden:
        st.info(hidden)
        return
    summary = stored_verdicts.summary(db, N_FIRST)
    if summary.counts:
        show_tables(db, summary, person)
    elif not missing:
        st.info("There are no verdicts and no measurements yet. Add items first.")


def show_tables(db: Database, summary: stored_verdicts.VerdictSummary, person: str) -> None:
    """Show the results of the classifiers as tables.

    The tables have the counts, the agreement between classifiers, the items to label first, and the missing verdicts
    with reasons.

    The verdicts of single items are on the page Items and in the file, because a large table is slow in the browser.
    """
    question = coordinating.get_study(db).question
    st.dataframe(summary.counts, hide_index=True, placeholder="—")
    with st.container(horizontal=True):
        link("Items", "Verdicts of each item", "All items")
        st.download_button(
            "Download verdicts.csv", partial(verdict_file, db.path, person), "verdicts.csv", on_click="ignore"
        )
    if summary.pairs:
        st.header("Agreement between classifiers", anchor=False)
        st.write(AGREEMENT_HELP, POSITIVE_HELP.format(positive=question.positive) if question.positive else "")
        st.dataframe(summary.pairs, hide_index=True, placeholder="—", column_config=SHARES)
    if summary.first:
        st.header("Items to label first", anchor=False)
        st.write(FIRST_HELP)
        columns = ["item", *reversed(question.classes), "disagreement", "margin"]
        st.dataframe(summary.first, hide_index=True, column_order=columns, placeholder="—", column_config=SHARES)
    if summary.failed:
        st.header("Verdicts that could not be computed", anchor=False)
        st.dataframe(summary.failed, hide_index=True)


def verdict_file(path: Path, person: str) -> str:
    """Return the text of the verdict file; the log records the export."""
    with open_database(path) as db:
        return reporting.as_csv(stored_verdicts.export_table(db, actor=person, now=datetime.now(UTC)))


def add_threshold(db: Database, person: str) -> None:
    """Show a form that adds a classifier with another threshold, and a button for each that removes it."""
    with st.expander("Another threshold"):
        with st.form("another-threshold", border=False):
            st.write(THRESHOLD_HELP)
            title = st.selectbox("Threshold", list(THRESHOLDS), key="threshold-of")
            value = st.number_input("Value", 0.0, 1.0, 0.3, 0.05, key="threshold-value")
            if st.form_submit_button("Add this threshold"):
                background.start_verdicts(db.path, {THRESHOLDS[title]: value}, actor=person)
                st.rerun()
        for name in computing.variants_of(db):
            if st.button(f"Remove {name}"):
                n_removed = stored_verdicts.remove_classifiers(db, [name], actor=person, now=datetime.now(UTC))
                done(f"{name} removed, with {counted(n_removed, 'verdict')}.")


@st.fragment(run_every=1.0)
def show_computation(path: str) -> None:
    """Show the progress of the computation; update it every second until the computation ends."""
    with open_database(Path(path)) as db:
        job = computing.latest_job(db)
    if job is None:
        st.progress(0.0, "Starting …")
    elif background.is_running(job):
        share = job.n_done / job.n_total if job.n_total else 1.0
        st.progress(share, background.describe(job))
    elif job.finished_utc is None or job.error:
        st.rerun()  # the page says what went wrong
    else:
        done(f"Verdicts computed for {counted(job.n_done, 'item')}.")
