"""The pages of the four methods under AppTest, in the whole application: when they are available, and their results."""

import html
import re
from datetime import UTC, datetime
from itertools import product

import pytest

from labeler.files import exploring
from labeler.studies.course import course
from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.store import events, open_database
from labeler.studies.ui.coordinator.shared import escape_markdown
from tests.conftest import some_slow
from tests.labeler.files.formats.examples import ORDERSAGE, csv_bytes, ordersage_rows
from tests.labeler.studies.ui.pages import button, checked, documents, signed_in, texts
from tests.making import PARAMETERS, item_name, make_study
from tests.sentences import says

TODAY = datetime.now(UTC)  # the pages go by the clock: a session from a fixed day would end
METHODS = tuple(exploring.METHODS)
# What all methods share is tested in every run with two of them.
QUICK_EVERY_DAY = some_slow(METHODS, set(METHODS) - {"spread", "contexts"})


def in_two_states(first, second):
    """Return each state with each method; one of the quick methods in each state is tested in every run."""
    daily = ((first, "spread"), (second, "contexts"))
    later = [place for place in product((first, second), METHODS) if place not in daily]
    return [*daily, *(pytest.param(*place, marks=pytest.mark.slow) for place in later)]


HIDDEN = "uploaded files at any time."
NAUGHTY = "<script>alert(1)</script> **b** [x](y)"


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """Closed study files by content; carol is the coordinator."""
    folder = tmp_path_factory.mktemp("explore")
    made = {name: folder / f"{name}.study" for name in ("draft", "both", "open", "closed", "unblinded")}
    for name, path in made.items():
        make_study(path, n_items=4, reviewers=("ada", "ben"))
        with open_database(path) as db:
            if name in {"open", "closed", "unblinded"}:
                assigning.confirm_plan(db, PARAMETERS, actor="carol", now=TODAY)
            if name == "both":
                identity.add_person(db, "dora", [Role.REVIEWER, Role.COORDINATOR], actor="carol", now=TODAY)
            for step in {"closed": (Step.CLOSE,), "unblinded": (Step.CLOSE, Step.UNBLIND)}.get(name, ()):
                course.change_state(db, step, why="because", actor="carol", now=TODAY)
    return made


@pytest.fixture
def opened(studies, monkeypatch):
    """Open the page of a method in a study as a person."""

    def open_page(name, method, who="carol"):
        return signed_in(studies[name], f"tools?view={method}", who)

    return open_page


def asked(page):
    return checked(button(page, "Compute").click().run())


def from_files(page, *files):
    """Return the page with these (name, content) uploaded."""
    checked(page.radio[0].set_value("From files").run())
    page.file_uploader[0].set_value([(name, content, "application/octet-stream") for name, content in files])
    return page


def answers(page):
    """Return the documents shown in the page."""
    return list(map(html.unescape, documents(page)))


def offered(page):
    return [one.proto.label for one in page.get("download_button")]


def orders_file():
    trials = [(run, "bench", 1, order, 1.0 + run / 10) for run, order in enumerate(["fixed"] * 4 + ["random"] * 4)]
    return csv_bytes(ordersage_rows(trials), ORDERSAGE)


def sweep_file(name="bench"):
    return csv_bytes(
        [(name, run, 1.0 + (v == "new") + run / 10, v, c) for v in ("old", "new") for c in "xy" for run in range(3)],
        ("benchmark", "run", "value", "version", "context"),
    )


FILES = {
    "spread": sweep_file(), "order": orders_file(), "trust": sweep_file(), "contexts": sweep_file(),
    "steady": sweep_file(), "trend": sweep_file(),
}  # fmt: skip


@pytest.mark.parametrize("method", QUICK_EVERY_DAY)
def test_a_page_says_its_question_and_asks_nothing_before_it_is_told_to(opened, method):
    page = opened("draft", method)
    assert page.query_params["view"] == [method] or page.query_params["view"] == method
    assert exploring.METHODS[method].question in texts(page)
    assert (answers(page), offered(page), page.error.len) == ([], [], 0)


@pytest.mark.parametrize(("state", "method"), in_two_states("draft", "unblinded"))
def test_the_study_is_explored_where_verdicts_may_be_seen(opened, studies, state, method):
    page = opened(state, method)
    assert page.radio[0].options == ["From this study", "From files"]
    asked(page)
    (answer,) = answers(page)
    assert item_name(0) in answer
    assert offered(page)[:2] == [f"Download {method}.html", f"Download {method}.json"]
    assert page.error.len == 0
    with open_database(studies[state]) as db:
        last = events.table(db).iloc[-1]
    assert (last["actor"], last["action"]) == ("carol", "look")
    assert method in str(last["details"])


