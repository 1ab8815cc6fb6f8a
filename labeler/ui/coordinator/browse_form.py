"""What to look for among the items."""

import streamlit as st

from labeler.model import Category
from labeler.service import browsing


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
