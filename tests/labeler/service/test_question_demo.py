"""The demo studies of the built-in questions."""

from collections import Counter

import pytest

from labeler.config import bundled
from labeler.errors import InputError
from labeler.service import question_demo
from labeler.service.labelling import auditing
from labeler.service.results import sides
from labeler.store import labels, open_database
from tests.labeler.conftest import NOW

KNOWN = {  # an item whose change is known, and the label that most reviewers must give
    "triage": ("json.loads", "regression"),
    "change": ("fractions.sum#n=38", "slower"),
}


@pytest.mark.parametrize("name", ["triage", pytest.param("change", marks=pytest.mark.slow)])
def test_most_reviewers_of_a_demo_see_a_known_change(tmp_path, name):
    path = tmp_path / "demo.study"
    question_demo.build(path, bundled("data", "demo"), name, now=NOW)
    item, expected = KNOWN[name]
    with open_database(path) as db:
        table = labels.table(db)
        given = Counter(table[table["item"] == item]["label"])
        assert given.most_common(1)[0][0] == expected
        assert len(set(table["label"])) >= 3
        assert bool(sides.answers_as_shown(db)) == (name == "change")
        assert auditing.audit(db).faults == ()


def test_there_is_no_demo_of_other_questions(tmp_path):
    with pytest.raises(InputError, match="Choose one of: change, triage, warmed-up"):
        question_demo.build(tmp_path / "demo.study", bundled("data", "demo"), "similar", now=NOW)
    assert not (tmp_path / "demo.study").exists()
