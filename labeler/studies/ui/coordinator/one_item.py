"""The page of one item: its runs, the labels and the classifiers side by side, and whether it is excluded."""

from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape

import streamlit as st

from analysis.text import counted
from labeler.files import outputs
from labeler.studies.course import coordinating
from labeler.studies.items import browsing
from labeler.studies.model import Item
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Action
from labeler.studies.results import splits
from labeler.studies.store import Database
from labeler.studies.ui import component
from labeler.studies.ui.coordinator import queue
from labeler.studies.ui.coordinator.shared import (
    done,
    errors_here,
    escape_markdown,
    fold,
    fresh,
    link,
    markdown_list,
    table,
)
from labeler.studies.verdicts import evidence
from labeler.studies.verdicts.evidence import ExplainedVerdict

NUMBERS_HELP = """Each reviewer saw the runs in another order. A column is a run of the picture above, and a cell is the
number of this run on the reviewer's screen."""
CHOSEN, FOUND, MOVED_TO = "item", "items-found", "item-moved-to"
IN_ADDRESS = "item"  # the query parameter with the id of the item


def render_item(db: Database, person: str) -> None:
    """Show the item that was opened; without one, the first item."""
    by_id = {str(item.item_id): item.name for item in coordinating.list_items(db)}
    everything = list(by_id.values())
    link("Items", "← All items", "All items")
    if not everything:
        st.title("Item", anchor=False)
        st.info("No items yet. Drop your result files under Items, Add.")
        return
    found = [name for name in st.session_state.get(FOUND, ()) if name in set(everything)] or everything
    name = chosen_item(by_id, found)
    item = browsing.item_named(db, name)
    if st.query_params.get(IN_ADDRESS) != str(item.item_id):
        st.query_params[IN_ADDRESS] = str(item.item_id)  # so that a reload and a shared address show the same item
    with_labels = not identity.why_hidden(db, person, Action.SEE_NAMES)
    st.title(escape_markdown(item.benchmark), anchor=False)
    facts = [item.application] if item.application else []
    facts.append(
        f"{counted(item.n_runs, 'run')} of {counted(item.n_iterations, 'iteration')}" if item.n_runs else "no runs"
    )
    facts += [f"item {queue.place(found, name)}"] if name in found else []
    facts += [f"result: {result}" for result in splits.describe_results(db, [item]) if with_labels and result]
    st.html(f'<p class="facts of-item">{escape(" · ".join(facts))}</p>')
    pressed = queue.look(db, "item", item)
    if pressed and name in found:
        step = 1 if pressed.key == queue.NEXT else -1
        st.session_state[MOVED_TO] = found[(found.index(name) + step) % len(found)]
        st.rerun()
    left, right = st.columns(2, gap="large")
    with left:
        show_labels(db, item, with_labels=with_labels)
    with right:
        chosen_verdict = choose_verdict(db, item, person)
    if chosen_verdict is not None:
        show_reasons(chosen_verdict, item.name)
        st.header("What the runs show", anchor=False)
        st.markdown(markdown_list(evidence.reasons_of(db, item)))
    offer_exclusion(db, item, person)
    offer_pictures(db, item)


def chosen_item(by_id: Mapping[str, str], found: list[str]) -> str:
    """Return the name of the item to show.

    It was opened from the table or with the keys of the picture, or the address has its id.
    """
    in_address = by_id.get(st.query_params.get(IN_ADDRESS, ""))
    if MOVED_TO in st.session_state:
        st.session_state[CHOSEN] = st.session_state.pop(MOVED_TO)
    elif in_address is not None:
        st.session_state[CHOSEN] = in_address
    name = str(st.session_state.get(CHOSEN))
    return name if name in set(by_id.values()) else found[0]


def show_labels(db: Database, item: Item, *, with_labels: bool) -> None:
    """Show the labels with the reviewers' names to people who may see names."""
    st.header("Labels", anchor=False)
    rows = splits.labels_on(db, item) if with_labels else []
    if not with_labels:
        st.caption("Labels are shown after unblinding.")
    elif not rows:
        st.caption("Nobody has labelled this item.")
    else:
        table([{key.capitalize(): value or "" for key, value in row.items()} for row in rows], "The labels of the item")
        numbers = splits.numbers_seen(db, item)
        with fold("Run numbers as reviewers saw them", "fold-run-numbers") as part:
            if part.open:
                st.caption(NUMBERS_HELP)
                st.dataframe(numbers, hide_index=True, alt="The numbers of the runs on each reviewer's screen")


