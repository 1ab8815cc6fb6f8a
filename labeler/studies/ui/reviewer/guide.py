"""What a reviewer reads and tries before labelling: the first visit, the page Guide, and the page Practice.

Practice items are artificial, or a coordinator chose them. Their answers are not stored and do not count. The whole
round is sent at once, and the browser needs no server for it.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from secrets import randbelow
from typing import Any, Literal

import streamlit as st

from analysis.text import counted
from labeler.marks import Mark
from labeler.studies.labelling import guide, questionnaire, reviewing
from labeler.studies.labelling.reviewing import Brief
from labeler.studies.model import Question
from labeler.studies.questions import NOT_SURE
from labeler.studies.screen.component import brief as brief_of
from labeler.studies.store import Database
from labeler.studies.ui import component
from labeler.studies.ui.reviewer import label, questionnaire as questionnaire_page

PICTURE_HEIGHT = 280
PRACTICE = "practice"
SEED, OVER = "practice_seed", "practice_answers"  # keys in the session state: of the round, and of its answers
STEP = "first_visit"  # key in the session state: whether the practice round has started
PANEL, SMALL_PANEL, PER_ROW = (100, 64), (34, 26), 3


def render_guide(db: Database, reviewer_id: int) -> None:
    """Show the guide to a reviewer."""
    label.deliver(db, reviewer_id)
    words = practise_on(guide.n_practice(db))
    as_reviewers_see(db, f'<a href="practice" target="_self">{words} (not counted)</a>')


def as_reviewers_see(db: Database, link: str = "") -> None:
    """Show the question, how items are shown, what to judge, the link to the practice round, and worked examples."""
    brief = reviewing.brief(db)
    st.title("Guide", anchor=False)
    st.write("The question for every item:")
    st.text(reviewing.question(db))
    if brief.protocol.instructions:
        st.write("From your coordinator:")
        st.text(brief.protocol.instructions)
    for category in brief.question.categories:
        st.text(f"{category.key.upper()}: {category.label}. {category.meaning}")
    st.markdown(guide.describe_protocol(brief.question, brief.protocol))
    if link and guide.n_practice(db):
        st.html(link)
    own = guide.examples_as_shown(db, guide.GUIDE)
    if own:
        st.header("Examples of this study", anchor=False)
        st.caption("Your coordinator chose these items. Nobody labels them.")
        for example in own:
            show_example(example)
    if not guide.has_examples(brief.question):
        return
    st.header("Worked examples", anchor=False)
    st.caption("These are real measurements with known changes. None of the examples is an item of this study.")
    for example in guide.worked_examples(brief.question, brief.protocol):
        show_example(example)
    schematic = guide.schematic_examples(brief.question, brief.protocol)
    if not schematic:
        return
    st.header("Three ways to differ", anchor=False)
    st.caption("These pairs of runs are simulated. The runs of each pair differ in one way only.")
    for example in schematic:
        show_example(example)


def show_example(example: guide.Example) -> None:
    """Show one example: its category, the reason, and the same picture as on the labelling screen."""
    st.markdown(f"**{example.title}: {example.truth}.**")
    st.text(example.explanation)  # a person may have written it
    marks = [(Mark(at, at), "") for at in example.marks or ()]
    component.picture(
        f"example-{example.title}", example.panels, item=example.title, height=PICTURE_HEIGHT, marks=marks
    )


def render_practice(db: Database, reviewer_id: int) -> None:
    """Show the practice round and, when it is over, a button for another round."""
    label.deliver(db, reviewer_id)
    if not guide.n_practice(db):
        st.info("This study asks its own question, so it has no practice items. The page Guide explains each answer.")
        return
    practice_round(db)


def practise_on(n_items: int) -> str:
    """Return the text of the button that starts a practice round."""
    return "Practise on six items" if n_items == guide.N_PRACTICE else f"Practise on {counted(n_items, 'item')}"


def practice_round(db: Database) -> bool:
    """Show the practice items with an explanation after each answer, then the score, and the button for another round.

    Return whether the round is over.
    """
    brief = reviewing.brief(db)
    seed = st.session_state.setdefault(SEED, randbelow(2**31))
    examples = guide.practice_items(db, seed)
    change = component.change_of(PRACTICE)
    if isinstance(change, dict) and change.get("round") == seed:
        st.session_state[OVER] = answers_in(change.get("answers"), examples, brief.question)
    answers: dict[str, str] = st.session_state.get(OVER, {})
    component.show(PRACTICE, round_data(examples, brief, seed, answers))
    for number, example in enumerate(examples, start=1):
        if f"P{number}" in answers:
            show_practised(number, example, answers[f"P{number}"])
    is_over = len(answers) == len(examples)
    if is_over and st.button("Practise once more, with other items", key="again"):
        del st.session_state[SEED], st.session_state[OVER]
        st.rerun()
    return is_over


def show_practised(number: int, example: guide.Example, answer: str) -> None:
    """Show a practice item after the round: a small picture, whether the answer is right, and the explanation."""
    picture, words = st.columns([1, 4], vertical_alignment="center")
    with picture:
        component.still(example.thumbnail(f"Practice item P{number}", SMALL_PANEL), f"Practice item P{number}")
    is_right = example.is_right(answer)
    sign = {True: "✓ Right.", False: "✗ Different.", None: ""}[is_right]
    kind = {True: "right", False: "different", None: ""}[is_right]
    with words:
        text = escape(example.feedback(answer))
        st.html(f'<p class="practised {kind}">P{number}: <strong>{sign}</strong> {text}</p>')


def answers_in(sent: object, examples: Sequence[guide.Example], question: Question) -> dict[str, str]:
    """Return the answers of a round that is over; return no answers if the browser sent anything else."""
    codes = {f"P{number}" for number in range(1, len(examples) + 1)}
    if not isinstance(sent, dict) or sent.keys() != codes or not all(map(question.is_answer, sent.values())):
        return {}
    return sent


def _known_marks(example: guide.Example) -> dict[str, Any]:
    """Return the known marks of an example, from which the component says how far each mark was from them."""
    if example.marks is None:
        return {}
    return {"truth": example.marks, "explanation": f"{example.title}: {example.explanation}"}


def round_data(
    examples: Sequence[guide.Example], brief: Brief, seed: int, answers: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return a whole round in the form that the component needs, with an explanation for each answer."""
    possible = (*brief.question.labels, *([NOT_SURE] if brief.question.not_sure else []))
    return {
        "mode": "practice",
        "round": seed,
        "given": answers or {},
        "items": [
            {
                "code": f"P{number}",
                "revision": 0,
                "panels": example.panels,
                "explains": {answer: example.feedback(answer) for answer in possible},
                "right": example.category,
                **_known_marks(example),
            }
            for number, example in enumerate(examples, start=1)
        ],
        **brief_of(brief.question, brief.protocol, brief.kind.help, brief.kind.overlay),
    }


