"""Choose what a model learns: a consensus of the items, or each label separately."""

import pandas as pd

from analysis.categories import CATEGORIES
from analysis.consensus import agreed_only, majority
from analysis.tables import COUNTED_KINDS, first_of, with_defaults

AGREED, MAJORITY, LABELS = "agreed", "majority", "labels"
TARGETS = {
    AGREED: "items with equal first labels",
    MAJORITY: "majority of first and third labels, with adjudicated split items",
    LABELS: "each first label separately",
}


def label_table(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the first labels that count, in the columns item, rater and category.

    Raises ValueError as `analysis.tables.with_defaults`.

    Parameters
    ----------
    answers : DataFrame
        Columns item, reviewer, label; optionally kind and assignment (`analysis.tables.with_defaults`).
    """
    first = first_of(with_defaults(answers))
    counted = first.loc[first["kind"].isin(COUNTED_KINDS), ["item", "rater", "category"]]
    return counted.drop_duplicates(["item", "rater"]).reset_index(drop=True)


def target_of(answers: pd.DataFrame, consensus: str = AGREED) -> pd.DataFrame:
    """Return the categories that a model learns from: one row per item with a consensus, or one row per label.

    Raises ValueError if the target is unknown, or the answer table is invalid.

    Parameters
    ----------
    answers : DataFrame
        As for `label_table`. Answers of the kinds third and adjudicated count for the majority.

    Returns
    -------
    DataFrame
        Columns item and category. With "labels" there is one row per label, so an item may have several rows.

    Examples
    --------
    >>> answers = pd.DataFrame({"item": ["a", "a", "b"], "reviewer": ["ada", "ben", "ada"], "label": "similar"})
    >>> target_of(answers)["item"].tolist(), len(target_of(answers, "labels"))
    (['a'], 3)
    """
    if consensus not in TARGETS:
        raise ValueError(f"the target must be one of {', '.join(TARGETS)}, got {consensus!r}")
    labels = label_table(answers)
    if consensus == LABELS:
        return labels[["item", "category"]]
    if consensus == AGREED:
        table = agreed_only(labels)
    else:
        answered = with_defaults(answers)
        first = first_of(answered)
        third = first[first["kind"] == "third"].drop_duplicates(["item", "rater"])
        own = pd.MultiIndex.from_frame(labels[["item", "rater"]])
        third = third[~pd.MultiIndex.from_frame(third[["item", "rater"]]).isin(own)]
        decided = answered[(answered["kind"] == "adjudicated") & answered["label"].isin(CATEGORIES)]
        decisions = dict(zip(decided["item"], decided["label"], strict=True))
        table = majority(labels, third[["item", "rater", "category"]], decisions)
    found = table["category"].dropna()
    return pd.DataFrame({"item": found.index.astype(object), "category": found.to_numpy(dtype=object)})


def retest_counts(answers: pd.DataFrame) -> tuple[int, int]:
    """Return the number of hidden retests in which a reviewer changed the label, and the number of all retests.

    Raises ValueError as `analysis.tables.with_defaults`.
    """
    first = first_of(with_defaults(answers))
    counted = first[first["kind"].isin(COUNTED_KINDS)].drop_duplicates(["item", "rater"])
    again = first[first["kind"] == "retest"].drop_duplicates(["item", "rater"])
    pairs = counted.merge(again, on=["item", "rater"], suffixes=("", "_again"))
    return int((pairs["category"] != pairs["category_again"]).sum()), len(pairs)
