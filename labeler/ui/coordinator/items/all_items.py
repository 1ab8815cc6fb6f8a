"""The view All items: a table with search and filters, and what the classifiers say."""

import base64
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

import streamlit as st

from labeler.model import Item, combined_hash, counted
from labeler.plan.lifecycle import ALLOWED, Action
from labeler.service.handover import triage
from labeler.service.items import browsing, drawing
from labeler.service.people import identity
from labeler.service.plan import assigning
from labeler.service.results import reporting, splits
from labeler.service.study import calibrating, coordinating
from labeler.store import Database
from labeler.ui.coordinator.items import classifiers, one_item
from labeler.ui.coordinator.shared import done, errors_here, fold, go_to, study_created

PAGE_SIZE = 20
ROW_PX = 48
CHOSEN = "item-to-open"  # key in the session state: the item that was just chosen
PICTURE_PX, PANEL_PX = 42, 24  # of the small pictures
ORDERS = {"Name": ("item", True), "Largest range": ("spread", False), "Smallest range": ("spread", True),
          "Fewest iterations": ("iterations", True)}  # fmt: skip
SPREAD = "Largest minus smallest median of a run, as a share of the overall median."


def render(db: Database, person: str) -> None:
    """Show the matching items, and the folds below them."""
    hidden = identity.why_hidden(db, person, Action.SEE_VERDICTS)
    with_labels = not identity.why_hidden(db, person, Action.SEE_NAMES)
    table, categories = browsing.catalogue(db, verdicts=not hidden), coordinating.get_study(db).question.categories
    if table.empty:
        st.info("No items yet. Drop your result files under Add.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="items-tools"):
        text = st.text_input("Search", placeholder="Search names", label_visibility="collapsed", key="items-search")
        with st.popover("Filters"):
            filters = asked_for(table, text, categories)
        order = st.selectbox("Order", list(ORDERS), key="items-order", label_visibility="collapsed", width=200)
        matches = browsing.chosen(table, filters, categories)
        column, ascending = ORDERS[order]
        matches = matches.sort_values(column, ascending=ascending, kind="stable").reset_index(drop=True)
        st.download_button("Download CSV", partial(reporting.as_csv, matches), "items.csv", on_click="ignore")
    if matches.empty:
        st.info("No item matches. Clear the filters.")
    else:
        paged(db, matches, with_labels=with_labels)
    if hidden:
        st.caption(hidden)
    with fold("Classifiers", "fold-classifiers") as part:
        if part.open:
            classifiers.render(db, person)
    if not hidden:
        offer_triage(db, matches, person)
    if coordinating.get_study(db).phase in ALLOWED[Action.CALIBRATE]:
        for_calibration(db, matches["item"].tolist(), person)
    with fold("Import log", "fold-import-log") as part:
        if part.open:
            log = coordinating.event_log(db)
            st.dataframe(log[log["action"].isin(["import file", "remove import"])], hide_index=True, alt="The imports")


def paged(db: Database, matches: browsing.Catalogue, *, with_labels: bool) -> None:
    """Show one page of the matching items, the buttons for other pages, and the box that opens an item."""
    n_pages, key = -(-len(matches) // PAGE_SIZE), "items-page"
    number = min(st.session_state.get(key, 1), n_pages)
    begin = (number - 1) * PAGE_SIZE
    page = matches.iloc[begin : begin + PAGE_SIZE]
    listing(db, page, with_labels=with_labels)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        categories = coordinating.get_study(db).question.categories
        signs = ", ".join(f"{category.key.upper()}: {category}" for category in categories)
        st.caption(f"{begin + 1} to {begin + len(page)} of {len(matches)}. Click a row to open the item. {signs}.")
        if n_pages > 1:
            with st.container(horizontal=True, width="content"):
                for words, step in (("Previous", -1), ("Next", 1)):
                    st.button(words, disabled=not 1 <= number + step <= n_pages, key=f"items-{words}",
                              on_click=partial(_turn_to, key, number + step))  # fmt: skip
    st.selectbox(
        "Open item", page["item"].tolist(), None, key="open-item", placeholder="Choose an item", on_change=_choose_named
    )
    name = st.session_state.pop(CHOSEN, None)
    if name is not None:
        open_item(matches, name)


def _choose_named() -> None:
    st.session_state[CHOSEN] = st.session_state.get("open-item")
    st.session_state["open-item"] = None  # so that nothing is chosen when the person comes back


def _choose_row(key: str, names: list[str]) -> None:
    for row, _ in st.session_state[key]["selection"]["cells"]:
        st.session_state[CHOSEN] = names[row]


def _turn_to(key: str, number: int) -> None:
    st.session_state[key] = number


def open_item(matches: browsing.Catalogue, name: str) -> None:
    """Open the page of an item, which also leads to the other matching items."""
    st.session_state[one_item.FOUND] = matches["item"].tolist()
    st.session_state[one_item.MOVED_TO] = name
    go_to("Item")


def listing(db: Database, page: browsing.Catalogue, *, with_labels: bool) -> None:
    """Show one page of the items as a table; a click anywhere in a row opens the item."""
    listed = [browsing.item_named(db, name) for name in page["item"]]
    categories = coordinating.get_study(db).question.categories
    signs = " · ".join(category.key.upper() for category in categories)
    shown = page.assign(runs_small=[small(db, item) for item in listed], spread=100 * page["spread"])
    columns = {
        "runs_small": st.column_config.ImageColumn("Runs", width=164),
        "benchmark": st.column_config.TextColumn("Benchmark", width="medium"),
        **({"application": st.column_config.TextColumn("Application")} if page["application"].any() else {}),
    }
    if with_labels:
        shown = shown.assign(labels=splits.describe_labels(db, listed), result=splits.describe_results(db, listed))
        columns["labels"] = st.column_config.TextColumn("Labels")
    if browsing.classifiers(page):
        shown = shown.assign(verdicts=browsing.describe_verdicts(page, categories))
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


def small(db: Database, item: Item) -> str:
    """Return a small picture of the runs of an item, for a table; return "" if the item has no runs."""
    if not item.n_runs:
        return ""
    label, panel = f"The runs of {item.name}", (PANEL_PX, PICTURE_PX)
    svg = drawing.thumbnail_of_item(db, item.item_id, label=label, panel=panel, height=PICTURE_PX)
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def for_calibration(db: Database, names: list[str], person: str) -> None:
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


def offer_triage(db: Database, matches: browsing.Catalogue, person: str) -> None:
    """Show the form that creates a new study from the matching items, to people who may see verdicts.

    Other people may not create it, because the new study does not hide verdicts.
    """
    names = triage.usable(matches)["item"].tolist()
    with st.expander(f"Make a new study from {counted(len(names), 'item')}", type="compact"):
        name = st.text_input("Name of the new study", help="Its file is written to the folder of this study.")
        if st.button(f"Create a study from {counted(len(names), 'item')}", disabled=not names):
            with errors_here():
                lines = triage.make_beside(db, name, names, coordinator=person, now=datetime.now(UTC))
                study_created(lines)


def asked_for(table: browsing.Catalogue, text: str, categories: Sequence[str]) -> browsing.Filter:
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
