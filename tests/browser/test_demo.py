"""The second study of the demo: after the last label, visitors see their own results without reloading."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from labeler.studies import demo
from labeler.studies.course import coordinating
from labeler.studies.labelling import own_result
from labeler.studies.store import open_database
from tests.browser import studies
from tests.browser.conftest import serving
from tests.browser.hands import enter, press
from tests.making import answer_everything

pytestmark = pytest.mark.browser


@pytest.mark.slow
def test_after_the_last_label_the_page_shows_the_own_result(page, tmp_path):
    study = tmp_path / "yours.study"
    studies.make(study, studies.many(2), reviewers=("ada", demo.YOU), parameters=studies.EVERYTHING_BY_ALL)
    with open_database(study) as db:
        coordinating.describe_study(db, demo.YOURS, studies.QUESTION, actor="carol", now=datetime.now(UTC))
        answer_everything(db, {"ada": "similar"})
        own_result.allow(db, demo.YOU, True, actor="carol", now=datetime.now(UTC))
    demo.unblind_when_labelled(study, clock=lambda: datetime.now(UTC))
    with serving(study) as served:
        enter(page, served, demo.YOU)
        press(page, "s")
        press(page, "d")
        expect(page.get_by_role("heading", name="You agree with the majority on 1 of 2 items")).to_be_visible()
        expect(page.get_by_text("Reviewer 1", exact=True)).to_be_visible()
        expect(page.get_by_text("ada")).to_have_count(0)
