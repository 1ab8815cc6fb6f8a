"""Items to look through: filters, one of them with its runs, and a study made of those that were chosen."""

from datetime import UTC, datetime

import streamlit as st

from labeler.model import Category, combined_hash
from labeler.plan.lifecycle import Action
from labeler.service.data import browsing, curating, triage
from labeler.service.people import visibility
from labeler.service.verdicts import evidence
from labeler.store import Database


def render(db: Database, person: str) -> None:
    """The items that were chosen; the one that was picked; a new study of them."""
    hidden = visibility.why_not(db, person, Action.SEE_VERDICTS)
    table = browsing.catalogue(db, verdicts=not hidden)
    matches = browsing.chosen(table, asked_for(table))
    st.write(f"{len(matches)} of {len(table)} items. {hidden}")
    key = f"found-{combined_hash(matches['item'])}"  # so that a picked row never becomes another item
    picked = st.dataframe(matches, hide_index=True, on_select="rerun", selection_mode="single-row", key=key)
    for row in picked.selection.rows:
        show_item(db, str(matches["item"].iloc[row]), person)
    if not hidden:
        offer_triage(db, matches, person)


def offer_triage(db: Database, matches: browsing.Catalogue, person: str) -> None:
    """A new study of what was chosen; only for those who may see verdicts, which that study does not hide."""
    names = triage.usable(matches)["item"].tolist()
    name = st.text_input("Name of a new study, whose file is put beside this one")
    if st.button(f"Make a study from these {len(names)} items", disabled=not names):
        lines = triage.make_beside(db, names, name, coordinator=person, now=datetime.now(UTC))
        st.success("The new study is there. Start it with the first line; the second is your way into it.")
        st.code("\n".join(lines), language=None)


def show_item(db: Database, name: str, person: str) -> None:
    """The runs of an item, and whether it counts."""
    item = curating.item_named(db, name)
    st.text(name if item.excluded_why is None else f"{name}\nExcluded: {item.excluded_why}")
    if item.n_runs:
        st.image(evidence.as_svg(evidence.runs_of_item(db, item)), width="content")
    change = curating.exclude if item.excluded_why is None else curating.include
    why = st.text_input("Reason", key=f"why-{change.__name__}-{name}")
    if st.button("Exclude" if change is curating.exclude else "Take back in", key=f"change-{name}"):
        change(db, name, why, actor=person, now=datetime.now(UTC))
        st.rerun()


def asked_for(table: browsing.Catalogue) -> browsing.Filter:
    """What the widgets say."""
    left, middle, right = st.columns(3)
    shares, lengths = browsing.SPREADS, sorted({0, 1, *table["iterations"].tolist()})
    spread = middle.select_slider("Spread of the runs' medians", shares, (shares[0], shares[-1]), browsing.in_words)
    judges = browsing.classifiers(table)
    judge = right.selectbox("Verdict of", judges, index=None) if judges else None
    return browsing.Filter(
        text=left.text_input("Search"),
        applications=left.multiselect("Applications", sorted(set(table["application"]))),
        verdict=(judge, str(right.radio("is", list(Category), horizontal=True))) if judge else None,
        disagreeing=bool(judges) and right.toggle("Only where classifiers disagree"),
        spread=spread if spread != (shares[0], shares[-1]) else None,
        iterations=middle.select_slider("Iterations", lengths, (lengths[0], lengths[-1])),
        with_excluded=left.toggle("With excluded items", value=True),
    )
