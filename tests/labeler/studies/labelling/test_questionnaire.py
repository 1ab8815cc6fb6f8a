"""The questionnaire: when it is asked, that it is asked once, and what others get to see of it."""

from dataclasses import replace

import pytest

from labeler.errors import AnswerRefused
from labeler.studies.audit import audit
from labeler.studies.course import coordinating
from labeler.studies.handover import anonymising
from labeler.studies.labelling import questionnaire
from labeler.studies.model import PlanParameters
from labeler.studies.preparing import assigning
from labeler.studies.questions import END, SIMILAR, START, Ask
from labeler.studies.results import questionnaires
from labeler.studies.store import actions, events, open_database
from tests.analysis.report.reports import to_markdown
from tests.labeler.studies.ui.pages import checked, reviewer_page, texts
from tests.making import (
    NOW,
    REVIEWERS,
    WHO,
    answer_next,
    id_of,
    import_all,
    make_study,
    offers,
    report_of,
    result_file,
    series,
)

YEARS, WORDS = "How many years?", "Anything else?"
ASKED = (Ask(YEARS, "choice", ("0 to 5", "more")), Ask(WORDS, "text"))
SECRET = "my own words"


def asking(path, at):
    make_study(path, n_items=0)
    with open_database(path) as db:
        question = replace(SIMILAR, ask=ASKED, ask_at=at)
        coordinating.describe_study(db, "Caches", question, **WHO)
        import_all(db, *(result_file(f"item{number}", series(number)) for number in range(6)))
        assigning.confirm_plan(db, PlanParameters(1, per_item=4, overlap=0, retest=0), **WHO)
    return path


@pytest.fixture
def at_end(tmp_path):
    return asking(tmp_path / "end.study", END)


def label_all(db, *names):
    for name in names:
        while offers(db, name):
            answer_next(db, name, "similar")


def test_it_is_asked_once_and_only_when_its_time_has_come(at_end, tmp_path):
    with open_database(at_end) as db:
        ada = id_of(db, "ada")
        assert questionnaire.due(db, ada) == ()
        label_all(db, "ada")
        assert questionnaire.due(db, ada) == ASKED
        questionnaire.answer(db, ada, {YEARS: "more", WORDS: " "}, now=NOW)
        questionnaire.answer(db, ada, {YEARS: "0 to 5"}, now=NOW)  # from a second window
        assert questionnaire.due(db, ada) == ()
        assert [(row.question, row.answer) for row in questionnaires.answers(db)] == [(YEARS, "more"), (WORDS, "")]
        assert audit.audit(db).faults == ()
    with open_database(asking(tmp_path / "start.study", START)) as db:
        assert questionnaire.due(db, id_of(db, "ada")) == ASKED


@pytest.mark.parametrize("given", [{YEARS: "many"}, {"Other?": "more"}, {WORDS: "x" * 1001}, {WORDS: "\ud800"}])
def test_an_answer_that_was_not_offered_is_refused(at_end, given):
    with open_database(at_end) as db:
        with pytest.raises(AnswerRefused):
            questionnaire.answer(db, id_of(db, "ada"), given, now=NOW)
        assert questionnaires.answers(db) == []


def test_a_reviewer_sees_the_form_after_the_last_label_and_every_answer_can_be_left_out(at_end):
    with open_database(at_end) as db:
        label_all(db, "ada")
    page = reviewer_page("first_visit", at_end, "ada")
    assert "A few questions about you" in texts(page)
    page.text_area[0].set_value(SECRET)
    checked(page.button[0].click().run())
    with open_database(at_end) as db:
        assert [row.answer for row in questionnaires.answers(db)] == ["", SECRET]
    assert "A few questions about you" not in texts(page)


def test_agreement_is_told_only_of_groups_of_three_and_own_words_stay_in_the_study(at_end, tmp_path):
    with open_database(at_end) as db:
        label_all(db, *REVIEWERS)
        for name, years in zip(REVIEWERS, ("more", "more", "more", "0 to 5"), strict=True):
            questionnaire.answer(db, id_of(db, name), {YEARS: years, WORDS: SECRET}, now=NOW)
        few, many = questionnaires.groups(db)
        assert ((few["people"], few["agreement"]), (many["people"], many["agreement"]["value"])) == (
            (1, None),
            (3, 1.0),
        )
        report = to_markdown(report_of(db))
        assert f"| {YEARS} | 0 to 5 | 1 | fewer than three people |" in report
        assert SECRET not in report
        copy = tmp_path / "copy.study"
        anonymising.anonymise(db, copy, keep_comments=False, actor="carol", now=NOW)
    assert SECRET.encode() not in copy.read_bytes()
    with open_database(copy) as db:
        (first, *_) = events.of_actions(db, [actions.ANSWER_QUESTIONNAIRE])
        assert first.details == {"answers": {YEARS: "more"}}
