"""The log as sentences, the newest first."""

from typing import get_type_hints

import pytest

from labeler.studies.course import course, log_sentences, staffing
from labeler.studies.items import browsing
from labeler.studies.plan.lifecycle import Step
from labeler.studies.store import events
from labeler.studies.store.actions import ACTIONS
from tests.making import WHO, answer_everything, item_name


def said(db):
    return [row["what"] for row in log_sentences.log_sentences(db, with_details=True)]


def a_value(kind):
    """A value of this type, for a field of an event."""
    words = str(kind)
    if "Sequence[collections.abc.Sequence" in words:
        return [["a.json", "why"]]
    for name, value in (("Sequence", ["ada"]), ("Mapping", {"a": "b"}), ("int", 2), ("float", 0.5), ("bool", True)):
        if name in words:
            return value
    return "x"


@pytest.mark.parametrize("name", ACTIONS)
def test_every_action_of_the_log_has_a_sentence_made_from_its_fields(name):
    kinds = get_type_hints(ACTIONS[name].fields)
    details = {field: a_value(kinds[field]) for field in ACTIONS[name].fields.__required_keys__}
    told = log_sentences._PHRASES[ACTIONS[name]](details)
    assert told != name
    assert "None" not in told and "[" not in told


def test_what_happened_is_told_with_names_and_the_newest_first(planned):
    staffing.remove(planned, "dan", why="on leave", **WHO)
    browsing.exclude(planned, item_name(1), "broken", **WHO)
    answer_everything(planned, {"ada": "similar", "ben": "dissimilar", "cleo": "similar"})
    course.change_state(planned, Step.THIRD, **WHO)
    told = said(planned)
    assert told[0] == "began the third-label round with ada, ben and cleo"
    assert told[1] == f"excluded {item_name(1)}: broken"
    assert told[2] == "removed dan: on leave; open items went to ada, ben and cleo"
    assert told[3] == "made the plan: 8 items for ada, ben, cleo and dan"
    assert told[-1] == "created the study “Caches”"
    assert not set(told) & set(ACTIONS)  # no event is told by its name alone
    rows = log_sentences.log_sentences(planned, with_details=False)
    assert rows[1]["what"] == "exclude item"  # whoever labels too does not read who decided what


def test_an_event_without_its_details_or_of_another_version_is_told_by_its_name(planned):
    with events.by(planned, **WHO) as deed:
        planned.execute("INSERT INTO events (at_utc, actor, action, details) VALUES (?, ?, ?, ?)",
                        (deed.at_utc, "carol", "import file", "{}"))  # fmt: skip
        planned.execute("INSERT INTO events (at_utc, actor, action, details) VALUES (?, ?, ?, ?)",
                        (deed.at_utc, "carol", "from the future", "{}"))  # fmt: skip
    assert said(planned)[:2] == ["from the future", "import file"]
