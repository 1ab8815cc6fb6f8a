"""Define the base class of all results. A result can be printed in one line and converted to a DataFrame."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

MOST_ENTRIES = 3  # maximum number of entries of a sequence that are displayed


@dataclass(frozen=True, repr=False)
class Result:
    """The base class of the frozen dataclasses that functions return; declare subclasses with `repr=False`."""

    rows_of: ClassVar[str | None] = (
        None  # if the result is a list of results, the name of the field with the rows of the table
    )

    def __repr__(self) -> str:
        """Return all fields in one line; numbers are rounded, and long sequences are replaced by their length."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self) if field.repr)
        return f"{type(self).__name__}({', '.join(f'{name}={_short(value)}' for name, value in values)})"

    def to_frame(self) -> "pd.DataFrame":
        """Convert the result to a table with one row, or with one row per entry if the result contains sequences.

        Returns one column per field. A nested result, such as an interval, has one column for each of its own fields;
        the column of its `value` has no suffix, as in percent, percent_low, percent_high. Undefined numbers are
        missing.
        """
        return to_frame([self] if self.rows_of is None else getattr(self, self.rows_of))


def to_frame(results: Iterable[Result]) -> "pd.DataFrame":
    """Convert several results of one kind to one table.

    Parameters
    ----------
    results : iterable of Result
        For example the list that `pair_agreements` returns.

    Returns
    -------
    DataFrame
        The rows of `Result.to_frame` for each result, in order; empty if there are no results.

    Examples
    --------
    >>> from analysis.statistics.intervals import wilson
    >>> to_frame([wilson(1, 2), wilson(0, 0)])[["value", "reason"]].values.tolist()
    [[0.5, None], [nan, 'no observations']]
    """
    import pandas as pd  # imported here, because most results are never converted to tables

    rows: list[dict[Any, Any]] = []
    for result in results:
        if result.rows_of is not None:
            rows += to_frame(getattr(result, result.rows_of)).to_dict("records")
            continue
        columns = _columns(result)
        lengths = {len(value) for value in columns.values() if isinstance(value, tuple)}
        if len(lengths) == 1:  # the points of a curve become one row each
            rows += [
                {name: value[i] if isinstance(value, tuple) else value for name, value in columns.items()}
                for i in range(lengths.pop())
            ]
        else:
            rows.append(columns)
    table = pd.DataFrame(rows)
    return table.assign(**{name: table[name].astype(object).where(table[name].notna(), None)
                           for name in table.columns if name.split("_")[-1] == "reason"})  # fmt: skip


def number(value: float) -> str:
    """Format a number with four significant digits, and a whole number with all its digits."""
    return f"{value:.4g}" if abs(value) < 1e4 or value != value else f"{value:.6g}"


def _columns(result: Result, prefix: str = "") -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for field in fields(result):
        value, name = getattr(result, field.name), f"{prefix}_{field.name}" if prefix else field.name
        if isinstance(value, Result):
            columns |= _columns(value, name)
        else:
            columns[prefix if prefix and field.name == "value" else name] = value
    return columns


def _short(value: object) -> str:
    if isinstance(value, (float, np.floating)):
        return number(float(value))
    shape = getattr(value, "shape", ())  # detects arrays, and also tables of pandas without importing pandas
    if shape:
        return f"<{' x '.join(map(str, shape))} {type(value).__name__}>"
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], Result):
        return f"<{len(value)} {type(value[0]).__name__}>"
    if isinstance(value, (list, tuple)) and len(value) > MOST_ENTRIES:
        return f"<{len(value)} entries>"
    if isinstance(value, (list, tuple)):
        inside = ", ".join(map(_short, value))
        return f"({inside}{',' * (len(value) == 1)})" if isinstance(value, tuple) else f"[{inside}]"
    return repr(value)
