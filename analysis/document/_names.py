"""Shorten names of benchmarks for columns and figures so that different names stay different."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

GAP = "…"
_PART = re.compile(r"\W*\w+|\W+")


def shortened(names: Iterable[str], width: int) -> dict[str, str]:
    """Shorten names that appear together to at most `width` characters so that different names stay different.

    Names that fit are not changed. A longer name keeps the parts that occur in the fewest other names, and then as many
    neighbouring parts as fit. If names are still equal, they get numbers. (A million names that differ only in removed
    parts would need more characters for their number.) Raises ValueError if the width is below 8.

    Examples
    --------
    >>> list(shortened(["run.sh --cpu 0 -b bt --size 100", "run.sh --cpu 0 -b cg --size 100"], 16).values())
    ['… bt --size 100', '… cg --size 100']
    """
    if width < 8:
        raise ValueError(f"width must be at least 8, got {width}")
    distinct = list(dict.fromkeys(names))
    used = {name for name in distinct if len(name) <= width}
    short = _apart(sorted(name for name in distinct if len(name) > width), width)
    for name, text in short.items():
        short[name] = _numbered(text, used, width)
        used.add(short[name])
    return {name: short.get(name, name) for name in distinct}


def _apart(names: Sequence[str], width: int) -> dict[str, str]:
    """Shorten names to their distinctive parts; if some names become equal, shorten these names again."""
    parts = {name: _parts(name, width) for name in names}
    n_names = Counter(part for split in parts.values() for part in set(split))
    short = {name: _cut(split, n_names, width) for name, split in parts.items()}
    names_of: dict[str, list[str]] = {}
    for name, text in short.items():
        names_of.setdefault(text, []).append(name)
    for group in names_of.values():
        if 1 < len(group) < len(names):
            short |= _apart(group, width)
    return short


def _parts(name: str, width: int) -> list[str]:
    """Split a name into words, each with the characters before it; split words longer than `width` into pieces."""
    size = width // 2
    words = [match.group() for match in _PART.finditer(name)]
    return [word[at : at + size] for word in words for at in range(0, len(word), size)]


def _cut(parts: Sequence[str], n_names: Counter[str], width: int) -> str:
    """Keep the rarest parts of a name that fit; if parts are equally rare, keep the last."""
    is_kept = [False] * len(parts)
    length = 1  # the length if a single gap replaces all removed parts
    for at in sorted(range(len(parts)), key=lambda at: (n_names[parts[at]], -at)):
        gaps_beside = (at > 0 and not is_kept[at - 1]) + (at + 1 < len(parts) and not is_kept[at + 1])
        longer = length + len(parts[at]) + gaps_beside - 1
        if longer > width:
            break
        is_kept[at], length = True, longer
    return "".join(
        part if shown else GAP if at == 0 or is_kept[at - 1] else ""
        for at, (part, shown) in enumerate(zip(parts, is_kept, strict=True))
    )


def _numbered(text: str, used: set[str], width: int) -> str:
    """Return the text for a name; if another name already uses the text, add a number."""
    number, candidate = 1, text
    while candidate in used:
        number += 1
        mark = f"~{number}"
        candidate = text[: width - len(mark)] + mark
    return candidate
