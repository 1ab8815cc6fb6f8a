"""The check of facts in a text."""

from tests.sentences import says

TEXT = "In short: 3 of 4 runs\nare slow (2.5 %). None is fast.\n\n- b: 7 runs\n- c: 8 runs"


def test_parts_must_be_in_one_sentence_in_this_order():
    assert says(TEXT, "3 of 4", "slow", "2.5 %")
    assert says(TEXT, "4 runs are slow")  # the text is wrapped
    assert not says(TEXT, "slow", "3 of 4")
    assert not says(TEXT, "slow", "fast")
    assert not says(TEXT, "b:", "8 runs")
    assert not says(TEXT, "3.of")
