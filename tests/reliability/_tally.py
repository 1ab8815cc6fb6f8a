"""Combine many small checks into one row."""

from dataclasses import dataclass, field

from tests.reliability.outcome import Case

N_NAMED = 3


@dataclass
class Tally:
    """The number of checks, and the failures."""

    what: str
    unit: str
    n: int = 0
    wrong: list[str] = field(default_factory=list)

    def check(self, right: bool, otherwise: str) -> None:
        """Count one check; `otherwise` describes the failure."""
        self.n += 1
        if not right:
            self.wrong.append(otherwise)

    def case(self, more: str = "") -> Case:
        """The row; at least one check is required."""
        named = "; ".join(one[:300] for one in self.wrong[:N_NAMED])
        figures = f"{self.n} {self.unit}, {len(self.wrong)} wrong" + (f", {more}" if more else "")
        return Case(self.what, figures + (f": {named}" if named else ""), self.n > 0 and not self.wrong)
