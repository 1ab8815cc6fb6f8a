"""Browse items with search, filters and small pictures; create a new study from the matches."""

import base64
from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st

from labeler.model import Item, combined_hash, counted
from labeler.plan.lifecycle import Action
from labeler.screen import thumbnails
from labeler.service.handover import triage
from labeler.service.items import browsing, drawing
from labeler.service.people import identity
from labeler.service.results import splits
from labeler.service.study import coordinating
from labeler.store import Database
from labeler.ui.coordinator.results import item as item_page
from labeler.ui.coordinator.shared import errors_here, go_to

PAGE_SIZE = 20
ROW_PX = 68  # three lines of text
PICTURE_PX, NAME_PX, LABELS_PX, VERDICTS_PX, NUMBER_PX = 116, 128, 92, 70, 68  # fit into a window of 800 px
ORDERS = {"Name": ("item", True), "Largest range of medians": ("spread", False),
          "Smallest range of medians": ("spread", True), "Fewest iterations": ("iterations", True)}  # fmt: skip


def render(db: Database, person: str) -> None:
    """Show the matching items in pages.

    A click opens an item. The page also offers to create a new study from the matching items.
    """
    st.write("Search and filter the items. Click a row to see one item with its runs, verdicts and reasons.")
    hidden = identity.why_hidden(db, person, Action.SEE_VERDICTS)
    with_labels = not identity.why_hidden(db, person, Action.SEE_NAMES)
    table = browsing.catalogue(db, verdicts=not hidden)
    categories = coordinating.get_study(db).question.categories
    matches = browsing.chosen(table, asked_for(table, categories), categories)
    left, middle, right = st.columns([3, 1, 1], vertical_alignment="bottom")
    left.write(f"{len(matches)} of {counted(len(table), 'item')}. {hidden}")
    column, ascending = ORDERS[right.selectbox("Order", list(ORDERS), key="items-order")]
    matches = matches.sort_values(column, ascending=ascending, kind="stable").reset_index(drop=True)
    n_pages = max(1, -(-len(matches) // PAGE_SIZE))
    number = middle.number_input(f"Page of {n_pages}", 1, n_pages, key=f"items-page-{n_pages}") if n_pages > 1 else 1
    listing(db, matches, matches.iloc[(number - 1) * PAGE_SIZE : number * PAGE_SIZE], with_labels=with_labels)
    if not hidden:
        offer_triage(db, matches, person)


def listing(db: Database, matches: browsing.Catalogue, page: browsing.Catalogue, *, with_labels: bool) -> None:
    """Show one page of the items as a table; a click on a row opens the item."""
    categories = coordinating.get_study(db).question.categories
    listed = [browsing.item_named(db, name) for name in page["item"]]
    shown = page.assign(
        runs_small=[small(db, item) for item in listed],
        name=[short(item.benchmark) for item in listed],
        spread=100 * page["spread"],
    )
    keys = ", ".join(f"{category.key.upper()}: {category}" for category in categories)
    of_labels, of_verdicts = f"First labels. {keys}.", f"Number of classifiers with this verdict. {keys}."
    with_verdicts = bool(browsing.classifiers(page))
    if with_verdicts:
        shown = shown.assign(verdicts=browsing.describe_verdicts(page, categories))
    if with_labels:
        shown = shown.assign(labels=splits.describe_labels(db, listed))
    order = [
        "runs_small",
        "name",
        *(["labels"] if with_labels else []),
        *(["verdicts"] if with_verdicts else []),
        "spread",
        *(["iterations"] if matches["iterations"].nunique() > 1 else []),
        *(["excluded"] if page["excluded"].notna().any() else []),
    ]
    key = f"found-{combined_hash(page['item'])}"  # so that a selected row never refers to another item
    picked = st.dataframe(
        shown, hide_index=True, on_select="rerun", selection_mode="single-row", key=key, row_height=ROW_PX,
        column_order=order, height=(len(shown) + 1) * ROW_PX if len(shown) > 1 else "auto", placeholder="—",
        column_config={
            "runs_small": st.column_config.ImageColumn("runs", width=PICTURE_PX),
            **({"labels": st.column_config.TextColumn(width=LABELS_PX, help=of_labels)} if with_labels else {}),
            "name": st.column_config.TextColumn("benchmark", width=NAME_PX),
            **({"verdicts": st.column_config.TextColumn(width=VERDICTS_PX, help=of_verdicts)} if with_verdicts else {}),
            "spread": st.column_config.NumberColumn(
                "range of medians", format="%.3g %%", width=NUMBER_PX,
                help="Largest minus smallest median of a run, as a share of the overall median.",
            ),
            "iterations": st.column_config.NumberColumn(width=NUMBER_PX),
        },
    )  # fmt: skip
    for row in picked.selection.rows:
        st.session_state[item_page.FOUND] = matches["item"].tolist()
        st.session_state[item_page.CHOSEN] = str(page["item"].iloc[row])
        go_to("Item")


def short(benchmark: str) -> str:
    """Return the last two parts of a dotted name and the parameters, which fit into the column."""
    name, sign, parameters = benchmark.partition("#")
    return f"{'.'.join(name.split('.')[-2:])} {sign}{parameters}".strip()


def small(db: Database, item: Item) -> str:
    """Return a small picture of the runs of an item, for a table; return "" if the item has no runs."""
    if not item.n_runs:
        return ""
    payload = drawing.payload_of_item(db, item.item_id)
    svg = thumbnails.svg(payload, label=f"The runs of {item.name}", panel=(16, 24))
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def offer_triage(db: Database, matches: browsing.Catalogue, person: str) -> None:
    """Show the form that creates a new study from the matching items, to people who may see verdicts.

    Other people may not create it, because the new study does not hide verdicts.
    """
    names = triage.usable(matches)["item"].tolist()
    name = st.text_input("Name of the new study", help="Its file is written to the folder of this study.")
    if st.button(f"Create a study from {counted(len(names), 'item')}", disabled=not names):
        with errors_here():
            lines = triage.make_beside(db, names, name, coordinator=person, now=datetime.now(UTC))
            st.success("Study created. The first line starts its server; the second line is your sign-in link.")
            st.code("\n".join(lines), language=None)


def asked_for(table: browsing.Catalogue, categories: Sequence[str]) -> browsing.Filter:
    """Show the fields for search and filters; return the filter."""
    left, middle, right = st.columns(3)
    shares, lengths = browsing.SPREADS, sorted({0, 1, *table["iterations"].tolist()})
    spread = middle.select_slider(
        "Range of the runs' medians", shares, (shares[0], shares[-1]), browsing.describe_share
    )
    judges = browsing.classifiers(table)
    judge = right.selectbox("Verdict of", judges, index=None) if judges else None
    toggles = st.container(horizontal=True)
    return browsing.Filter(
        text=left.text_input("Search"),
        applications=left.multiselect("Applications", sorted(set(table["application"]))),
        verdict=(judge, str(right.radio("is", list(categories), horizontal=True))) if judge else None,
        disagreeing=bool(judges) and toggles.toggle("Only items on which classifiers disagree"),
        spread=spread if spread != (shares[0], shares[-1]) else None,
        iterations=middle.select_slider("Iterations", lengths, (lengths[0], lengths[-1])),
        with_excluded=toggles.toggle("Include excluded items", value=True),
    )
