"""Build the report on a replication: text, tables and figures."""

from collections.abc import Iterator, Sequence

from analysis import document as d
from analysis.methods.replication._claims import DIFFERS, counts
from analysis.methods.replication._counts import ASSUMPTION, N_BENCHMARKS, N_OF_FOCUS, TITLES, Joint
from analysis.methods.replication._measured import LINKAGES, N_LAST, OF_HEURISTIC, WITHOUT_SLOW
from analysis.methods.replication._survey import Replication
from analysis.runs.runs import AUTO
from analysis.runs.steady import QUICK_CLASSES

SOURCE = (
    "Bauer et al. (2023), Searching for the Ground Truth: Assessing the Similarity of Benchmarking Runs, ICPE '23 "
    "Companion, doi:10.1145/3578245.3584693"
)
MEANINGS = (
    "Reproduced: the measurements or the reviewers' labels give the result of the paper.",
    "Consistent under assumptions: our result agrees if the assumptions that are named hold.",
    "Follows from the paper's counts: other numbers of the paper determine this number, and they agree with it.",
    "Reproduced by construction: the labels were generated from the paper's numbers, or the claim is a definition.",
    "Differs: our result differs from the paper's, and the reason is given.",
    "Misprint: the paper contradicts itself, or a formula as printed cannot give its results.",
    "Cannot be known: the claim needs the reviewers' labels, an unpublished definition, or missing benchmarks.",
    "Cannot apply: the claim is about other measurements.",
)
MOST_SHORT = 5  # claims that "In short" names
SHARES = (
    "A share is reproduced if the 95 % interval of ours lies within 5 percentage points of the paper's share (two "
    "one-sided tests). It differs if p is below 0.05 and the difference is above 5 percentage points."
)
STEADY = (
    "The classes are those of Traini et al. (2023), doi:10.1007/s10664-022-10247-x, who used change-point detection. "
    "A method and not people assigned the classes, so they can be wrong. A benchmark is inconsistent if some of its "
    "runs reach a steady state and others do not."
)


def _capitalised(text: str) -> str:
    """Return the text with a capital letter at the start, and SAME as the paper writes it."""
    return f"SAME{text[4:]}" if text.startswith("same ") else text[0].upper() + text[1:]


def document(replication: Replication, *, has_figure_4: bool = True, tables: Sequence[d.Table] = ()) -> d.Document:
    """Build the report on a replication: claims, figures, the effect of choices, and an external criterion.

    `has_figure_4`: whether a figure with the runs of `replication.drawn` exists; `tables`: tables 1 to 3 in the layout
    of the paper (see `analysis.report.paper_tables`).
    """
    sections = [
        d.Section("In short", tuple(_short(replication))),
        d.Section("Claim by claim", tuple(_claims(replication))),
        *([d.Section("Tables 1 to 3 of the paper", tuple(tables))] if tables else []),
        d.Section("Figures", tuple(_figures(replication, has_figure_4))),
        d.Section("Effect of the choices", tuple(_choices(replication))),
    ]
    if replication.steady_state:
        sections.append(d.Section("Comparison with steady state, an external criterion", tuple(_steady(replication))))
    if replication.applications:
        sections.append(d.Section("Means by application", (_applications(replication),)))
    return d.Document(
        "Replication of the paper", f"Every claim of {SOURCE}, compared with the results from these files.", "",
        tuple(sections), "replication",
    )  # fmt: skip


