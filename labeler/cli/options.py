"""Make the options of a command from the fields of a frozen dataclass, so that an option is described in one place.

A field becomes an option if its metadata has a help text. The default value, the type and the name of the option come
from the field. If the default
value of a field is itself such a dataclass, the options of this dataclass come in its place. The metadata can also
have:

    flag     the option, if its name is not the name of the field. A flag of a field that is true by default turns it
             off.
    choices  the accepted texts; a tuple of texts is given as one text, separated by commas
    within   the accepted numbers as an interval, such as "(0, 1)" or "[2, )"
    or       a word that is accepted instead of a number
    share    true if the number is a share that may be written in percent
    pairs    an example of pairs, such as "run=NAME,value=NAME"
    file     true if the option is a file to read
    metavar  the word for the value in the help text
    default  the default value as the help text shows it
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from math import inf
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

import click
from click.core import ParameterSource

from labeler.errors import InputError, LabelerError, sentence

Function = TypeVar("Function", bound=Callable[..., Any])


class Share(click.ParamType[float]):
    """A share, written as 2%, 2 % or 0.02."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the share as a number."""
        if isinstance(value, float):
            return value
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            share = inf
        if not 0 <= share < inf:
            self.fail(f"{value!r} is not a share. Write it as 2% or 0.02.", param, ctx)
        if share >= 1 and not text.endswith("%"):
            self.fail(f"{value!r} means {100 * share:g} %. If you mean {value} percent, write {value}%.", param, ctx)
        return share


class NumberOr(click.ParamType[float | str]):
    """A word, or a number of another type."""

    def __init__(self, word: str, numbers: click.ParamType[Any]) -> None:
        self.word, self.numbers, self.name = word, numbers, f"{word}|{numbers.name}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """Return the word or the number."""
        if value == self.word:
            return self.word
        number: float = self.numbers.convert(value, param, ctx)
        return number


class Names(click.ParamType[tuple[str, ...]]):
    """Texts from a list, separated by commas."""

    name = "names"

    def __init__(self, choices: tuple[str, ...]) -> None:
        self.choices = choices

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the texts."""
        if isinstance(value, tuple):
            return value
        names = tuple(filter(None, (name.strip() for name in str(value).split(","))))
        unknown = [name for name in names if name not in self.choices]
        if unknown:
            self.fail(f"{unknown[0]!r} is not one of {', '.join(self.choices)}.", param, ctx)
        return names


class Pairs(click.ParamType[dict[str, str]]):
    """Pairs of names, written as OURS=THEIRS,OURS=THEIRS."""

    name = "text"

    def __init__(self, example: str) -> None:
        self.example = example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, str]:
        """Return the pairs as a dictionary."""
        if isinstance(value, dict):
            return value
        pairs = [pair.partition("=") for pair in str(value).split(",")] if value else []
        if not all(ours and equals and theirs for ours, equals, theirs in pairs):
            self.fail(f"{value!r} is incomplete. Write it as {self.example}", param, ctx)
        return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def options_of(
    kind: Callable[..., Any], into: str = "options", *, without: tuple[str, ...] = ()
) -> Callable[[Function], Function]:
    """Add an option for each described field of a dataclass; the command gets one value of this class.

    `into` is the name of the command's parameter. If the class refuses the values, the command ends with its reason.
    """
    described = tuple(_described(kind, without))

    def value_of(arguments: dict[str, Any]) -> Any:
        values = {field.name: arguments.pop(field.name) for field in described}
        try:
            return kind(**{name: value for name, value in values.items() if value is not None})
        except LabelerError:
            raise
        except ValueError as error:
            raise InputError(sentence(error)) from None

    return _with_options(described, into, value_of)


def given_of(
    kind: Callable[..., Any], into: str = "given", *, without: tuple[str, ...] = ()
) -> Callable[[Function], Function]:
    """Add options as `options_of` does; the command gets only the values that were given, by the name of the field."""
    described = tuple(_described(kind, without))

    def given(arguments: dict[str, Any]) -> dict[str, Any]:
        values = {field.name: arguments.pop(field.name) for field in described}
        source = click.get_current_context().get_parameter_source
        return {name: value for name, value in values.items() if source(name) is not ParameterSource.DEFAULT}

    return _with_options(described, into, given)


def _described(kind: Any, without: tuple[str, ...]) -> Iterator[Field[Any]]:
    return (
        field
        for field in fields(kind)
        if ("help" in field.metadata or is_dataclass(field.default)) and field.name not in without
    )


def _with_options(
    described: tuple[Field[Any], ...], into: str, value_of: Callable[[dict[str, Any]], Any]
) -> Callable[[Function], Function]:
    def decorated(function: Any) -> Any:
        @wraps(function)
        def command(*positional: Any, **arguments: Any) -> Any:
            return function(*positional, **{into: value_of(arguments)}, **arguments)

        for field in reversed(described):
            command = _option(field)(command)
        return command

    return decorated


def _option(field: Field[Any]) -> Callable[[Any], Any]:
    """Return the click option of a field, or the options of a field that is a dataclass."""
    if is_dataclass(field.default):
        return options_of(type(field.default), field.name)
    about, default = dict(field.metadata), None if field.default in (MISSING, "", ()) else field.default
    flag = about.get("flag", f"--{field.name.replace('_', '-')}")
    if isinstance(default, bool):
        return click.option(flag, field.name, is_flag=True, flag_value=not default, default=default, help=about["help"])
    if about.get("share") and default is not None:
        about["default"] = f"{100 * default:g}%"
    help_text = f"{about['help']}  [default: {about['default']}]" if "default" in about else about["help"]
    return click.option(
        flag, field.name, type=_type_of(field), default=default, help=help_text, metavar=about.get("metavar"),
        show_default="default" not in about and default is not None, multiple=_is_repeatable(field),
    )  # fmt: skip


def _is_repeatable(field: Field[Any]) -> bool:
    return not {"choices", "file"} & set(field.metadata) and get_origin(field.type) in (tuple, Sequence)


def _type_of(field: Field[Any]) -> Any:
    about, kinds = field.metadata, get_args(field.type) or (field.type,)
    if about.get("share"):
        return Share()
    if about.get("file"):
        return click.Path(path_type=Path, dir_okay=False, exists=True)
    if "choices" in about:
        if "tuple[" in str(field.type):
            return Names(tuple(about["choices"]))
        return click.Choice(tuple(about["choices"]))
    if "within" in about:
        numbers = _range(about["within"], whole=int in kinds)
        return NumberOr(about["or"], numbers) if "or" in about else numbers
    if Path in kinds:
        return click.Path(path_type=Path, dir_okay=False)
    if "pairs" in about:
        return Pairs(about["pairs"])
    return next(kind for kind in kinds if kind is not type(None))


def _range(interval: str, *, whole: bool) -> click.ParamType[Any]:
    """Return the type of numbers within an interval such as "(0, 1]"."""
    low, high = (int(end) if end.strip() else None for end in interval[1:-1].split(","))
    ends: Mapping[str, Any] = {
        "min": low, "max": high,
        "min_open": interval[0] == "(" and low is not None,
        "max_open": interval[-1] == ")" and high is not None,
    }  # fmt: skip
    return click.IntRange(**ends) if whole else click.FloatRange(**ends)
