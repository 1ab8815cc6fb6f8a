"""Print docs/study-life.md: the states of a study, the steps between them, and the actions that each state allows.

python scripts/study_life.py > docs/study-life.md
"""

from labeler.model import State
from labeler.plan.lifecycle import ALLOWED, SIGHTS, STEPS, Action, Step

PHASES = [state for state in State if state is not State.PAUSED]
MEANING = {
    State.DRAFT: "measurements are imported, people are added, the plan is created",
    State.CALIBRATION: "every reviewer labels the calibration items; no result includes these labels",
    State.OPEN: "reviewers label",
    State.THIRD: "split items get a third label, hidden among agreed ones",
    State.CLOSED: "no more labels are accepted; agreement is shown, split items are decided",
    State.UNBLINDED: "verdicts, and the labels of each reviewer, are shown",
}


def page() -> str:
    """The whole page."""
    return "\n".join(
        [
            "# The life of a study",
            "",
            "Written by `scripts/study_life.py` from the code (`labeler/plan/lifecycle.py`); a test compares the two.",
            "",
            "    draft -> calibration (if planned) -> open -> third (if wanted) -> closed -> unblinded",
            "",
            "A study can be paused in any state and continues in the same state. A paused study allows the same",
            "actions, except labelling and drawing a plan. The log records every step with person, time and reason;",
            "no step leads back. Creating the plan opens the study, or its calibration round.",
            "",
            *_table(["state", "what happens"], [[state, MEANING[state]] for state in PHASES]),
            "",
            "## Steps",
            "",
            *_table(
                ["step", *PHASES], [[f"`{step}`", *(STEPS[step].get(state, "") for state in PHASES)] for step in Step]
            ),
            "",
            "A paused study has one step, `open`, which returns to the previous state. A study opens from its",
            "calibration round if the round was passed; otherwise the log says that it was opened anyway. The",
            "third-label round begins when every reviewer has answered every item.",
            "",
            "## What is allowed",
            "",
            *_table(["", *PHASES], [_row(action) for action in Action if action not in SIGHTS]),
            "",
            "A plan can be drawn, and question and protocol can be changed, only before the first answer.",
            "",
            "## What coordinators see in the browser",
            "",
            *_table(["", *PHASES], [_row(action) for action in Action if action in SIGHTS]),
            "",
            "A coordinator who also labels sees none of these before the study is unblinded. Commands act as the",
            'owner of the study file: they show everything, print "Interim results: the study is not unblinded."',
            "before the results, and are logged.",
            "",
        ]
    )


def _row(action: Action) -> list[str]:
    return [action.removesuffix(" in the browser"), *("yes" if state in ALLOWED[action] else "" for state in PHASES)]


def _table(header: list[str], rows: list[list[str]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


if __name__ == "__main__":
    print(page(), end="")
