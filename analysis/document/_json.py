"""Convert results to plain values for JSON, and back. An undefined number becomes null with a reason, never NaN."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

_PREFIX = "prefix"


def inline(prefix: str = "") -> Mapping[str, Any]:
    """Return metadata of a field whose entries stand among those of the other fields, after a common prefix."""
    return {_PREFIX: prefix}


def json_values(value: Any) -> Any:
    """Convert a dataclass or mapping, and all values in it, to dictionaries of numbers, texts and None.

    A field with the metadata {"written": False} is left out; it needs a default for `read_back`.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return dict(_entries(value))
    if isinstance(value, Mapping):
        return {str(name): json_values(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_values(entry) for entry in value]
    return value


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    for field in fields(value):
        entry = getattr(value, field.name)
        if _PREFIX in field.metadata:
            entries = dict.fromkeys(_inner_names(type(value), field)) if entry is None else json_values(entry)
            for name, of_name in entries.items():
                yield f"{field.metadata[_PREFIX]}{name}", of_name
        elif field.metadata.get("written", True):
            yield key_of(field), json_values(entry)


def key_of(field: Field[Any]) -> str:
    """Return the key of a field in JSON: its name, or the `key` in its metadata, such as "class"."""
    return str(field.metadata.get("key", field.name))


def read_back(kind: Any, value: Any, place: str = "") -> Any:
    """Convert plain values back to a type, by the types of its fields: the reverse of `json_values`.

    A missing field takes its default; entries that the type does not have are ignored. Raises ValueError that names the
    place if a value does not fit, or a field without a default is missing.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if value is None and NoneType in parts:
            return None
        (kind,) = (part for part in parts if part is not NoneType)
        return read_back(kind, value, place)
    if is_dataclass(kind) and isinstance(kind, type):
        _expect(value, Mapping, "an object", place)
        found = {field.name: _field(kind, field, value, place) for field in fields(kind) if field.init}
        return kind(**found)
    if origin is tuple:
        _expect(value, (list, tuple), "a list", place)
        return tuple(read_back(parts[0], entry, f"{place}[{at}]") for at, entry in enumerate(value))
    if origin is not None and issubclass(origin, Mapping):
        _expect(value, Mapping, "an object", place)
        return {name: read_back(parts[1], entry, f"{place}.{name}") for name, entry in value.items()}
    if kind in _SIMPLE:
        allowed, described = _SIMPLE[kind]
        _expect(value, allowed, described, place)
    return value


_SIMPLE: Mapping[Any, tuple[Any, str]] = {
    bool: (bool, "true or false"),
    int: (int, "a whole number"),
    float: ((int, float), "a number"),
    str: (str, "a text"),
}  # fmt: skip


def _expect(value: Any, kinds: Any, described: str, place: str) -> None:
    if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
        raise ValueError(f"{place or 'the content'} must be {described}, not {value!r:.60}")


def _field(kind: Any, field: Field[Any], value: Mapping[str, Any], place: str) -> Any:
    """Read one field of a dataclass from the entries of the dataclass."""
    of_field, key = _hints(kind)[field.name], key_of(field)
    inside = f"{place}.{key}".removeprefix(".")
    if _PREFIX in field.metadata:
        entries = _inline_entries(kind, field, value)
        is_none = NoneType in get_args(of_field) and all(entry is None for entry in entries.values())
        return None if is_none else read_back(of_field, entries, place)
    if key in value:
        return read_back(of_field, value[key], inside)
    if field.default is not MISSING:
        return field.default
    if field.default_factory is not MISSING:
        return field.default_factory()
    raise ValueError(f"{inside} is missing")


def _inline_entries(kind: Any, field: Field[Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of an inline field: its own fields, or all that no other field has if it is a mapping."""
    prefix, names, taken = field.metadata[_PREFIX], _inner_names(kind, field), _names(kind)
    return {
        name.removeprefix(prefix): entry
        for name, entry in value.items()
        if (name in names if names else name.startswith(prefix) and name not in taken)
    }


def _inner(kind: Any) -> Any:
    """Return the dataclass that a type is or allows, or None."""
    return next((part for part in (kind, *get_args(kind)) if is_dataclass(part)), None)


def _inner_names(kind: Any, field: Field[Any]) -> tuple[str, ...]:
    """Return the names of all entries of an inline dataclass; nothing for an inline mapping."""
    inner = _inner(_hints(kind)[field.name])
    return _names(inner) if inner else ()


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """Return the names of all entries of a dataclass, in order, except those of inline mappings."""
    names: list[str] = []
    for field in fields(kind):
        names += _inner_names(kind, field) if _PREFIX in field.metadata else (key_of(field),)
    return tuple(names)


def to_json(content: Mapping[str, Any]) -> str:
    """Return content as JSON text without terminal control characters; raise ValueError if a number is not finite."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return re.sub(r"[^\x20-\x7e\n]", lambda letter: _printable(letter[0]), text)


def _printable(letter: str) -> str:
    return letter if letter.isprintable() else json.dumps(letter)[1:-1]
