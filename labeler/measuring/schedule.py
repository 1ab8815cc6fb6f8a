"""List the runs of a measurement plan in the order in which they are executed.

The same seed gives the same order. A *pass* runs every benchmark once, in one version, one context and one order. A
*round* has one pass for each version, context and kind of order, so any number of whole rounds is balanced. If the
number of runs in a plan is raised, the first rounds stay the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np

from labeler.measuring.plan import MeasurementPlan

FIXED, RANDOM = "fixed", "random"
# separate streams of random numbers, so that no choice depends on how many numbers another choice uses
_CONTEXTS, _ORDER_OF_CONTEXTS, _ORDER = range(3)


@dataclass(frozen=True)
class ScheduledRun:
    """One run of a benchmark in the schedule."""

    number: int  # position of the run in the schedule, starting at 0
    round: int  # number of the round, starting at 0; the table has this number in the column run
    benchmark: str
    version: str  # "" if the plan has no versions
    order_type: str  # "fixed" or "random"
    position: int  # position of the run in its pass, starting at 1
    predecessor: str  # the previous benchmark in this pass; "" for the first benchmark
    factors: Mapping[str, str] = field(default_factory=dict)  # the name of the level of each factor


def schedule(plan: MeasurementPlan) -> Iterator[ScheduledRun]:
    """Yield all runs of the plan, in order."""
    contexts = contexts_of(plan)
    number = 0
    for round_, version, order_type, context in _passes(plan, contexts):
        names = _order_of_benchmarks(plan, round_, version, order_type, context)
        before = ""
        for position, name in enumerate(names, start=1):
            yield ScheduledRun(number, round_, name, version, order_type, position, before, contexts[context])
            number, before = number + 1, name


def n_steps(plan: MeasurementPlan) -> int:
    """Return the number of runs in the plan."""
    n_contexts = plan.contexts or prod(len(factor.levels) for factor in plan.factors)
    per_round = len(plan.benchmarks) * max(len(plan.versions), 1) * n_contexts * len(kinds_of_order(plan))
    return plan.runs * per_round


def kinds_of_order(plan: MeasurementPlan) -> tuple[str, ...]:
    """Return the kinds of order in which the plan runs benchmarks: "fixed", "random" or both."""
    return (FIXED, RANDOM) if plan.order == "both" else (plan.order,)


def contexts_of(plan: MeasurementPlan) -> list[Mapping[str, str]]:
    """Return the combinations of factor levels that the plan measures.

    These are all combinations, or a random selection if the plan has a number of contexts. A selection contains each
    level of a factor equally often, as far as the number of contexts allows.
    """
    if plan.contexts is None:
        names = [factor.name for factor in plan.factors]
        levels = [[level.name for level in factor.levels] for factor in plan.factors]
        return [dict(zip(names, combination, strict=True)) for combination in product(*levels)]
    rng = _rng(plan, _CONTEXTS)
    best: list[Mapping[str, str]] = []
    for _attempt in range(200):  # shuffles balanced columns until no combination occurs twice
        columns = {
            factor.name: [factor.levels[at % len(factor.levels)].name for at in range(plan.contexts)]
            for factor in plan.factors
        }
        shuffled = {name: [column[at] for at in rng.permutation(len(column))] for name, column in columns.items()}
        drawn = [dict(zip(shuffled, row, strict=True)) for row in zip(*shuffled.values(), strict=True)]
        different: list[Mapping[str, str]] = list({tuple(row.values()): row for row in drawn}.values())
        best = max(best, different, key=len)
        if len(best) == plan.contexts:
            return best
    everything = [
        dict(zip([f.name for f in plan.factors], combination, strict=True))
        for combination in product(*([level.name for level in factor.levels] for factor in plan.factors))
    ]
    remaining = [row for row in everything if row not in best]
    chosen = rng.permutation(len(remaining))[: plan.contexts - len(best)]
    return [*best, *(remaining[at] for at in chosen)]


def _passes(plan: MeasurementPlan, contexts: Sequence[Mapping[str, str]]) -> Iterator[tuple[int, str, str, int]]:
    """Yield (round, version, kind of order, context) for each pass."""
    versions = tuple(plan.versions) or ("",)
    if not plan.interleave and len(versions) > 1:
        for version in versions:
            yield from ((round_, version, kind, at) for round_, _, kind, at in _rounds(plan, contexts))
        return
    for round_, place, kind, at in _rounds(plan, contexts):
        turned = (round_ + place + at) % 2
        yield from ((round_, version, kind, at) for version in (reversed(versions) if turned else versions))


def _rounds(plan: MeasurementPlan, contexts: Sequence[Mapping[str, str]]) -> Iterator[tuple[int, int, str, int]]:
    """Yield the combinations of round, kind of order and context, as (round, number of the kind, kind, context).

    The two kinds of order alternate.
    """
    kinds = list(enumerate(kinds_of_order(plan)))
    for round_ in range(plan.runs):
        for place, kind in reversed(kinds) if round_ % 2 else kinds:
            for at in _rng(plan, _ORDER_OF_CONTEXTS, round_, place).permutation(len(contexts)):
                yield round_, place, kind, int(at)


def _order_of_benchmarks(plan: MeasurementPlan, round_: int, version: str, order_type: str, context: int) -> list[str]:
    names = [benchmark.name for benchmark in plan.benchmarks]
    if order_type == FIXED:
        return names
    place = list(plan.versions).index(version) if version else 0
    return [names[at] for at in _rng(plan, _ORDER, round_, place, context).permutation(len(names))]


def _rng(plan: MeasurementPlan, *what: int) -> np.random.Generator:
    return np.random.default_rng([plan.seed, *what])