def _short(replication: Replication) -> Iterator[d.Block]:
    scope, found = replication.scope, counts(replication.claims)
    if scope.is_complete:
        what = f"The data set is complete: {N_BENCHMARKS} benchmarks of {scope.n_applications} applications."
    elif scope.is_paper and scope.n >= N_BENCHMARKS:
        what = scope.why_not_of_paper
    elif scope.is_paper:
        what = (
            f"These are {scope.n} of the paper's {N_BENCHMARKS} benchmarks, from "
            f"{d.counted(scope.n_applications, 'application')}. Shares are compared as samples from one population."
        )
    else:
        what = (
            f"These are not the measurements of the paper, but {d.counted(scope.n, 'benchmark')} from "
            f"{d.counted(scope.n_applications, 'application')}. Claims about the paper's data cannot apply to these "
            "measurements. The results of the measures and classifiers are shown for comparison."
        )
    outcomes = ", ".join(f"{name} {n}" for name, n in found.items())
    items = [what, f"Of {len(replication.claims)} claims: {outcomes}."]
    differs = [claim for claim in replication.claims if claim.outcome == DIFFERS]
    items += [f"Differs: {claim.claim} ({claim.where}), but here {claim.ours}." for claim in differs[:MOST_SHORT]]
    if len(differs) > MOST_SHORT:
        items.append(f"{d.counted(len(differs) - MOST_SHORT, 'more claim')} differ; the table says which.")
    yield d.Bullets(tuple(items))
    yield from (d.Paragraph(note, "note") for note in replication.notes)
    if scope.left_out:
        yield d.Paragraph(
            "Benchmarks that were left out because the paper does not have their applications: "
            f"{d.listed(scope.left_out, 5)}.",
            "warning",
        )
    for name, n in scope.without.items():
        reasons = sorted({benchmark.reasons[name] for benchmark in replication.benchmarks if name in benchmark.reasons})
        yield d.Paragraph(
            f"Without a verdict of {TITLES[name]}: {d.counted(n, 'benchmark')} ({d.listed(reasons)}).", "warning"
        )


def _claims(replication: Replication) -> Iterator[d.Block]:
    header = ("Where", "Claim and paper", "Ours and why", "Outcome")
    rows = [
        (
            claim.where,
            f"{_capitalised(claim.claim)}: {claim.paper}",
            f"{claim.ours}. {claim.why}".strip().removeprefix("–. "),
            claim.outcome,
        )
        for claim in replication.claims
    ]
    yield d.table("Claims of the paper, our results with the reason, and the outcome.", header, rows)
    outcomes = {claim.outcome for claim in replication.claims}
    shown = [text for text in MEANINGS if text.partition(":")[0].lower() in outcomes]
    yield d.Bullets(tuple(shown))
    if replication.scope.is_paper:
        yield d.Paragraph(f"{SHARES} {ASSUMPTION}", "note")


def _figures(replication: Replication, has_figure_4: bool) -> Iterator[d.Block]:
    yield d.Figure(
        "figure-1",
        "Figure 1: four pairs of generated signals with their measures. M3 is shown without the mean, and with the "
        "mean as printed.",
    )
    if not replication.applications:
        return
    yield d.Figure(
        "figure-2", "Figure 2: mean of each measure by application, sorted by the mean of M1 to M5 (largest first)."
    )
    focus = replication.focus or "one application"
    text = f"Figure 3: means of the measures for each benchmark of {focus}, sorted by the mean of M1 to M5."
    if replication.numbers:
        text += f" We assume that B1 to B{N_OF_FOCUS} are in alphabetical order."
    yield d.Figure("figure-3", text)
    if has_figure_4:
        number_of = replication.numbers.get(replication.drawn or "", "")
        which = (
            f"{number_of}, {replication.drawn}" if number_of else f"{replication.drawn}, the most dissimilar benchmark"
        )
        yield d.Figure(
            "figure-4",
            f"Figure 4: all runs of {which}. The paper refers to the last {N_LAST} measurements.{_waves(replication)}",
        )
    yield d.Figure("thresholds", "Share of benchmarks called dissimilar, by threshold θ of the heuristic.")


def _waves(replication: Replication) -> str:
    """Describe the wave pattern of each run of the benchmark in Figure 4."""
    drawn = next(one for one in replication.benchmarks if one.name == replication.drawn)
    if not drawn.waves:
        return ""
    runs = ", ".join(
        f"run {at}: {wave.share:.2f} ({wave.by_chance:.2f} by chance)" for at, wave in enumerate(drawn.waves, start=1)
    )
    return f" Share of waves of 50 to 500 iterations in the variance of the ranks, {WITHOUT_SLOW}: {runs}."


