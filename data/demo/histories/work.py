"""Measure one small benchmark in one of 40 versions, and print its processor time in seconds.

    python work.py NAME VERSION

The versions have the same code. `changes.csv` says which version changes which benchmark and by how much: after each
operation, the program works on for a share of the time of that operation. In the first version, this share is 20 %, so
that a later version can be faster.
"""

import csv
import hashlib
import json
import random
import re
import string
import sys
import zlib
from pathlib import Path
from statistics import median
from time import process_time

REPEATS = 5
LEAST_S = 0.0015  # of one measured operation, which is repeated until it takes this long
FIRST_SHARE = 0.2

rng = random.Random(1)
WORDS = ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 9))) for _ in range(900)]
TEXT = " ".join(WORDS)
NUMBERS = [rng.random() for _ in range(900)]
ROWS = [{"id": i, "name": f"row {i}", "values": NUMBERS[i : i + 5]} for i in range(40)]
DATA = TEXT.encode() * 4
PACKED, LINES = zlib.compress(DATA), [",".join(map(str, NUMBERS[i : i + 6])) for i in range(0, 480, 6)]
DUMPED = json.dumps(ROWS)
PATTERN = re.compile(r"\b[aeiou]\w+")


def sieve():
    flags = bytearray([1]) * 4000
    for number in range(2, 64):
        if flags[number]:
            flags[number * number :: number] = bytes(len(range(number * number, 4000, number)))
    return sum(flags)


def fibonacci(n=16):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def matrix():
    rows = [NUMBERS[i : i + 20] for i in range(0, 400, 20)]
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*rows, strict=True)] for row in rows
    ]


def count_words():
    counts = {}
    for word in WORDS:
        counts[word[0]] = counts.get(word[0], 0) + 1
    return counts


OPERATIONS = {
    "json.dumps": lambda: json.dumps(ROWS),
    "json.loads": lambda: json.loads(DUMPED),
    "re.findall": lambda: PATTERN.findall(TEXT),
    "re.sub": lambda: PATTERN.sub("x", TEXT),
    "str.split": lambda: TEXT.split(" "),
    "str.join": lambda: "-".join(WORDS),
    "str.replace": lambda: TEXT.replace("e", "ee"),
    "str.encode": lambda: TEXT.upper().encode("utf-16"),
    "sorted.numbers": lambda: sorted(NUMBERS),
    "sorted.words": lambda: sorted(WORDS, key=len),
    "sha256": lambda: hashlib.sha256(DATA).hexdigest(),
    "md5": lambda: hashlib.md5(DATA, usedforsecurity=False).hexdigest(),
    "zlib.compress": lambda: zlib.compress(DATA, 1),
    "zlib.decompress": lambda: zlib.decompress(PACKED),
    "crc32": lambda: zlib.crc32(DATA),
    "csv.reader": lambda: list(csv.reader(LINES)),
    "dict.count": count_words,
    "sieve": sieve,
    "fibonacci": fibonacci,
    "matrix": matrix,
    "set.union": lambda: set(WORDS) | set(map(str, NUMBERS)),
    "list.reverse": lambda: [word[::-1] for word in WORDS],
    "format": lambda: [f"{number:.4f}" for number in NUMBERS],
    "float.parse": lambda: [float(line.split(",")[0]) for line in LINES],
}


def level_of(name, version):
    """Return how much longer an operation takes than without any wait, in this version."""
    level = 1 + FIRST_SHARE
    with (Path(__file__).parent / "changes.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            if row["benchmark"] == name and row["version"] <= version:
                level *= 1 + float(row["change"])
    return level


def main(name, version):
    """Print the median of several measured operations."""
    operation, level = OPERATIONS[name], level_of(name, version)
    began, n = process_time(), 0
    while process_time() - began < LEAST_S:
        operation()
        n += 1
    times = []
    for _repeat in range(REPEATS):
        began = process_time()
        for _ in range(n):
            operation()
        end = began + level * (process_time() - began)
        while process_time() < end:
            pass
        times.append((process_time() - began) / n)
    print(median(times))


if __name__ == "__main__":
    main(*sys.argv[1:])
