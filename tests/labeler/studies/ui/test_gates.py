"""The content of coordinators' pages in each state, compared with the table in `labeler.studies.plan.lifecycle`.

One study has labels with comments, verdicts, a calibration round, third labels and a decision. It is put into each
state without other changes, so that only the state decides what is shown.
"""

import base64
import re
from functools import partial

import pytest

from labeler.files.exploring import METHODS
from labeler.studies.course import calibrating, course
from labeler.studies.labelling import inbox
from labeler.studies.model import PlanParameters, Role, State
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import ALLOWED, SIGHTS, Action, Step
from labeler.studies.preparing import assigning
from labeler.studies.results import splits
from labeler.studies.results.splits import current_agreement
from labeler.studies.store import items, open_database, studies
from labeler.studies.ui.coordinator import results
from labeler.studies.ui.coordinator.places import ITEM, PLACES
from labeler.studies.verdicts import computing, stored_verdicts
from tests.labeler.studies.ui.pages import checked, coordinator_page, explore_page, press_key, report_written
from tests.making import NOW, item_name, make_study, offers, submit

NAMES, COORDINATOR, BOTH = ("Zebedee", "Yolanda", "Xanthippe"), "carol", "dora"
N_ITEMS = 16
COMMENT, REPLY, DECISION = "plover", "bittern", "ibis"
CLASSIFIERS = ("oracle", "heuristic")
Case = tuple[State, State | None]  # and the state before a pause
CASES: list[Case] = [(state, None) for state in State if state is not State.PAUSED]
CASES += [(State.PAUSED, before) for before in (State.OPEN, State.CLOSED)]
EXPLORE = {"Spread"}  # the four methods share one page: test_explore_pages tests the others
HIDING = {
    "Overview", "All items", "Item", "Splits", "Comments", "Calibration", "Report", "Classifiers", "Figures", "Publish",
    "Log", "Replication", "Attention checks", *EXPLORE,
}  # fmt: skip
# participants and their progress: no answers to items of the study
WITH_NAMES = {"Overview", "People", "Plan", "Calibration", "Log", "Attention checks"}
SHOWN_ON = {
    Action.SEE_AGREEMENT: {"Overview", "Splits"},
    Action.SEE_CALIBRATION: {"Calibration"},
    Action.SEE_ATTENTION: {"Attention checks"},
    Action.SEE_VERDICTS: {"All items", "Item", "Figures"} | EXPLORE,
    Action.SEE_NAMES: {"Comments", "Item"},
}
ALSO_ONCE_UNBLINDED = {  # classifiers; comments; All items opens an item
    Action.SEE_AGREEMENT: {"Classifiers", "Item", "All items"},
    Action.SEE_VERDICTS: {"Classifiers"},
    Action.SEE_NAMES: {"All items"},
}
ELSEWHERE = {"Add", *(method.title for method in METHODS.values())}  # nothing is added once there is a plan
VIEWS = [(place, view) for place, views in PLACES.items() for view in views if view not in ELSEWHERE] + [(ITEM, "")]
FOLDS = ("times", "fold-classifiers", "fold-histograms", "fold-import-log", "fold-split-items")
YOU_REVIEW_TOO = "You are also a reviewer of this study"


def answer_all(db, *, unlike_others):
    """Everybody answers everything with a comment; one reviewer disagrees on every fourth item."""
    for name in (*NAMES, BOTH):
        while tasks := offers(db, name):
            number = int(items.by_id(db, tasks[0].item_id).name.replace("=", " ").split()[-1])
            is_odd = number % 2 != (name == unlike_others and number % 4 == 0)
            submit(db, name, tasks[0], "dissimilar" if is_odd else "similar", comment=COMMENT)


def take(db, *steps, force=False):
    for step in steps:
        course.change_state(db, step, why="because", force=force, actor=COORDINATOR, now=NOW)


