"""What the report says about each reviewer's answers to attention checks, also if there are too few to tell."""

import pytest

from analysis.document import Paragraph
from analysis.report import CheckAnswer, attention_checks, describe_attention
from analysis.report._attention import attention_blocks
from tests.sentences import says

KINDS = ("dissimilar", "similar")


def answers(name, rights, known=KINDS):
    """A reviewer's answers: right, wrong or without a label; the known answers take turns."""
    return [
        CheckAnswer(
            name, f"item {n}", "", known[n % len(known)], 10 * n + 1, 60, None if right is None else "2026-11-20T12:03",
            None if right is None else "x", right,
        )
        for n, right in enumerate(rights)
    ]  # fmt: skip


def outcome(rights, known=KINDS, n_categories=2):
    return attention_checks(answers("ada", rights, known), n_categories).reviewers[0].outcome


@pytest.mark.parametrize(
    ("rights", "n_categories", "expected"),
    [
        ([True] * 4, 2, "more often than by guessing"),  # Wilson: 0.51 to 1
        ([True] * 3, 2, "cannot tell"),  # 0.44 to 1
        ([True] * 2, 3, "more often than by guessing"),  # 0.34 to 1, above 1/3
        ([True] * 5 + [False], 2, "cannot tell"),  # 0.44 to 0.97
        ([False] * 4, 2, "less often than by guessing"),
        ([False] * 3, 2, "cannot tell"),
        ([None] * 4, 2, "cannot tell"),
        ([], 2, None),
    ],
)
def test_a_reviewer_is_told_from_guessing_only_if_the_interval_excludes_it(rights, n_categories, expected):
    found = attention_checks(answers("ada", rights), n_categories).reviewers
    assert [row.outcome for row in found] == ([] if expected is None else [expected])


def test_who_could_have_given_one_answer_to_all_checks_is_not_told_from_guessing():
    assert outcome([True] * 10, known=("dissimilar",)) == "cannot tell"
    assert outcome([True] * 9 + [False], known=("dissimilar",) * 9 + ("similar",)) == "cannot tell"


def told(**rights):
    everybody = [answer for name, own in rights.items() for answer in answers(name, own)]
    return " ".join(describe_attention(attention_checks(everybody, 2)))


def test_the_sentences_for_no_one_two_and_many_people():
    good, few, bad = [True] * 6, [True, True], [False] * 6
    assert told() == "The plan has no attention checks."
    assert told(ada=[None, None]) == "No reviewer has given a label to an attention check."
    assert told(ada=good) == "ada was right more often than by guessing."
    assert told(ada=good, ben=good) == "Both reviewers were right more often than by guessing."
    assert told(ada=good, ben=good, dan=good) == "All 3 reviewers were right more often than by guessing."
    mixed = told(ada=good, ben=good, cleo=few)
    assert says(mixed, "ada and ben were right more often than by guessing")
    assert says(mixed, "For cleo, these checks cannot tell attention from guessing")
    assert says(told(ada=bad, ben=few), "ada was right less often than by guessing")
    assert says(told(ada=bad, ben=bad), "Ask how they understood the question")


def test_the_table_says_how_many_when_and_where():
    everybody = [*answers("ada", [True, False, None, True]), *answers("ben", [None, None])]
    paragraph, table = attention_blocks(attention_checks(everybody, 2))
    assert isinstance(paragraph, Paragraph)
    (ada, ben) = [list(map(str, row)) for row in table.rows]
    assert ada[:2] == ["ada", "2 of 3"]
    assert ada[3:] == ["cannot tell", "1", "1, 11, 21 and 31 of 60", "11 (2026-11-20 12:03 UTC)"]
    assert ben[1] == "0 of 0"
    assert ben[4:] == ["2", "1 and 11 of 60", "—"]
