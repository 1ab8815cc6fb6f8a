import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def main_module() -> Iterator[None]:
    """Streamlit's test runner leaves its script as `__main__`, which worker processes of later tests would import."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before
