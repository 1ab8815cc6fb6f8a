"""What several tests share: golden values, the folders of real data, strategies."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # a slow machine is no failure
settings.load_profile("untimed")

GOLDEN = Path(__file__).parent / "golden"


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
