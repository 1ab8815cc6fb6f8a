from pathlib import Path

import pytest

from labeler.config import Settings, bundled, settings
from labeler.formats import Source, read


def test_the_study_is_named_by_the_environment():
    assert settings({"LABELER_STUDY": "/data/cache.study"}) == Settings(study=Path("/data/cache.study"))


@pytest.mark.parametrize("environment", [{}, {"LABELER_STUDY": ""}, {"STUDY": "cache.study"}])
def test_no_study_is_named_where_the_environment_says_nothing(environment):
    assert settings(environment) == Settings(study=None)


@pytest.mark.parametrize(
    "parts", [("data", "demo", "demo.parquet"), ("data", "replication", "labels.csv"), (".streamlit", "config.toml")]
)
def test_files_that_come_with_the_package_are_found(parts):
    assert bundled(*parts).is_file()


def test_the_bundled_demo_measurements_can_be_read():
    benchmarks = read(Source("demo.parquet", path=bundled("data", "demo", "demo.parquet")))
    assert all(len(benchmark.runs) >= 2 for benchmark in benchmarks)
    assert len({benchmark.name for benchmark in benchmarks}) == len(benchmarks) > 0
