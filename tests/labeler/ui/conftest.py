import functools
import sys
from collections.abc import Iterator

import pytest
from streamlit.components.v2 import manifest_scanner


@pytest.fixture(autouse=True)
def main_module() -> Iterator[None]:
    """Streamlit's test runner leaves its script as `__main__`, which worker processes of later tests would import."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture(autouse=True, scope="session")
def components_are_looked_for_once() -> Iterator[None]:
    """Streamlit looks through every installed package at each start of a page; they stay the same meanwhile."""
    scan = manifest_scanner.scan_component_manifests
    manifest_scanner.scan_component_manifests = functools.cache(scan)
    yield
    manifest_scanner.scan_component_manifests = scan
