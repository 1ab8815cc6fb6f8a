"""Compare claims of the paper with our results, and check the claims about the labels of its reviewers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.document import number, percent

REPRODUCED, CONSISTENT, FOLLOWS, BY_CONSTRUCTION, DIFFERS, MISPRINT, UNKNOWN, NOT_APPLICABLE = OUTCOMES = (
    "reproduced", "consistent under assumptions", "follows from the paper's counts", "reproduced by construction",
    "differs", "misprint", "cannot be known", "cannot apply",
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
MISPRINT_568 = "The paper prints 568 in one place, a misprint for 586."
NOT_IN_TEXT = "The table of the paper gives this number, and its text does not."
SPECIFICITY = "112 of 135 is 82.96 %, which the paper prints as 83 % (section 1) and as 82 % (section 4.2)."
LOWEST_NOTE = "This is the lowest pair in Table 1, but the text of the paper says that R1 and R2 agree least."
BANDS = (
    "The bands of Landis and Koch: below 0 poor, up to .2 slight, .4 fair, .6 moderate, .8 substantial, 1 almost "
    "perfect. We give the band of both ends of the 95 % interval."
)


@dataclass(frozen=True)
class Claim:
    """One claim of the paper."""

    where: str  # Section, table or figure of the paper
    claim: str
    paper: str  # the number or words in the paper, and our result
    ours: str
    outcome: str  # one of `OUTCOMES`
    why: str = ""  # why our result differs or is unknown, why it agrees, or where the paper contradicts itself

    @property
    def agrees(self) -> bool:
        """Return whether our result agrees with the paper."""
        return self.outcome in (REPRODUCED, CONSISTENT, FOLLOWS, BY_CONSTRUCTION)


def claims_of_labels(content: Mapping[str, Any], *, by_construction: bool = False) -> list[Claim]:
    """Return the paper's claims about the reviewers' labels (section 2.2 and Tables 1 to 3), with our results.

    `content`: the numbers of a report, as returned by `analysis.report.summarise`; `by_construction`: whether the
    labels were generated from the counts printed in the paper.
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
        kappa = agreement["coefficients"]["fleiss_kappa"]
        bands = [kappa["band_low"], kappa["band_high"]]
        ends = f"{number(kappa['low'])} to {number(kappa['high'])}: {' to '.join(dict.fromkeys(map(str, bands)))}"
        yield self._claim(
            "2.2", "Fleiss' kappa of 0.1 is “slight”", "slight", ends if kappa["low"] is not None else None,
            bands == ["slight", "slight"], BANDS, follows=True,
        )  # fmt: skip
        yield self._count("4.1", "items", N_ITEMS, consensus["n_items"], MISPRINT_568)
        yield self._count("4.1", "agreed items", N_AGREED, consensus["agreed"])
        yield self._count("4.1", "agreed, dissimilar", N_AGREED_DISSIMILAR, consensus["agreed_dissimilar"])
        yield self._count("4.1", "agreed, similar", N_AGREED - N_AGREED_DISSIMILAR,
                          consensus["agreed_similar"])  # fmt: skip
        yield self._share("4.1", "percent agreement", 55, agreement["coefficients"]["percent_agreement"]["value"])
        value = kappa["value"]
        yield self._claim("4.1", "Fleiss' kappa", "0.1", None if value is None else f"{value:.5f}",
                          value is not None and round(value, 1) == 0.1, follows=True)  # fmt: skip

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
            why = joined(lowest, named)
            yield self._share("4.1, Table 1", f"{a} – {b}", paper, of_paper.get((a, b)), why)
        known = {pair: value for pair, value in of_paper.items() if value is not None}
        if known:
            a, b = max(known, key=lambda pair: known[pair])
            yield self._claim("4.1", "Pair with the highest agreement", "R2 and R4 (77 %)",
                              f"{a} and {b} ({percent(known[a, b])})", {a, b} == {"R2", "R4"}, named)  # fmt: skip

    def _classifier(self, name: str) -> Iterator[Claim]:
        where, cells = CONFUSION[name]
        row = self.content["classifiers"].get(name)
        if row is None:
            yield Claim(where, f"{name} against the agreed items", "a confusion matrix", "–", UNKNOWN,
                        f"There are no verdicts of {name}.")  # fmt: skip
            return
        (tn, fp), (fn, tp) = row["against"]["counts"]
        found = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
        for cell, paper in cells.items():
            yield self._count(where, f"{name} {cell}: {CELLS[cell]}", paper, found[cell])
        section = where.partition(",")[0]
        if name == "same":
            yield self._share(section, f"{name} specificity", 83, row["positive"]["specificity"]["value"], SPECIFICITY)
            yield self._share(
                section, f"{name} sensitivity", 27.5, row["positive"]["sensitivity"]["value"], NOT_IN_TEXT
            )
        else:
            yield self._share(section, f"{name} sensitivity", 92, row["positive"]["sensitivity"]["value"])
            yield self._share(section, f"{name} specificity", 39, row["positive"]["specificity"]["value"], NOT_IN_TEXT)

    def _count(self, where: str, claim: str, paper: int, ours: int, why: str = "") -> Claim:
        return self._claim(where, claim, str(paper), str(ours), paper == ours, why)

    def _share(self, where: str, claim: str, paper: float, ours: float | None, why: str = "") -> Claim:
        text = None if ours is None else f"{100 * ours:.2f} %"
        digits = 0 if paper == int(paper) else 1
        agrees = ours is not None and round(100 * ours, digits) == paper
        return self._claim(where, claim, f"{paper:g} %", text, agrees, why, follows="Table 1" not in where)

    def _claim(
        self,
        where: str,
        claim: str,
        paper: str,
        ours: str | None,
        agrees: bool,
        why: str = "",
        *,
        follows: bool = False,
    ) -> Claim:
        """Build a claim about labels; `follows` says that the paper's other counts determine this number."""
        if ours is None:
            return Claim(where, claim, paper, "–", UNKNOWN, joined("The labels do not give this number.", why))
        n_items = self.content["consensus"]["n_items"]
        if n_items < N_ITEMS:
            part = joined(f"The labels cover only {n_items} of the {N_ITEMS} items.", why)
            return Claim(where, claim, paper, ours, UNKNOWN, part)
        if not agrees:
            return Claim(where, claim, paper, ours, DIFFERS, joined(OTHER_LABELS, why))
        made = FOLLOWS if follows else BY_CONSTRUCTION
        return Claim(where, claim, paper, ours, made if self.by_construction else REPRODUCED, why)


def joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def counts(claims: Sequence[Claim]) -> dict[str, int]:
    """Count the claims by outcome, in the order of `OUTCOMES`; leave out outcomes that no claim has."""
    return {outcome: n for outcome in OUTCOMES if (n := sum(claim.outcome == outcome for claim in claims))}
