"""Labels in files of anybody: R, pandas, spreadsheets, Label Studio, Potato, doccano."""

import json

import pandas as pd
import pytest

from labeler.errors import Refused
from labeler.files.formats import Source
from labeler.files.formats.label_tables import LabelReading, read_label_table

LONG = "item,reviewer,label\n"


def read(text, name="labels.csv", *, declared=(), layout=None, **options):
    source = Source(name, data=text if isinstance(text, bytes) else text.encode())
    return read_label_table(source, LabelReading(**options), declared=declared, layout=layout)


def labels_of(table):
    return sorted("/".join(row) for row in table.frame[["item", "reviewer", "label"]].itertuples(index=False))


SAME = ["a/ann/yes", "a/bob/no", "b/ann/no"]  # bob has no label on b
PANDAS = pd.DataFrame({"ann": ["yes", "no"], "bob": ["no", None]}, index=["a", "b"])
CHOICE = {"type": "choices", "from_name": "q", "to_name": "t"}


def annotated(choice, person, **more):
    return {
        "completed_by": {"email": f"{person}@x.org"},
        "result": choice and [CHOICE | {"value": {"choices": [choice]}}],
    } | more


STUDIO = [
    {"id": 1, "data": {"item": "a"}, "annotations": [annotated("yes", "ann"), annotated("no", "bob")]},
    {"id": 2, "data": {"item": "b"}, "annotations": [annotated("no", "ann"), annotated(None, "bob")]},
]
POTATO = [
    {"user_id": who, "instance_id": item, "label_annotations": {"q": {said: True} if said else {}}}
    for item, who, said in (("a", "ann", "yes"), ("a", "bob", "no"), ("b", "ann", "no"), ("b", "bob", ""))
]
LAYOUTS = {
    "long": f"{LONG}a,ann,yes\na,bob,no\nb,ann,no\nb,bob,\n",
    "spreadsheet": "\ufeffitem;reviewer;label;\r\na ; ann;yes;\r\na;bob;no ;\r\nb;ann;no;\r\nb;bob;#N/A;\r\n;;;\r\n",
    "tabs": "Item\tRater\tRating\na\tann\tyes\na\tbob\tno\nb\tann\tno\nb\tbob\tn/a\n",
    "r, long": '"","unit","coder","value"\n"1","a","ann","yes"\n"2","a","bob","no"\n"3","b","ann","no"\n'
               '"4","b","bob",NA\n',
    "r, wide": '"","ann","bob"\n"a","yes","no"\n"b","no",NA\n',
    "irrCAC": "Units,ann,bob\na,yes,no\nb,no,NA\n",
    "unknown name of the items": "scene,ann,bob\na,yes,no\nb,no,.\n",
    "pandas": PANDAS.to_csv(),
    "pandas, numbered": PANDAS.rename_axis("item").reset_index().to_csv(na_rep="nan"),
    "texts of None": "item,application,ann,bob\na,x,yes,no\nb,x,no,None\n",
    "json": json.dumps({"a": {"ann": "yes", "bob": "no"}, "b": {"ann": "no", "bob": None}}),
    "json rows": json.dumps([{"item": item, "rater": who, "label": said} for item, who, said in (
        ("a", "ann", ["yes"]), ("a", "bob", "no"), ("b", "ann", "no"), ("b", "bob", []))]),
    "json lines": "".join(json.dumps(dict(zip(("item", "user", "label"), row, strict=True))) + "\n" for row in (
        ("a", "ann", "yes"), ("a", "bob", "no"), ("b", "ann", "no"), ("b", "bob", None))),
    "label studio": json.dumps(STUDIO),
    "potato": "\n".join(map(json.dumps, POTATO)),
    "utf-16": f"{LONG}a,ann,yes\na,bob,no\nb,ann,no\nb,bob,-\n".encode("utf-16"),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_same_labels_are_read_from_every_layout_and_the_missing_one_is_said(layout):
    table = read(LAYOUTS[layout])
    assert labels_of(table) == SAME
    (note,) = [note for note in table.notes if "missing" in note]
    assert note.startswith("1 of 4 labels is missing: ")


def test_a_table_that_may_be_transposed_is_said():
    (note,) = read(
        "item," + ",".join(f"i{at}" for at in range(12)) + "\n" + "ann" + ",x" * 12 + "\nbob" + ",y" * 12
    ).notes
    assert note == ("There are 12 columns of reviewers for 2 items. If each row is a reviewer, transpose the table.")


def test_rows_without_names_of_items_are_numbered():
    table = read("ann,bob,cleo\n1,1,2\n2,2,NA\n3,3,3\n")
    assert labels_of(table)[:3] == ["1/ann/1", "1/bob/1", "1/cleo/2"]
    assert table.notes[0].startswith("No column is called item, so the rows are numbered")


WORDS = ["NA", "nan", "None", "N/A", "-", "null", "NaN", "<NA>", "#N/A", ".", "–"]


@pytest.mark.parametrize("word", WORDS)
def test_a_word_for_a_missing_label_is_no_category_unless_it_is_declared_or_others_are_named(word):
    text = f"{LONG}a,ann,x\na,bob,{word}\nb,ann,y\n"
    (note,) = read(text).notes
    assert note.startswith(f"1 of 3 labels is missing: {word} (1). If one of these texts is a category, name only")
    assert len(read(text, missing="?").frame) == 3
    assert len(read(text, declared=("x", "y", word)).frame) == 3


@pytest.mark.parametrize(
    ("first", "second"),
    [("Similar", "similar"), ("1", "1.0"), ("TRUE", "True"), ("Not sure", "not sure"), ("not_sure", "Not  Sure"),
     ("caf\u00e9", "cafe\u0301"), ("very high", "very\u00a0high"), ("2", "02"), ("low-risk", "Low risk")],
)  # fmt: skip
@pytest.mark.parametrize("layout", ["long", "wide"])
def test_two_spellings_are_refused_with_their_lines_and_one_option_joins_them(first, second, layout):
    long = f"{LONG}a,ann,{first}\na,bob,{second}\nb,ann,{first}\nb,bob,other\n"
    text = long if layout == "long" else f"item,ann,bob\na,{first},{second}\nb,{first},other\n"
    with pytest.raises(Refused) as refused:
        read(text)
    assert f"{first!r} (lines 2, " in str(refused.value)
    assert f"{second!r} (line " in str(refused.value)
    assert "--join-spellings" in str(refused.value)
    assert read(text, join_spellings=True).frame["label"].nunique() == 2


def test_one_spelling_is_read_as_the_declared_one_and_this_is_said():
    table = read(f"{LONG}a,ann,SIMILAR\na,bob,Not sure\n", declared=("similar", "dissimilar", "not sure", "withdrawn"))
    assert labels_of(table) == ["a/ann/similar", "a/bob/not sure"]
    assert table.notes == (
        "labels are read in one spelling: 'SIMILAR' as 'similar' (1), 'Not sure' as 'not sure' (1).",
    )


def test_names_are_stripped_and_people_but_not_items_are_refused_in_two_spellings():
    table = read(f"{LONG}Sort,ann,x\n sort , ann ,y\n")
    assert labels_of(table) == ["Sort/ann/x", "sort/ann/y"]
    assert "'Sort', 'sort' differ only in how they are written" in table.notes[0]
    with pytest.raises(Refused, match=r"the reviewers 'Ann' \(line 2\) and 'ann' \(line 3\) differ"):
        read(f"{LONG}a,Ann,x\na,ann,x\n")
    assert read(f"{LONG}a,Ann,x\nb,ann,x\n", join_spellings=True).frame["reviewer"].nunique() == 1


def test_two_labels_of_a_person_on_an_item_are_refused_or_the_last_one_counts():
    text = f"{LONG}a,ann,x\nb,ann,y\na,ann,y\n"
    with pytest.raises(Refused, match="line 4: 'ann' labels 'a' a second time: 'y' here, 'x' on line 2"):
        read(text)
    last = read(text, last=True)
    assert labels_of(last) == ["a/ann/y", "b/ann/y"]
    assert "only the last label counts" in last.notes[0]
    once = read(f"{LONG}a,ann,x\nb,ann,y\na,ann,x\n")
    assert labels_of(once) == ["a/ann/x", "b/ann/y"]
    assert once.notes == ("1 row with the same reviewer, item and label as an earlier row: counted once.",)


def test_rows_of_a_label_file_are_answers_and_their_revisions():
    text = f"{LONG[:-1]},revision\na,ann,x,0\nb,ann,y,0\na,ann,y,1\n"
    assert len(read(text).frame) == 3
    assert len(read(text, last=True).frame) == 2


def test_repeated_annotations_of_label_studio_are_revisions_in_the_order_of_time():
    first, second = annotated("no", "ann", created_at="2026-01-02"), annotated("yes", "ann", created_at="2026-01-01")
    tasks = [{"id": 1, "data": {"item": "a"}, "annotations": [first, second]}]
    table = read(json.dumps(tasks))
    assert table.frame["label"].tolist() == ["yes", "no"]
    assert table.notes[0].startswith("1 annotation of the same reviewer on the same item: revisions. The label that")
    assert read(json.dumps(tasks), last=True).frame["label"].tolist() == ["no"]


def test_reviewers_of_label_studio_are_named_by_account_and_skipped_tasks_are_not_sure():
    results = annotated("Similar", "x")["result"]
    annotations = [
        {"completed_by": 7, "result": results, "was_cancelled": False, "lead_time": 4.25},
        {"completed_by": {"id": 8, "email": "ada@example.org"}, "result": results},
        {"completed_by": {"id": 9}, "result": [], "was_cancelled": True},
    ]
    table = read(json.dumps([{"id": 31, "data": {"text": "x"}, "annotations": annotations}]))
    assert labels_of(table) == ["31/ada/similar", "31/user-7/similar", "31/user-9/not sure"]
    assert table.notes[0] == "1 task without a text in data.item: the item is the id of the task."


def test_lines_of_potato_may_have_every_label_and_other_schemes():
    line = {
        "user_id": "ada", "instance_id": "a",
        "label_annotations": {"s": {"similar": False, "dissimilar": True}, "why": {"text_box": "odd"}},
        "behavioral_data": {"time_spent": 12.5, "timestamp": "2024-01-01T12:00:00Z"},
    }  # fmt: skip
    table = read(json.dumps(line) + "\n\n", declared=("similar", "dissimilar"))
    assert table.frame.iloc[0].to_dict() == {
        "item": "a", "reviewer": "ada", "label": "dissimilar", "created_utc": "2024-01-01T12:00:00Z",
        "dwell_ms": "12500",
    }  # fmt: skip


REFUSED = [
    ("item,application\na,b\n", "there is no column of a reviewer"),
    ("item,label\na,x\n", "there is no column for the reviewer"),
    ("hello", "the file has no labels. Give a table with the columns item, reviewer and label"),
    ("id,text,label\n1,good day,pos\n2,bad day,neg\n", "there is no column for the reviewer"),  # doccano
    ("item,reviewer,opinion\na,ann,x\n", "there is no column for the label"),
    (f"{LONG},ann,x\n", "line 2: the item is empty"),
    (f"{LONG}a,nan,x\n", "line 2: the reviewer 'nan' means that it is missing"),
    (f"{LONG}a,ann,#VALUE!\n", "line 2: #VALUE! is an error of a spreadsheet"),
    (f"{LONG}a,ann\n", "line 2: the row has 2 cells"),
    (f"{LONG}a,Jos\xe9,x\n".encode("cp1252"), "byte 25: the file is not UTF-8 text. Save it as UTF-8"),
    ("item,a,b\nx,1,0\ny,0,0\nTotal,57 %,0 %\n", "line 4: the row 'Total' seems to sum up the others"),
    ("item,x,y,z\n1,3,0,0\n2,0,2,1\n3,0,3,0\n", "each row adds up to 3, so this can be a table of counts"),
    ("item,a,b,note\n1,x,y,was odd\n2,y,y,fine\n3,y,x,hm\n", "the column 'note' has no label in common"),
    ("item,a,b,Consensus\n1,x,y,x\n2,y,y,y\n", "the column 'Consensus' seems to be computed from the labels of"),
    ("item,a,b,Agree?\n1,1,0,0\n2,1,1,1\n", "the column 'Agree?' seems to be computed from the labels of others"),
    (f"{LONG}a,ann,x\na,gold,x\n", "the reviewer 'gold' seems to be computed from the labels of others"),
    ('[{"id": 1, "user": "ann", "answer": "accept", "_input_hash": 1}]', "this is an export of Prodigy"),
    ("kind,a,b\nold,x,y\nold,y,y\nnew,x,x\n", "there is no column for the items"),
    ("[1]", "this is neither a list of objects"),
    ('{"a": 1}', "this is neither a list of objects"),
    ('[{"item": "a", "rater": "b", "label": ["x", "y"]}]', "row 1: there are 2 values in one cell"),
    ('[{"data": {"item": "a"}, "annotations": 3}]', "task 1: the task has no list of annotations"),
    ('[{"data": {}, "annotations": []}]', "task 1: the task has neither an id nor the name of an item"),
    ('[{"data": {"item": "a"}, "annotations": [3]}]', "task 1: an annotation is not an object"),
    (json.dumps([{"id": 1, "annotations": [{"result": [CHOICE | {"value": {"choices": ["x", "y"]}}]}]}]),
     "task 1: an annotation has 2 choices"),
    ('[{"id": 1, "annotations": [{"result": [], "was_cancelled": true}]}]', "task 1: an annotation has no reviewer"),
    ('{"label_annotations": {}}', "line 1: instance_id or user_id is missing"),
    ('{"user_id": "a", "instance_id": "b", "label_annotations": {"s": {"x": 1, "y": 1}}}', "line 1: 2 labels"),
    ('{"a": 1}\n{\n', "line 2"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=range(len(REFUSED)))
def test_a_file_that_cannot_be_used_is_refused_with_place_and_reason(text, reason):
    with pytest.raises(Refused) as refused:
        read(text)
    assert str(refused.value).startswith(f"labels.csv: {reason}")


def test_an_item_called_like_a_sum_is_an_item_if_its_cells_are_labels():
    table = read("item,a,b\nx,1,0\ny,0,0\nsum,1,0\n")
    assert list(table.frame["item"].unique()) == ["x", "y", "sum"]
    assert table.notes == ("'sum': read as an item, because the cells are labels.",)


def test_a_spreadsheet_is_refused_with_the_next_step():
    with pytest.raises(Refused, match=r"a file of another program\. Save the table as CSV"):
        read(b"PK\x03\x04", "labels.xlsx")
