"""Results that are kept until the study changes."""

from contextlib import suppress

import pytest

from labeler.studies.cache import cached, forget, until_changed
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


def test_results_of_one_study_neither_displace_those_of_another_nor_stay_when_it_leaves(study, tmp_path):
    computed = []

    @cached(key=lambda _db, number: number, n_kept=2)
    def double(db, number):
        computed.append((db.path.name, number))
        return 2 * number

    with new_study(tmp_path / "other.study", n_items=1) as other:
        assert double(study, 1) == 2
        for number in range(5):
            double(other, number)
        assert double(study, 1) == 2
        forget(study.path)
        assert (double(study, 1), double(other, 4)) == (2, 8)
    of_study = [number for name, number in computed if name == study.path.name]
    assert of_study == [1, 1] and len(computed) == 7
