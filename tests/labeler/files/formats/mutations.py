"""Damaged result files, and the allowed results of a reader: valid benchmarks, or a refusal with a message."""

import copy
import json
import random
import time
from typing import Any

import numpy as np

from labeler.errors import Refused
from labeler.files.formats import FORMATS, ReadOptions, Source, read
from labeler.files.formats.known import Format
from labeler.text import is_storable

SECONDS = 5  # time limit for a file in a test
HOSTILE = [
    "../../../etc/passwd", "<script>alert(1)</script>", "=HYPERLINK(0)", "+1", "@SUM(A1)", "bell\x07and\x1bescape",
    "a" * 10_000,
    "right\u202eleft", "{{x}}%s%n${y}", "a#b&c=d;e,f", "'; DROP TABLE items; --", "\x85next\u2028line", "none of\ttabs",
]  # fmt: skip
LEAVES: list[Any] = [
    None, True, False, 0, -1, 1e308, 1e999, float("nan"), 10**400, 2**63, "", "NaN", "1_0", "\ud800", "a\0b",
    "x" * 9999, [], {}, [[]], [[1], [1, 2]], {"a": 1}, [None] * 3, ["x"] * 3,
]  # fmt: skip


def read_with(module, name, content):
    """Return the benchmarks with measurements that the application reads with this reader, registered or not."""
    known = Format("tried", "", "", "", module.detect, module.read, takes_name=module is FORMATS["numbers"])
    options = ReadOptions(name="sort" if known.takes_name else "")
    found = read(Source(name, data=content), options, content=content, known=known)
    return [benchmark for benchmark in found if benchmark.runs]


def refusal(module, name, content):
    """Return the reason for refusing the file, without its name."""
    try:
        found = read_with(module, name, content)
    except Refused as refused:
        return str(refused).removeprefix(f"{name}: ")
    raise AssertionError(f"not refused: {found}")


def mutated(content, rng):
    """The content with one to three changes."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        content = rng.choice(CHANGES)(content, rng)
    return content


def check_mutations(module, files, n, seed=1):
    """Check that damaged files quickly give valid benchmarks or a refusal with a message, and that both occur."""
    rng = random.Random(seed)
    reasons = []
    for number in range(n):
        name, content = rng.choice(files)
        content = mutated(content, rng)
        began = time.process_time()
        assert module.detect(name, content) in (True, False)
        try:
            if number % 4:
                check_sound(read_with(module, name, content))
            else:  # the format is not named, and other readers try too
                read(Source(name, data=content), content=content)
        except Refused as refused:
            reasons.append(refused.reason)
        assert time.process_time() - began < SECONDS
    assert n // 10 < len(reasons) < n, reasons[:20]
    assert not [reason for reason in reasons if len(reason) < 10 or "Traceback" in reason]


def check_sound(benchmarks):
    assert benchmarks
    names = [(one.application, one.name) for one in benchmarks]
    assert len(set(names)) == len(names)
    for one in benchmarks:
        assert one.better in ("lower", "higher", "")
        assert all(
            run.dtype == np.float64 and run.ndim == 1 and len(run) and np.isfinite(run).all() for run in one.values
        )
        assert all(len(texts) == len(one.values) for texts in one.conditions.values())
        told = [one.name, one.benchmark, one.application, one.unit, *one.parameters, *one.parameters.values()]
        told += [text for texts in one.conditions.values() for text in texts]
        told += [text for failure in one.failures for text in (failure.reason, *failure.conditions.values())]
        assert all(isinstance(text, str) and is_storable(text) for text in told)


def _flip(content, rng):
    changed = bytearray(content)
    for _ in range(min(len(changed), rng.randint(1, 8))):
        changed[rng.randrange(len(changed))] = rng.choice((rng.randrange(256), *b'0-9e.,:;"{}[]\n \x00'))
    return bytes(changed)


def _truncate(content, rng):
    return content[: rng.randint(0, len(content))]


def _cut(content, rng):
    start = rng.randint(0, len(content))
    return content[:start] + content[start + rng.randint(0, 200) :]


def _double(content, rng):
    start = rng.randint(0, len(content))
    return content[:start] + content[start : start + rng.randint(0, 400)] * rng.randint(2, 4) + content[start:]


def _lines(content, rng):
    lines = content.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(4)
    if how == 0:
        lines[at], lines[other] = lines[other], lines[at]
    elif how == 1:
        lines.insert(at, lines[other])
    elif how == 2:
        del lines[at]
    else:
        rng.shuffle(lines)
    return b"\n".join(lines)


def _replace(content, rng):
    """Replace a word at a random place."""
    words = content.split(b" ")
    leaf = rng.choice((b"NaN", b"-", b"1e999", b"''", b"null", b"9" * 400, "\u0661\u202e".encode(), b"\xff\xfe", b'"'))
    words[rng.randrange(len(words))] = leaf
    return b" ".join(words)


def _structure(content, rng):
    """Remove, double, rename or change the type of a JSON member; in other files change a byte."""
    try:
        document = json.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return _flip(content, rng)
    holders = list(_holders(document))
    if not holders:
        return json.dumps(rng.choice(LEAVES)).encode()
    holder = rng.choice(holders)
    at = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    how = rng.randrange(4)
    if how == 0:
        del holder[at]
    elif how == 1 and isinstance(holder, dict):
        holder[rng.choice((*HOSTILE, *holder))] = holder.pop(at)
    elif how == 1:
        holder.insert(rng.randint(0, len(holder)), copy.deepcopy(holder[at]))
    else:
        holder[at] = copy.deepcopy(rng.choice([*LEAVES, *HOSTILE]))
    return json.dumps(document).encode()


def _holders(value):
    if isinstance(value, (dict, list)) and value:
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _holders(inner)


CHANGES = (_flip, _truncate, _cut, _double, _lines, _replace, *[_structure] * 6)
