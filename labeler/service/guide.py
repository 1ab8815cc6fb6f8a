"""Worked examples and practice for reviewers, made from the bundled measurements by known changes.

Nothing here knows a study: the same for everyone, and nothing that anyone is asked to label.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from analysis import schemes
from labeler.config import bundled
from labeler.formats import Source, read
from labeler.model import Category, Protocol, Series
from labeler.screen import binning

STANDARD = Protocol()
SEED = 20261121
N_PRACTICE = 6
# quiet runs of the bundled benchmarks: five of each, cut in two, and brought to one level in seconds
BASES: dict[str, tuple[tuple[int, ...], float]] = {
    "hashlib.sha256#bytes=100000": ((1, 2, 4, 5, 6), 3.1e-5),
    "numpy.fft.rfft#n=4096": ((0, 1, 2, 3, 4), 8.4e-4),
    "numpy.sum#n=60000": ((0, 1, 2, 3, 4), 1.9e-7),
}

AXES = {
    "levels": "over the levels of all runs: every run's median and middle half are on it, and so is any level that "
    "lasts more than about 5 % of a run; a tail of at most 15 % follows, and the axis spans at least {span} of the "
    "median, so that small noise is not blown up",
    "core": "from the lowest 1st percentile of a run to the highest 95th, so that no single deviating run can vanish, "
    "and over at least {span} of the median, so that small noise is not blown up",
    "pooled": "from 0.5 to 99.5 % of all iterations together",
    "full": "from the fastest to the slowest iteration of all",
}

DEFINITIONS: Mapping[Category, str] = {
    Category.SIMILAR: "Each run alone would have told the same about the benchmark: the same level, the same spread, "
    "the same pattern over time. Small differences by chance are in every measurement.",
    Category.DISSIMILAR: "At least one run would have told something else: another level, a spread of its own, a step "
    "or a drift that the others do not have.",
}

Change = Callable[[list[Series], np.random.Generator], list[Series]]


@dataclass(frozen=True)
class Example:
    """Runs with what is known about them.

    Attributes
    ----------
    title, explanation : str
    category : Category or None
        What follows from how they were made; None where people differ, and the study's instructions decide.
    picture : mapping
        As `labeler.screen.binning.payload` makes it.
    """

    title: str
    explanation: str
    category: Category | None
    picture: Mapping[str, Any]

    def feedback(self, answer: str) -> str:
        """What to tell somebody who gave this answer."""
        truth = f"it was made to be {self.category}" if self.category else "people differ on it"
        return f"You said {answer}; {truth}. {self.title}: {self.explanation}"

    def is_right(self, answer: str) -> bool:
        """Whether an answer is what the runs were made to be."""
        return self.category is not None and answer == self.category


def protocol_words(protocol: Protocol) -> str:
    """How items are shown, what counts, and what happens to an answer."""
    axis = AXES[protocol.axis_rule].format(span=f"{100 * protocol.min_span:g} %")
    order = " The runs stand in an order of your own." if protocol.varies_pictures else ""
    sure = "\n- Say how sure you are with 1, 2 or 3, before or after S or D." if protocol.asks_confidence else ""
    return f"""
**What you see.** All runs of one benchmark, each from its first iteration to its last, on one scale. The axis reaches
{axis}. What lies outside is seen in the grey lanes at top and bottom: the bars are the share of each window beyond the
axis, and the share of the whole run stands above its panel. Z and L change the axis for the item on the screen only;
every item begins with the same view for everybody.{order}

**What counts.** Judge whether the runs, as they are, would tell the same about the benchmark: the same level, the same
spread, the same pattern over time. Small differences by chance are in every measurement. Judge the runs against one
another, not whether the benchmark is fast, or noisy in every run alike.

**Your answers.**
- S or D is saved at once; U takes the last one back. Your first answer is what counts for agreement, a revision is kept
  beside it.
- N if you cannot tell: the item comes once more at the end. It is never counted as a label.{sure}
- F and M are for the coordinator: something is wrong with the item, or you want to say why.
- You work alone: nobody sees your answers before the study is over, and you see nobody else's.
- The time you look at an item is noted. Time while the page is hidden does not count, nor what goes beyond one minute
  without a sign of you. Take a break whenever you like: close the page, and go on later where you were.
