#!/usr/bin/env python3
"""A harness for ReBench: prints the time of three iterations, and breaks in every second invocation if asked to."""

import random
import sys
import time
from pathlib import Path


def main() -> None:
    name, size = sys.argv[1], int(sys.argv[2])
    if name == "Breaks":
        marker = Path(__file__).with_name(f"marker-{size}")
        n = len(marker.read_text()) if marker.exists() else 0
        marker.write_text("x" * (n + 1))
        if n == 1:
            sys.exit("no device")
    data = [random.random() for _ in range(100 * size)]
    for _ in range(3):
        begin = time.perf_counter()
        sorted(data)
        print(f"{name}: iterations=1 runtime: {round((time.perf_counter() - begin) * 1e6)}us")
        print(f"{name}: trace size: {size}bytes")


if __name__ == "__main__":
    main()