def _choices(replication: Replication) -> Iterator[d.Block]:
    n = replication.n_judged
    if not n:
        yield d.Paragraph("The heuristic cannot judge any benchmark.")
        return
    yield d.table(
        f"Dissimilar benchmarks out of {n}, by threshold θ of the heuristic.",
        ("θ", *(TITLES[name][0].upper() + TITLES[name][1:] for name in OF_HEURISTIC)),
        [
            (f"{row.threshold:.2f}", *(_of(row.n_dissimilar[name], n) for name in OF_HEURISTIC))
            for row in replication.thetas
        ],
        numeric=(0, 1, 2),
    )
    n_same = sum(bool(benchmark.heights) for benchmark in replication.benchmarks)
    if n_same:
        yield d.table(
            f"Dissimilar benchmarks out of {n_same}, by cut and linkage of SAME.",
            ("Cut", *(f"{linkage.capitalize()} linkage" for linkage in LINKAGES)),
            [
                (f"{row.threshold:.2f}", *(_of(row.n_dissimilar[linkage], n_same) for linkage in LINKAGES))
                for row in replication.cuts
            ],
            numeric=(0, 1, 2, 3),
        )
    yield d.table(
        "Pairs of classifiers. Number of benchmarks that both classifiers, only the first, only the second, or "
        "neither calls dissimilar.",
        ("First", "Second", "Both", "Only the first", "Only the second", "Neither", "Differ"),
        [_joint_row(row) for row in replication.joint],
        numeric=(2, 3, 4, 5, 6),
    )
    if replication.without_warmup:
        yield _warmup(replication)
        if replication.warmup == AUTO:
            yield d.Paragraph(QUICK_CLASSES)
        yield d.Paragraph(
            "Without its warm-up, each run begins at another iteration. Measures that compare two runs iteration by "
            "iteration can then differ more, not less."
        )
    readings = replication.joint[0]
    if readings.n:
        yield d.Paragraph(
            f"Keeping or removing the mean in M3 changes {readings.n_differ} of {d.counted(readings.n, 'verdict')} "
            f"({d.percent(readings.n_differ / readings.n)})."
        )


def _warmup(replication: Replication) -> d.Block:
    told = {"auto": "everything before the steady state, by the quick rule of labeler steady"}
    left_out = told.get(str(replication.warmup), f"{d.describe_value(replication.warmup)} of each run")
    return d.table(
        f"Dissimilar benchmarks with all iterations, as in the paper, and without the warm-up ({left_out}).",
        ("Classifier", "Benchmarks", "All iterations", "Without warm-up", "Verdicts that change"),
        [
            (TITLES[row.classifier], row.n, _of(row.n_dissimilar, row.n), _of(row.n_dissimilar_without, row.n),
             _of(row.n_changed, row.n))
            for row in replication.without_warmup
        ],
        numeric=(1, 2, 3, 4),
    )  # fmt: skip


def _of(count: int, n: int) -> str:
    return f"{count} ({d.percent(count / n)})" if n else d.DASH


def _joint_row(row: Joint) -> tuple[object, ...]:
    return TITLES[row.first], TITLES[row.second], row.both, row.only_a, row.only_b, row.neither, row.n_differ


def _steady(replication: Replication) -> Iterator[d.Block]:
    yield d.Paragraph(STEADY)
    yield d.table(
        "Share of inconsistent and of steady-state benchmarks called dissimilar, and how well the score separates the "
        "two classes.",
        ("Classifier", "Inconsistent", "95 % CI", "Steady state", "95 % CI", "χ²", "p", "Cramér's V", "AUC (95 % CI)"),
        [
            (
                TITLES[row.classifier],
                f"{row.dissimilar_inconsistent} of {row.n_inconsistent} ({d.percent(row.inconsistent.value)})",
                d.interval(row.inconsistent) or d.DASH,
                f"{row.dissimilar_steady} of {row.n_steady} ({d.percent(row.steady.value)})",
                d.interval(row.steady) or d.DASH,
                d.number(row.chi2, 1),
                d.p_value(row.p),
                d.number(row.v, 2),
                d.estimate(row.auc, as_percent=False),
            )
            for row in replication.steady_state
        ],
        numeric=(5, 6, 7),
    )
    if replication.n_without_class:
        yield d.Paragraph(
            f"{d.counted(replication.n_without_class, 'benchmark')} without a class are not counted.", "note"
        )


def _applications(replication: Replication) -> d.Block:
    names = ("m1", "m2", "m3", "m3_with_mean", "m4", "m5")
    return d.table(
        "Mean of each measure by application, the most dissimilar application first.",
        ("Application", "Benchmarks", "Mean of M1 to M5", "M1", "M2", "M3", "M3 with the mean", "M4", "M5"),
        [
            (row.application or "no application", row.n, d.number(row.overall, 2),
             *(d.number(row.means[name], 2) for name in names))
            for row in replication.applications
        ],
        numeric=range(1, 9),
    )  # fmt: skip
