"""Names in texts and in JSON, without a study."""

import json

from hypothesis import given, strategies as st

from labeler.service.handover.anonymising import in_json, replacing

words = (
    st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=8).map(str.strip).filter(bool)
)


@given(st.sets(words, min_size=1, max_size=6), st.lists(words, max_size=6))
def test_no_name_is_left_as_a_word_between_others(names, others):
    folded = {name.casefold() for name in names}
    hidden = replacing(dict.fromkeys(names, "0"))
    text = "\n".join(part for name in names for part in (*others, name))
    left = [line for line in hidden(text).split("\n") if line.casefold() in folded - {"0"}]
    assert left == []
    assert all(hidden(name) == "0" for name in names)
    assert all(hidden(name.upper()) == "0" for name in names if name.upper().casefold() == name.casefold())


plain_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)


@given(plain_values, st.booleans())
def test_json_in_which_nobody_is_named_stays_as_it_was_written(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert in_json(text, replacing({"nobody of this name": "R1"})) == text


@given(plain_values, words)
def test_the_names_of_values_stay_and_strings_are_replaced(value, name):
    text = json.dumps({name: [name, {name: value}]})
    told = json.loads(in_json(text, lambda old: "R1" if old == name else old))
    assert list(told) == [name]
    assert told[name][0] == "R1"
    assert list(told[name][1]) == [name]


def test_deeply_nested_json_is_gone_through():
    assert in_json("[" * 5000 + '"ada"' + "]" * 5000, replacing({"ada": "R1"})).strip("[]") == '"R1"'


def test_composed_and_decomposed_letters_are_the_same_name():
    hidden = replacing({"Zo\u00eb": "R1"})
    assert hidden("with Zoe\u0308, ZO\u00cb") == "with R1, R1"