def live_through(db):
    """Take the study from plan to unblinding."""
    parameters = PlanParameters(seed=1, overlap=0.25, retest=0, calibration=3, attention=2)
    assigning.confirm_plan(db, parameters, actor=COORDINATOR, now=NOW)
    reference = dict.fromkeys(calibrating.item_names(db), "similar")
    calibrating.set_reference(db, reference, actor=COORDINATOR, now=NOW)
    answer_all(db, unlike_others=NAMES[0])
    take(db, Step.OPEN, force=True)
    answer_all(db, unlike_others=NAMES[1])
    take(db, Step.THIRD)
    answer_all(db, unlike_others=NAMES[1])
    take(db, Step.CLOSE)
    (first, *_) = splits.split_items(db)
    splits.adjudicate(db, first.item.name, "similar", DECISION, actor=COORDINATOR, now=NOW)
    inbox.reply(db, inbox.messages(db)[0].code, REPLY, actor=COORDINATOR, now=NOW)
    take(db, Step.UNBLIND)


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """The file of a study that went through everything."""
    folder = tmp_path_factory.mktemp("gates")
    path, said = folder / "lived.study", folder / "oracle.csv"
    make_study(path, n_items=N_ITEMS, reviewers=NAMES)
    rows = (f"{item_name(number)},oracle,{'similar' if number % 4 else 'dissimilar'}" for number in range(N_ITEMS))
    said.write_text("\n".join(["item,classifier,verdict", *rows]))
    with open_database(path) as db:
        computing.compute_verdicts(db, actor=COORDINATOR)
        stored_verdicts.import_verdicts(db, said, None, actor=COORDINATOR, now=NOW)
        identity.add_person(db, BOTH, [Role.REVIEWER, Role.COORDINATOR], actor=COORDINATOR, now=NOW)
        live_through(db)
    return path


def forms_of(one):
    """Return all ways in which a page may write an agreement."""
    rounded = f"{one.value:.2f}, 95 %"
    return f"{one.value:.3f}", f"{one.value:.1%}", f"{100 * one.value:.0f} %", rounded, calibrating.describe_share(one)


@pytest.fixture(scope="module")
def agreement(lived):
    """The two agreements in all forms; no form is the beginning of another."""
    with open_database(lived) as db:
        found = current_agreement(db)
    told = (found.percent, found.kappa)
    assert not [one for one in told if one.value < 0 or round(one.value * 100) % 5 == 0]
    forms = [form for one in told for form in forms_of(one)]
    return re.compile(r"(?<![\d.])(" + "|".join(map(re.escape, forms)) + r")(?!\d)|[0-9] agreed,|majority")


@pytest.fixture
def study(lived, tmp_path):
    """A copy in the requested state."""

    def in_state(state, before_pause):
        path = tmp_path / f"{state}.study"
        with open_database(lived) as db:
            db.backup(path)
        with open_database(path) as db:
            studies.set_state(db, state, before_pause)
        return path

    return in_state


def nodes(block):
    yield block
    for child in getattr(block, "children", {}).values():
        yield from nodes(child)


def words_of_picture(url):
    svg = base64.b64decode(url.removeprefix("data:image/svg+xml;base64,")).decode()
    return " ".join(map("".join, re.findall(r'>([^<]+)<|aria-label="([^"]*)"', svg)))


def pieces(page):
    """Everything that a page run sends: a text per element, and per row of a table."""
    for node in nodes(page._tree):
        if node.type == "dataframe":
            for row in node.value.to_dict("records"):
                yield " ".join(f"{column}: {value}" for column, value in row.items())
        elif node.type in {"image", "imgs"}:
            yield from (f"{image.caption} {words_of_picture(image.url)}" for image in node.proto.imgs)
        else:
            yield str(getattr(node, "proto", ""))


def is_value(widget, option):
    """Return whether an option is shown unchanged: AppTest has only the displayed texts."""
    try:
        return widget.format_func(option) in widget.options
    except (KeyError, AttributeError):
        return False


def turned(page):
    """Yield the page as it opens, with a selected row in every table, with other options, and its last part."""
    yield page
    for widget in [one for one in page.selectbox if one.label in ("Open item", "Person")]:
        yield widget.set_value(widget.options[0]).run()
    for kind in ("selectbox", "radio"):
        for place in range(len(getattr(page, kind))):
            widgets = getattr(page, kind)
            if place < len(widgets) and not widgets[place].proto.form_id and not widgets[place].disabled:
                for option in filter(partial(is_value, widgets[place]), widgets[place].options[1:3]):
                    yield getattr(page, kind)[place].set_value(option).run()
    for place in range(len(page.toggle)):
        yield page.toggle[place].set_value(not page.toggle[place].value).run()
    for following in [button for button in page.button if button.label == "Next" and not button.disabled]:
        yield following.click().run()
    if any("being written" in bar.proto.text for bar in page.get("progress")):
        yield report_written(page)
    for queue in ("split", "inbox", "reference", "item"):
        if f"{queue}-picture" in page.session_state:
            yield press_key(page, queue, "p")  # the last of the queue: what was answered comes last
            yield press_key(page, queue, "n")


def sent(path, person):
    """Everything that the pages send to a coordinator who tries everything, by title."""
    everything = {}
    for place, view in VIEWS:
        page = coordinator_page(place, view, path, person, **dict.fromkeys(FOLDS, True))
        everything[view or place] = [piece for version in turned(page) for piece in pieces(checked(version))]
    return everything | {"Spread": asked(path, person, "spread")}


