import pytest


def test_sort(benchmark):
    benchmark(sorted, [3, 1, 2] * 50)


@pytest.mark.parametrize("n", [10, 100])
def test_sum(benchmark, n):
    benchmark(lambda: sum(range(n)))


def test_fails(benchmark):
    benchmark(lambda: 1 / 0)
