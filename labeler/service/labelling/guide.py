"""Build worked examples and practice items for reviewers.

The examples are made from measurements in the package, to which known changes are added. The module does not read the
study, so everyone gets the same examples, and no example is an item of the study.
"""

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from analysis import schemes
from labeler.config import bundled
from labeler.model import Category, Protocol, Question, Series
from labeler.questions import either
from labeler.screen import binning

RUNS = ("data", "demo", "guide.json.gz")  # written by scripts/guide_runs.py
STANDARD = Protocol()
SEED = 20261121
N_PRACTICE = 6
# included benchmark with little noise -> its five runs, which are cut in half, and their common level in seconds
BASES: dict[str, tuple[tuple[int, ...], float]] = {
    "hashlib.sha256#bytes=100000": ((1, 2, 4, 5, 6), 3.1e-5),
    "numpy.fft.rfft#n=4096": ((0, 1, 2, 3, 4), 8.4e-4),
    "numpy.sum#n=60000": ((0, 1, 2, 3, 4), 1.9e-7),
}

AXES = {
    "levels": "the levels of all runs. You see the median and the middle half of every run, and each level that lasts "
    "more than about 5 % of a run. Values beyond these levels extend the axis by at most 15 %. The axis spans at least "
    "{span} of the median, so that small noise does not look large",
    "core": "the range from the lowest 1st percentile of any run to the highest 95th percentile of any run, so that a "
    "single deviating run stays visible. The axis spans at least {span} of the median, so that small noise does not "
    "look large",
    "pooled": "the range from 0.5 to 99.5 % of all iterations together",
    "full": "the range from the fastest to the slowest of all iterations",
}

Change = Callable[[list[Series], np.random.Generator], list[Series]]


@dataclass(frozen=True)
class Example:
    """Artificial runs with the category that they were generated to have."""

    title: str
    explanation: str
    # The category that follows from the known change. None if people disagree, so that the instructions of the
    # study must decide.
    category: Category | None
    picture: Mapping[str, Any]  # result of `labeler.screen.binning.payload`

    def feedback(self, answer: str) -> str:
        """Return the text that a reviewer sees after this answer: the correct category and the explanation."""
        truth = f"the item was generated as {self.category}" if self.category else "people disagree about this item"
        return f"Your answer: {answer}; {truth}. {self.title}: {self.explanation}"


WHAT_TO_JUDGE = """
**What to judge.** Would each run lead to the same conclusion about the benchmark: the same level, the same spread, the
same pattern over time? All measurements show small random differences. Compare the runs with each other. It does not
matter how fast the benchmark is, or how noisy the runs are if all runs are equally noisy.
"""


def has_examples(question: Question) -> bool:
    """Return whether the worked examples and the practice items answer this question."""
    return {recipe.category for recipe in _EXAMPLES} - {None} == set(question.names)


