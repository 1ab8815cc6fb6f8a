import pytest

from analysis.benchmark import Benchmark, Failure
from labeler.formats.building import with_unique_names


def benchmark(name, *runs, why=""):
    failures = (Failure({}, why),) if why else ()
    return Benchmark.of_series(name, runs, failures=failures)


def test_benchmarks_come_in_order_also_those_whose_runs_all_failed():
    given = [benchmark("c", [1.0]), benchmark("a", why="failed"), benchmark("b", [2.0], why="failed once")]
    assert [one.name for one in with_unique_names(given)] == ["c", "a", "b"]


def test_a_name_that_appears_twice_is_refused_with_what_to_do():
    twice = [benchmark("a", [1.0]), benchmark("a", why="failed")]
    with pytest.raises(ValueError, match=r"^benchmark 'a' appears twice$"):
        list(with_unique_names(twice))
    with pytest.raises(ValueError, match=r"^benchmark 'a' appears twice; rename one$"):
        list(with_unique_names(twice, advice="; rename one"))


def test_of_no_benchmarks_none_is_made():
    assert list(with_unique_names([])) == []
