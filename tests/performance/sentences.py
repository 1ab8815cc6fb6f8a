"""Measure how often each sentence of "In short" is said of simulated studies in which it is false.

    python -m tests.performance.sentences STUDIES.jsonl [--studies N] [--first N] [--seconds S] [--model]

Simulates studies of four reviewers and three classifiers in eleven worlds, with two labels per item and with all. Each
finished study is appended to the file and not simulated again. Writes docs/results/sentences.md from the studies in the
file. What is true of a study is measured on 20,000 further items of the same reviewers and classifiers. Most studies
need no latent class model; with `--model`, it is fitted in studies of worlds whose reviewers err independently.
"""

import argparse
import json
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.report import Resampling, in_short, summarise
from tests.performance.measuring import RESULTS

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

GOOD, CAMPS, DRIFT, COPYING, DOMINATING, FOLLOWING = (
    "good reviewers", "two camps", "two reviewers drift", "one copies 40 %", "three follow one",
    "three follow one on the same items",
)  # fmt: skip
RANDOM, RARE, TWO_WEAK, TENDENCIES, PAPER = (
    "random labels", "rare category", "two good and two weak", "applications with tendencies", "rates of the paper",
)  # fmt: skip
WORLDS = (GOOD, CAMPS, DRIFT, COPYING, DOMINATING, FOLLOWING, RANDOM, RARE, TWO_WEAK, TENDENCIES, PAPER)
SIZES = (60, 324, 586)
LABELS = (2, 4)  # per item
REVIEWERS = ("r1", "r2", "r3", "r4")
CLASSIFIERS = ("c1", "c2", "c3")
N_TRUE = 20_000
N_FEW = 7  # applications, of which a claim needs its interval by item and its interval by application
INDEPENDENT = (GOOD, RANDOM, RARE, TWO_WEAK, PAPER)  # with four labels, reviewers err independently in these worlds
PAIRS = list(combinations(range(4), 2))
EPSILON = 0.2
PAPER_AGREEMENT, PAPER_SHARE = dict(zip(PAIRS, (0.47, 0.57, 0.35, 0.53, 0.77, 0.62), strict=True)), 0.546
NEARLY = 0.01  # error of a true value
FULL, QUICK = Resampling(1, 400, 10, 19), Resampling(1, 400, 0, 0)
# who is named rightly
ACCUSED: dict[str, tuple[tuple[str, ...], ...]] = {
    COPYING: (("r1", "r2"),),
    DOMINATING: (("r1",),),
    FOLLOWING: (("r1",),),
}


@dataclass(frozen=True)
class Params:
    """What the raters of one study are like; drawn once, and used for its items and for what is true of it."""

    world: str
    prevalence: float
    rates: Floats  # shape (2, n_raters): share of right labels on dissimilar items, and on similar items
    common_order: bool  # whether all reviewers label the items in the same order


@dataclass(frozen=True)
class Drawn:
    """The labels that everybody would give to items, who labels them, and the verdicts; True means dissimilar."""

    called: Bools  # shape (n_items, 7): the reviewers, then the classifiers
    assigned: Bools  # shape (n_items, 4)
    place: Floats  # shape (n_items, 4): place of the item in the order of each reviewer, from 0 to 1
    application: NDArray[np.int64]


def params_of(world: str, replicate: int, rng: np.random.Generator) -> Params:
    """Draw what the raters of a study are like."""
    prevalence = rng.uniform(0.3, 0.7)
    rates = rng.uniform(0.75, 0.92, (2, 7))
    rates[:, 5] = rng.uniform(0.6, 0.75, 2)
    rates[:, 6] = np.array([1, -1]) * rng.uniform(-0.3, 0.3) + 0.5  # this classifier knows nothing about the items
    if world == RARE:
        prevalence, rates[1, :4] = rng.uniform(0.02, 0.06), rng.uniform(0.97, 0.995, 4)
    if world == TWO_WEAK:
        rates[:, :2], rates[:, 2:4] = rng.uniform(0.88, 0.95, (2, 2)), rng.uniform(0.6, 0.68, (2, 2))
    if world == RANDOM:
        share = rng.uniform(0.3, 0.7, 4)
        rates[:, :4] = share, 1 - share
    if world == PAPER:
        prevalence, rates[:, :4] = 0.5, rng.uniform(0.6, 0.72, (2, 4))
    return Params(world, prevalence, rates, replicate % 3 == 2)


