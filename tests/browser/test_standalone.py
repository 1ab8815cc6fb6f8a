"""The review component without a server: a practice round that is opened from a file."""

from dataclasses import replace

import pytest

from labeler.model import Protocol
from labeler.questions import SIMILAR
from labeler.service.labelling import guide
from labeler.service.labelling.reviewing import Brief
from labeler.ui import component
from labeler.ui.reviewer import practice


@pytest.fixture
def file(tmp_path):
    examples = guide.practice_round(7)
    question = replace(SIMILAR, text="Are the </script><b>runs</b> similar?")
    data = practice.data_of(examples, Brief(question, Protocol()), 7)
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
        assert page.locator(".told").text_content() == example.feedback("similar")
        page.keyboard.press("Enter")
    n_right = sum(example.category == "similar" for example in examples)
    page.wait_for_function("() => window.__review.code === null")
    words = page.locator(".words").text_content()
    assert words == (f"The practice round is over. {n_right} of your 6 answers match the way the items were generated.")
    assert "</script>" in page.locator(".question").text_content()
    assert (set(asked) <= {"file", "data"}, errors) == (True, [])
