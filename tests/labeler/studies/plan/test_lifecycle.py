"""The tables are printed in docs/study-life.md, and a test compares them; this file tests general rules."""

import pytest

from labeler.errors import NotAllowed
from labeler.studies.model import Protocol, Role, State, Study
from labeler.studies.plan.lifecycle import (
    ALLOWED,
    SIGHTS,
    STATE_PHRASES,
    STEPS,
    Action,
    Step,
    after,
    possible,
    require,
    why_hidden,
)

PHASES = tuple(state for state in State if state is not State.PAUSED)
IN_ORDER = ["draft", "calibration", "open", "third", "closed", "unblinded"]
WHILE_PEOPLE_LABEL = {State.CALIBRATION, State.OPEN, State.THIRD}


def study_in(state, resumes_to=None):
    return Study("Caches", "Alike?", State(state), "2026-11-20", Protocol(), None, None, resumes_to)


def refusal(function, *arguments):
    """Return the message of a refusal; empty if there is none."""
    try:
        function(*arguments)
    except NotAllowed as error:
        return str(error)
    return ""


def test_only_reopening_leads_back_and_every_state_is_reached():
    forward = [(state, to) for step in set(Step) - {Step.PAUSE, Step.REOPEN} for state, to in STEPS[step].items()]
    assert [(state, to) for state, to in forward if IN_ORDER.index(to) <= IN_ORDER.index(state)] == []
    # the plan starts the calibration round; there is no step for it
    assert {to for _, to in forward} == set(PHASES) - {State.DRAFT, State.CALIBRATION}


def test_a_step_is_offered_exactly_where_it_leads_somewhere_and_a_pause_comes_last():
    for state in PHASES:
        assert set(possible(study_in(state))) == {step for step in Step if state in STEPS[step]}
        assert possible(study_in(state))[-1] is Step.PAUSE


def test_a_step_that_leads_nowhere_is_refused_with_the_ways_there_are():
    assert refusal(after, study_in("open"), Step.UNBLIND) == (
        "The study is open, so the step “unblind” is not possible. Possible steps: third, close, pause."
    )
    wrong = [(step, state) for step in Step for state in PHASES if state not in STEPS[step]]
    assert [pair for pair in wrong if "is not possible" not in refusal(after, study_in(pair[1]), pair[0])] == []


def test_a_paused_study_remembers_where_it_was_and_can_only_be_opened_again():
    for phase in PHASES:
        paused = study_in("paused", phase)
        assert (paused.phase, possible(paused), after(paused, Step.OPEN)) == (phase, [Step.OPEN], phase)
        others = [refusal(after, paused, step) for step in Step if step is not Step.OPEN]
        assert all("again first." in text for text in others)


def test_nobody_sees_agreement_verdicts_or_names_while_people_label():
    for sight in SIGHTS - {Action.SEE_CALIBRATION}:
        assert not ALLOWED[sight] & WHILE_PEOPLE_LABEL
    assert ALLOWED[Action.SEE_NAMES] == {State.UNBLINDED}
    assert ALLOWED[Action.LABEL] == WHILE_PEOPLE_LABEL
    assert ALLOWED[Action.ADJUDICATE] == {State.CLOSED}


def test_an_action_is_refused_in_words_where_the_table_does_not_allow_it():
    assert refusal(require, study_in("open"), Action.CALIBRATE) == (
        f"You can {Action.CALIBRATE} only while the study is being set up or in its calibration round. It is open now."
    )
    for action in Action:
        for phase in PHASES:
            for study in (study_in(phase), study_in("paused", phase)):
                assert ("only while the study is" in refusal(require, study, action)) == (phase not in ALLOWED[action])


@pytest.mark.parametrize("action", [Action.LABEL, Action.PLAN])
def test_a_pause_ends_labelling_and_planning_until_the_study_is_opened_again(action):
    assert refusal(require, study_in("open"), action) == ""
    assert "is paused" in refusal(require, study_in("paused", State.OPEN), action)


def test_a_coordinator_is_told_until_when_something_is_hidden():
    for sight in SIGHTS:
        for phase in PHASES:
            why = why_hidden(study_in("paused", phase), [Role.COORDINATOR], sight)
            assert (why == "") == (phase in ALLOWED[sight])
            assert not why or (
                why.endswith(f" is {STATE_PHRASES[phase]} now.") and "draft" not in why.partition(":")[0]
            )


def test_a_coordinator_who_labels_sees_nothing_before_the_study_is_unblinded():
    for sight in SIGHTS:
        for phase in PHASES:
            why = why_hidden(study_in(phase), [Role.REVIEWER, Role.COORDINATOR], sight)
            assert why.startswith("You are also a reviewer of this study") == (phase is not State.UNBLINDED)