def draw(of: Params, n_items: int, n_labels: int, rng: np.random.Generator, *, application_size: int = 20) -> Drawn:
    """Draw items, their labels and their verdicts."""
    dissimilar = rng.random(n_items) < of.prevalence
    application = np.arange(n_items) // application_size
    place = np.tile(np.arange(n_items, dtype=float)[:, None], 4)
    if not of.common_order:
        place = np.argsort(rng.random((n_items, 4)), axis=0).astype(float)
    place /= max(n_items - 1, 1)
    rates = np.where(dissimilar[:, None], of.rates[0], of.rates[1])
    if of.world == DRIFT:
        for rater in (0, 1):
            rates[:, rater] = np.clip(rates[:, rater] + 0.08 - 0.55 * place[:, rater], 0.05, 0.97)
    called = (rng.random((n_items, 7)) < rates) == dissimilar[:, None]
    if of.world == TENDENCIES:  # in each application, raters and classifiers lean to one category
        lean = rng.normal(0, 1.3, (application[-1] + 1, 7))[application]
        logit = np.log(rates / (1 - rates)) * np.where(dissimilar, 1, -1)[:, None]
        called = rng.random((n_items, 7)) < 1 / (1 + np.exp(-(logit + lean)))
    if of.world == COPYING:
        called[:, 1] = np.where(rng.random(n_items) < 0.4, called[:, 0], called[:, 1])
    if of.world in (DOMINATING, FOLLOWING):
        follow = rng.random((n_items, 3 if of.world == DOMINATING else 1)) < 0.5
        called[:, 1:4] = np.where(follow, called[:, :1], called[:, 1:4])
    if of.world == CAMPS:
        other = rng.random(n_items) < 0.5
        right = rng.random((n_items, 2)) < np.where(other[:, None], of.rates[0, 2:4], of.rates[1, 2:4])
        called[:, 2:4] = right == other[:, None]
    assigned = np.ones((n_items, 4), dtype=bool)
    if n_labels == 2:
        assigned[:] = False
        for item, pair in enumerate(rng.permutation(n_items) % len(PAIRS)):
            assigned[item, list(PAIRS[pair])] = True
        if of.world == PAPER:
            _as_in_the_paper(called, assigned, rng)
    return Drawn(called, assigned, place, application)


def _as_in_the_paper(called: Bools, assigned: Bools, rng: np.random.Generator) -> None:
    """Give each pair the published share of agreement, and all labels the published share of dissimilar labels."""
    for pair in PAIRS:
        rows = np.flatnonzero(assigned[:, pair].all(axis=1))
        agree = PAPER_AGREEMENT[pair]
        both = PAPER_SHARE - (1 - agree) / 2
        kind = rng.random(len(rows))
        first, second = kind < both + (1 - agree) / 2, (kind < both) | (kind >= 1 - (1 - agree) / 2)
        called[rows, pair[0]], called[rows, pair[1]] = first, second


