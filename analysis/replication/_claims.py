"""Compare claims of the paper with our results, and check the claims about the labels of its reviewers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.document import number, percent

REPRODUCED, BY_CONSTRUCTION, DIFFERS, UNKNOWN, NOT_APPLICABLE = OUTCOMES = (
    "reproduced", "reproduced by construction", "differs", "cannot be known", "cannot apply",
)  # fmt: skip

N_ITEMS, N_AGREED, N_AGREED_DISSIMILAR = 586, 324, 189
PAIRS_IN_PERCENT = {
    ("R1", "R2"): 47, ("R1", "R3"): 57, ("R1", "R4"): 35, ("R2", "R3"): 53, ("R2", "R4"): 77, ("R3", "R4"): 62,
}  # fmt: skip
N_REVIEWERS = 4
CONFUSION = {
    "same": ("4.2, Table 2", {"tp": 52, "fp": 23, "fn": 137, "tn": 112}),
    "heuristic": ("4.3, Table 3", {"tp": 173, "fp": 82, "fn": 16, "tn": 53}),
}
CELLS = {
    "tp": "dissimilar, called dissimilar", "fp": "similar, called dissimilar", "fn": "dissimilar, called similar",
    "tn": "similar, called similar",
}  # fmt: skip
OTHER_LABELS = "The labels give a different number."
MISPRINT = "The paper prints 568 in one place, a misprint for 586."
SPECIFICITY = "112 of 135 is 82.96 %, which the paper prints as 83 % (section 1) and as 82 % (section 4.2)."
LOWEST_NOTE = "This is the lowest pair in Table 1, but the text of the paper says that R1 and R2 agree least."
LOWEST_PAIR = (
    "The text says that the first and the second reviewer agree least. In Table 1, R1 and R4 have the lowest "
    "agreement (35 %), so the paper contradicts itself."
)


@dataclass(frozen=True)
class Claim:
    """One claim of the paper.

    Attributes
    ----------
    where : str
        Section, table or figure of the paper.
    claim : str
    paper, ours : str
        The number or words in the paper, and our result.
    outcome : str
        One of `OUTCOMES`.
    why : str
        Why our result differs or is unknown, why it agrees, or where the paper contradicts itself.
    """

    where: str
    claim: str
    paper: str
    ours: str
    outcome: str
    why: str = ""

    @property
    def agrees(self) -> bool:
        """Return whether our result agrees with the paper."""
        return self.outcome in (REPRODUCED, BY_CONSTRUCTION)

    @property
    def is_contradiction(self) -> bool:
        """Return whether the text of the paper contradicts its own table."""
        return self.why == LOWEST_PAIR


def claims_of_labels(content: Mapping[str, Any], *, by_construction: bool = False) -> list[Claim]:
    """Return the paper's claims about the reviewers' labels (section 2.2 and Tables 1 to 3), with our results.

    Parameters
    ----------
    content : mapping
        The numbers of a report, as returned by `analysis.report.summarise`.
    by_construction : bool
        Whether the labels were generated from the counts printed in the paper.

    Returns
    -------
    list of Claim
    """
    return [*_Rows(content, by_construction)]


@dataclass(frozen=True)
class _Rows:
    content: Mapping[str, Any]
    by_construction: bool

    def __iter__(self) -> Iterator[Claim]:
        yield from self._overall()
        yield from self._pairs()
        for name in CONFUSION:
            yield from self._classifier(name)

    def _overall(self) -> Iterator[Claim]:
        agreement, consensus = self.content["agreement"], self.content["consensus"]
        kappa = agreement["fleiss_kappa"]
        bands = [kappa["band_low"], kappa["band_high"]]
        ends = f"{number(kappa['low'])} to {number(kappa['high'])}: {' to '.join(dict.fromkeys(map(str, bands)))}"
        yield self._claim(
            "2.2", "Fleiss' kappa of 0.1 is “slight”", "slight", ends if kappa["low"] is not None else None,
            bands == ["slight", "slight"], "We give both ends of the 95 % interval, in the words of Landis and Koch.",
        )  # fmt: skip
        yield self._count("4.1", "items", N_ITEMS, consensus["n_items"], MISPRINT)
        yield self._count("4.1", "agreed items", N_AGREED, consensus["agreed"])
        yield self._count("4.1", "agreed, dissimilar", N_AGREED_DISSIMILAR, consensus["agreed_dissimilar"])
        yield self._count("4.1", "agreed, similar", N_AGREED - N_AGREED_DISSIMILAR,
                          consensus["agreed_similar"])  # fmt: skip
        yield self._share("4.1", "percent agreement", 55, agreement["percent"]["value"])
        value = kappa["value"]
        yield self._claim("4.1", "Fleiss' kappa", "0.1", None if value is None else f"{value:.5f}",
                          value is not None and round(value, 1) == 0.1)  # fmt: skip

    def _pairs(self) -> Iterator[Claim]:
        values = {tuple(sorted((pair["a"], pair["b"]))): pair["percent"]["value"]
                  for pair in self.content["agreement"]["pairs"]}  # fmt: skip
        names = sorted({name for pair in values for name in pair})
        if len(names) != N_REVIEWERS:
            why = f"Table 1 has {N_REVIEWERS} reviewers, but here {len(names)} reviewers have items in common."
            yield Claim("4.1, Table 1", "Agreement of each pair", "35 to 77 %", "–", NOT_APPLICABLE, why)
            return
        place = {name: f"R{at}" for at, name in enumerate(names, start=1)}
        of_paper = {(place[a], place[b]): value for (a, b), value in values.items()}
        renamed = list(place) != list(place.values())
        named = (
            f"We assume that R1 to R4 are the reviewers in the order of their names: {', '.join(names)}."
            if renamed
            else ""
        )
        for (a, b), paper in PAIRS_IN_PERCENT.items():
            lowest = LOWEST_NOTE if (a, b) == ("R1", "R4") else ""
            why = _joined(lowest, named)
            yield self._share("4.1, Table 1", f"{a} – {b}", paper, of_paper.get((a, b)), why)
        known = {pair: value for pair, value in of_paper.items() if value is not None}
        if known:
            a, b = min(known, key=lambda pair: known[pair])
            ours = f"{a} and {b} ({percent(known[a, b])})"
            agrees = {a, b} == {"R1", "R2"}
            outcome = REPRODUCED if agrees else DIFFERS
            yield Claim("4.1", "Pair with the lowest agreement (text)", "R1 and R2", ours, outcome, LOWEST_PAIR)

    def _classifier(self, name: str) -> Iterator[Claim]:
        where, cells = CONFUSION[name]
        row = self.content["classifiers"].get(name)
        if row is None:
            yield Claim(where, f"{name} against the agreed items", "a confusion matrix", "–", UNKNOWN,
                        f"There are no verdicts of {name}.")  # fmt: skip
            return
        for cell, paper in cells.items():
            yield self._count(where, f"{name} {cell}: {CELLS[cell]}", paper, row["confusion"][cell])
        section = where.partition(",")[0]
        if name == "same":
            yield self._share(section, f"{name} specificity", 83, row["specificity"]["value"], SPECIFICITY)
        else:
            yield self._share(section, f"{name} sensitivity", 92, row["sensitivity"]["value"])

    def _count(self, where: str, claim: str, paper: int, ours: int, why: str = "") -> Claim:
        return self._claim(where, claim, str(paper), str(ours), paper == ours, why)

    def _share(self, where: str, claim: str, paper: int, ours: float | None, why: str = "") -> Claim:
        text = None if ours is None else f"{100 * ours:.2f} %"
        return self._claim(where, claim, f"{paper} %", text, ours is not None and round(100 * ours) == paper, why)

    def _claim(self, where: str, claim: str, paper: str, ours: str | None, agrees: bool, why: str = "") -> Claim:
        if ours is None:
            return Claim(where, claim, paper, "–", UNKNOWN, _joined("The labels do not give this number.", why))
        n_items = self.content["consensus"]["n_items"]
        if n_items < N_ITEMS:
            part = _joined(f"The labels cover only {n_items} of the {N_ITEMS} items.", why)
            return Claim(where, claim, paper, ours, REPRODUCED if agrees else UNKNOWN, part)
        if not agrees:
            return Claim(where, claim, paper, ours, DIFFERS, _joined(OTHER_LABELS, why))
        return Claim(where, claim, paper, ours, BY_CONSTRUCTION if self.by_construction else REPRODUCED, why)


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def counts(claims: Sequence[Claim]) -> dict[str, int]:
    """Count the claims by outcome, in the order of `OUTCOMES`; leave out outcomes that no claim has."""
    return {outcome: n for outcome in OUTCOMES if (n := sum(claim.outcome == outcome for claim in claims))}
