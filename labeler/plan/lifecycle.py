"""Where a study stands, how it moves on, and what may be done in each state: one table for all shells.

    draft -> calibration (where planned) -> open -> third (where wanted) -> closed -> unblinded; paused from any of them

A paused study allows what it allowed before, but for labelling.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from labeler.errors import NotAllowed
from labeler.model import Role, State, Study


class Step(StrEnum):
    """What moves a study on; each is an event with who, when and why."""

    OPEN = "open"
    PAUSE = "pause"
    THIRD = "third"
    CLOSE = "close"
    UNBLIND = "unblind"


class Action(StrEnum):
    """What the state of a study decides about."""

    IMPORT = "import measurements"
    PLAN = "draw a plan"
    CALIBRATE = "say what the calibration round must reach"
    PEOPLE = "change who takes part"
    LABEL = "label items"
    ADD_LABELS = "take in labels made elsewhere"
    EXCLUDE = "exclude an item or take it back in"
    ADJUDICATE = "decide a split item"
    SEE_AGREEMENT = "see agreement in the browser"
    SEE_CALIBRATION = "see what the calibration round reached in the browser"
    SEE_VERDICTS = "see verdicts in the browser"
    SEE_NAMES = "see who said what in the browser"


# step -> the state it leads to from each phase; opening a paused study leads back to where it was
STEPS: Mapping[Step, Mapping[State, State]] = {
    Step.OPEN: {State.DRAFT: State.OPEN, State.CALIBRATION: State.OPEN},
    Step.PAUSE: dict.fromkeys((state for state in State if state is not State.PAUSED), State.PAUSED),
    Step.THIRD: {State.OPEN: State.THIRD},
    Step.CLOSE: {State.OPEN: State.CLOSED, State.THIRD: State.CLOSED},
    Step.UNBLIND: {State.CLOSED: State.UNBLINDED},
}

_UNTIL_CLOSED = frozenset((State.DRAFT, State.CALIBRATION, State.OPEN, State.THIRD))
ALLOWED: Mapping[Action, frozenset[State]] = {
    Action.IMPORT: frozenset((State.DRAFT,)),
    Action.PLAN: frozenset((State.DRAFT, State.CALIBRATION, State.OPEN)),  # and only without an answer
    Action.CALIBRATE: frozenset((State.DRAFT, State.CALIBRATION)),
    Action.PEOPLE: _UNTIL_CLOSED,
    Action.LABEL: frozenset((State.CALIBRATION, State.OPEN, State.THIRD)),  # and not while paused
    Action.ADD_LABELS: _UNTIL_CLOSED | {State.CLOSED},
    Action.EXCLUDE: _UNTIL_CLOSED | {State.CLOSED},
    Action.ADJUDICATE: frozenset((State.CLOSED,)),
    Action.SEE_AGREEMENT: frozenset((State.CLOSED, State.UNBLINDED)),
    Action.SEE_CALIBRATION: frozenset(State) - {State.PAUSED},  # its labels are in no result
    # before there is anything to label, verdicts help to choose what a study is about
    Action.SEE_VERDICTS: frozenset((State.DRAFT, State.UNBLINDED)),
    Action.SEE_NAMES: frozenset((State.UNBLINDED,)),
}
_NOT_WHILE_PAUSED = frozenset((Action.LABEL, Action.PLAN))
SIGHTS = frozenset((Action.SEE_AGREEMENT, Action.SEE_CALIBRATION, Action.SEE_VERDICTS, Action.SEE_NAMES))


def possible(study: Study) -> list[Step]:
    """The steps that can be taken where the study is, the way forward first."""
    if study.state is State.PAUSED:
        return [Step.OPEN]
    forward = [step for step in Step if study.state in STEPS[step] and step is not Step.PAUSE]
    return [*forward, Step.PAUSE]


def after(study: Study, step: Step) -> State:
    """The state that a step leads to.

    Raises
    ------
    NotAllowed
        If the step is not possible from where the study is.
    """
    if study.state is State.PAUSED:
        if step is not Step.OPEN:
            raise NotAllowed(f"The study is paused; the step {step!s} is not possible there. Open it again first.")
        return study.phase
    if study.state not in STEPS[step]:
        ways = ", ".join(possible(study))
        raise NotAllowed(f"The study is {study.state}; the step {step!s} is not possible there, only: {ways}.")
    return STEPS[step][study.state]


def require(study: Study, action: Action) -> None:
    """Raise NotAllowed if the action has no place where the study is."""
    if study.phase not in ALLOWED[action]:
        where = " or ".join(state for state in State if state in ALLOWED[action])
        raise NotAllowed(f"The study is {study.phase}: to {action} is possible only while a study is {where}.")
    if action in _NOT_WHILE_PAUSED and study.state is State.PAUSED:
        raise NotAllowed(f"The study is paused: to {action} is possible once it is opened again.")


def why_hidden(study: Study, roles: Iterable[Role], action: Action) -> str:
    """Why a person with these roles does not see something in the browser; empty if they do.

    Who labels and coordinates as well sees nothing of labels, agreement and verdicts before the study is unblinded.
    """
    if study.phase is State.UNBLINDED:
        return ""
    if Role.REVIEWER in roles:
        return (
            "You are a reviewer of this study as well: labels, agreement and verdicts are shown to you only once it is "
            "unblinded, so that they cannot sway your own."
        )
    if study.phase in ALLOWED[action]:
        return ""
    where = " or ".join(state for state in State if state in ALLOWED[action] - {State.DRAFT})
    view = action.removeprefix("see ").removesuffix(" in the browser")
    return f"Hidden until the study is {where}: {view}. It is {study.phase} now."
