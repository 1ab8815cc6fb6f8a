import json
import re
from contextlib import nullcontext
from html.parser import HTMLParser

import pytest

from labeler.errors import InputError
from labeler.studies.course import coordinating
from labeler.studies.items import importing
from labeler.studies.model import PlanParameters, Role
from labeler.studies.people import identity
from labeler.studies.preparing import assigning
from labeler.studies.results import reporting
from labeler.studies.store import open_database
from labeler.studies.verdicts import computing
from tests.labeler.conftest import unprivileged
from tests.making import NOW, WHO, answer_everything, import_all, lines, report_of_files, series

LABELS, VERDICTS = "item,reviewer,label", "item,classifier,verdict"
ONE = "item,reviewer,label\nx,ada,similar\n"
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "'; alert(3); '</style><svg onload=alert(4)>",
    "{{ 7 * 7 }}{% raw %}&lt;b&gt;",
)
ACTIVE_TAGS = {"script", "img", "b", "link", "base", "form", "iframe", "object", "embed", "audio", "video", "source"}


def report_of(folder, label_text, verdict_text=None, *, make=report_of_files):
    (folder / "labels.csv").write_text(label_text, encoding="utf-8", errors="surrogateescape")
    verdicts = None if verdict_text is None else folder / "verdicts.csv"
    if verdicts:
        verdicts.write_text(verdict_text, encoding="utf-8")
    return make(folder / "labels.csv", verdicts)


