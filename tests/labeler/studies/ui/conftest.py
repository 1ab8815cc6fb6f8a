import functools
from collections.abc import Iterator

import pytest
from streamlit.components.v2 import manifest_scanner

from labeler.studies import background


@pytest.fixture(autouse=True, scope="session")
def components_are_looked_for_once() -> Iterator[None]:
    """Streamlit searches every installed package at each start of a page; the packages do not change meanwhile."""
    scan = manifest_scanner.scan_component_manifests
    manifest_scanner.scan_component_manifests = functools.cache(scan)
    yield
    manifest_scanner.scan_component_manifests = scan


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The studies for which pages have started to compute verdicts; no process is started."""
    studies: list[object] = []
    monkeypatch.setattr(background, "start_verdicts", lambda study, *_args, **_options: studies.append(study))
    return studies
