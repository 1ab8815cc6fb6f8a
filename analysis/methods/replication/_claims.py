"""Compare claims of the paper with our results, and check the claims about the labels of its reviewers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.document import listed, number, percent
from analysis.statistics.intervals import wilson

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
LARGEST_SLIGHT = 0.2  # the upper end of the band "slight" of Landis and Koch
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
            bands == ["slight", "slight"], BANDS, follows=True, ours_in=_ends(kappa), paper_in=(0, LARGEST_SLIGHT),
        )  # fmt: skip
        n, agreed = consensus["n_items"], consensus["agreed"]
        yield self._count("4.1", "items", N_ITEMS, n, why=MISPRINT_568)
        yield self._count("4.1", "agreed items", N_AGREED, agreed, n, N_ITEMS)
        yield self._count("4.1", "agreed, dissimilar", N_AGREED_DISSIMILAR, consensus["agreed_dissimilar"], agreed)
        yield self._count("4.1", "agreed, similar", N_AGREED - N_AGREED_DISSIMILAR, consensus["agreed_similar"],
                          agreed)  # fmt: skip
        yield self._share("4.1", "percent agreement", 55, agreement["coefficients"]["percent_agreement"])
        value = kappa["value"]
        yield self._claim(
            "4.1", "Fleiss' kappa", "0.1", None if value is None else f"{value:.5f}",
            value is not None and round(value, 1) == 0.1, follows=True, ours_in=_ends(kappa), paper_in=(0.05, 0.15),
        )  # fmt: skip

    def _pairs(self) -> Iterator[Claim]:
        found = {tuple(sorted((pair["a"].upper(), pair["b"].upper()))): pair["percent"]
                 for pair in self.content["agreement"]["pairs"]}  # fmt: skip
        names = sorted({name for pair in found for name in pair})
        if len(names) != N_REVIEWERS:
            why = f"Table 1 has {N_REVIEWERS} reviewers, but here {len(names)} reviewers have items in common."
            yield Claim("4.1, Table 1", "Agreement of each pair", "35 to 77 %", "–", NOT_APPLICABLE, why)
            return
        if set(names) != {name for pair in PAIRS_IN_PERCENT for name in pair}:
            called = sorted({name for pair in self.content["agreement"]["pairs"] for name in (pair["a"], pair["b"])})
            why = f"Table 1 calls the reviewers R1 to R4. Here they are called {listed(called, 4)}."
            yield Claim("4.1, Table 1", "Agreement of each pair", "35 to 77 %", "–", UNKNOWN, why)
            return
        for (a, b), paper in PAIRS_IN_PERCENT.items():
            why = LOWEST_NOTE if (a, b) == ("R1", "R4") else ""
            yield self._share("4.1, Table 1", f"{a} – {b}", paper, found.get((a, b), _UNDEFINED), why)
        yield from self._highest({pair: share for pair, share in found.items() if share["value"] is not None})

    def _highest(self, found: Mapping[tuple[str, ...], Mapping[str, Any]]) -> Iterator[Claim]:
        """Compare the pair with the highest agreement; its interval says whether another pair could be the highest."""
        if not found:
            return
        first, *others = sorted(found, key=lambda pair: -found[pair]["value"])
        ours, (low, _) = f"{' and '.join(first)} ({percent(found[first]['value'])})", _ends(found[first])
        is_clear = low is not None and all(low > found[pair]["value"] for pair in others)
        claim, paper = "Pair with the highest agreement", "R2 and R4 (77 %)"
        if is_clear:
            yield self._claim("4.1", claim, paper, ours, first == ("R2", "R4"))
        else:
            yield Claim("4.1", claim, paper, ours, UNKNOWN,
                        "The interval of the highest pair contains the agreement of another pair.")  # fmt: skip

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
            yield self._count(where, f"{name} {cell}: {CELLS[cell]}", paper, found[cell], sum(found.values()))
        section = where.partition(",")[0]
        if name == "same":
            yield self._share(section, f"{name} specificity", 83, row["positive"]["specificity"], SPECIFICITY)
            yield self._share(section, f"{name} sensitivity", 27.5, row["positive"]["sensitivity"], NOT_IN_TEXT)
        else:
            yield self._share(section, f"{name} sensitivity", 92, row["positive"]["sensitivity"])
            yield self._share(section, f"{name} specificity", 39, row["positive"]["specificity"], NOT_IN_TEXT)

    def _count(
        self, where: str, claim: str, paper: int, ours: int, of: int | None = None, paper_of: int = N_AGREED,
        *, why: str = "",
    ) -> Claim:  # fmt: skip
        """Compare a number of items; as a share of `of` items it has an interval."""
        found, share = wilson(ours, of) if of else None, paper / paper_of
        ends = None if found is None else (found.low, found.high)
        return self._claim(where, claim, str(paper), str(ours), paper == ours, why, ours_in=ends,
                           paper_in=(share, share))  # fmt: skip

    def _share(self, where: str, claim: str, paper: float, ours: Mapping[str, Any], why: str = "") -> Claim:
        value = ours["value"]
        text = None if value is None else f"{100 * value:.2f} %"
        digits = 0 if paper == int(paper) else 1
        agrees = value is not None and round(100 * value, digits) == paper
        half = 0.005 * 10**-digits
        return self._claim(
            where, claim, f"{paper:g} %", text, agrees, why, follows="Table 1" not in where, ours_in=_ends(ours),
            paper_in=(paper / 100 - half, paper / 100 + half),
        )  # fmt: skip

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
        ours_in: tuple[float | None, float | None] | None = None,
        paper_in: tuple[float, float] = (0, 0),
    ) -> Claim:
        """Build a claim about labels; `follows` says that the paper's other counts determine this number.

        Labels of another review give other digits, so the interval of our number decides whether it differs: `ours_in`
        is the interval, and `paper_in` what the paper's number can be before it was rounded.
        """
        if ours is None:
            return Claim(where, claim, paper, "–", UNKNOWN, joined("The labels do not give this number.", why))
        n_items = self.content["consensus"]["n_items"]
        if n_items < N_ITEMS:
            part = joined(f"The labels cover only {n_items} of the {N_ITEMS} items.", why)
            return Claim(where, claim, paper, ours, UNKNOWN, part)
        if agrees:
            made = FOLLOWS if follows else BY_CONSTRUCTION
            return Claim(where, claim, paper, ours, made if self.by_construction else REPRODUCED, why)
        if ours_in is None or self.by_construction:
            return Claim(where, claim, paper, ours, DIFFERS, joined(OTHER_LABELS, why))
        low, high = ours_in
        if (low is not None and low > paper_in[1]) or (high is not None and high < paper_in[0]):
            return Claim(where, claim, paper, ours, DIFFERS, joined(OTHER_LABELS, why))
        within = (
            "Our number has no interval, so these labels do not show whether it differs."
            if low is None and high is None
            else "The 95 % interval of our number contains the paper's, so these labels do not show whether it differs."
        )
        return Claim(where, claim, paper, ours, UNKNOWN, joined(within, why))


_UNDEFINED: Mapping[str, Any] = {"value": None, "low": None, "high": None}


def _ends(estimate: Mapping[str, Any]) -> tuple[float | None, float | None]:
    return estimate["low"], estimate["high"]


def joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def counts(claims: Sequence[Claim]) -> dict[str, int]:
    """Count the claims by outcome, in the order of `OUTCOMES`; leave out outcomes that no claim has."""
    return {outcome: n for outcome in OUTCOMES if (n := sum(claim.outcome == outcome for claim in claims))}
