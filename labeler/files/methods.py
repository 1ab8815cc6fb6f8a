"""The methods: one row has all that the command and the page of a method need.

A row names the code of its method in a function, so that the list of commands imports no statistics.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from analysis.document import Document
    from analysis.document.figures import Chart
    from analysis.methods.contexts import ContextSurvey
    from analysis.methods.options import SurveyOptions
    from analysis.methods.order import OrderSurvey
    from analysis.methods.spread import SpreadSurvey
    from analysis.methods.steady import SteadySurvey
    from analysis.methods.trend import TrendSurvey
    from analysis.methods.trust import TrustSurvey
    from analysis.runs.benchmark import Benchmark

Keywords = ParamSpec("Keywords")
ResultOf = TypeVar("ResultOf")


@dataclass(frozen=True)
class MethodCode(Generic[Keywords, ResultOf]):
    """The code of a method."""

    options: Callable[Keywords, "SurveyOptions"]  # a dataclass; a field with a help text is an option of the command
    survey: Callable[Concatenate[Sequence["Benchmark"], Keywords], ResultOf]  # computes the result, a frozen dataclass
    document: Callable[[ResultOf], "Document"]  # the text with tables
    charts: Callable[[ResultOf], Mapping[str, "Chart"]]  # the figures by name
    files: Mapping[str, Callable[[Path], Any]] = field(default_factory=dict)  # options that are files -> how to read
    # The exit code; the argument `is_gate` says whether --fail-on is given. None: the command has no --fail-on.
    exit_code: Callable[..., int] | None = None


@dataclass(frozen=True)
class Method:
    """A method for analysing measurements."""

    name: str  # the name of the command
    title: str  # the name of the page
    question: str  # the question that the method answers
    code: Callable[[], MethodCode[Any, Any]]
    help: str = ""  # the help of the command; its first sentence is in the list of commands [default: the question]
    example: str = ""
    is_history: bool = False  # whether folders of a folder are versions

    @property
    def help_text(self) -> str:
        """The help of the command."""
        return self.help or self.question


def _spread() -> "MethodCode[..., SpreadSurvey]":
    from analysis.methods import spread

    return MethodCode(
        spread.SpreadOptions, spread.spread_survey, lambda result: spread.document(result),
        lambda result: spread.charts(result),
    )  # fmt: skip


def _order() -> "MethodCode[..., OrderSurvey]":
    from analysis.methods import order

    return MethodCode(
        order.OrderOptions, order.order_survey, lambda result: order.document(result),
        lambda result: order.charts(result),
    )  # fmt: skip


def _trust() -> "MethodCode[..., TrustSurvey]":
    from analysis.methods import trust

    return MethodCode(
        trust.TrustOptions, trust.trust_survey, lambda result: trust.document(result),
        lambda result: trust.charts(result),
    )  # fmt: skip


def _contexts() -> "MethodCode[..., ContextSurvey]":
    from analysis.methods import contexts

    return MethodCode(
        contexts.ContextOptions, contexts.context_survey, lambda result: contexts.document(result),
        lambda result: contexts.charts(result),
    )  # fmt: skip


def _steady() -> "MethodCode[..., SteadySurvey]":
    from analysis.methods import steady

    return MethodCode(
        steady.SteadyOptions, steady.survey, lambda result: steady.document(result),
        lambda result: steady.charts(result),
    )  # fmt: skip


def _trend() -> "MethodCode[..., TrendSurvey]":
    from analysis.methods import trend
    from labeler.files import trend_gate

    return MethodCode(
        trend.TrendOptions, trend.survey, lambda result: trend.document(result), lambda result: trend.charts(result),
        files={"decisions": trend_gate.read_decisions}, exit_code=trend_gate.exit_code,
    )  # fmt: skip


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "spread", "Spread", "How far apart are the runs, and which slowdowns would the suite detect?", _spread,
            """Measure how far apart the runs of each benchmark are.

            The result also shows which slowdown the suite would detect. PATHs are result files or folders; without any,
            the study's measurements are used. Files with altered methods (JavaABS, GoABS, a column `altered`) also get
            an API benchmarking score. Each measurement context is shown separately.
            """,
            "labeler spread results/ --html spread.html",
        ),
        Method(
            "order", "Order", "Does the order of the benchmarks affect the result?", _order,
            """Test whether the order of benchmarks affects their results.

            The benchmarks must be measured in a fixed and in a random order. Give results of `labeler measure` with
            order = "both", files of OrderSage, or a table with the columns run, order_type and order_position. If only
            positions are known, weaker tests are used.
            """,
            "labeler order experiment_results.csv --figures figures",
        ),
        Method(
            "trust", "Trust", "How reliable are confidence intervals and tests that use these runs?", _trust,
            """Estimate how reliable intervals and tests are.

            The result shows how often intervals contain the true value, how often tests raise false alarms, and which
            slowdowns they detect.
            """,
            "labeler trust results/ --runs 5 --json",
        ),
        Method(
            "contexts", "Contexts", "Does the measurement context decide which version is faster?", _contexts,
            """Test whether the measurement context affects which version is faster.

            The versions must be measured in several contexts. Give results of `labeler measure`, a table with the
            columns version and context, or files whose names contain version and context (--from-name). `labeler
            variants` plans runs for other tools. With --instrumentation, one version is enough; the result shows
            whether measuring itself changes the times.
            """,
            "labeler contexts sweep/ --from-name '{version}-{context}.json' --baseline old",
        ),
        Method(
            "steady", "Steady", "When does each run become steady, and which runs never do?", _steady,
            """Find when each run becomes steady, and which runs never do.

            A run needs at least 1,000 iterations. PATHs are result files or folders; without any, the study's
            measurements are used. Starts and change points count iterations from 0.
            """,
            "labeler steady results/ --html steady.html",
        ),
        Method(
            "trend", "Trend", "At which version did a benchmark become slower or faster?", _trend,
            """Find at which version each benchmark became slower or faster.

            PATHs are tables with a column version or date, results of asv and other tools that keep versions, other
            files with --from-name, or a folder that has one folder per version, which are taken in natural order.
            Without a PATH, the study's measurements are used.

            Exit codes: 0 without --fail-on, or if nothing became worse; 1 if a benchmark became worse; 2 if a file
            cannot be read; 3 if no history has enough versions, or with --fail-on if the newest version must be
            measured again, a benchmark failed at it, or it is unknown whether lower or higher is better.
            """,
            "labeler trend history.csv --within 5 --fail-on worse",
            is_history=True,
        ),
    )
}  # fmt: skip


def summaries() -> dict[str, str]:
    """Return the first sentence of the help of each command, without the point, by its name."""
    return {name: " ".join(method.help_text.split(".")[0].split()) for name, method in METHODS.items()}
