"""Show one item: its runs, verdicts with reasons and labels, and whether it is excluded."""

from datetime import UTC, datetime

import streamlit as st

from labeler.model import Item
from labeler.plan.lifecycle import Action
from labeler.service.items import browsing
from labeler.service.people import identity
from labeler.service.results import splits
from labeler.service.study import coordinating
from labeler.service.verdicts import evidence
from labeler.service.verdicts.evidence import ExplainedVerdict
from labeler.store import Database
from labeler.ui.coordinator import queue
from labeler.ui.coordinator.escaping import escape_markdown, points
from labeler.ui.coordinator.shared import done, errors_here, fresh, link

CHOSEN, FOUND, MOVED_TO = "item", "items-found", "item-moved-to"
MAX_OPTIONS = 2000  # if the study has more items, people search on the page Items


def render(db: Database, person: str) -> None:
    """Show the runs, the verdicts with reasons, and the form to exclude the item.

    The labels are shown only to people who may see names.
    """
    everything = [item.name for item in coordinating.list_items(db)]
    if not everything:
        st.info("There are no items yet. Import measurements on the page Data.")
        return
    known = set(everything)
    found = [name for name in st.session_state.get(FOUND, ()) if name in known] or everything
    name = chosen(everything, found)
    item = browsing.item_named(db, name)
    where = queue.place(found, name) if name in found else ""
    pressed = queue.look(db, "item", item, title=name, caption=where)
    if pressed and name in found:
        step = 1 if pressed.key == queue.NEXT else -1
        st.session_state[MOVED_TO] = found[(found.index(name) + step) % len(found)]
        st.rerun()
    measurements(db, item)
    why(db, item, person)
    labels(db, item, person)
    counts(db, item, person)


def chosen(everything: list[str], found: list[str]) -> str:
    """Return the name of the item to show.

    People choose the item from the list, on the page Items, or with the keys of the picture.
    """
    if MOVED_TO in st.session_state:
        st.session_state[CHOSEN] = st.session_state.pop(MOVED_TO)
    link("Items", "All items")
    if len(everything) > MAX_OPTIONS:
        name = str(st.session_state.get(CHOSEN))
        return name if name in set(everything) else found[0]
    return str(st.selectbox("Benchmark", everything, key=CHOSEN))


def measurements(db: Database, item: Item) -> None:
    """Show how the measurements of each run and of all runs are distributed, if the person asks for it."""
    if item.n_runs and st.toggle("Histograms of the measurements", key=f"histograms-{item.name}"):
        svg = evidence.as_svg(evidence.measurements_of_item(db, item))
        st.image(svg, "Histograms and densities of the measurements of each run and of all runs merged.")


def why(db: Database, item: Item, person: str) -> None:
    """Show the verdicts with their reasons to a person who may see them."""
    hidden = identity.why_hidden(db, person, Action.SEE_VERDICTS)
    if hidden:
        st.info(hidden)
        return
    reasoned = evidence.reasoned_verdicts(db, item)
    if not reasoned:
        st.info("No classifier has judged this item yet. Compute verdicts on the page Verdicts.")
        return
    st.markdown(points(evidence.reasons_of(db, item)))
    by_name = {entry.verdict.classifier: entry for entry in reasoned}
    chosen_one = st.radio(
        "Verdict to explain",
        list(by_name),
        format_func=lambda classifier: escape_markdown(by_name[classifier].headline),
        horizontal=True,
        key=f"verdict-{item.name}",
    )
    explain(by_name[chosen_one], item.name)


def explain(reasoned: ExplainedVerdict, name: str) -> None:
    """Show the reasons and the numbers of one verdict."""
    st.markdown(points(reasoned.reasons))
    left, right = st.columns([2, 3])
    if reasoned.verdict.means:
        left.image(evidence.as_svg(evidence.means(reasoned)), "Mean over all pairs of runs", width="content")
    if reasoned.measures:
        measure = right.selectbox("Measure", reasoned.measures, key=f"measure-{reasoned.verdict.classifier}-{name}")
        frames = " The frames show the clusters that SAME found." if reasoned.verdict.clusters else ""
        svg = evidence.as_svg(evidence.matrix(reasoned, measure))
        right.image(svg, f"Dissimilarity of each pair of runs.{frames}", width="content")


def labels(db: Database, item: Item, person: str) -> None:
    """Show the labels with the reviewers' names to people who may see names."""
    if identity.why_hidden(db, person, Action.SEE_NAMES):
        return
    rows = splits.labels_on(db, item)
    if rows:
        st.subheader("Labels", anchor=False)
        st.dataframe(rows, hide_index=True, placeholder="—")


def counts(db: Database, item: Item, person: str) -> None:
    """Show whether the item is excluded, and the form that excludes or includes the item."""
    if item.excluded_why is not None:
        st.text(f"Excluded: {item.excluded_why}")
    excludes = item.excluded_why is None
    with st.expander("Exclude this item" if excludes else "Include this item again"), st.form(f"counts-{item.name}"):
        st.write(
            "Reviewers no longer label an excluded item, and no result counts it. Its labels are kept." if excludes
            else "Reviewers label the item again, and results count it again."
        )  # fmt: skip
        change = browsing.exclude if excludes else browsing.include
        reason = st.text_input("Reason", key=fresh(f"why-{change.__name__}-{item.name}"))
        if st.form_submit_button("Exclude" if excludes else "Include again"):
            with errors_here():
                change(db, item.name, reason, actor=person, now=datetime.now(UTC))
                done(f"{item.name} is {'excluded' if excludes else 'included again'}.")
