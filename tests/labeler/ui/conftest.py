import functools
from collections.abc import Iterator

import pytest
from streamlit.components.v2 import manifest_scanner


@pytest.fixture(autouse=True, scope="session")
def components_are_looked_for_once() -> Iterator[None]:
    """Streamlit searches every installed package at each start of a page; the packages do not change meanwhile."""
    scan = manifest_scanner.scan_component_manifests
    manifest_scanner.scan_component_manifests = functools.cache(scan)
    yield
    manifest_scanner.scan_component_manifests = scan
