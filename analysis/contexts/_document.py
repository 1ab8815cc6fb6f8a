"""What is found of measurement contexts -> its sections in words, tables and figures."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from analysis.benchmark import FASTER, HIGHER, LOWER, SLOWER
from analysis.comparison import NOT_SHOWN
from analysis.contexts import Context, Survey, Sweep, speedup_in_words
from analysis.contexts._document_further import causal, cause_in_short, cut, factors, observer, ratio
from analysis.contexts._figures import charts, most_dependent
from analysis.document import (
    DASH,
    Block,
    Bullets,
    Document,
    Figure,
    Paragraph,
    Section,
    Table,
    clean,
    number,
    p_value,
    table,
    value_in_words,
    words,
)

N_NAMED = 3


def document(survey: Survey) -> Document:
    """The report on measurement contexts.

    Parameters
    ----------
    survey : Survey

    Returns
    -------
    Document
        Its figures are those of `charts`.
    """
    names = set(charts(survey))
    parts: tuple[tuple[str, Iterator[Block]], ...] = (
        ("In short", _in_short(survey)),
        ("Speed-up over contexts", _speedups(survey)),
        ("Contexts on their own", _contexts(survey)),
        ("Estimates and tests beside each other", _estimates(survey)),
        ("Factors of the context", factors(survey)),
        ("Observer effect", observer(survey)),
        ("Is it the cause?", causal(survey)),
        ("Left out", _left_out(survey)),
        ("Parameters", _parameters(survey)),
    )
    sections = [
        Section(
            title, tuple(_cleaned(block) for block in blocks if not isinstance(block, Figure) or block.name in names)
        )
        for title, blocks in parts
    ]
    lead = "Does the context of the measurement decide which version is called faster?"
    return Document("Measurement contexts", lead, "", tuple(part for part in sections if part.blocks), "context report")


def _cleaned(block: Block) -> Block:
    """Without what XML forbids, which names from files may hold."""
    if isinstance(block, Paragraph):
        return replace(block, text=clean(block.text))
    if isinstance(block, Bullets):
        return replace(block, items=tuple(map(clean, block.items)))
    if isinstance(block, Table):
        return replace(block, rows=tuple(tuple(map(clean, row)) for row in block.rows))
    return block


def _in_short(survey: Survey) -> Iterator[Block]:
    if not survey.benchmarks:
        yield Paragraph(
            "No benchmark could be compared. This method needs runs of two versions in several contexts: the "
            "conditions version and context of each run. What is missing is said below."
        )
        return
    sentences = [
        _what(survey),
        _depends(survey),
        _over_all(survey),
        *cause_in_short(survey),
        _inflated(survey),
        _advice(survey),
    ]
    yield Bullets(tuple(sentence for sentence in sentences if sentence))


def _what(survey: Survey) -> str:
    sizes = [len(sweep.contexts) for sweep in survey.benchmarks]
    pairs = {(sweep.baseline, sweep.candidate) for sweep in survey.benchmarks}
    named = [f"{candidate} (candidate) against {baseline} (baseline)" for baseline, candidate in pairs]
    versions = named[0] if len(named) == 1 else f"{len(named)} pairs of versions"
    contexts = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    untested = (
        f" In {_count(survey.n_untested, 'context')} a version has one run only, so they cannot be judged on their own."
        if survey.n_untested
        else ""
    )
    each = " each" if len(sizes) > 1 else ""
    return (
        f"{_count(len(sizes), 'benchmark')} in {contexts} {_plural(max(sizes), 'context')}{each}: {versions}. A "
        f"speed-up above 1 means that the candidate is faster, for times as for rates.{untested}"
    )


def _depends(survey: Survey) -> str:
    several = [sweep for sweep in survey.benchmarks if len(sweep.contexts) > 1]
    straddling = [sweep for sweep in several if sweep.quartiles.straddles]
    if not several:
        return "With one context nothing is known of how far the context decides."
    if not straddling:
        return "No benchmark has speed-ups on both sides of 1: in these contexts the direction is always the same."
    both = [sweep for sweep in straddling if sweep.both_directions]
    text = (
        f"For {len(straddling)} of {_count(len(several), 'benchmark')} it depends on the context which version looks "
        "faster: speed-ups lie on both sides of 1."
    )
    if both:
        return (
            f"{text} For {len(both)} this is no accident of the runs: some contexts show the candidate faster and "
            f"others slower, each on its own ({_names(both)})."
        )
    return f"{text} For none of them do single contexts show both directions beyond the noise of their runs."


def _over_all(survey: Survey) -> str:
    if len(survey.benchmarks) == 1:
        (sweep,) = survey.benchmarks
        p = "" if sweep.paired_t.p is None else f"; paired t test: p = {p_value(sweep.paired_t.p)}"
        return f"Over all contexts, {sweep.words}: speed-up {ratio(sweep.speedup)}{p}."
    parts = []
    for said in (FASTER, SLOWER, LOWER, HIGHER, NOT_SHOWN):
        found = [sweep for sweep in survey.benchmarks if sweep.verdict == said]
        if found:
            parts.append(f"{said} in {len(found)}" + (f" ({_names(found)})" if said != NOT_SHOWN else ""))
    n_untested = sum(sweep.verdict is None for sweep in survey.benchmarks)
    parts += [f"not tested in {n_untested} with one context"] if n_untested else []
    return (
        "Over all contexts together (paired t test, Holm's correction over the benchmarks), the candidate is "
        f"{'; '.join(parts)}."
    )


def _inflated(survey: Survey) -> str:
    found = [sweep for sweep in survey.benchmarks if sweep.mean_ratios.both_faster]
    if not found:
        return ""
    one, other = number(found[0].mean_ratios.of_candidate), number(found[0].mean_ratios.of_baseline)
    return (
        f"Do not quote the plain mean of the ratios: for {_count(len(found), 'benchmark')} it makes each version "
        f"faster than the other, as for {found[0].name}: {one} one way and {other} the other. The geometric mean does "
        "not."
    )


def _advice(survey: Survey) -> str:
    if survey.n_straddling:
        return (
            "What to do: never judge these benchmarks by one context. Measure both versions in many contexts drawn at "
            "random, quote the geometric mean with its interval, and look below for the factor that goes with it."
        )
    if max(len(sweep.contexts) for sweep in survey.benchmarks) == 1:
        return "What to do: measure both versions in several contexts, drawn at random."
    return (
        "What to do: quote the geometric mean with its interval over contexts; nothing is known of contexts that were "
        "not measured."
    )


def _speedups(survey: Survey) -> Iterator[Block]:
    if not survey.benchmarks:
        return
    yield cut(
        "How many times as fast the candidate is, over the contexts; those that depend most on the context first. "
        "↔: below 1 in one context and above 1 in another. The speed-up is the geometric mean with its interval; over "
        "all: what the paired t test shows, with Holm's correction over the benchmarks.",
        ("Benchmark", "Contexts", "Lowest", "Quartiles", "Highest", "", "Speed-up", "In words", "p (Holm)", "Over all"),
        most_dependent(survey.benchmarks), _speedup_row, (1, 2, 4, 8),
    )  # fmt: skip
    yield Figure("violins", "Speed-ups over the contexts, beside 1: a shape across the line has no single answer.")


def _speedup_row(sweep: Sweep) -> tuple[Any, ...]:
    at = sweep.quartiles
    middle, mark = f"{number(at.q1)} {number(at.median)} {number(at.q3)}", "↔" if at.straddles else ""
    ends = (at.n, number(at.lowest), middle, number(at.highest), mark)
    shown = sweep.verdict or f"not tested: {sweep.paired_t.reason}"
    return sweep.name, *ends, ratio(sweep.speedup), sweep.words, p_value(sweep.t_holm), shown


def _contexts(survey: Survey) -> Iterator[Block]:
    if not survey.benchmarks:
        return
    yield cut(
        "How many contexts show a change on their own, by Welch's test of the runs in the context, corrected over the "
        "contexts of the benchmark. Both directions: the context decides, and it is not the noise of runs.",
        ("Benchmark", "Faster (Holm)", "Slower (Holm)", "Faster (Bonferroni)", "Slower (Bonferroni)", "No change shown",
         "Not tested", "Both directions"),
        most_dependent(survey.benchmarks),
        lambda one: (one.name, one.n_faster, one.n_slower, one.n_faster_bonferroni, one.n_slower_bonferroni,
                     one.n_not_shown, one.n_untested, value_in_words(one.both_directions)),
        (1, 2, 3, 4, 5, 6),
    )  # fmt: skip
    rows = [row for sweep in most_dependent(survey.benchmarks) for row in _extremes(sweep)]
    yield cut(
        "The contexts at both ends, with intervals from their runs.",
        ("Benchmark", "Context", "Speed-up", "In words", "Runs", "p", "Holm", "Bonferroni", "Alone"),
        rows, _context_row, (5, 6, 7),
    )  # fmt: skip
    yield Figure("contexts-sorted", "Contexts from the lowest to the highest speed-up; the mark is the test's answer.")
    yield Figure("densities", "What was measured in the contexts. Where the versions overlap, contexts outweigh them.")


def _extremes(sweep: Sweep) -> list[tuple[Sweep, Context]]:
    """The two contexts at each end; all of them where there are at most four."""
    ordered = sorted(sweep.contexts, key=lambda context: context.speedup.value or 0.0)
    return [(sweep, context) for context in (ordered if len(ordered) <= 4 else [*ordered[:2], *ordered[-2:]])]


def _context_row(row: tuple[Sweep, Context]) -> tuple[Any, ...]:
    sweep, context = row
    runs = f"{len(context.baseline_runs)} and {len(context.candidate_runs)}"
    said = speedup_in_words(context.speedup.value, sweep.better) if context.speedup.value else DASH
    ps = map(p_value, (context.test.p, context.p_holm, context.p_bonferroni))
    alone = context.verdict or f"not tested: {context.test.reason}"
    return sweep.name, context.name, ratio(context.speedup), said, runs, *ps, alone


def _estimates(survey: Survey) -> Iterator[Block]:
    if not survey.benchmarks:
        return
    yield cut(
        "The geometric mean counts every context alike; its second interval draws contexts again and assumes no normal "
        "distribution. In the ratio of means, contexts with larger numbers weigh more. The mean of the ratios is "
        "inflated by noise: taken both ways, the two multiply to more than 1.",
        ("Benchmark", "Geometric mean", "by drawing contexts again", "Ratio of means (Fieller)", "Mean of ratios",
         "the other way round"),
        most_dependent(survey.benchmarks),
        lambda one: (one.name, ratio(one.speedup), ratio(one.bootstrap), ratio(one.ratio_of_means),
                     number(one.mean_ratios.of_candidate), number(one.mean_ratios.of_baseline)),
        (4, 5),
    )  # fmt: skip
    yield cut(
        "Whether the versions differ over these contexts at all: two tests of the differences, context by context, "
        "corrected over the benchmarks.",
        ("Benchmark", "Paired t p", "Holm", "Bonferroni", "Signed rank p", "Holm", "Bonferroni"),
        most_dependent(survey.benchmarks),
        lambda one: (one.name, *map(p_value, (one.paired_t.p, one.t_holm, one.t_bonferroni, one.signed_rank.p,
                                              one.rank_holm, one.rank_bonferroni))),
        (1, 2, 3, 4, 5, 6),
    )  # fmt: skip


def _left_out(survey: Survey) -> Iterator[Block]:
    if survey.left_out:
        yield cut("Benchmarks.", ("Benchmark", "Why"), survey.left_out, lambda entry: (entry.name, entry.reason))
    rows = [(sweep.name, entry.name, entry.reason) for sweep in survey.benchmarks for entry in sweep.left_out]
    if rows:
        yield cut("Contexts and runs.", ("Benchmark", "Context or run", "Why"), rows, lambda row: row)


def _parameters(survey: Survey) -> Iterator[Block]:
    rows = [(words(name), value_in_words(value)) for name, value in survey.parameters.items()]
    yield table("Everything that the numbers depend on beside the data.", ("Parameter", "Value"), rows)


def _names(sweeps: Sequence[Sweep]) -> str:
    """Some of them with their speed-ups."""
    more = len(sweeps) - N_NAMED
    named = ", ".join(f"{sweep.name} {number(sweep.speedup.value)}" for sweep in most_dependent(sweeps)[:N_NAMED])
    return f"{named} and {more} more" if more > 0 else named


def _count(n: int, word: str) -> str:
    return f"{n} {_plural(n, word)}"


def _plural(n: int, word: str) -> str:
    return word if n == 1 else f"{word}s"
