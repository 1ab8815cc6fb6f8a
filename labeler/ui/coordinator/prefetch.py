"""Prepare the pages of a coordinator in the background, so that even the first visit of a page is fast."""

from contextlib import suppress
from pathlib import Path
from threading import Thread

from labeler.errors import LabelerError
from labeler.service.items import browsing
from labeler.service.results import splits
from labeler.service.verdicts import evidence, stored_verdicts
from labeler.store import open_database
from labeler.ui.coordinator.items.classifiers import N_FIRST

_waiting: set[Path] = set()  # the studies that the server of this process serves and that are not prepared yet


def when_needed(study: Path) -> None:
    """Let `begin` prepare this study; without this call, for example in tests, `begin` does nothing."""
    _waiting.add(study)


def begin(study: Path) -> None:
    """Prepare the pages when the first coordinator has opened a page."""
    if study in _waiting:
        _waiting.discard(study)
        Thread(target=prepare, args=(study,), daemon=True).start()


def prepare(study: Path) -> None:
    """Compute the results that pages keep, and draw one figure; the first figure of a process takes about a second."""
    with suppress(LabelerError), open_database(study) as db:
        splits.current_agreement(db)
        splits.split_items(db)
        stored_verdicts.summary(db, N_FIRST)
        browsing.catalogue(db, verdicts=True)
    evidence.as_svg(evidence.schematic_pairs())
