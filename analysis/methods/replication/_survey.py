"""Check claims about measurements, study the effect of choices, and compare with an external criterion."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from analysis.methods.replication._checks import Checks
from analysis.methods.replication._claims import Claim
from analysis.methods.replication._counts import (
    APPLICATIONS,
    CUTS,
    FINE_THETAS,
    THETAS,
    ApplicationMeans,
    AtThreshold,
    DissimilarShare,
    Joint,
    LabelScope,
    Scope,
    SteadyState,
    WithoutWarmup,
    at_thresholds,
    dissimilar_share,
    drawn_benchmark,
    joint_verdicts,
    means_by_application,
    n_above,
    numbers_of_focus,
    scope_of,
    steady_state,
    without_warmup,
)
from analysis.methods.replication._measured import LINKAGES, READINGS, SAME, Measured
from analysis.runs.runs import Warmup

PAIRS_OF_READINGS = (("heuristic", "heuristic-printed"), ("heuristic", SAME), ("heuristic-printed", SAME))


@dataclass(frozen=True)
class Replication:
    """The result of checking the paper's claims on a set of benchmarks."""

    scope: Scope
    claims: tuple[Claim, ...]  # in the order of the paper
    shares: tuple[DissimilarShare, ...]
    # The heuristic compared with the heuristic as printed, and each of them compared with SAME.
    joint: tuple[Joint, ...]
    thetas: tuple[AtThreshold, ...]
    fine_thetas: tuple[AtThreshold, ...]
    cuts: tuple[AtThreshold, ...]
    steady_state: tuple[SteadyState, ...]  # empty if the classes are unknown
    n_without_class: int  # number of benchmarks without a class
    applications: tuple[ApplicationMeans, ...]  # the application with the largest mean of the five measures comes first
    benchmarks: tuple[Measured, ...]  # sorted by name
    # Benchmark of the paper's example application -> B1 to B20; empty if some of the 20 are missing.
    numbers: Mapping[str, str]
    drawn: str | None  # the benchmark in Figure 4; Figure 3 shows its application
    notes: tuple[str, ...] = ()  # remarks about the labels and files for the reader
    warmup: Warmup = 0  # what was left out for the verdicts without warm-up
    without_warmup: tuple[WithoutWarmup, ...] = ()  # empty if nothing was to be left out

    @property
    def n_judged(self) -> int:
        """Return the number of benchmarks that the heuristic can judge."""
        return sum(bool(benchmark.means) for benchmark in self.benchmarks)

    @property
    def focus(self) -> str | None:
        """Return the application in Figure 3; None if there is no such application."""
        return next((benchmark.application for benchmark in self.benchmarks if benchmark.name == self.drawn), None)


def survey(
    measured: Sequence[Measured],
    *,
    of_labels: Sequence[Claim] = (),
    labels: LabelScope | None = None,
    classes: Mapping[str, str] | None = None,
    revisions: Sequence[str] | None = None,
    notes: Sequence[str] = (),
    warmup: Warmup = 0,
) -> Replication:
    """Check every claim of the paper against measurements.

    Raises ValueError if there is no benchmark, or two have the same name.

    `measured`: results of `measure`; their order does not matter; `of_labels`: claims about labels
    (`claims_of_labels`), which are sorted among the other claims; `labels`: what the labels behind `of_labels` cover;
    None if they were generated from the paper's counts; `classes`: benchmark -> "inconsistent", "steady state" or "no
    steady state", according to another method; `revisions`: repositories in the file of the published revisions;
    `warmup`: the warm-up that `measure` was given.
    """
    if not measured:
        raise ValueError("there is no benchmark to measure")
    ordered = sorted(measured, key=lambda benchmark: benchmark.name)
    names = [benchmark.name for benchmark in ordered]
    doubled = next((a for a, b in pairwise(names) if a == b), None)
    if doubled is not None:
        raise ValueError(f"two benchmarks are called {doubled!r}")
    of_paper = [benchmark for benchmark in ordered if benchmark.application in APPLICATIONS]
    benchmarks = tuple(of_paper or ordered)
    scope = scope_of(
        benchmarks, [benchmark.name for benchmark in ordered if of_paper and benchmark.application not in APPLICATIONS]
    )
    applications = means_by_application(benchmarks)
    numbers = numbers_of_focus(benchmarks)
    drawn = drawn_benchmark(benchmarks, applications, numbers)
    shares = tuple(dissimilar_share(benchmarks, name, scope) for name in READINGS)
    checks = Checks(scope, benchmarks, applications, numbers, shares, labels, classes, revisions)
    return Replication(
        scope,
        tuple(checks.in_order(of_labels)),
        shares,
        tuple(joint_verdicts(benchmarks, a, b) for a, b in PAIRS_OF_READINGS),
        at_thresholds(benchmarks, THETAS),
        at_thresholds(benchmarks, FINE_THETAS),
        tuple(AtThreshold(cut, {linkage: n_above(benchmarks, linkage, cut) for linkage in LINKAGES}) for cut in CUTS),
        tuple(steady_state(benchmarks, name, classes) for name in READINGS) if classes is not None else (),
        sum(benchmark.name not in classes for benchmark in benchmarks) if classes is not None else 0,
        tuple(applications),
        benchmarks,
        numbers,
        drawn,
        tuple(notes),
        warmup,
        tuple(without_warmup(benchmarks, name) for name in READINGS) if warmup else (),
    )