def tables(drawn: Drawn, *, with_applications: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return answers and verdicts of drawn items."""
    item, rater = np.nonzero(drawn.assigned)
    word = np.where(drawn.called, "dissimilar", "similar")
    answers = pd.DataFrame({
        "item": [f"i{i}" for i in item], "reviewer": np.array(REVIEWERS)[rater], "label": word[item, rater],
        "place": drawn.place[item, rater],
    })  # fmt: skip
    if with_applications:
        answers["application"] = [f"app{drawn.application[i]}" for i in item]
    answers["position"] = answers.groupby("reviewer")["place"].rank().astype(int)
    answers = answers.sort_values(["position", "reviewer"], kind="stable").drop(columns="place")
    n = len(drawn.called)
    verdicts = pd.DataFrame({
        "item": np.tile([f"i{i}" for i in range(n)], 3), "classifier": np.repeat(CLASSIFIERS, n),
        "verdict": word[:, 4:].T.ravel(),
    })  # fmt: skip
    return answers, verdicts


def truth_of(of: Params, n_labels: int, rng: np.random.Generator) -> dict[str, Any]:
    """Measure what is true of a study on many items."""
    drawn = draw(of, N_TRUE, n_labels, rng)
    reviewers, assigned = drawn.called[:, :4], drawn.assigned
    n, given = assigned.sum(axis=1), (reviewers & assigned).sum(axis=1)
    agreeing = (given * (given - 1) + (n - given) * (n - given - 1)) / (n * (n - 1))
    share = (given / n).mean()
    expected = share**2 + (1 - share) ** 2
    both = given * (given - 1) / (n * (n - 1))
    neither = (n - given) * (n - given - 1) / (n * (n - 1))
    pairs = {}
    for i, j in PAIRS:
        common = assigned[:, i] & assigned[:, j]
        pairs[f"{REVIEWERS[i]} {REVIEWERS[j]}"] = float((reviewers[common, i] == reviewers[common, j]).mean())
    agreed = (given == 0) | (given == n)
    label = given[agreed] > 0
    right = {name: drawn.called[agreed, 4 + k] == label for k, name in enumerate(CLASSIFIERS)}
    return {
        "kappa": float((agreeing.mean() - expected) / (1 - expected)),
        "dissimilar": float(both.mean() / share), "similar": float(neither.mean() / (1 - share)), "pairs": pairs,
        "accuracy": {name: float(is_right.mean()) for name, is_right in right.items()},
        "most": "dissimilar" if label.mean() > 0.5 else "similar",
        "majority": float(max(label.mean(), 1 - label.mean())),
        "gap": {name: _gap(reviewers, drawn.called[:, 4 + k]) if n_labels > 2 else None
                for k, name in enumerate(CLASSIFIERS)},
    }  # fmt: skip


def _gap(reviewers: Bools, machine: Bools) -> float:
    """Return by how much a reviewer is closer to the other reviewers than the machine, averaged over reviewers."""
    gaps = []
    for person in range(4):
        others = np.delete(reviewers, person, axis=1).sum(axis=1)
        closeness = [np.where(answer, others, 3 - others) for answer in (reviewers[:, person], machine)]
        gaps.append(float(np.sign(closeness[0] - closeness[1]).mean()))
    return float(np.mean(gaps))


def study(world: str, n_items: int, n_labels: int, replicate: int, *, with_model: bool = False) -> dict[str, Any]:
    """Simulate one study; return its sentences and what is true of it."""
    rng = np.random.default_rng([replicate, n_items, n_labels, WORLDS.index(world)])
    of = params_of(world, replicate, rng)
    with_applications = world == TENDENCIES or replicate % 2 == 1
    size = math.ceil(n_items / N_FEW) if replicate % 4 == 3 else 5 if n_items < 100 else 20
    drawn = draw(of, n_items, n_labels, rng, application_size=size)
    answers, verdicts = tables(drawn, with_applications=with_applications)
    report = summarise(answers, verdicts, resampling=QUICK)
    tested = report.agreement.pair_equality
    is_found = tested is not None and tested.contrast is not None and tested.contrast.kind != "groups"
    if with_model or is_found:  # errors can only be said to coincide if a pair or a reviewer is found
        report = summarise(answers, verdicts, resampling=FULL)
    sentences = in_short(report)
    return {
        "study": [world, n_items, n_labels, replicate], "sentences": [(s.about, s.state, s.text) for s in sentences],
        "truth": truth_of(of, n_labels, rng), "with_model": with_model,
    }  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """A sentence, by its words, and when it is false; the words name reviewers, classifiers or numbers in groups."""

    name: str
    pattern: str
    is_false: Callable[[re.Match[str], "Study"], bool]
    is_accusation: bool = False


@dataclass(frozen=True)
class Study:
    """A finished study."""

    cell: tuple[str, int, int, int]
    sentences: list[list[str]]
    truth: dict[str, Any]
    with_model: bool  # whether the model was fitted whatever the labels are

    @property
    def world(self) -> str:
        return self.cell[0]

    @property
    def replicate(self) -> int:
        return self.cell[3]

    def pairs_with(self, names: Sequence[str], *, all_of: bool) -> tuple[float, float]:
        """Return the mean true agreement of the pairs of these reviewers, or with one of them, and of the others."""
        test = all if all_of else any
        inside: list[float] = []
        outside: list[float] = []
        for pair, share in self.truth["pairs"].items():
            (inside if test(name in names for name in pair.split()) else outside).append(share)
        return float(np.mean(inside)), float(np.mean(outside))


def _pair_is_wrong(found: re.Match[str], of: Study) -> bool:
    inside, outside = of.pairs_with(found.groups()[:2], all_of=True)
    return (inside <= outside) if found[3] == "more" else (inside >= outside)


def _reviewer_is_wrong(found: re.Match[str], of: Study) -> bool:
    inside, outside = of.pairs_with([found[1]], all_of=False)
    return (inside <= outside) if found[2] == "more" else (inside >= outside)


def _rule_is_wrong(sign: int) -> Callable[[re.Match[str], Study], bool]:
    def is_wrong(found: re.Match[str], of: Study) -> bool:
        rule = re.search(r"\(always (\w+)\)", found.string)
        share = of.truth["majority"]
        if rule is not None and rule[1] != of.truth["most"]:
            share = 1 - share
        return any(sign * (of.truth["accuracy"][name] - share) <= 0 for name in re.findall(r"(c\d) \(", found[1]))

    return is_wrong


def _names(text: str) -> set[str]:
    return set(re.findall(r"r\d", text))


def _gaps(text: str, of: Study) -> list[float]:
    return [of.truth["gap"][name] for name in re.findall(r"c\d", text)]


CLAIMS = (
    Claim("more than chance", r"^This is more than chance", lambda _, of: of.truth["kappa"] <= NEARLY),
    Claim("little more than chance: kappa is at most 0.1", r"^Reviewers agree little more than chance",
          lambda _, of: of.truth["kappa"] > 0.1 + NEARLY),
    Claim("less often than chance", r"^Reviewers agree less often than chance",
          lambda _, of: of.truth["kappa"] >= -NEARLY),
    Claim("two groups", r"^Two groups agree", lambda _, of: of.world != CAMPS),
    Claim("a pair agrees more or less often", r"^(r\d) and (r\d) agree (more|less) often", _pair_is_wrong),
    Claim("a reviewer agrees more or less often", r"^(r\d) agrees (more|less) often", _reviewer_is_wrong),
    Claim("somebody's agreement changes", r"^(?:The agreement of|r\d's agreement) .* changes in the course",
          lambda found, of: of.world != DRIFT or not _names(found[0]) <= {"r1", "r2"}, True),
    Claim("agreement changes", r"^Agreement changes in the course", lambda _, of: of.world != DRIFT),
    Claim("errors of a pair coincide", r"^Errors of (r\d) and (r\d) coincide",
          lambda found, of: tuple(found.groups()) not in ACCUSED.get(of.world, ()), True),
    Claim("others follow a reviewer", r"follow those of (r\d)",
          lambda found, of: tuple(found.groups()) not in ACCUSED.get(of.world, ()), True),
    Claim("errors are not independent", r"the labels contradict the model", lambda _, of: of.with_model),
    Claim("a classifier agrees more often than the rule", r"^On .*?: ([^;]*) agrees? more often", _rule_is_wrong(1)),
    Claim("a classifier agrees less often than the rule", r"^On .*?(?::|;) ([^;]*) agrees? less often",
          _rule_is_wrong(-1)),
    Claim("a classifier may replace a reviewer", r"\), (c[^;]*) may replace a reviewer",
          lambda found, of: max(_gaps(found[1], of)) >= EPSILON),
    Claim("a classifier is worse than a reviewer", r"[,;] ([^;]*) (?:is|are) worse than a reviewer",
          lambda found, of: min(_gaps(found[1], of)) < EPSILON),
)  # fmt: skip
# Where a claim is always false, so that its share of these studies is the error of the claim.
ALWAYS_FALSE: dict[str, Callable[[Study], bool]] = {
    "more than chance": lambda of: of.truth["kappa"] <= NEARLY,
    "little more than chance: kappa is at most 0.1": lambda of: of.truth["kappa"] > 0.1 + NEARLY,
    "less often than chance": lambda of: of.truth["kappa"] >= -NEARLY,
    "two groups": lambda of: of.world != CAMPS,
    "agreement changes": lambda of: of.world != DRIFT,
    "somebody's agreement changes": lambda of: of.world != DRIFT,
    "errors of a pair coincide": lambda of: of.world != COPYING,
    "others follow a reviewer": lambda of: of.world not in (DOMINATING, FOLLOWING),
    "errors are not independent": lambda of: of.with_model,
}


def table_of_claims(studies: Sequence[Study]) -> Iterator[str]:
    """Yield the lines of the table of sentences."""
    yield "| sentence | where it can be false: studies | said | said and false | share | worst world | goal |"
    yield "| --- | ---: | ---: | ---: | ---: | --- | ---: |"
    for claim in CLAIMS:
        can_be_false = ALWAYS_FALSE.get(claim.name, lambda _: True)
        said, wrong, eligible = 0, [], [of for of in studies if can_be_false(of)]
        for of in studies:
            for _, _, text in of.sentences:
                found = re.search(claim.pattern, text)
                said += found is not None
                if found is not None and claim.is_false(found, of):
                    wrong.append(of)
        worst = ""
        if wrong:
            shares = {
                world: (
                    sum(of.world == world for of in wrong),
                    sum(of.world == world for of in eligible) or sum(of.world == world for of in studies),
                )
                for world in {of.world for of in wrong}
            }
            world = max(shares, key=lambda name: shares[name][0] / shares[name][1])
            worst = f"{world}: {shares[world][0]} of {shares[world][1]}"
        share = f"{100 * len(wrong) / max(len(eligible), 1):.1f} %"
        goal = "1 %" if claim.is_accusation else "5 %"
        yield f"| {claim.name} | {len(eligible)} | {said} | {len(wrong)} | {share} | {worst or '–'} | {goal} |"


def table_of_worlds(studies: Sequence[Study]) -> Iterator[str]:
    """Yield the lines of a table of what is said of each world, with which it is found."""
    names = [claim.name for claim in CLAIMS]
    yield f"| world | items | labels | studies | {' | '.join(names)} |"
    yield f"| --- | ---: | ---: | ---: |{' ---: |' * len(names)}"
    for world in WORLDS:
        for n_items in SIZES:
            for n_labels in LABELS:
                of_cell = [of for of in studies if of.cell[:3] == (world, n_items, n_labels)]
                if of_cell:
                    cells = [
                        sum(any(re.search(claim.pattern, text) for _, _, text in of.sentences) for of in of_cell)
                        for claim in CLAIMS
                    ]
                    shares = " | ".join(f"{cell / len(of_cell):.2f}".lstrip("0") for cell in cells)
                    yield f"| {world} | {n_items} | {n_labels} | {len(of_cell)} | {shares} |"


def coverage(studies: Sequence[Study]) -> Iterator[str]:
    """Yield the lines of the table on the intervals of kappa."""
    yield "| world | studies with an interval | the interval holds the true kappa |"
    yield "| --- | ---: | ---: |"
    for world in WORLDS:
        hits = []
        for of in studies:
            for _, _, text in of.sentences if of.world == world else ():
                found = re.search(r"Fleiss' kappa (?:is|of) [^ ]+ \(95 % CI ([−\d.]+) to ([−\d.]+)", text)
                if found:
                    low, high = (float(end.replace("−", "-")) for end in found.groups())
                    hits.append(low - 0.001 <= of.truth["kappa"] <= high + 0.001)
        if hits:
            yield f"| {world} | {len(hits)} | {100 * np.mean(hits):.1f} % |"


def page(studies: Sequence[Study]) -> str:
    """Return the page with all tables, and ten whole texts."""
    texts = []
    for at, world in enumerate(WORLDS[:10]):
        cell = (world, 324, LABELS[at % 2])
        of = next((of for of in studies if of.cell[:3] == cell and of.replicate % 2 == 1), None)
        if of is not None:
            labels = "two labels" if of.cell[2] == 2 else "four labels"
            texts += [f"### {world[:1].upper()}{world[1:]}, 324 items, {labels} per item\n"]
            texts += [f"- {text} *({about}: {state})*" for about, state, text in of.sentences] + [""]
    parts = [
        HEAD.format(n=len(studies), n_model=sum(of.with_model for of in studies)),
        *table_of_claims(studies), "", SAID, *table_of_worlds(studies), "", COVERED,
        *coverage(studies), "", "## Ten texts\n", *texts,
    ]  # fmt: skip
    return "\n".join(parts).rstrip() + "\n"


HEAD = """# Sentences that are false

{n} simulated studies of four reviewers and three classifiers, in eleven worlds, with 60, 324 and 586 items and two or
four labels per item; every fourth study has 12 to 30 applications, and every fourth has seven. What is true is measured
on 20,000 further items of the same reviewers. `python -m tests.performance.sentences STUDIES.jsonl --seconds 20000`
simulates the studies and writes this page; with `--model`, it adds studies whose reviewers err independently and tests
whether the labels show it ({n_model} studies with four labels; [a page of its own](consensus.md) has more). A sentence
that names somebody is an accusation.
"""
SAID = """## How often each sentence is said

Shares of the studies of each world.
"""
COVERED = """## Intervals of Fleiss' kappa

Shares of the 95 % intervals that hold the true value.
"""


def main() -> None:
    """Simulate studies for a number of seconds of processor time, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--studies", type=int, default=60, help="studies of each cell")
    parser.add_argument(
        "--first",
        type=int,
        default=0,
        help="number of the first study of each cell, from which its random numbers follow",
    )
    parser.add_argument(
        "--model", action="store_true", help="fit the latent class model, if reviewers err independently"
    )
    parser.add_argument("--seconds", type=float, default=0, help="processor time; 0 only writes the page")
    parser.add_argument("--part", type=int, default=0, help="0 for all studies, or 1 or 2 for every second study")
    parser.add_argument("--out", type=Path, default=RESULTS / "sentences.md")
    given = parser.parse_args()
    given.path.touch()
    begun = time.process_time()
    rows = [json.loads(line) for line in given.path.read_text(encoding="utf-8").splitlines()]
    done = {tuple(row["study"]) for row in rows if not given.model or row.get("with_model")}
    worlds, labels = (INDEPENDENT, (4,)) if given.model else (WORLDS, LABELS)
    waiting = [
        key for key in product(range(given.first, given.first + given.studies), worlds, SIZES, labels)
        if (*key[1:], key[0]) not in done and (not given.part or key[0] % 2 == given.part - 1)
    ]  # fmt: skip
    for replicate, world, n_items, n_labels in waiting:
        if time.process_time() - begun >= given.seconds:
            break
        rows.append(study(world, n_items, n_labels, replicate, with_model=given.model))
        with given.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(rows[-1]) + "\n")
    rows.sort(key=lambda row: row.get("with_model", False))  # of two rows of a study, the one with the model counts
    unique = {tuple(row["study"]): row for row in rows}
    studies = [
        Study(cell, row["sentences"], row["truth"], row.get("with_model", False)) for cell, row in unique.items()
    ]
    given.out.write_text(page(studies), encoding="utf-8")


if __name__ == "__main__":
    main()
