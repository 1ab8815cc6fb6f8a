"""Tables for other readers: one row per item for spreadsheets, and the layout of a paper's own tables."""

from collections.abc import Sequence

import pandas as pd

from analysis import consensus
from analysis.categories import CATEGORIES
from analysis.document import DASH, Table, table
from analysis.report._report import Report
from analysis.report._settings import row_title, title_of
from analysis.tables import counted_labels


def wide(answers: pd.DataFrame, verdicts: pd.DataFrame, names: Sequence[str] = CATEGORIES) -> pd.DataFrame:
    """Return a table of first labels, consensus, verdicts and scores, with one row per item, sorted by item.

    The columns are item, status, category, n_labels, `label_REVIEWER` for each reviewer, `verdict_CLASSIFIER` and
    `score_CLASSIFIER` for each classifier. Items without answers and verdicts are left out.
    """
    labels = counted_labels(answers, names)
    decided = consensus.agreed_only(labels, names)
    parts = [decided, labels.pivot(index="item", columns="rater", values="category").add_prefix("label_")]
    for column in ("verdict", "score"):
        if column in verdicts:
            parts += [verdicts.pivot(index="item", columns="classifier", values=column).add_prefix(f"{column}_")]
    items = pd.Index(sorted({*answers["item"], *verdicts["item"]}), name="item")
    table = pd.concat([part.reindex(items) for part in parts], axis=1)
    table["status"] = table["status"].fillna(consensus.INCOMPLETE)
    table["n_labels"] = table["n_labels"].fillna(0).astype(int)
    return table.rename_axis(columns=None).reset_index()


def paper_tables(report: Report, classifiers: Sequence[str] | None = None) -> tuple[Table, ...]:
    """Return the tables in the layout of the paper: one row of pairs, and reviewers against each classifier, 2 x 2.

    The first table has a column for each pair of reviewers; each further table counts the agreed items of a classifier.
    `classifiers` names the classifiers and their order; by default, these are all classifiers of the report. There is
    no table of pairs without a pair, and no table of a classifier without a verdict on an agreed item.
    """
    pairs, positive, negative = report.agreement.pairs, str(report.category_set.positive), report.category_set.negative
    tables = []
    if pairs:
        header = ("Pair", *(f"{pair.a}-{pair.b}" for pair in pairs))
        shares = [DASH if pair.percent.value is None else f"{100 * pair.percent.value:.0f} %" for pair in pairs]
        caption = "Agreement of each pair of reviewers, in percent of the items that both labelled."
        tables.append(table(caption, header, [("Agreement", *shares)], range(1, len(header)), name="paper-pairs"))
    for name in report.classifiers if classifiers is None else classifiers:
        row = report.classifiers.get(name)
        if row is None or not row.rates.n:
            continue
        cells = row.rates.confusion
        tables.append(
            table(
                f"Reviewers against {title_of(name)}, on {row.rates.n} agreed items.",
                ("Reviewers", f"{row_title(name)}: {negative}", f"{row_title(name)}: {positive}"),
                [(negative, cells.tn, cells.fp), (positive, cells.fn, cells.tp)],
                (1, 2),
                name=f"paper-{name}",
            )
        )
    return tuple(tables)
