"""Read the files of a check: known changes with expiry dates, limits of benchmarks, and former names."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from analysis.check import KnownChange, Limit
from labeler.errors import InputError
from labeler.toml_file import parse as parse_toml

KEYS = ("benchmark", "reason", "until", "at_most")
EXAMPLE = 'benchmark = "sort"\nreason = "checks its input now"\nuntil = 2027-03-31\nat_most = "6%"'


OF_LIMIT = ("benchmark", "min_change", "max_slowdown")
LIMIT_EXAMPLE = 'benchmark = "sort*"\nmin_change = "3%"\nmax_slowdown = "10%"'


def read_limits(path: Path) -> tuple[dict[str, Any], tuple[Limit, ...]]:
    """Read the limits in a TOML file: those of all benchmarks by name, and the entries `[[limit]]`.

    Raises InputError if the file cannot be read, or an entry is invalid.
    """
    content = _toml(path)
    entries = content.pop("limit", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{path}: each entry must begin with [[limit]]. Example:\n[[limit]]\n{LIMIT_EXAMPLE}")
    unknown = [key for key in content if key not in (*OF_LIMIT[1:], "runs")]
    if unknown:
        raise InputError(
            f"{path}: unknown key {unknown[0]!r}. Possible keys: {', '.join(OF_LIMIT[1:])}, runs, and entries that "
            f"begin with [[limit]]. Example:\n[[limit]]\n{LIMIT_EXAMPLE}"
        )
    options: dict[str, Any] = {
        key: _share(content, key, str(path), may_be_0=key == "min_change") for key in OF_LIMIT[1:] if key in content
    }
    runs = content.get("runs")
    if runs is not None:
        if isinstance(runs, bool) or not isinstance(runs, int) or runs < 1:
            raise InputError(f"{path}: runs must be a whole number above 0, not {runs!r}.")
        options["runs"] = runs
    return options, tuple(_limit(entry, f"{path}, entry {number}") for number, entry in enumerate(entries, start=1))


def read_names(path: Path) -> dict[str, str]:
    """Read the lines `"former name" = "name"` of a TOML file; raises InputError if the file has anything else."""
    content = _toml(path)
    wrong = next((former for former, name in content.items() if not isinstance(name, str) or not name), None)
    if wrong is not None:
        raise InputError(f'{path}: {wrong!r} must be a name in quotes. Example:\n"sort/old" = "sort/new"')
    return content


def _limit(entry: Mapping[str, Any], where: str) -> Limit:
    unknown = [key for key in entry if key not in OF_LIMIT]
    if unknown:
        raise InputError(f"{where}: unknown key {unknown[0]!r}. Possible keys: {', '.join(OF_LIMIT)}.")
    if not isinstance(entry.get("benchmark"), str) or not entry["benchmark"].strip():
        raise InputError(f"{where}: benchmark must be text in quotes. Example:\n[[limit]]\n{LIMIT_EXAMPLE}")
    return Limit(
        entry["benchmark"], _share(entry, "min_change", where, may_be_0=True), _share(entry, "max_slowdown", where)
    )


def _toml(path: Path) -> dict[str, Any]:
    try:
        return parse_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}.") from None
    except ValueError as error:  # also raised for bytes that are not UTF-8
        raise InputError(f"{path} is not valid TOML: {error}.") from None


def read_known(path: Path, *, today: date) -> tuple[KnownChange, ...]:
    """Read the known changes in the entries `[[known]]` of a TOML file.

    An entry whose last day is before `today` is expired. Raises InputError if the file cannot be read, or an entry is
    invalid.
    """
    content = _toml(path)
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
        entry["benchmark"],
        entry["reason"].strip(),
        until.isoformat(),
        _share(entry, "at_most", where),
        is_expired=until < today,
    )


def _share(entry: Mapping[str, Any], key: str, where: str, *, may_be_0: bool = False) -> float | None:
    value = entry.get(key)
    if value is None:
        return None
    try:
        share = float(value.strip().removesuffix("%")) / 100 if isinstance(value, str) else None
    except ValueError:
        share = None
    if share is None or not (share >= 0 if may_be_0 else share > 0) or share == float("inf") or "%" not in value:
        raise InputError(f'{where}: {key} must be a share of the baseline, such as "6%", not {value!r}.')
    return share