"""


def _as_they_are(runs: list[Series], _rng: np.random.Generator) -> list[Series]:
    return runs


def _one_slower(share: float) -> Change:
    def change(runs: list[Series], rng: np.random.Generator) -> list[Series]:
        chosen = int(rng.integers(len(runs)))
        return [run * (1 + share) if i == chosen else run for i, run in enumerate(runs)]

    return change


def _two_levels(share: float) -> Change:
    def change(runs: list[Series], rng: np.random.Generator) -> list[Series]:
        chosen = set(rng.choice(len(runs), 4, replace=False).tolist())
        return [run * (1 + share) if i in chosen else run for i, run in enumerate(runs)]

    return change


def _spikes(runs: list[Series], rng: np.random.Generator) -> list[Series]:
    return [np.where(rng.random(len(run)) < 0.002, run * rng.uniform(1.3, 2.5, len(run)), run) for run in runs]


def _noisier(runs: list[Series], rng: np.random.Generator) -> list[Series]:
    chosen = int(rng.integers(len(runs)))
    return [run * (1 + rng.normal(0, 0.04, len(run))) if i == chosen else run for i, run in enumerate(runs)]


def _steps(runs: list[Series], rng: np.random.Generator) -> list[Series]:
    chosen = rng.choice(len(runs), 3, replace=False).tolist()
    eighths = rng.choice(np.arange(2, 7), 3, replace=False).tolist()  # no two at one moment
    after = {i: len(runs[i]) * eighth // 8 for i, eighth in zip(chosen, eighths, strict=True)}
    return [
        np.where(np.arange(len(run)) >= after[i], run * 1.07, run) if i in after else run for i, run in enumerate(runs)
    ]


def _longer_warmup(runs: list[Series], rng: np.random.Generator) -> list[Series]:
    chosen = int(rng.integers(len(runs)))
    return [run * (1 + 0.25 * np.exp(-np.arange(len(run)) / 200)) if i == chosen else run for i, run in enumerate(runs)]


@dataclass(frozen=True)
class _Recipe:
    title: str
    explanation: str
    category: Category | None
    change: Change


_ALIKE = _Recipe(
    "Alike",
    "Real runs, brought to one level: what differs between them is chance. Their bands, medians and bars lie at one "
    "height, and the curves at the right fall together.",
    Category.SIMILAR,
    _as_they_are,
)
_SPIKES = _Recipe(
    "Spikes at random",
    "Now and then an iteration takes much longer, in every run and at places of its own. The medians do not move, and "
    "no run has more of it than the others: the runs still behave alike.",
    Category.SIMILAR,
    _spikes,
)
_ONE = _Recipe(
    "One run on another level",
    "One run takes 5 % longer from the first iteration to the last. Who had measured only this run would have reported "
    "another number.",
    Category.DISSIMILAR,
    _one_slower(0.05),
)
_LEVELS = _Recipe(
    "Two levels",
    "Four of the ten runs take 4 % longer throughout. Each run is steady by itself; together they are not: how often "
    "each level comes up depends on the day.",
    Category.DISSIMILAR,
    _two_levels(0.04),
)
_NOISE = _Recipe(
    "One run much noisier",
    "One run scatters far more than the others: its band is tall, its bar long, its curve steep.",
    Category.DISSIMILAR,
    _noisier,
)
_STEPS = _Recipe(
    "Steps at different times",
    "Three runs become 7 % slower, each at another moment. Press O to lay the medians over one another: the steps do "
    "not fall together.",
    Category.DISSIMILAR,
    _steps,
)
_WARMUP = _Recipe(
    "One long warm-up",
    "One run begins 25 % slower and takes some hundred iterations to settle; afterwards all are alike. People differ "
    "here. Decide as the study's instructions say; where they say nothing, judge the runs as a whole, and judge every "
    "such item in the same way.",
    None,
    _longer_warmup,
)

_EXAMPLES = (_ALIKE, _ONE, _LEVELS, _STEPS, _SPIKES, _NOISE, _WARMUP)
_PRACTICE = (_ALIKE, _ALIKE, _SPIKES, _ONE, _LEVELS, _NOISE, _STEPS)

_SCHEMES = {
    "offset": "Two runs of the same shape on two levels. However equal their patterns, one took longer: dissimilar.",
    "double frequency": "The same level and the same spread, but the pattern repeats twice as fast. Bars and curves at "
    "the right do not show it; the runs themselves do.",
    "noise": "The same level, but one run scatters more. The medians hide it; bands and bars show it.",
}


@lru_cache(maxsize=4)
def schematic_examples(rule: str = STANDARD.axis_rule, min_span: float = STANDARD.min_span) -> tuple[Example, ...]:
    """Three made pairs, each of which differs in one way only."""
    return tuple(
        Example(
            name.capitalize(),
            _SCHEMES[name],
            Category.DISSIMILAR,
            binning.payload([first / 1000, second / 1000], "s", rule=rule, min_span=min_span),
        )
        for name, (first, second) in schemes.figure_1_pairs(rng=np.random.default_rng(SEED)).items()
    )


@lru_cache(maxsize=4)
def worked_examples(rule: str = STANDARD.axis_rule, min_span: float = STANDARD.min_span) -> tuple[Example, ...]:
    """Ten runs each, drawn by the rule of a study, with an explanation of what to look at."""
    return _drawn_examples(_EXAMPLES, SEED, rule, min_span)


@lru_cache(maxsize=20)
def practice_round(
    seed: int, rule: str = STANDARD.axis_rule, min_span: float = STANDARD.min_span
) -> tuple[Example, ...]:
    """Six items to practise on; which and in which order depends on the seed."""
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(_PRACTICE))[:N_PRACTICE].tolist()
    return _drawn_examples([_PRACTICE[i] for i in chosen], seed, rule, min_span)


def _drawn_examples(recipes: Sequence[_Recipe], seed: int, rule: str, min_span: float) -> tuple[Example, ...]:
    rng = np.random.default_rng(seed)
    bases = _bases()
    first = int(rng.integers(len(bases)))
    examples = []
    for i, recipe in enumerate(recipes):
        base = bases[(first + i) % len(bases)]
        in_order = [base[run] for run in rng.permutation(len(base)).tolist()]
        picture = binning.payload(recipe.change(in_order, rng), "s", rule=rule, min_span=min_span)
        examples.append(Example(recipe.title, recipe.explanation, recipe.category, picture))
    return tuple(examples)


@lru_cache(maxsize=1)
def _bases() -> list[list[Series]]:
    """Ten runs of each quiet benchmark, each with the median of its level."""
    source = Source("demo.parquet", bundled("data", "demo", "demo.parquet"))
    runs = {benchmark.benchmark: benchmark.values for benchmark in read(source)}
    bases = []
    for name, (chosen, level) in BASES.items():
        halves = [half for number in chosen for half in np.split(runs[name][number], 2)]
        bases.append([half / np.median(half) * level for half in halves])
    return bases
