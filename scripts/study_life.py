"""Print docs/study-life.md: the states of a study, the steps between them, and what each allows.

python scripts/study_life.py > docs/study-life.md
"""

from labeler.model import State
from labeler.plan.lifecycle import ALLOWED, SIGHTS, STEPS, Action, Step

PHASES = [state for state in State if state is not State.PAUSED]
MEANING = {
    State.DRAFT: "measurements come in, people are added, the plan is drawn",
    State.CALIBRATION: "every reviewer labels the calibration items; nothing of it is counted",
    State.OPEN: "reviewers label",
    State.THIRD: "split items get a third label, hidden among agreed ones",
    State.CLOSED: "no label is taken any more; agreement is shown, split items are decided",
    State.UNBLINDED: "verdicts and who said what are shown",
}


def page() -> str:
    """The whole page."""
    return "\n".join(
        [
            "# The life of a study",
            "",
            "Made from the code (`labeler/plan/lifecycle.py`) by `scripts/study_life.py`; a test compares the two.",
            "",
            "    draft -> calibration (where planned) -> open -> third (where wanted) -> closed -> unblinded",
            "",
            "A study can be paused from any of them and goes on where it was. A paused study allows what it allowed",
            "before, but nothing can be labelled and no plan drawn. Every step is an event with who, when and why;",
            "none leads back. Drawing the plan opens the study, or its calibration round.",
            "",
            *_table(["state", "what happens"], [[state, MEANING[state]] for state in PHASES]),
            "",
            "## Steps",
            "",
            *_table(
                ["step", *PHASES], [[f"`{step}`", *(STEPS[step].get(state, "") for state in PHASES)] for step in Step]
            ),
            "",
            "A paused study knows one step, `open`, which leads back to where it was. To open a study from its",
            "calibration round, the round must be passed, or the log says that it was opened anyway. The third round",
            "begins once every reviewer has answered everything.",
            "",
            "## What is allowed",
            "",
            *_table(["", *PHASES], [_row(action) for action in Action if action not in SIGHTS]),
            "",
            "A plan can be drawn, and question and protocol changed, only as long as nobody has answered.",
            "",
            "## What coordinators see in the browser",
            "",
            *_table(["", *PHASES], [_row(action) for action in Action if action in SIGHTS]),
            "",
            "Who labels and coordinates as well sees none of these before the study is unblinded. Commands act as the",
            'owner of the study file: they show everything, say "interim, not unblinded", and are logged.',
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
