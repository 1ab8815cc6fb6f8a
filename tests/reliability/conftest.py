from tests.labeler.studies.ui.conftest import components_are_looked_for_once

__all__ = ["components_are_looked_for_once"]  # a fixture