def asked(path, person, method):
    """Everything that the page of a method sends when it opens, and for each of its questions."""
    page = explore_page(method, path, person)
    everything = list(pieces(page))
    for source in page.radio[0].options:
        page.radio[0].set_value(source).run()
        page.button[0].click().run()
        everything += pieces(checked(page))
    return everything


def is_told(title, piece, agreement):
    """Return the kinds of hidden data in a part of a page."""
    has_name, has_category = any(name in piece for name in NAMES), "similar" in piece
    signs = {
        Action.SEE_AGREEMENT: bool(agreement.search(piece)) or (has_category and COMMENT in piece),
        Action.SEE_CALIBRATION: "agreement with the reference (" in piece or "between reviewers:" in piece,
        Action.SEE_ATTENTION: "Compared with guessing" in piece,
        Action.SEE_VERDICTS: (has_category and any(name in piece for name in CLASSIFIERS))
        or results.BY_APPLICATION in piece
        or results.BY_BENCHMARK.partition("'")[0] in piece
        or (title in EXPLORE and "bench_" in piece),
        Action.SEE_NAMES: has_name and (title not in WITH_NAMES or has_category or COMMENT in piece),
    }
    return {sight for sight, tells in signs.items() if tells}


def shows_report(everything):
    return any(all(name in piece for name in (*NAMES, *CLASSIFIERS, "Fleiss")) for piece in everything["Report"])


def told(everything, agreement):
    """Return the pages with each kind of hidden data; a page with the whole report is omitted."""
    on = {sight: set() for sight in SIGHTS}
    for title, texts in everything.items():
        if title == "Report" and shows_report(everything):
            continue
        for sight in set().union(*(is_told(title, piece, agreement) for piece in texts)):
            on[sight].add(title)
    return on


def shown_on(phase):
    """Return the pages with each kind of data that is hidden in some states."""
    also = ALSO_ONCE_UNBLINDED if phase is State.UNBLINDED else {}
    return {sight: pages | also.get(sight, set()) for sight, pages in SHOWN_ON.items()}


def case_name(value):
    return "" if value is None else str(value)


def in_states(*daily):
    """All states and pauses; tests run in these of them every day."""
    quick = [(state, None) for state in daily]
    cases = [case if case in quick else pytest.param(*case, marks=pytest.mark.slow) for case in CASES]
    return pytest.mark.parametrize(("state", "before_pause"), cases, ids=case_name)


@in_states(State.OPEN, State.CLOSED)
def test_a_coordinator_is_told_exactly_what_the_table_allows(study, agreement, state, before_pause):
    everything = sent(study(state, before_pause), COORDINATOR)
    phase = before_pause or state
    shown = shown_on(phase)
    assert told(everything, agreement) == {s: shown[s] if phase in ALLOWED[s] else set() for s in SIGHTS}
    assert shows_report(everything) == (phase in ALLOWED[Action.SEE_NAMES])
    assert any(COMMENT in piece for piece in everything["Comments"])


@in_states(State.CLOSED)
def test_a_coordinator_who_labels_is_told_nothing_before_unblinding_and_why(study, agreement, state, before_pause):
    everything, is_unblinded = sent(study(state, before_pause), BOTH), state is State.UNBLINDED
    assert told(everything, agreement) == (shown_on(state) if is_unblinded else {sight: set() for sight in SIGHTS})
    assert shows_report(everything) == is_unblinded
    for word in (COMMENT, REPLY, DECISION):
        assert any(word in piece for texts in everything.values() for piece in texts) == is_unblinded, word
    why = {title for title, texts in everything.items() if any(YOU_REVIEW_TOO in piece for piece in texts)}
    nothing_yet = {"Overview"} if state is State.DRAFT else set()  # it says only how to set the study up
    assert why == (set() if is_unblinded else HIDING - nothing_yet)


@pytest.mark.parametrize("figure", [results.BY_APPLICATION, results.BY_BENCHMARK])
def test_a_figure_of_measures_that_is_asked_for_by_name_is_not_sent_before_unblinding(study, figure):
    captions = {}
    for state in (State.OPEN, State.UNBLINDED):
        page = coordinator_page("Results", "Figures", study(state, None), COORDINATOR, figure=figure)
        captions[state] = [caption.value for caption in page.caption]
    asked_for = figure.partition(": ")[2].capitalize()
    assert {state: asked_for in of_state for state, of_state in captions.items()} == {
        State.OPEN: False, State.UNBLINDED: True,
    }  # fmt: skip