def describe_protocol(question: Question, protocol: Protocol) -> str:
    """Return the text of the guide: how items are shown, what to judge, and how answers are used."""
    axis = AXES[protocol.axis_rule].format(span=f"{100 * protocol.min_span:g} %")
    keys = either([category.key.upper() for category in question.categories])
    order = " The order of the runs differs between reviewers." if protocol.varies_pictures else ""
    unsure = (
        "- Press N if you cannot decide: the item returns once at the end. This answer never counts as a label."
        if question.not_sure
        else "- Each item needs one of these answers."
    )
    sure = f"\n- Press 1, 2 or 3 to say how sure you are, before or after {keys}." if protocol.asks_confidence else ""
    return f"""
**What you see.** You see all runs of one benchmark on one scale, each from its first iteration to its last. The axis
covers {axis}. The grey lanes at the top and bottom show how many values are outside the axis. A bar shows the share of
a window, and the number above a panel is the share of the whole run. Z and L change the axis for the current item only;
every item starts with the same view for everyone.{order}

{WHAT_TO_JUDGE if has_examples(question) else ""}**Your answers.**
- {keys} saves your answer at once; U undoes the last answer. Agreement counts your first answer. If you
  revise an answer, the study keeps both answers.
{unsure}{sure}
- Press F (flag) or M (comment) to tell the coordinator that something is wrong with the item, or to give a reason.
- You label alone: nobody sees your answers before the study is over, and you do not see other people's answers.
- The study records how long you look at an item. Time while the page is hidden does not count, and at most one minute
  without input counts. You can take a break at any time: close the page and continue later.
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
    eighths = rng.choice(np.arange(2, 7), 3, replace=False).tolist()  # each step at a different time
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
    "These are real runs that were scaled to the same level. The differences between the runs are random. In every "
    "run, the line of medians and the band with the middle half of the iterations are at the same height.",
    Category.SIMILAR,
    _as_they_are,
)
_SPIKES = _Recipe(
    "Random spikes",
    "Sometimes an iteration takes much longer. This happens at different times in each run. The medians do not change, "
    "and no run has more spikes than the others, so the runs still behave alike.",
    Category.SIMILAR,
    _spikes,
)
_ONE = _Recipe(
    "One run at a different level",
    "One run takes 5 % longer from the first iteration to the last. Anyone who measured only this run would have "
    "reported a different number.",
    Category.DISSIMILAR,
    _one_slower(0.05),
)
_LEVELS = _Recipe(
    "Two levels",
    "Four of the ten runs take 4 % longer from the first iteration to the last. Each run is steady, but the runs have "
    "two levels. The result of a measurement depends on the level that a run happens to have.",
    Category.DISSIMILAR,
    _two_levels(0.04),
)
_NOISE = _Recipe(
    "One run much noisier",
    "One run varies far more than the others: its band is tall, its bar is long, and its curve is steep.",
    Category.DISSIMILAR,
    _noisier,
)
_STEPS = _Recipe(
    "Steps at different times",
    "Three runs become 7 % slower, each at a different time. Press O to overlay the medians. You then see that the "
    "steps are not at the same time.",
    Category.DISSIMILAR,
    _steps,
)
_WARMUP = _Recipe(
    "One long warm-up",
    "One run starts 25 % slower and takes several hundred iterations to settle. After that, all runs are alike. People "
    "disagree about such items. Follow the study's instructions. If the instructions do not cover this case, judge the "
    "runs as a whole, and judge all such items in the same way.",
    None,
    _longer_warmup,
)

_EXAMPLES = (_ALIKE, _ONE, _LEVELS, _STEPS, _SPIKES, _NOISE, _WARMUP)
_PRACTICE = (_ALIKE, _ALIKE, _SPIKES, _ONE, _LEVELS, _NOISE, _STEPS)

_SCHEMES = {
    "offset": "The two runs have the same pattern, but different levels. One run took longer, so the runs are "
    "dissimilar.",
    "double frequency": "The two runs have the same level and the same spread, but in one run the pattern repeats "
    "twice as fast. You see the difference in the panels, but not in the bars and curves.",
    "noise": "The two runs have the same level, but one run varies more. You see the difference in the bands and bars, "
    "but not in the medians.",
}


@lru_cache(maxsize=4)
def schematic_examples(rule: str = STANDARD.axis_rule, min_span: float = STANDARD.min_span) -> tuple[Example, ...]:
    """Return three examples with simulated pairs of runs; the two runs of a pair differ in only one way."""
    pairs = schemes.schematic_pairs(rng=np.random.default_rng(SEED))
    return tuple(
        Example(
            name.capitalize(),
            _SCHEMES[name],
            Category.DISSIMILAR,
            binning.payload([first / 1000, second / 1000], "s", rule=rule, min_span=min_span),
        )
        for name, (first, second) in ((name, pairs[name]) for name in _SCHEMES)
    )


@lru_cache(maxsize=4)
def worked_examples(rule: str = STANDARD.axis_rule, min_span: float = STANDARD.min_span) -> tuple[Example, ...]:
    """Return the worked examples, each with an explanation.

    An example has ten runs, which are drawn with the axis rule of the study.
    """
    return _drawn_examples(_EXAMPLES, SEED, rule, min_span)


@lru_cache(maxsize=20)
def practice_round(
    seed: int, rule: str = STANDARD.axis_rule, min_span: float = STANDARD.min_span
) -> tuple[Example, ...]:
    """Return six practice items; the seed determines which items are selected, and their order."""
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
    """Return ten runs of each benchmark in `BASES`, scaled so that every median equals the level of the benchmark."""
    # reading the Parquet file of the demo would take 80 MB of a server, which stay
    runs = json.loads(gzip.decompress(bundled(*RUNS).read_bytes()))
    bases = []
    for name, (_, level) in BASES.items():
        halves = [half for run in runs[name] for half in np.split(np.array(run), 2)]
        bases.append([half / np.median(half) * level for half in halves])
    return bases
