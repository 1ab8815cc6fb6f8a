"""The options of a method: keywords of its survey, options of its command, and fields of its page.

A method declares its options once, as fields of a dataclass. If the metadata of a field has a help text, the field is
also an option of the command (`labeler/cli/options.py` lists what the metadata can have); if it has a label, it is also
a field of the page.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from analysis.runs.benchmark import EVERY_ITERATION, Advance, Benchmark, PerRun, unwatched

Mapper = Callable[..., Iterable[Any]]  # like the built-in `map` with one iterable, such as the `map` of an executor
Keywords = ParamSpec("Keywords")
Options = TypeVar("Options", bound="SurveyOptions")
Options_contra = TypeVar("Options_contra", bound="SurveyOptions", contravariant=True)
Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


@dataclass(frozen=True, kw_only=True)
class SurveyOptions:
    """Options of every survey: how it reports its progress, and how it distributes its work."""

    advance: Advance = field(default=unwatched, repr=False, compare=False)
    mapper: Mapper = field(default=map, repr=False, compare=False)

    @property
    def parameters(self) -> dict[str, object]:
        """The options that decide the numbers, as results show them."""
        shown: dict[str, object] = {}
        for option in fields(self):
            value = getattr(self, option.name)
            if isinstance(value, PerRun):
                shown |= {"warmup": value.warmup, "aggregate": value.aggregate}
            elif option.name not in PROGRESS:
                shown[option.name] = value
        return shown


PROGRESS = tuple(option.name for option in fields(SurveyOptions))


@dataclass(frozen=True, kw_only=True)
class TestOptions(SurveyOptions):
    """Options of a survey that summarises each run as one number, and tests these numbers."""

    per_run: PerRun = EVERY_ITERATION
    alpha: float = field(default=0.05, metadata={
        "within": "(0, 1)", "help": "Significance level of the tests.", "label": "Significance level",
    })  # fmt: skip
    seed: int = field(default=1, metadata={"within": "[0, )", "help": "Random seed."})

    def check_alpha(self) -> None:
        """Raise ValueError if alpha is invalid."""
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha must be within (0, 1), got {self.alpha}")


class Survey(Protocol[Options_contra, Result_co]):
    """Compute the result of a method, a frozen dataclass."""

    def __call__(self, benchmarks: Sequence[Benchmark], options: Options_contra, /) -> Result_co:
        """Return the result; call `options.advance` with the number of finished benchmarks and the total."""


def with_keywords(
    options: Callable[Keywords, Options],
) -> Callable[[Survey[Options, Result]], Callable[Concatenate[Sequence[Benchmark], Keywords], Result]]:
    """Return a decorator for a survey: callers then give the fields of its options as keywords."""

    def decorated(survey: Survey[Options, Result]) -> Callable[Concatenate[Sequence[Benchmark], Keywords], Result]:
        @wraps(survey)
        def with_options(
            benchmarks: Sequence[Benchmark], /, *positional: Keywords.args, **keywords: Keywords.kwargs
        ) -> Result:
            return survey(benchmarks, options(*positional, **keywords))

        own, given = inspect.signature(survey), inspect.signature(options)
        first, *_ = own.parameters.values()
        keywords = sorted(given.parameters.values(), key=lambda keyword: keyword.name in PROGRESS)
        signature = own.replace(parameters=[first, *keywords])
        with_options.__signature__ = signature  # type: ignore[attr-defined]
        return with_options

    return decorated
