"""The review component without a server: a practice round that is opened from a file."""

from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe

from labeler.studies.labelling import guide
from labeler.studies.labelling.reviewing import Brief
from labeler.studies.model import Protocol
from labeler.studies.questions import SIMILAR, read_question
from labeler.studies.screen import component
from labeler.studies.ui.reviewer.guide import round_data
from tests.labeler.studies.handover.test_anonymising import named_study
from tests.labeler.studies.handover.test_publishing import finished_study, published

__all__ = ["finished_study", "named_study", "published"]  # fixtures


@pytest.fixture
def file(tmp_path):
    examples = guide.practice_round(7)
    question = replace(SIMILAR, text="Are the </script><b>runs</b> similar?")
    data = round_data(examples, Brief(question, Protocol()), 7)
    path = tmp_path / "practice.html"
    path.write_text(component.standalone(data, "Practice <1>"), encoding="utf-8")
    return path, examples


def test_a_practice_round_runs_from_a_file_and_asks_nobody(page, file):
    path, examples = file
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url.partition(":")[0]))
    page.on("pageerror", lambda error: errors.append(error))
    page.goto(path.as_uri())
    assert page.title() == "Practice <1>"
    for number, example in enumerate(examples, start=1):
        page.wait_for_function(
            "n => window.__review?.code === `P${n}` && window.__review.paintedAt !== null", arg=number
        )
        page.wait_for_function("() => performance.now() - window.__review.paintedAt >= 250")
        page.keyboard.press("s")
        mark = "✓ Right." if example.category == "similar" else "✗ Different."
        assert page.locator(".told").text_content() == f"{mark} {example.feedback('similar')}"
        page.keyboard.press("Enter")
    n_right = sum(example.category == "similar" for example in examples)
    page.wait_for_function("() => window.__review.code === null")
    words = page.locator(".words").text_content()
    assert words.startswith(f"The practice round is over. {n_right} of your 6 answers match the way")
    assert words.endswith("practise once more.")  # half of the answers were wrong
    assert "</script>" in page.locator(".question").text_content()
    assert (set(asked) <= {"file", "data"}, errors) == (True, [])


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_pages_of_a_published_study(browser, published, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    for path in sorted((published / "html").iterdir()):
        page.goto(path.as_uri())
        if path.stem == "practice":
            page.wait_for_function("() => window.__review?.paintedAt")
        assert page.evaluate("() => document.documentElement.scrollWidth") == width
        violations = Axe().run(page).response["violations"]
        assert [(path.stem, found["id"], found["nodes"][0]["html"][:200]) for found in violations] == []
    context.close()


NINE = "".join(
    f'[[category]]\nname = "kind {key}"\nkey = "{key}"\nmeaning = "This is <b>kind</b> {key}."\n' for key in "123456abc"
)


def test_nine_categories_have_buttons_keys_and_meanings_and_digits_leave_shift_to_the_confidence(page, tmp_path):
    question = read_question(f'text = "Which kind?"\n{NINE}', "nine.toml")
    data = round_data(guide.practice_round(7), Brief(question, Protocol(asks_confidence=True)), 7)
    path = tmp_path / "nine.html"
    path.write_text(component.standalone(data, "Nine"), encoding="utf-8")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(path.as_uri())
    page.wait_for_function("() => window.__review?.paintedAt && performance.now() - window.__review.paintedAt >= 250")
    buttons = page.locator(".categories button")
    assert buttons.all_text_contents() == [f"{key.upper()}Kind {key}" for key in "123456abc"]
    assert all(buttons.nth(number).is_visible() for number in range(9))
    looks = buttons.evaluate_all("all => all.map(b => getComputedStyle(b).borderLeft)")
    assert len(set(looks)) == 9
    page.keyboard.press("Digit3")
    assert page.evaluate("() => window.__review.chosen") == "kind 3"
    assert "Shift+2 fairly sure" in page.locator(".status").text_content()
    page.keyboard.press("Shift+Digit2")
    assert page.evaluate("() => window.__review.said.confidence") == 2
    assert page.locator(".told").text_content().startswith("✗ Different. Your answer: kind 3")
    page.keyboard.press("?")
    assert "Kind c: This is <b>kind</b> c." in page.locator(".meanings").text_content()
