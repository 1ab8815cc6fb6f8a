"""Read the file of known changes, which a build accepts until their expiry dates."""

import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from analysis.check import KnownChange
from labeler.errors import InputError

KEYS = ("benchmark", "reason", "until", "at_most")
EXAMPLE = 'benchmark = "sort"\nreason = "checks its input now"\nuntil = 2027-03-31\nat_most = "6%"'


def read_known(path: Path, *, today: date) -> tuple[KnownChange, ...]:
    """Read the known changes in the entries `[[known]]` of a TOML file.

    Parameters
    ----------
    path : Path
    today : date
        The current date; an entry whose last day is earlier is expired.

    Raises
    ------
    InputError
        If the file cannot be read, or an entry is invalid.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}.") from None
    except ValueError as error:  # also raised for bytes that are not UTF-8
        raise InputError(f"{path} is not valid TOML: {error}.") from None
    entries = content.pop("known", [])
    if content or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{path}: each entry must begin with [[known]]. Example:\n[[known]]\n{EXAMPLE}")
    return tuple(_entry(entry, f"{path}, entry {number}", today) for number, entry in enumerate(entries, start=1))


def _entry(entry: Mapping[str, Any], where: str, today: date) -> KnownChange:
    unknown = [key for key in entry if key not in KEYS]
    if unknown:
        raise InputError(f"{where}: unknown key {unknown[0]!r}. Possible keys: {', '.join(KEYS)}.")
    for key in ("benchmark", "reason"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise InputError(f"{where}: {key} must be text in quotes. Example:\n[[known]]\n{EXAMPLE}")
    until = entry.get("until")
    if type(until) is not date:  # a datetime is also a date
        raise InputError(f"{where}: until must be the last day on which the change is accepted, such as 2027-03-31.")
    return KnownChange(
        entry["benchmark"], entry["reason"].strip(), until.isoformat(), _share(entry, where), is_expired=until < today
    )


def _share(entry: Mapping[str, Any], where: str) -> float | None:
    value = entry.get("at_most")
    if value is None:
        return None
    try:
        share = float(value.strip().removesuffix("%")) / 100 if isinstance(value, str) else None
    except ValueError:
        share = None
    if share is None or not 0 < share < float("inf") or "%" not in value:
        raise InputError(f'{where}: at_most must be a share of the baseline, such as "6%", not {value!r}.')
    return share