def choose_verdict(db: Database, item: Item, person: str) -> ExplainedVerdict | None:
    """Show what each classifier says to people who may see verdicts; return the verdict to explain."""
    st.header("Classifiers", anchor=False)
    hidden = identity.why_hidden(db, person, Action.SEE_VERDICTS)
    if hidden:
        st.caption(hidden)
        return None
    reasoned = {entry.verdict.classifier: entry for entry in evidence.explained_verdicts(db, item)}
    if not reasoned:
        st.caption("No classifier has judged this item yet. Verdicts are computed after each import.")
        return None
    return reasoned[str(st.radio(
        "Verdict to explain", list(reasoned), key=f"verdict-{item.name}", label_visibility="collapsed",
        format_func=lambda classifier: escape_markdown(reasoned[classifier].headline),
    ))]  # fmt: skip


def show_reasons(reasoned: ExplainedVerdict, name: str) -> None:
    """Show the reasons and the numbers of one verdict."""
    classifier = reasoned.verdict.classifier
    st.header(f"Why {escape_markdown(classifier)} says so", anchor=False)
    st.markdown(markdown_list(reasoned.reasons))
    left, right = st.columns([2, 3])
    if reasoned.verdict.means:
        with left:
            component.still(
                outputs.as_svg(evidence.means(reasoned)), "Mean of each measure over all pairs of runs, as bars"
            )
            st.caption("Mean of each measure over all pairs of runs.")
    if reasoned.measures:
        with right:
            measure = st.selectbox("Measure", reasoned.measures, key=f"measure-{classifier}-{name}")
            frames = " The frames show the clusters that SAME found." if reasoned.verdict.clusters else ""
            words = f"Dissimilarity of each pair of runs.{frames}"
            component.still(outputs.as_svg(evidence.matrix(reasoned, measure)), words)
            st.caption(words)


def offer_exclusion(db: Database, item: Item, person: str) -> None:
    """Show whether the item is excluded, and the form that excludes or includes the item."""
    if item.excluded_why is not None:
        st.text(f"Excluded: {item.excluded_why}")
    excludes = item.excluded_why is None
    title = "Exclude this item" if excludes else "Include this item again"
    with st.expander(title, type="compact"), st.form(f"counts-{item.name}", border=False):
        st.write(
            "Reviewers no longer label an excluded item, and no result counts it. Its labels are kept." if excludes
            else "Reviewers label the item again, and results count it again."
        )  # fmt: skip
        change = browsing.exclude if excludes else browsing.include
        reason = st.text_input("Reason", key=fresh(f"why-{change.__name__}-{item.name}"))
        if st.form_submit_button("Exclude" if excludes else "Include again"):
            with errors_here():
                change(db, item.name, reason, actor=person, now=datetime.now(UTC))
                done(f"{item.name} is {'excluded' if excludes else 'included again'}.", stays=True)


def offer_pictures(db: Database, item: Item) -> None:
    """Offer the picture of the runs, and histograms of the measurements of each run and of all runs."""
    with fold("Download this picture", "fold-picture") as part:
        if part.open and item.n_runs:
            view, words = next(iter(evidence.views_of_items(db).items()))
            chart = evidence.runs_of_item(db, item, view)
            for form in outputs.FIGURE_FORMATS:
                st.download_button(f"Download runs.{form}", outputs.as_file(chart, form), f"runs.{form}",
                                   on_click="ignore", key=f"runs-{form}", help=words)  # fmt: skip
    with fold("Histograms of the measurements", "fold-histograms") as part:
        if part.open and item.n_runs:
            words = "Histograms and densities of the measurements of each run and of all runs merged."
            component.still(outputs.as_svg(evidence.measurements_of_item(db, item)), words)
            st.caption(words)
