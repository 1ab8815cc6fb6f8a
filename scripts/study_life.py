"""Print docs/study-life.md: the states of a study, the steps between them, and the actions that each state allows.

python scripts/study_life.py > docs/study-life.md
"""

from labeler.studies.model import State
from labeler.studies.plan.lifecycle import ALLOWED, SIGHTS, STEPS, Action, Step

PHASES = [state for state in State if state is not State.PAUSED]
MEANING = {
    State.DRAFT: "coordinators import measurements, add people and create the plan",
    State.CALIBRATION: "every reviewer labels the calibration items; no result includes these labels",
    State.OPEN: "reviewers label",
    State.THIRD: "split items get a third label; some agreed items too, so that nobody can tell which items are split",
    State.CLOSED: "no more labels are accepted; coordinators see the agreement and decide split items",
    State.UNBLINDED: "coordinators see the verdicts and the labels of each reviewer",
}


def page() -> str:
    """Return the whole page."""
    return "\n".join(
        [
            "# The life of a study",
            "",
            "After this page you know what each state of a study allows, and which steps lead from state to state.",
            "`scripts/study_life.py` writes it from the code.",
            "",
            "    draft -> calibration (if planned) -> open -> third (if wanted) -> closed -> unblinded",
            "",
            "A coordinator can pause a study in any state; later the study continues in this state. A paused study",
            "allows the same actions, except labelling and creating a plan. The log records the person, time and",
            "reason of every step. A closed study can be reopened until it is unblinded; it then returns to the state",
            "from which it was closed. No other step leads back. When the plan is created, the calibration round",
            "begins, or the study opens if no calibration round is planned.",
            "",
            *_table(["state", "what happens"], [[state, MEANING[state]] for state in PHASES]),
            "",
            "## Steps",
            "",
            *_table(["step", "from", "to"], [_step(step) for step in Step]),
            "",
            "A paused study has one step, `open`, which returns to the previous state. If a study opens after a",
            "calibration round that was not passed, the log says that the study was opened anyway. The",
            "third-label round begins when every reviewer has answered every item.",
            "",
            "## What is allowed",
            "",
            *_table(["action", "states"], [_row(action) for action in Action if action not in SIGHTS]),
            "",
            "Coordinators can create a plan, and change the question and the protocol, only before the first answer.",
            "",
            "## What coordinators see in the browser",
            "",
            *_table(["action", "states"], [_row(action) for action in Action if action in SIGHTS]),
            "",
            "A coordinator who also labels sees none of these results before the study is unblinded. Commands act",
            "as the owner of the study file. They show all results, except attention checks, but first print",
            '"Interim results: the study is not unblinded.", and the log records the command.',
            "",
        ]
    )


def _step(step: Step) -> list[str]:
    targets = dict.fromkeys(STEPS[step][state] for state in PHASES if state in STEPS[step])
    return [f"`{step}`", _names([state for state in PHASES if state in STEPS[step]]), ", ".join(targets)]


def _row(action: Action) -> list[str]:
    return [action.removesuffix(" in the browser"), _names([state for state in PHASES if state in ALLOWED[action]])]


def _names(states: list[State]) -> str:
    return "any" if states == PHASES else ", ".join(states)


def _table(header: list[str], rows: list[list[str]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


if __name__ == "__main__":
    print(page(), end="")
