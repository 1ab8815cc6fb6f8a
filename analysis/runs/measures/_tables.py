"""Collect the dissimilarity measures of verdicts in tables: by benchmark, and their means by application."""

from typing import Any

import pandas as pd


def measure_table(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return the measures of one classifier for each benchmark, from verdicts with benchmark, application and means.

    There is one row per benchmark with measures: application, benchmark, and one column per measure in [0, 1], NaN if
    the measure was not computed. The index is the index of the verdicts.
    """
    rows = verdicts[verdicts["means"].map(len) > 0]
    return rows[["application", "benchmark"]].join(pd.DataFrame(list(rows["means"]), index=rows.index))


def mean_measures(table: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of each measure over the benchmarks of each application, and n, the number of benchmarks.

    The rows are in order of application.
    """
    grouped = table.groupby("application")
    means = grouped[measures_of(table)].mean()
    means.insert(0, "n", grouped.size())
    return means.reset_index()


def measures_of(table: pd.DataFrame) -> list[str]:
    measures = [str(name) for name in table.columns if name not in ("application", "benchmark", "n")]
    if not measures:
        raise ValueError("the table has no measures, only application and benchmark")
    return measures


def measure_numbers(verdicts: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the means of the measures for each application as plain values; an empty list if no means are known."""
    if not {"application", "means"} <= set(verdicts):
        return []
    table = measure_table(verdicts.assign(benchmark=""))
    if not len(table):
        return []
    names = measures_of(table)
    return [
        {
            "application": row["application"],
            "n": int(row["n"]),
            "means": {name: None if pd.isna(row[name]) else float(row[name]) for name in names},
        }
        for row in mean_measures(table).to_dict("records")
    ]
