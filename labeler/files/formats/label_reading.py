"""How a file of labels is read: the options of every command that reads one."""

from dataclasses import dataclass, field

# what R, pandas, SAS, SPSS, spreadsheets and JSON write for a missing value, in lower case; an empty cell too
MISSING = (
    "na", "n/a", "#n/a", "<na>", "nan", "-nan", "none", "null", "nil", "missing", "-", "--", "\N{EN DASH}",
    "\N{EM DASH}", ".", "*",
)  # fmt: skip


@dataclass(frozen=True)
class LabelReading:
    """How a file of labels is read."""

    join_spellings: bool = field(default=False, metadata={
        "help": "Join labels, and names of reviewers, that differ only in how they are written: Yes and yes, 1.0 and "
                "1, not_sure and Not sure [default: refuse them].",
    })  # fmt: skip
    last: bool = field(default=False, metadata={
        "help": "Count only the last label of a reviewer who has several labels on an item [default: refuse them].",
    })  # fmt: skip
    missing: str = field(default="", metadata={
        "metavar": "TEXTS",
        "help": "Texts that mean that a label is missing, as an empty cell does, separated by commas.",
        "default": "NA, N/A, nan, None, null, - and the like",
    })  # fmt: skip

    @property
    def missing_words(self) -> frozenset[str]:
        """The texts that mean that a label is missing, in lower case; "" is always among them."""
        words = self.missing.split(",") if self.missing else MISSING
        return frozenset({"", *(word.strip().lower() for word in words)})


STANDARD = LabelReading()