@pytest.mark.parametrize(("state", "method"), in_two_states("open", "closed"))
def test_the_study_is_hidden_while_people_label_and_files_are_not(opened, studies, state, method):
    page = opened(state, method)
    assert HIDDEN in page.info[0].value
    assert page.radio[0].options == ["From files"]
    assert [error.value for error in asked(page).error] == [escape_markdown("Choose at least one file.")]
    assert answers(page) == []
    asked(from_files(page, ("mine.csv", FILES[method])))
    (answer,) = answers(page)
    assert "bench" in answer
    assert item_name(0) not in answer
    with open_database(studies[state]) as db:
        assert "look" not in set(events.table(db)["action"])  # nothing of the study was read


def test_a_coordinator_who_labels_is_told_why_and_may_explore_files_only(opened):
    page = opened("both", "spread", "dora")
    assert says(page.info[0].value, "also a reviewer")
    assert page.radio[0].options == ["From files"]


def test_no_file_is_not_the_study(opened):
    page = opened("draft", "spread")
    checked(page.radio[0].set_value("From files").run())
    assert [error.value for error in asked(page).error] == [escape_markdown("Choose at least one file.")]
    assert answers(page) == []


def test_a_refused_file_is_named_and_the_others_are_answered(opened):
    page = from_files(opened("draft", "spread"), ("bad.json", b"[[1.0, NaN]]"), ("good.csv", sweep_file()))
    asked(page)
    assert "refused" in page.error[0].value
    assert says(page.text[0].value, "bad.json: benchmark 'bad'", "run 0, iteration 1: nan")
    assert len(answers(page)) == 1


def test_what_file_names_say_is_used(opened):
    rows = [("bench", run, 1.0 + run / 10) for run in range(3)]
    files = [(f"{v}-{c}.csv", csv_bytes([(n, r, x + (v == "new")) for n, r, x in rows]))
             for v in ("old", "new") for c in "xy"]  # fmt: skip
    page = from_files(opened("draft", "contexts"), *files)
    page.text_input(key="pattern-contexts").set_value("{version}-{context}.csv")
    (answer,) = answers(asked(page))
    assert "1 benchmark in 2 contexts" in answer
    page.text_input(key="pattern-contexts").set_value("results.csv")
    assert "condition" in asked(page).error[0].value
    assert answers(page) == []


@pytest.mark.parametrize(
    ("method", "kind", "key", "value", "words"),
    [
        ("spread", "text_input", "warmup-spread", "1.5", "a share below 1"),
        ("spread", "number_input", "per-spread", 1, "1"),
        ("order", "text_input", "baseline-order", "1.0", "1.0"),
    ],
)
def test_a_bad_option_is_said_in_words_and_can_be_mended(opened, method, kind, key, value, words):
    page = opened("draft", method)
    before = getattr(page, kind)(key=key).value
    getattr(page, kind)(key=key).set_value(value)
    (error,) = asked(page).error
    assert words in error.value.replace("\\", "")
    assert answers(page) == []
    getattr(page, kind)(key=key).set_value(before)
    assert asked(page).error.len == 0
    assert len(answers(page)) == 1


def test_the_options_are_those_that_the_answer_is_made_with(opened):
    page = opened("draft", "spread")
    page.selectbox(key="aggregate-spread").set_value("median")
    page.text_input(key="warmup-spread").set_value("10")
    page.number_input(key="alpha-spread").set_value(0.01)
    page.number_input(key="per-spread").set_value(2)
    asked(page)
    (answer,) = answers(page)
    rows = dict(re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>\s*<td[^>]*>([^<]*)</td>\s*</tr>", answer))
    assert (rows["aggregate"], rows["warmup"], rows["alpha"], rows["per"]) == ("median", "10", "0.01", "2")


@pytest.mark.parametrize("method", ["spread", "contexts"])
def test_hostile_names_are_only_text(opened, method):
    page = asked(from_files(opened("draft", method), (f"{NAUGHTY}.csv", sweep_file(NAUGHTY))))
    (answer,) = documents(page)
    assert "<script>alert" not in answer
    assert "alert(1)" in html.unescape(answer)
    assert "<script>alert" not in texts(page)
