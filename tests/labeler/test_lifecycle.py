from itertools import product

import pytest

from labeler.errors import NotAllowed
from labeler.model import Protocol, Role, State, Study
from labeler.plan import lifecycle
from labeler.plan.lifecycle import Action, Step

PHASES = ("draft", "calibration", "open", "third", "closed", "unblinded")
# the tables told a second time: a step leads from the first state to the second
LEADS = {
    ("open", "draft"): "open",
    ("open", "calibration"): "open",
    ("third", "open"): "third",
    ("close", "open"): "closed",
    ("close", "third"): "closed",
    ("unblind", "closed"): "unblinded",
    **{("pause", state): "paused" for state in PHASES},
}
WHERE = {
    "import measurements": "draft",
    "draw a plan": "draft calibration open",
    "say what the calibration round must reach": "draft calibration",
    "change who takes part": "draft calibration open third",
    "label items": "calibration open third",
    "take in labels made elsewhere": "draft calibration open third closed",
    "exclude an item or take it back in": "draft calibration open third closed",
    "decide a split item": "closed",
    "see agreement in the browser": "closed unblinded",
    "see what the calibration round reached in the browser": "draft calibration open third closed unblinded",
    "see verdicts in the browser": "draft unblinded",
    "see who said what in the browser": "unblinded",
}
STOPS_IN_A_PAUSE = ("label items", "draw a plan")


def study_in(state, resumes_to=None):
    return Study(
        "Caches", "Alike?", State(state), "2026-11-20", Protocol(), None, None, resumes_to and State(resumes_to)
    )


@pytest.mark.parametrize(("step", "state"), list(product(Step, PHASES)))
def test_a_step_leads_where_the_table_says_or_is_refused_with_the_ways_there_are(step, state):
    to = LEADS.get((step, state))
    if to is not None:
        assert lifecycle.after(study_in(state), step) is State(to)
        return
    ways = ", ".join(way for way in ("open", "third", "close", "unblind", "pause") if (way, state) in LEADS)
    with pytest.raises(NotAllowed) as refused:
        lifecycle.after(study_in(state), step)
    assert str(refused.value) == f"The study is {state}; the step {step} is not possible there, only: {ways}."


@pytest.mark.parametrize("phase", PHASES)
def test_a_paused_study_remembers_where_it_was_and_can_only_be_opened_again(phase):
    paused = study_in("paused", phase)
    assert paused.phase is State(phase)
    assert lifecycle.possible(paused) == [Step.OPEN]
    assert lifecycle.after(paused, Step.OPEN) is State(phase)
    for step in set(Step) - {Step.OPEN}:
        with pytest.raises(NotAllowed, match=f"The study is paused; the step {step} is not possible there. Open it"):
            lifecycle.after(paused, step)


@pytest.mark.parametrize("state", PHASES)
def test_what_is_possible_is_exactly_what_leads_somewhere_and_a_pause_comes_last(state):
    found = lifecycle.possible(study_in(state))
    assert set(found) == {step for step in Step if (step, state) in LEADS}
    assert found[-1] is Step.PAUSE
    assert len(found) == len(set(found))


def test_from_draft_every_state_can_be_reached():
    reached = {"draft"}
    for _ in PHASES:
        reached |= {to for (_, state), to in LEADS.items() if state in reached}
    # the calibration round begins with the plan, not with a step
    assert reached == {*PHASES, "paused"} - {"calibration"}


def test_every_action_is_in_the_table_told_again():
    assert set(Action) == set(WHERE)


@pytest.mark.parametrize(("action", "phase", "is_paused"), list(product(Action, PHASES, (False, True))))
def test_an_action_is_possible_where_the_table_says_and_refused_in_words_elsewhere(action, phase, is_paused):
    study = study_in("paused", phase) if is_paused else study_in(phase)
    where = WHERE[action].split()
    if phase in where and not (is_paused and action in STOPS_IN_A_PAUSE):
        lifecycle.require(study, action)
        return
    with pytest.raises(NotAllowed) as refused:
        lifecycle.require(study, action)
    expected = f"The study is {phase}: to {action} is possible only while a study is {' or '.join(where)}."
    if phase in where:
        expected = f"The study is paused: to {action} is possible once it is opened again."
    assert str(refused.value) == expected


def test_looks_are_those_actions_that_begin_with_see():
    assert {action for action in Action if action.startswith("see ")} == lifecycle.SIGHTS


@pytest.mark.parametrize(
    ("sight", "phase", "is_paused"), list(product(sorted(lifecycle.SIGHTS), PHASES, (False, True)))
)
def test_a_coordinator_sees_what_the_table_says_also_while_paused(sight, phase, is_paused):
    study = study_in("paused", phase) if is_paused else study_in(phase)
    why = lifecycle.why_hidden(study, [Role.COORDINATOR], sight)
    assert (why == "") == (phase in WHERE[sight].split())
    if why:
        assert why.endswith(f"It is {phase} now.")
        assert "draft" not in why.partition(":")[0]


@pytest.mark.parametrize(("sight", "phase"), list(product(sorted(lifecycle.SIGHTS), PHASES)))
def test_who_labels_and_coordinates_sees_nothing_before_the_study_is_unblinded(sight, phase):
    for study in (study_in(phase), study_in("paused", phase)):
        why = lifecycle.why_hidden(study, [Role.REVIEWER, Role.COORDINATOR], sight)
        assert (why == "") == (phase == "unblinded")
        if why:
            assert why.startswith("You are a reviewer of this study as well")
