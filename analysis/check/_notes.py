"""Sentences about the measurements of the whole suite."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from analysis.benchmark import HIGHER
from analysis.check import _machine as machines
from analysis.check._design import HALF, IN_BLOCKS, SESSIONS, SHARED, UNKNOWN
from analysis.check._model import N_FEW, TOO_NOISY, Rules, Suite
from analysis.check._sides import FEW_SESSIONS, MIN_SESSIONS, BothSides, can_be_paired, costs_of
from analysis.comparison import TIMES, Change
from analysis.document import counted

BY_TURNS_ADVICE = "Measure by turns: change the version after each process."


def sentence_of_names(renamed: Sequence[tuple[str, str]]) -> list[str]:
    if not renamed:
        return []
    former, name = renamed[0]
    return [f"{counted(len(renamed), 'benchmark')} matched under an earlier name, for example {former} is now {name}."]


Said = tuple[str, bool]  # a sentence, and whether it is a reason why the check is inconclusive


def sentences_of_suite(
    suite: Suite, compared: Sequence[BothSides], changes: Sequence[Change], rules: Rules
) -> tuple[list[str], list[str]]:
    """Return sentences about the whole suite: notes, and reasons why the check is inconclusive."""
    tested = [one for one, change in zip(compared, changes, strict=True) if change.p is not None]
    are_told = any(change.is_held_back for change in changes)
    said = [
        *_of_noise(suite, compared, changes, rules),
        *_of_order(suite, tested, rules, is_told=are_told),
        *((words, False) for words in _of_groups(suite, tested)),
        *_of_machine(suite, tested, rules, is_told=are_told),
    ]
    uneven = [one for one in tested if len(one.before.values) != len(one.after.values)]
    if uneven:
        name, n_old, n_new = uneven[0].after.benchmark.name, len(uneven[0].before.values), len(uneven[0].after.values)
        words = (
            f"{counted(len(uneven), 'benchmark')} with different numbers of runs, for example {name}: {n_old} of the "
            f"baseline, {n_new} of the candidate."
        )
        said.append((words, False))
    return [words for words, is_reason in said if not is_reason], [words for words, is_reason in said if is_reason]


def _of_noise(suite: Suite, compared: Sequence[BothSides], changes: Sequence[Change], rules: Rules) -> Iterator[Said]:
    """Say for how many benchmarks only a large change would be detected; for most of them, that is a reason."""
    if not suite.too_noisy or rules.max_slowdown is not None:
        return
    n_tested = sum(change.p is not None and change.family == "" for change in changes)
    too_noisy = f"{len(suite.too_noisy)} of {n_tested}"
    detect = f"a change of less than {100 * TOO_NOISY:.0f} % would not be detected"
    if 2 * len(suite.too_noisy) > n_tested:
        more = "sessions" if any(one.design.kind == SESSIONS for one in compared) else "runs"
        which = "the only benchmark" if n_tested == 1 else f"{too_noisy} benchmarks"
        yield f"Too noisy to judge: for {which}, {detect}. Measure more {more}.", True
    else:
        names = ", ".join(suite.too_noisy[:N_FEW]) + (" …" if len(suite.too_noisy) > N_FEW else "")
        yield f"Too noisy to judge: {too_noisy} ({names}); {detect}.", False


def _of_order(suite: Suite, tested: Sequence[BothSides], rules: Rules, *, is_told: bool) -> Iterator[Said]:
    """Say whether the versions were measured in blocks, or in an unknown order."""
    kinds = _kinds(tested)
    if kinds[IN_BLOCKS]:
        mixed = " or nearly so" if any(one.design.is_mixed for one in tested) else ""
        words = f"Measured in blocks{mixed}: a change of the machine looks like a change of the version."
        is_short = is_told and not rules.require_turns
        yield BY_TURNS_ADVICE if is_short else f"{words} {BY_TURNS_ADVICE}", rules.require_turns
    if kinds[UNKNOWN]:
        words = "Times of runs unknown: p holds only if the two versions were measured by turns."
        share = suite.noise.share
        if share is not None and share > SHARED:
            words += f" {100 * share:.0f} % of the variation from run to run is common to all benchmarks."
        yield words, rules.require_turns


def _kinds(tested: Sequence[BothSides]) -> Counter[str]:
    return Counter(one.design.kind for one in tested)


def _of_groups(suite: Suite, tested: Sequence[BothSides]) -> Iterator[str]:
    """Say which runs are counted together, and which are compared with each other."""
    sessions = [one.design.n_sessions or 0 for one in tested if one.design.kind == SESSIONS]
    if sessions and min(sessions) < MIN_SESSIONS:
        yield (
            f"A version was measured in only {min(sessions)} sessions, and runs of a session are alike; measure at "
            "least three, better five."
        )
    elif sessions:
        few = "; five are better" if min(sessions) < FEW_SESSIONS else ""
        yield f"Each session counts as one number, and a version has {min(sessions)} sessions{few}."
    strata = [one for one in tested if one.design.kind != SESSIONS and one.design.groups is not None]
    if strata:
        n_groups = len(np.intersect1d(*strata[0].design.groups or ()))
        yield f"The runs are in {n_groups} groups of both versions, and are compared within each group."
    if any(can_be_paired(one) for one in tested) and suite.is_paired:
        yield "Each run is compared with the run of the other version at its time, because such runs are alike."


def _of_machine(suite: Suite, tested: Sequence[BothSides], rules: Rules, *, is_told: bool) -> Iterator[Said]:
    """Say whether the whole suite moved, and whether the versions were measured on different machines."""
    kinds = _kinds(tested)
    if suite.noise.shift is not None and kinds[IN_BLOCKS] + kinds[UNKNOWN] and not is_told:
        yield _moved(suite, tested), False
    different = [one for one in tested if one.machines]
    if different:
        words = f"The versions were measured on different machines ({machines.describe(different[0].machines)})."
        if rules.require_same_machine or not is_told:
            yield words, rules.require_same_machine
    elif tested:
        other = machines.named_only(*(level.benchmark.runs for level in (tested[0].before, tested[0].after)))
        if other:
            host = other.pop("host", None)
            conditions = [*(["another host"] if host else []), *([machines.describe(other)] if other else [])]
            yield f"Other conditions: {'; '.join(conditions)}.", False


def _moved(suite: Suite, tested: Sequence[BothSides]) -> str:
    """Say how many benchmarks moved with the suite, which are those that moved by more than half of its shift."""
    shift, deciding = suite.noise.shift or 0.0, [one for one in tested if one.after.family == ""]
    sides = [costs_of(one) for one in deciding]
    n_moved = sum(
        float(np.log(new).mean() - np.log(old).mean()) / shift > HALF
        for old, new in sides
        if len(old) and min(old.min(), new.min()) > 0
    )
    are_timed = all(one.after.benchmark.unit in TIMES or one.after.benchmark.better == HIGHER for one in deciding)
    word = ("slower" if shift > 0 else "faster") if are_timed else ("higher" if shift > 0 else "lower")
    size = 100 * abs(np.expm1(shift))
    return (
        f"{n_moved} of {len(deciding)} benchmarks are about {size:.1f} % {word}: a change of the machine, or of "
        "something that all of them use."
    )
