"""Two small benchmarks for docs/measuring.md: each prints the processor time of three iterations, in seconds."""

import sys
from time import process_time


def spin(n):
    total = 0
    for number in range(n):
        total += number & 7
    return total


def text(n):
    return len("".join(str(number) for number in range(n)))


work, n = {"spin": spin, "text": text}[sys.argv[1]], int(sys.argv[2])
for _iteration in range(3):
    began = process_time()
    work(n)
    print(process_time() - began)
