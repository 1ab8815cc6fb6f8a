"""Results that are kept until the study changes."""

from contextlib import suppress

import pytest

from labeler.studies.cache import until_changed
from labeler.studies.store import actions, events, verdicts
from labeler.studies.verdicts import computing
from tests.making import NOW, log, new_study


@pytest.fixture
def study(tmp_path):
    with new_study(tmp_path / "kept.study", n_items=3) as db:
        yield db


def test_a_result_is_computed_again_after_an_event_and_after_new_verdicts(study):
    computed = []

    @until_changed
    def n_verdicts(db):
        computed.append(len(verdicts.brief_table(db)))
        return computed[-1]

    assert (n_verdicts(study), n_verdicts(study), computed) == (0, 0, [0])
    events.Deed(study, "carol", NOW).log(actions.LEARN)
    assert (n_verdicts(study), computed) == (0, [0, 0])
    computing.compute_verdicts(study, advance=lambda _done, _total: None, actor="carol")
    assert n_verdicts(study) > 0


def test_a_result_from_a_change_that_was_taken_back_is_not_kept(study):
    @until_changed
    def last_action(db):
        return log(db)[-1][1]

    with suppress(ZeroDivisionError), study.atomic():
        events.Deed(study, "carol", NOW).log(actions.LEARN)
        assert last_action(study) == "learn"
        raise ZeroDivisionError
    events.Deed(study, "carol", NOW).log(actions.FIRST_VISIT)
    assert last_action(study) == "first visit"