class Page(HTMLParser):
    """The tags, attributes and texts of a page as a browser parses them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts = set(), [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)


def result_table(number):
    rows = [f'{run},{value},"<b>{number}"' for run, values in enumerate(series(number, 2)) for value in values]
    return importing.upload(f"{number}.csv", "\n".join(["run,value,benchmark", *rows]).encode())


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory):
    """The page of a study in which every name is an attack."""
    path = tmp_path_factory.mktemp("hostile") / "x.study"
    coordinating.create_study(path, name=HOSTILE[0], question=HOSTILE[1], coordinator="carol", now=NOW)
    with open_database(path) as db:
        import_all(db, *map(result_table, range(6)))
        for name in HOSTILE:
            identity.add_person(db, name, [Role.REVIEWER], **WHO)
        assigning.confirm_plan(db, PlanParameters(1, overlap=0.5, retest=0), **WHO)
        answer_everything(db, dict(zip(HOSTILE, ["similar", "dissimilar", "similar", "similar"], strict=True)))
        computing.compute_verdicts(db, actor="carol")
        return reporting.files_of_study(db, reporting.QUICK, actor="owner", now=NOW)["report.html"]


def test_a_hostile_name_is_text_everywhere_also_inside_the_figure(hostile_page):
    page = Page(hostile_page)
    assert not page.tags & ACTIVE_TAGS
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert all(name in page.text for name in HOSTILE)
    start = hostile_page.index("<svg", hostile_page.index('id="figure-pair-agreement"'))
    figure = Page(hostile_page[start : hostile_page.index("</svg>", start)])
    described = [value for name, value in figure.attributes if name == "aria-label"]
    assert all(any(name in text for text in described) for name in HOSTILE)
    assert HOSTILE[0] in figure.text


def test_a_hostile_classifier_in_a_file_is_text(tmp_path):
    labels = lines("x1,ada,similar", "x1,ben,similar", "x2,ada,similar", "x2,ben,dissimilar")
    quoted = [name.replace('"', '""') for name in HOSTILE]
    verdicts = lines(*(f'x1,"{name}",similar' for name in quoted), header=VERDICTS)
    page = Page(report_of(tmp_path, labels, verdicts, make=reporting.files_of_files)["report.html"])
    assert not page.tags & ACTIVE_TAGS
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert all(name in page.text for name in HOSTILE)


def test_the_page_loads_nothing_from_outside(hostile_page):
    page = Page(hostile_page)
    assert not page.tags & ACTIVE_TAGS
    loading = {"src", "href", "xlink:href", "srcset", "data", "action", "poster", "background"}
    assert all((value or "").startswith(("#", "data:")) for name, value in page.attributes if name in loading)
    assert all(target.startswith("#") for target in re.findall(r"url\(\s*[\"']?([^)]*)\)", hostile_page))
    assert "@import" not in hostile_page


BAD_LABELS = {
    "no column reviewer": ("item,label\nx,similar\n", "there is no column for the reviewer"),
    "empty": ("", "this is not a table"),
    "label": (lines("x,ada,similar", "y,ada,maybe"), ".*Line 3.*'maybe' is not one of: similar, d"),
    "no reviewer": (lines("x,,similar"), "line 2: the reviewer is empty"),
    "no item": (lines(",ada,similar"), "line 2: the item is empty"),
    "kind": (lines("x,ada,similar,frsh", header=f"{LABELS},kind"), ".*Line 2.*'frsh'"),
    "two labels": (
        lines("x,ada,similar,fresh", "x,ada,dissimilar,overlap", header=f"{LABELS},kind"),
        "line 3: 'ada' labels 'x' a second time: 'dissimilar' here, 'similar' on line 2",
    ),
    "not text": (f"{LABELS}\n\udcff\udcfe,ada,similar\n", "byte 20: the file is not UTF-8 text"),
}
BAD_VERDICTS = {
    "no column classifier": ("item,verdict\nx,similar\n", "column 'classifier' is missing"),
    "verdict": (
        lines("x,same,similar", "y,same,similr", header=VERDICTS),
        "line 3: verdict 'similr' is not similar, dissimilar or empty",
    ),
    "score": (lines("x,same,similar,high", header=f"{VERDICTS},score"), "line 2: score 'high' is not a number"),
    "two verdicts": (
        lines("x,same,similar", "x,same,similar", header=VERDICTS), ".*'same' has two verdicts on item 'x'"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", [*BAD_LABELS, *BAD_VERDICTS])
def test_a_bad_table_is_refused_with_file_place_and_value(tmp_path, what):
    labels, reason = BAD_LABELS.get(what, (ONE, ""))
    verdicts, reason_of_verdicts = BAD_VERDICTS.get(what, (None, ""))
    bad = f"verdicts.csv: {reason_of_verdicts}" if verdicts else f"labels.csv: {reason}"
    with pytest.raises(InputError, match=bad):
        report_of(tmp_path, labels, verdicts, make=reporting.files_of_files)
    with pytest.raises(InputError, match=r"missing.csv: No such file or directory"):
        report_of_files(tmp_path / "missing.csv", None)


def test_an_empty_cell_under_kind_means_fresh_as_on_import(tmp_path):
    content = report_of(tmp_path, lines("x,ada,similar,", "x,ben,similar,", header=f"{LABELS},kind"))
    assert content["consensus"]["agreed"] == 1


def test_a_table_is_written_so_that_a_spreadsheet_runs_nothing_of_it(planned):
    planned.execute("UPDATE people SET name = '=1+1' WHERE name = 'ada'")
    answer_everything(planned, {"=1+1": "similar"})
    text = reporting.files_of_study(planned, reporting.QUICK, actor="owner", now=NOW)["labels.csv"]
    assert ",'=1+1," in text
    assert ",=1+1," not in text


@pytest.mark.parametrize("obstacle", ["a file as the folder", "a folder as a file", "no right to write"])
def test_a_report_that_cannot_be_written_says_so_and_leaves_nothing_half(tmp_path, obstacle):
    out = tmp_path / "out"
    if obstacle == "a file as the folder":
        out.write_text("precious")
    else:
        out.mkdir()
        (out / "labels.csv").write_text("before")
    if obstacle == "a folder as a file":
        (out / "report.html").mkdir()
    if obstacle == "no right to write":
        out.chmod(0o555)
    files = {"report.html": "page", "labels.csv": "labels"}
    with unprivileged(out) if obstacle == "no right to write" else nullcontext():  # noqa: SIM117 - the order matters
        with pytest.raises(InputError, match=r"out/\S+ could not be written: "):
            reporting.write_files(files, out)
    out.chmod(0o755)
    assert not list(tmp_path.rglob("*.partial"))
    assert out.is_file() or (out / "labels.csv").read_text() == "before"


def test_agreement_is_compared_between_axis_rules_where_labels_were_given_under_both(tmp_path):
    def content(rules):
        rows = ["item,reviewer,label,view"]
        for number, rule in enumerate(rules):
            for reviewer, label in (("ada", "similar"), ("ben", "dissimilar" if number == 0 else "similar")):
                rows.append(f'i{number},{reviewer},{label},"{{""rule"": ""{rule}""}}"')
        (tmp_path / "labels.csv").write_text("\n".join(rows))
        files = reporting.files_of_files(tmp_path / "labels.csv", None, options=reporting.QUICK)
        return json.loads(files["report.json"])["agreement"], str(files["report.html"])

    agreement, page = content(["core", "core", "levels", "levels"])
    found = {row["group"]: (row["n_items"], row["percent"]["value"]) for row in agreement["by_axis_rule"]}
    assert found == {"core": (2, 0.5), "levels": (2, 1.0)}
    assert "Axis rule" in page
    agreement, page = content(["levels"] * 4)
    assert agreement["by_axis_rule"] == []
    assert "Axis rule" not in page