def render_first_visit(db: Database, reviewer_id: int) -> None:
    """Show the labelling page.

    On the first visit, an introduction and an optional practice round come first.
    """
    if not reviewing.is_first_visit(db, reviewer_id):
        if asked := questionnaire.due(db, reviewer_id):
            questionnaire_page.render(db, reviewer_id, asked)
        else:
            label.render_label(db, reviewer_id)
        return
    label.deliver(db, reviewer_id)
    if st.session_state.get(STEP) == "practice":
        is_over = practice_round(db)
        start_button(db, reviewer_id, "Start labelling" if is_over else "Skip the rest and start labelling", is_over)
    else:
        card(db, reviewer_id)


def card(db: Database, reviewer_id: int) -> None:
    """Show the question, the meaning of each answer, a picture of each if there is one, and the buttons to continue."""
    brief = reviewing.brief(db)
    st.title(reviewing.question(db), anchor=False)
    st.html(f'<p class="facts">{escape(reviewing.describe_work(db, reviewer_id))}</p>')
    how = "Mark points by click, touch or keys." if brief.question.is_marked else "Press one key or button to label it."
    st.write(f"Each item shows {brief.kind.shows}. {how} There is no time limit.")
    if brief.protocol.instructions:
        st.text(brief.protocol.instructions)
    examples, n_practice = guide.examples_of_study(db), guide.n_practice(db)
    categories = brief.question.categories
    columns: list[Any] = []
    for category in categories:
        columns = columns or list(st.columns(min(len(categories), PER_ROW), gap="large"))
        with columns.pop(0):
            st.header(f"{category.key.upper()}: {category.label}", anchor=False)
            st.text(category.meaning)
            for example in [example for example in examples if example.category == category.name][:1]:
                words = f"Example: {example.title}"
                component.still(example.thumbnail(words, PANEL), words)
                st.text(f"{example.title}. {example.explanation}")
    if not n_practice:
        start_button(db, reviewer_id, "Start labelling", is_next=True)
        return
    if st.button(practise_on(n_practice), type="primary", key="practise"):
        st.session_state[STEP] = "practice"
        st.rerun()
    start_button(db, reviewer_id, "Skip practice and start labelling", is_next=False)


def start_button(db: Database, reviewer_id: int, words: str, is_next: bool) -> None:
    """Show the button that ends the introduction and opens the labelling page."""
    kind: Literal["primary", "secondary"] = "primary" if is_next else "secondary"
    if st.button(words, type=kind, key="start", shortcut="Enter" if is_next else None):
        reviewing.finish_introduction(db, reviewer_id, now=datetime.now(UTC))
        st.session_state.pop(STEP, None)
        st.rerun()
