"""For pytest-benchmark: parameters with unusual names, and a failing benchmark."""

import pytest


@pytest.mark.parametrize("n", [10, 100])
def test_sort(benchmark, n):
    benchmark.pedantic(sorted, args=(list(range(n))[::-1],), rounds=5, iterations=3)


@pytest.mark.parametrize("text", ["<b>", "a b"])
def test_join(benchmark, text):
    benchmark.pedantic("".join, args=([text] * 50,), rounds=4)


def test_fails(benchmark):
    benchmark.pedantic(lambda: 1 / 0, rounds=2)
