"""Export labels and verdicts as a table for spreadsheets and statistics programs, with one row per item."""

import pandas as pd

from analysis import consensus
from analysis.tables import counted_labels


def wide(answers: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return a table of first labels, consensus, verdicts and scores, with one row per item.

    Each reviewer has a column of labels; each classifier has a column of verdicts and a column of scores.

    Parameters
    ----------
    answers, verdicts : DataFrame
        As for `summarise`.

    Returns
    -------
    DataFrame
        Columns item, status, category, n_labels, `label_REVIEWER` for each reviewer, `verdict_CLASSIFIER` and
        `score_CLASSIFIER` for each classifier. Sorted by item; items without answers and verdicts are left out.
    """
    labels = counted_labels(answers)
    decided = consensus.agreed_only(labels)
    parts = [decided, labels.pivot(index="item", columns="rater", values="category").add_prefix("label_")]
    for column in ("verdict", "score"):
        if column in verdicts:
            parts += [verdicts.pivot(index="item", columns="classifier", values=column).add_prefix(f"{column}_")]
    items = pd.Index(sorted({*answers["item"], *verdicts["item"]}), name="item")
    table = pd.concat([part.reindex(items) for part in parts], axis=1)
    table["status"] = table["status"].fillna(consensus.INCOMPLETE)
    table["n_labels"] = table["n_labels"].fillna(0).astype(int)
    return table.rename_axis(columns=None).reset_index()
