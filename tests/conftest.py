"""Shared parts of several tests: golden values, folders of real data, strategies."""

import json
import os
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# As on the command line: several threads of OpenBLAS slow down small matrices. NumPy reads this when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A slow machine is not a failure. Ordinary runs try a third of the examples; `make test-all` tries all of them.
settings.register_profile("all", deadline=None)
settings.register_profile("daily", settings.get_profile("all"), max_examples=33)
settings.load_profile("daily")

GOLDEN = Path(__file__).parent / "golden"


def examples(n: int) -> int:
    """Settings for `n` examples with `make test-all`, and for a third of them in ordinary runs."""
    assert settings.default is not None
    return -(-n * settings.default.max_examples // 100)


def some_slow(values: Iterable[Any], slow: Collection[Any]) -> list[Any]:
    """Return the values for a parametrised test; the slow values only run with `make test-all`."""
    return [pytest.param(value, marks=pytest.mark.slow) if value in slow else value for value in values]


def golden(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def main_module() -> Iterator[None]:
    """Streamlit's test runner leaves its script as `__main__`, which worker processes of later tests would import."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture(scope="session")
def golden_agreement() -> dict[str, Any]:
    """Published agreement cases by id."""
    return {case["id"]: case for case in golden("agreement")["cases"]}


@pytest.fixture(scope="session")
def icpe_dir() -> Path:
    """The folder with the benchmarks of the ICPE 2023 data challenge."""
    folder = os.environ.get("LABELER_ICPE_DIR")
    if not folder:
        pytest.skip("set LABELER_ICPE_DIR to the folder with the ICPE 2023 data challenge files to run this test")
    return Path(folder)


@pytest.fixture(scope="session")
def published_classes() -> Path:
    """The file with the published classes of the ICPE 2023 benchmarks (change-point detection)."""
    folder = os.environ.get("LABELER_STEADY_STATE_DIR")
    if not folder:
        pytest.skip("set LABELER_STEADY_STATE_DIR to the folder with published.json to run this test")
    return Path(folder) / "published.json"
