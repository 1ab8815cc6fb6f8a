"""The demo studies of the built-in questions."""

import json
from collections import Counter

import pandas as pd
import pytest

from labeler import marks
from labeler.config import bundled
from labeler.errors import InputError
from labeler.model import State
from labeler.service import demo
from labeler.service.labelling import auditing
from labeler.service.results import splits
from labeler.service.study import coordinating
from labeler.store import labels, open_database
from tests.making import NOW

DATA = bundled("data", "demo")
KNOWN = {  # an item whose change is known, and the label that most reviewers must give
    "triage": ("json.loads", "regression"),
    "change": ("fractions.sum#n=38", "slower"),
}


@pytest.mark.parametrize("name", ["triage", pytest.param("change", marks=pytest.mark.slow)])
def test_most_reviewers_of_a_demo_see_a_known_change(tmp_path, name):
    path = tmp_path / "demo.study"
    demo.build_for_question(path, DATA, name, now=NOW)
    item, expected = KNOWN[name]
    with open_database(path) as db:
        table = labels.table(db)
        given = Counter(table[table["item"] == item]["label"])
        assert given.most_common(1)[0][0] == expected
        assert len(set(table["label"])) >= 3
        views = [json.loads(row[labels.COLUMNS.index("view")]) for row in labels.rows(db)]
        assert all(("swapped" in view) == (name == "change") for view in views)
        assert auditing.audit(db).faults == ()


def test_there_is_no_demo_of_other_questions(tmp_path):
    with pytest.raises(InputError, match="Choose one of: change, triage, warmed-up"):
        demo.build_for_question(tmp_path / "demo.study", DATA, "similar", now=NOW)
    assert not (tmp_path / "demo.study").exists()


def test_the_demo_of_marks_is_finished_and_its_people_mostly_find_the_large_changes(tmp_path):
    path = tmp_path / "marks.study"
    demo.build_for_question(path, DATA, "mark-changes", now=NOW)
    with open_database(path) as db:
        assert coordinating.get_study(db).state is State.UNBLINDED
        assert not any(split.remains for split in splits.split_items(db))
        assert auditing.audit(db).faults == ()
        first = labels.table(db).query("kind != 'retest'")
    changes = pd.read_csv(DATA / demo.HISTORIES[1])
    large = changes[changes["change"] == 0.2]  # from v16, which is point 15
    near = [
        any(abs(mark.at - 15) <= 5 for mark in marks.read(answer))
        for answer in first[first["item"].isin(large["benchmark"])]["label"]
    ]
    unchanged = first[~first["item"].isin(changes["benchmark"])]["label"]
    assert (len(near), len(unchanged)) == (40, 20)
    assert sum(near) >= 36
    assert (unchanged == "no change").sum() >= 18
    assert first.groupby("reviewer")["label"].agg(lambda given: (given == "no change").sum()).nunique() > 1
