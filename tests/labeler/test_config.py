from pathlib import Path

import pytest

from labeler.config import Settings, bundled, settings
from labeler.files.formats import Source, read


@pytest.mark.parametrize(
    ("environment", "study"),
    [({"LABELER_STUDY": "/data/cache.study"}, Path("/data/cache.study")), ({}, None), ({"LABELER_STUDY": ""}, None),
     ({"STUDY": "cache.study"}, None)],
)  # fmt: skip
def test_the_study_is_named_by_the_environment(environment, study):
    assert settings(environment) == Settings(study=study)


@pytest.mark.parametrize(
    "parts", [("data", "demo", "demo.parquet"), ("data", "replication", "labels.csv"), (".streamlit", "config.toml")]
)
def test_files_that_come_with_the_package_are_found(parts):
    assert bundled(*parts).is_file()


def test_the_bundled_demo_measurements_can_be_read():
    benchmarks = read(Source("demo.parquet", path=bundled("data", "demo", "demo.parquet")))
    assert all(len(benchmark.runs) >= 2 for benchmark in benchmarks)
    assert len({benchmark.name for benchmark in benchmarks}) == len(benchmarks) > 0
