"""The formats that can be read: ours, and those that other packages bring."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from labeler.errors import InputError
from labeler.formats import FILE_IS, FORMATS, VALUES_ARE, Format, ReadOptions
from labeler.plugins import Plugin, format_plugins

__all__ = ["FILE_IS", "VALUES_ARE", "Others", "others", "read_options", "table"]


@dataclass(frozen=True)
class Others:
    """Formats of other packages by name, and why some cannot be used."""

    formats: Mapping[str, Format]
    errors: Mapping[str, str]


def others() -> Others:
    """What other packages bring."""
    formats, errors = {}, {}
    for name, plugin in format_plugins().items():
        reason = _why_not(plugin)
        if reason:
            errors[name] = f"{plugin.distribution}: {reason}"
        else:
            formats[name] = replace(plugin.function, name=name, package=plugin.distribution)
    return Others(formats, errors)


def _why_not(plugin: Plugin) -> str:
    if plugin.error:
        return plugin.error
    if not isinstance(plugin.function, Format):
        return f"it registers {type(plugin.function).__name__}, not a labeler.formats.Format"
    return "one of our formats has this name" if plugin.name in FORMATS else ""


def read_options(
    format_name: str | None,
    columns: Mapping[str, str],
    *,
    file_is: str | None = None,
    values_are: str | None = None,
) -> ReadOptions:
    """What the person says about the files, with the formats that other packages bring.

    Raises
    ------
    InputError
        If there is no such format, or it cannot be used, or an option is none of `FILE_IS` and `VALUES_ARE`.
    """
    known = others()
    why_not = known.errors.get(format_name or "")
    if why_not:
        raise InputError(f"The format {format_name!r} cannot be used. {why_not}")
    if format_name is not None and format_name not in {*FORMATS, *known.formats}:
        names = ", ".join((*FORMATS, *known.formats))
        raise InputError(f"There is no format {format_name!r}; known are {names}.")
    for given, words in ((file_is, FILE_IS), (values_are, VALUES_ARE)):
        if given is not None and given not in words:
            raise InputError(f"{given!r} is none of {', '.join(words)}.")
    return ReadOptions(format_name, columns, file_is, values_are, known.formats)


def table() -> list[dict[str, Any]]:
    """A row a format: name, title, what a run and an iteration is, what a file is, how the tool keeps the values.

    A format of another package that cannot be used says why in place of its title.
    """
    known = others()
    rows = [
        {
            "name": one.name, "title": one.title, "runs": one.runs, "iterations": one.iterations,
            "file_is": one.file_is, "keep": one.keep, "package": one.package,
        }
        for one in (*FORMATS.values(), *known.formats.values())
    ]  # fmt: skip
    empty = dict.fromkeys(("runs", "iterations", "file_is", "keep", "package"), "")
    return [*rows, *({"name": name, "title": f"cannot be used: {why}", **empty} for name, why in known.errors.items())]
