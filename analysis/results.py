"""What every result can do: say itself in one line, and become rows of a DataFrame."""

from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

MOST_ENTRIES = 3  # of a sequence that are shown


class Result:
    """Base of the frozen dataclasses that statistics return; declare them with `repr=False`."""

    rows_of: ClassVar[str | None] = None  # the field with the rows of the table, where a result is a list of results

    def __repr__(self) -> str:
        """All fields in one line: rounded numbers, long sequences by their length."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self) if field.repr)  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{name}={_short(value)}' for name, value in values)})"

    def to_frame(self) -> "pd.DataFrame":
        """The result as a table: one row, or one row for each entry of the sequences it holds.

        Returns
        -------
        DataFrame
            One column a field. A result inside this one, such as an interval, gives one column for each of its own
            fields; its `value` has the plain name: percent, percent_low, percent_high. Undefined numbers are missing.
        """
        return to_frame([self] if self.rows_of is None else getattr(self, self.rows_of))


def to_frame(results: Iterable[Result]) -> "pd.DataFrame":
    """Several results of one kind as one table.

    Parameters
    ----------
    results : iterable of Result
        Such as the list that `pair_agreements` gives.

    Returns
    -------
    DataFrame
        The rows of `Result.to_frame` of each, in this order; empty without results.

    Examples
    --------
    >>> from analysis.intervals import wilson
    >>> to_frame([wilson(1, 2), wilson(0, 0)])[["value", "reason"]].values.tolist()
    [[0.5, None], [nan, 'no observations']]
    """
    import pandas as pd  # here, as most results never become tables

    rows: list[dict[Any, Any]] = []
    for result in results:
        if result.rows_of is not None:
            rows += to_frame(getattr(result, result.rows_of)).to_dict("records")
            continue
        columns = _columns(result)
        lengths = {len(value) for value in columns.values() if isinstance(value, tuple)}
        if len(lengths) == 1:  # points of a curve: one row each
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
    """Four significant digits, whole numbers whole."""
    return f"{value:.4g}" if abs(value) < 1e4 or value != value else f"{value:.6g}"


def _columns(result: Result, prefix: str = "") -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for field in fields(result):  # type: ignore[arg-type]
        value, name = getattr(result, field.name), f"{prefix}_{field.name}" if prefix else field.name
        if isinstance(value, Result):
            columns |= _columns(value, name)
        else:
            columns[prefix if prefix and field.name == "value" else name] = value
    return columns


def _short(value: object) -> str:
    if isinstance(value, (float, np.floating)):
        return number(float(value))
    shape = getattr(value, "shape", ())  # of arrays, and of pandas' tables without importing it
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
