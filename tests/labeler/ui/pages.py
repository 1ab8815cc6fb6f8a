"""Coordinator pages by the name of their module, wherever it stands; imported by the pages' own scripts in tests."""

from labeler.ui.app import COORDINATOR_PAGES

COORDINATOR = {page.__name__.rpartition(".")[2]: page for page in COORDINATOR_PAGES.values()}
