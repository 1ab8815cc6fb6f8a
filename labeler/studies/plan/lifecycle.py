"""Define the states of a study, the steps between states, and the actions that each state allows.

    draft -> calibration (if planned) -> open -> third (if wanted) -> closed -> unblinded

A closed study can be reopened until it is unblinded. A study can be paused in each of these states. A paused study
allows the same actions as before, except creating a plan and labelling.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from labeler.errors import NotAllowed
from labeler.studies.model import Role, State, Study


class Step(StrEnum):
    """A step of a study to another state; the log records each step with person, time and reason."""

    OPEN = "open"
    PAUSE = "pause"
    THIRD = "third"
    CLOSE = "close"
    REOPEN = "reopen"
    UNBLIND = "unblind"


class Action(StrEnum):
    """An action that is allowed only in some states of the study."""

    IMPORT = "import measurements"
    PLAN = "create a plan"
    CALIBRATE = "set the required result of the calibration round"
    PEOPLE = "change who takes part"
    LABEL = "label items"
    ADD_LABELS = "import labels"
    EXCLUDE = "exclude or include an item"
    ADJUDICATE = "decide a split item"
    SEE_AGREEMENT = "see agreement in the browser"
    SEE_CALIBRATION = "see calibration results in the browser"
    SEE_ATTENTION = "see attention checks"
    SEE_VERDICTS = "see verdicts in the browser"
    SEE_NAMES = "see names with labels in the browser"


# step -> phase -> new state; opening a paused study restores its previous state
STEPS: Mapping[Step, Mapping[State, State]] = {
    Step.OPEN: {State.DRAFT: State.OPEN, State.CALIBRATION: State.OPEN},
    Step.PAUSE: dict.fromkeys((state for state in State if state is not State.PAUSED), State.PAUSED),
    Step.THIRD: {State.OPEN: State.THIRD},
    Step.CLOSE: {State.OPEN: State.CLOSED, State.THIRD: State.CLOSED},
    Step.UNBLIND: {State.CLOSED: State.UNBLINDED},
    Step.REOPEN: {State.CLOSED: State.OPEN},  # or back to the third-label round, if the study was closed from there
}

_UNTIL_CLOSED = frozenset((State.DRAFT, State.CALIBRATION, State.OPEN, State.THIRD))
ALLOWED: Mapping[Action, frozenset[State]] = {
    Action.IMPORT: frozenset((State.DRAFT, State.OPEN)),  # items of an open study wait until a batch takes them
    Action.PLAN: frozenset((State.DRAFT, State.CALIBRATION, State.OPEN)),  # only before the first answer
    Action.CALIBRATE: frozenset((State.DRAFT, State.CALIBRATION)),
    Action.PEOPLE: _UNTIL_CLOSED,
    Action.LABEL: frozenset((State.CALIBRATION, State.OPEN, State.THIRD)),  # not while paused
    Action.ADD_LABELS: _UNTIL_CLOSED | {State.CLOSED},
    Action.EXCLUDE: _UNTIL_CLOSED | {State.CLOSED},
    Action.ADJUDICATE: frozenset((State.CLOSED,)),
    Action.SEE_AGREEMENT: frozenset((State.CLOSED, State.UNBLINDED)),
    Action.SEE_ATTENTION: frozenset((State.CLOSED, State.UNBLINDED)),  # also with commands, because it tells labels
    Action.SEE_CALIBRATION: frozenset(State) - {State.PAUSED},  # no result uses the labels of the calibration round
    # in a draft, verdicts help to choose the items of the study
    Action.SEE_VERDICTS: frozenset((State.DRAFT, State.UNBLINDED)),
    Action.SEE_NAMES: frozenset((State.UNBLINDED,)),
}
STATE_PHRASES: Mapping[State, str] = {
    State.DRAFT: "being set up", State.CALIBRATION: "in its calibration round", State.OPEN: "open",
    State.THIRD: "in its third-label round", State.CLOSED: "closed", State.UNBLINDED: "unblinded",
    State.PAUSED: "paused",
}  # fmt: skip
_NOT_WHILE_PAUSED = frozenset((Action.LABEL, Action.PLAN, Action.IMPORT))
SIGHTS = frozenset(
    (Action.SEE_AGREEMENT, Action.SEE_CALIBRATION, Action.SEE_ATTENTION, Action.SEE_VERDICTS, Action.SEE_NAMES)
)


def possible(study: Study) -> list[Step]:
    """Return the steps that are possible now; the step to the next state comes first."""
    if study.state is State.PAUSED:
        return [Step.OPEN]
    forward = [step for step in STEPS if study.state in STEPS[step] and step is not Step.PAUSE]
    return [*forward, Step.PAUSE]


def after(study: Study, step: Step) -> State:
    """Return the state of the study after a step.

    Raises NotAllowed if the step is not possible in the current state.
    """
    if study.state is State.PAUSED:
        if step is not Step.OPEN:
            raise NotAllowed(f"The study is paused, so the step “{step}” is not possible. Open the study again first.")
        return study.phase
    if study.state not in STEPS[step]:
        ways = ", ".join(possible(study))
        raise NotAllowed(
            f"The study is {STATE_PHRASES[study.state]}, so the step “{step}” is not possible. Possible steps: {ways}."
        )
    return STEPS[step][study.state]


def require(study: Study, action: Action) -> None:
    """Raise NotAllowed if the action is not allowed in the current state of the study."""
    if study.phase not in ALLOWED[action]:
        *others, last = (STATE_PHRASES[state] for state in State if state in ALLOWED[action])
        where = f"{', '.join(others)} or {last}" if others else last
        raise NotAllowed(f"You can {action} only while the study is {where}. It is {STATE_PHRASES[study.phase]} now.")
    if action in _NOT_WHILE_PAUSED and study.state is State.PAUSED:
        raise NotAllowed(f"You cannot {action} while the study is paused. Open the study again first.")


def why_hidden(study: Study, roles: Iterable[Role], action: Action) -> str:
    """Return why a person with these roles cannot see results in the browser; return "" if the person can.

    A coordinator who is also a reviewer sees no labels, agreement or verdicts before the study is unblinded.
    """
    if study.phase is State.UNBLINDED:
        return ""
    if Role.REVIEWER in roles:
        return (
            "You are also a reviewer of this study. You see labels, agreement and verdicts only after the study is "
            "unblinded, so that they cannot influence your labels."
        )
    if study.phase in ALLOWED[action]:
        return ""
    where = " or ".join(state for state in State if state in ALLOWED[action] - {State.DRAFT})
    view = action.removeprefix("see ").removesuffix(" in the browser")
    return f"Hidden until the study is {where}: {view}. The study is {STATE_PHRASES[study.phase]} now."
