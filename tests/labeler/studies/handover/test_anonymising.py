import json
import re
from contextlib import contextmanager
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given, strategies as st

from analysis.report import Resampling
from labeler.errors import StudyError
from labeler.files.formats import tables
from labeler.studies.course import coordinating, staffing
from labeler.studies.handover import anonymising, exchange, template
from labeler.studies.handover.anonymising import AnonymisationResult, in_json, pseudonyms, replacing
from labeler.studies.items import browsing, importing
from labeler.studies.labelling import inbox, reviewing
from labeler.studies.model import NewLabel, Person, Role
from labeler.studies.people import identity
from labeler.studies.plan.design import Plan, draw_plan, key
from labeler.studies.preparing import assigning
from labeler.studies.results import reporting
from labeler.studies.store import actions, assignments, copies, decisions, events, items, open_database, people, studies
from labeler.studies.store.decisions import Decision
from labeler.studies.verdicts import computing
from tests.conftest import some_slow
from tests.making import (
    NOW,
    PARAMETERS,
    WHO,
    answer_everything,
    copy_of,
    id_of,
    import_all,
    item_name,
    last_event,
    log,
    new_study,
    offers,
    report_of,
    result_file,
    saved_answers,
    series,
    submit,
)

ADA, BEN, CLEO, DAN = NAMES = ("Ada Quillfeather", "Benedikt-Zacharias", "Cleo O'Näme", "quux")
CAROL = "Carol Wintergreen"
MAIL, OLD_MAIL = "a.quill@mail.example.org", "ada-before@mail.example.org"
FAST = reporting.ReportOptions(resampling=Resampling(3, n_bootstrap=20, n_sweeps=20, n_misfit=19))


@pytest.fixture(scope="session")
def named_study(tmp_path_factory):
    """A study with unique names: labelled, commented, with sign-ins, verdicts and reports."""
    path = tmp_path_factory.mktemp("named") / "named.study"
    coordinating.create_study(
        path, name=f"Caches of {CAROL}", question=f"Alike, {DAN}?", coordinator=CAROL, plan_secret="5e" * 16, now=NOW
    )  # fmt: skip
    with open_database(path) as db:
        import_all(db, *(result_file(item_name(number), series(number)) for number in range(8)))
        for name in NAMES:
            identity.add_person(db, name, [Role.REVIEWER], actor=CAROL, now=NOW)
            identity.sign_in(db, identity.invite(db, name, Role.REVIEWER, actor=CAROL, now=NOW), now=NOW)
        for address in (OLD_MAIL, MAIL):
            identity.set_email(db, ADA, Role.REVIEWER, address, actor=CAROL, now=NOW)
        assigning.confirm_plan(db, PARAMETERS, actor=CAROL, now=NOW)
        computing.compute_verdicts(db, advance=lambda *_: None, actor=CAROL)
        comments = (f"{ADA.upper()} says {MAIL}; {OLD_MAIL}", f"as {DAN}_2, not {DAN}ish", "plain")
        for name, comment in zip(NAMES, comments, strict=False):
            task = offers(db, name)[0]
            sent = NewLabel(f"by {ADA}: {name}", task.code, 0, "similar", 900, {"axis": BEN}, 1, True, comment)
            reviewing.submit(db, id_of(db, name), sent, now=NOW, session="5e55")
        answer_everything(db, {ADA: "similar", BEN: "dissimilar", CLEO: "similar", DAN: "not sure"})
        coordinating.back_up(db, path.with_name(f"copy for {BEN}.study"), actor=CAROL, now=NOW)
        exchange.export_labels(db, actor=CAROL, now=NOW)
    return path


@pytest.fixture
def named(named_study, tmp_path):
    with copy_of(named_study, tmp_path) as opened:
        yield opened


def anonymise(db, out, **options):
    return anonymising.anonymise(db, out, actor="owner", now=NOW, **options)


@contextmanager
def anonymised(db, out, **options):
    """Anonymise a study, and open the copy."""
    anonymise(db, out, **options)
    with open_database(out) as copy:
        yield copy


def alphabetical(names):
    """Return a token for which the new names have the order of the old names."""
    everyone = [Person(1, name, frozenset({Role.REVIEWER}), active=True) for name in names]
    wanted = {name: f"R{number}" for number, name in enumerate(sorted(names), start=1)}
    return next(token for token in map(str, count()) if pseudonyms(everyone, token) == wanted)


def rows_of(path, sql):
    with open_database(path) as db:
        return db.execute(sql).fetchall()


# No personal data remain


def leaks(path, words):
    content = path.read_bytes().lower()
    spelled = {word: {word.lower().encode(), json.dumps(word.lower())[1:-1].encode()} for word in words}
    return [word for word, forms in spelled.items() if any(form in content for form in forms)]


@pytest.mark.parametrize("keep_comments", [True, False])
@pytest.mark.parametrize("keep_benchmarks", [True, False])
def test_the_bytes_of_the_file_hold_no_name_address_or_hash(named, tmp_path, keep_comments, keep_benchmarks):
    sql = "SELECT secret_hash FROM invitations UNION ALL SELECT session_hash FROM sessions"
    hashes = [row[0] for row in named.execute(sql)]
    assert len(hashes) == 5 + 4
    logged = [text[: identity.N_SESSION_DIGITS] for text in hashes]
    codes = [code for (code,) in named.execute("SELECT code FROM assignments")]
    words = [
        *codes,
        *NAMES,
        CAROL,
        MAIL,
        OLD_MAIL,
        *hashes,
        *logged,
        studies.seal_of_secrets(named),
        studies.get(named).plan_hash,
    ]
    words += [answer.label.event_id for answer in saved_answers(named)]
    coordinating.back_up(named, tmp_path / "before.study", actor="owner", now=NOW)
    assert leaks(tmp_path / "before.study", words) == words
    done = anonymise(named, tmp_path / "out.study", keep_comments=keep_comments, keep_benchmarks=keep_benchmarks)
    assert done == AnonymisationResult(4, 1, 3)
    # a part of another word is not a name
    assert leaks(tmp_path / "out.study", words) == ([DAN] if keep_comments else [])


def test_no_hash_over_names_is_left_by_which_a_guess_of_the_names_could_be_checked(named, tmp_path):
    staffing.remove(named, DAN, why="moved away", actor=CAROL, now=NOW)
    before = logged_hashes(named)
    with anonymised(named, tmp_path / "out.study") as out:
        of_files = {sha256 for (sha256,) in out.execute("SELECT sha256 FROM files").fetchall()}
        changed = json.loads(events.table(named).query("action == 'remove reviewer'")["details"].iloc[0])["hash"]
        assert {studies.get(named).plan_hash, changed} <= before - of_files
        assert logged_hashes(out) & before == of_files


def logged_hashes(db):
    texts = [text for row in db.execute("SELECT details, actor FROM events").fetchall() for text in row]
    return {found for text in texts for found in re.findall("[0-9a-f]{64}", text)}


def test_benchmarks_without_names_are_numbered_everywhere(named, tmp_path):
    words = [item_name(number) for number in range(8)] + ["example__app0", "bench_3"]
    hashes = [row[0] for row in named.execute("SELECT sha256 FROM files UNION ALL SELECT data_hash FROM items")]
    with events.by(named, actor=CAROL, now=NOW) as deed:
        deed.log(actions.KNOWN_CHANGES, benchmarks={item_name(1): "slower by 5 %"})
    anonymise(named, tmp_path / "out.study", keep_benchmarks=False)
    assert leaks(tmp_path / "out.study", [*words, *hashes]) == []
    with open_database(tmp_path / "out.study") as out:
        assert [item.name for item in items.all_items(out)] == [f"item-{n:03}" for n in range(1, 9)]
        assert {item.application for item in items.all_items(out)} == {"application-001", "application-002"}
        assert out.execute("SELECT count(*) FROM files").fetchone() == (0,)
        told = [event.details["items"] for event in events.of_actions(out, [actions.IMPORT_FILE])]
        assert told == [[f"item-{n:03}" for n in range(1, 9)], *[[]] * 7]


def test_neither_numbers_nor_ids_of_items_follow_the_old_names(named, tmp_path):
    orders = set()
    for token in ("a", "b"):
        with anonymised(named, tmp_path / f"{token}.study", keep_benchmarks=False, token=token) as out:
            of_measurements = [
                content for (content,) in out.execute("SELECT measurements FROM runs ORDER BY item_id, run")
            ]
            assert [item.name for item in items.all_items(out)] == [items.by_id(out, n + 1).name for n in range(8)]
        orders.add(tuple(of_measurements))
    orders.add(tuple(content for (content,) in named.execute("SELECT measurements FROM runs ORDER BY item_id, run")))
    assert len(orders) == 3


def test_the_log_of_a_copy_does_not_say_whose_address_or_link_was_changed(named, tmp_path):
    identity.revoke(named, ADA, Role.REVIEWER, actor=CAROL, now=NOW)
    with anonymised(named, tmp_path / "out.study") as out:
        log = events.table(out).query("action in ('set e-mail', 'revoke', 'sign in')")
    assert set(log["action"]) == {"set e-mail", "revoke", "sign in"}
    assert not [text for text in log["details"] if "name" in text or 'session"' in text]


@pytest.mark.parametrize("path", ["/home/ada/study-7/runs.json", "C:\\Users\\ada\\study-7\\runs.json"])
def test_a_path_in_a_text_has_only_its_last_part_in_a_copy(named, tmp_path, path):
    browsing.exclude(named, item_name(7), f"see {path} for why", actor=CAROL, now=NOW)
    with anonymised(named, tmp_path / "out.study") as out:
        assert items.by_name(out, item_name(7)).excluded_why == "see runs.json for why"
    assert leaks(tmp_path / "out.study", ["study-7"]) == []


def test_the_ids_and_the_log_do_not_tell_the_order_of_the_old_names(named, tmp_path):
    with anonymised(named, tmp_path / "out.study", token="any") as out:
        ids = [(person.person_id, person.name) for person in people.all_people(out)]
        assert sorted(ids) == [(1, "R1"), (2, "R2"), (3, "R3"), (4, "R4"), (5, "C1")]
        assert out.execute("SELECT DISTINCT created_utc FROM people").fetchall() == [(NOW.isoformat(),)]
        ids = [assignment_id for (assignment_id,) in out.execute("SELECT assignment_id FROM assignments ORDER BY code")]
        assert ids == list(range(1, len(ids) + 1))
        added = events.table(out).query("action in ('add person', 'invite')")["details"]
        assert len(added) == 10
        assert not [text for text in added if re.search(r"[RC]\d", text)]


def test_the_seed_of_the_plan_is_gone_and_its_hash_is_that_of_the_same_plan_over_the_new_names(named, tmp_path):
    plan = assigning.preview_plan(named, PARAMETERS)
    new = pseudonyms(people.all_people(named), "t")
    renamed = [replace(a, reviewer=new[a.reviewer]) for a in plan.assignments]
    with anonymised(named, tmp_path / "out.study", token="t") as out:
        study = studies.get(out)
        details = json.loads(events.table(out).query("action == 'draw plan'")["details"].iloc[0])
        reviewers, all_items = people.reviewers(out), coordinating.list_items(out)
    before = studies.get(named)
    assert study.plan_hash == Plan(tuple(renamed), (), ()).hash
    assert study.plan_parameters == {name: v for name, v in before.plan_parameters.items() if name != "seed"}
    names = sorted(person.name for person in reviewers)
    items = [item.name for item in all_items]
    assert details == {**study.plan_parameters, "hash": study.plan_hash, "items": items, "reviewers": names}


MACHINE_TEXTS = {
    "categories": {"name"},
    "studies": {
        "picture_secret", "plan_secret", "state", "axis_rule", "plan_parameters", "plan_hash", "created_utc",
        "resumes_to", "gate",
    },
    "files": {"sha256", "imported_utc"},
    "items": {"name", "benchmark", "application", "parameters", "unit", "better", "data_hash", "failures",
              "known_answer"},
    "runs": {"conditions"},  # emptied, like failures
    "people": {"name", "created_utc", "email"},
    "assignments": {"kind", "code", "ended_utc", "origin"},
    "imported_labels": {"source_key"},  # emptied
    "labels": {"event_id", "answer", "created_utc", "origin", "session"},  # the session is emptied
    "verdicts": {
        "classifier", "parameters", "data_hash", "verdict", "means", "clusters", "created_utc", "used_utc",
    },
    "events": {"at_utc", "action"},
    "decisions": {"category", "created_utc", "event_id"},
    "replies": {"created_utc"},
    "reference_labels": {"category"},
    "segments": {"computed_from", "features"},
    "links": {"part", "digest", "head"},
}  # fmt: skip
EMPTIED = {"invitations", "sessions", "jobs"}


def test_every_column_of_text_is_gone_through_or_known_to_hold_no_free_words(db):
    """A new text column belongs in `copies.FREE_TEXTS`, in an emptied table about people, or in the list above."""
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in tables - EMPTIED - {"sqlite_sequence"}:
        texts = {row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[2] == "TEXT"}
        free = {column for place, column in copies.FREE_TEXTS if place == table}
        assert texts == free | MACHINE_TEXTS.get(table, set()), table


# Everything else is unchanged


def test_times_and_answers_stay_with_their_people_under_other_codes(named, tmp_path):
    names = pseudonyms(people.all_people(named), "t")
    with anonymised(named, tmp_path / "out.study", token="t") as out:
        pairs = list(zip(saved_answers(named), saved_answers(out), strict=True))
        sql = "SELECT code FROM assignments"
        one, other = ({code for (code,) in db.execute(sql).fetchall()} for db in (named, out))
    assert len(one) == len(other)
    assert not one & other
    for before, after in pairs:
        assert (before.item, names[before.reviewer]) == (after.item, after.reviewer)
        assert (before.label.answer, before.label.created, before.label.dwell_ms, before.label.flag) == (
            after.label.answer, after.label.created, after.label.dwell_ms, after.label.flag,
        )  # fmt: skip
        assert after.label.comment is None


def test_kept_comments_and_views_have_the_new_names(named, tmp_path):
    names = pseudonyms(people.all_people(named), "t")
    with anonymised(named, tmp_path / "out.study", keep_comments=True, token="t") as out:
        kept = saved_answers(out)
        study = studies.get(out)
    ada, ben, dan = (names[name] for name in (ADA, BEN, DAN))
    assert [answer.label.comment for answer in kept if answer.label.comment] == [
        f"{ada} says {ada}; {ada}", f"as {dan}_2, not quuxish", "plain",
    ]  # fmt: skip
    assert {answer.label.view["axis"] for answer in kept} == {ben, "core"}
    assert {answer.label.session for answer in kept} == {None}
    assert (study.name, study.question.text) == ("Caches of C1", f"Alike, {dan}?")


@pytest.fixture
def answered(named):
    """The same study with replies to comments; one reply names people."""
    by_comment = {message.comment: message for message in inbox.messages(named)}
    plain = by_comment["plain"].code
    for text in (f"{CAROL}: ask {ADA} at {MAIL}", "Zwetschge"):
        inbox.reply(named, plain, text, actor=CAROL, now=NOW)
    return named


def test_answers_go_with_dropped_comments_and_stay_with_kept_ones_under_the_new_names(answered, tmp_path):
    before = answered.execute("SELECT * FROM replies").fetchall()
    anonymise(answered, tmp_path / "dropped.study")
    assert rows_of(tmp_path / "dropped.study", "SELECT * FROM replies") == []
    assert leaks(tmp_path / "dropped.study", ["Zwetschge", *NAMES, CAROL, MAIL]) == []
    assert answered.execute("SELECT * FROM replies").fetchall() == before
    names = pseudonyms(people.all_people(answered), "t")
    anonymise(answered, tmp_path / "out.study", keep_comments=True, token="t")
    with open_database(tmp_path / "out.study") as out:
        (message,) = [message for message in inbox.messages(out) if message.replies]
    assert (message.reviewer, message.comment) == (names[CLEO], "plain")
    assert [(one.text, one.written_by) for one in message.replies] == [
        (f"C1: ask {names[ADA]} at {names[ADA]}", "C1"), ("Zwetschge", "C1"),
    ]  # fmt: skip
    # the comment that is kept contains a part of a longer word, which is not a name
    assert leaks(tmp_path / "out.study", [*NAMES, CAROL, MAIL]) == [DAN]


def test_decisions_get_other_event_ids_and_new_names(named, tmp_path):
    item = items.all_items(named)[0]
    event_id = f"of {CAROL}"
    decided = Decision(item.name, "similar", f"{BEN} is right", CAROL, NOW.isoformat(), event_id)
    decisions.add(named, item.item_id, decided)
    names = pseudonyms(people.all_people(named), "t")
    with anonymised(named, tmp_path / "out.study", token="t") as out:
        (after,) = decisions.everything(out)
    assert (after.item, after.category, after.created_utc) == (item.name, "similar", NOW.isoformat())
    assert (after.why, after.decided_by) == (f"{names[BEN]} is right", "C1")
    assert after.event_id not in ("", event_id)
    assert leaks(tmp_path / "out.study", [event_id]) == []


def flat(content, place=""):
    if isinstance(content, dict):
        for name, value in content.items():
            yield from flat(value, f"{place}/{name}")
    elif isinstance(content, list):
        for number, value in enumerate(content):
            yield from flat(value, f"{place}/{number}")
    else:
        yield place, content


def report(db):
    content = json.loads(json.dumps(report_of(db, FAST)))
    return {
        place: value for place, value in flat(content) if place not in ("/plan/seed", "/plan/hash", "/hashes/answers")
    }


@pytest.mark.slow
def test_a_report_has_the_same_numbers(named, tmp_path):
    # in the order of the old names, so that tables of pairs and random draws stay the same
    names = {CAROL: "C1"} | {name: f"R{number}" for number, name in enumerate(sorted(NAMES), start=1)}
    anonymise(named, tmp_path / "out.study", token=alphabetical(NAMES))
    before = report(named)
    with open_database(tmp_path / "out.study") as out:
        after = report(out)
    hidden = replacing(names)
    before = {hidden(place): hidden(value) if isinstance(value, str) else value for place, value in before.items()}
    assert before.pop("/study/chain") != after.pop("/study/chain")
    for of_report in (before, after):  # the copy has no comments, and other codes
        for place in [place for place in of_report if place.startswith("/course/flags")]:
            if place.endswith(("/comment", "/code")):
                assert of_report.pop(place) is None or of_report is before or place.endswith("/code")
    assert after == before


@pytest.mark.parametrize("keep_benchmarks", some_slow([True, False], [True]))
def test_what_does_not_depend_on_the_order_of_names_is_the_same_in_any_order(named, tmp_path, keep_benchmarks):
    with anonymised(named, tmp_path / "out.study", token="another", keep_benchmarks=keep_benchmarks) as out:
        one, other = (report_of(db) for db in (named, out))
    assert one["agreement"]["coefficients"]["fleiss_kappa"] == pytest.approx(
        other["agreement"]["coefficients"]["fleiss_kappa"]
    )
    assert len(one["classifiers"]) == len(other["classifiers"])
    if keep_benchmarks:
        assert (one["classifiers"], one["left_out"]) == (other["classifiers"], other["left_out"])
    pairs = [sorted((p["n"], p["agree"]) for p in each["agreement"]["pairs"]) for each in (one, other)]
    assert pairs[0] == pairs[1]


def test_the_new_file_is_whole_and_guarded_as_before(named, tmp_path):
    guards = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
    before = named.execute(guards).fetchall()
    anonymise(named, tmp_path / "out.study", keep_benchmarks=False)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith((".", "out"))] == ["out.study"]
    with open_database(tmp_path / "out.study") as out:
        assert out.execute(guards).fetchall() == before
        assert out.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert out.execute("PRAGMA foreign_key_check").fetchall() == []
        assert out.execute("PRAGMA freelist_count").fetchone() == (0,)
        for table in ("labels", "events"):
            with pytest.raises(Exception, match="only appended"):
                out.execute(f"DELETE FROM {table}")
        assert len(log(out)) == len(log(named))
        assert log(out)[-1] == ("owner", "anonymise")
        assert out.execute("SELECT count(*) FROM sessions").fetchone() == (0,)


def test_the_original_has_one_event_more_and_is_as_before(named, tmp_path):
    tables = ("people", "labels", "assignments", "invitations", "sessions", "studies", "items", "jobs")
    before = [named.execute(f"SELECT * FROM {table}").fetchall() for table in tables]
    n_events = len(log(named))
    anonymise(named, tmp_path / "out.study")
    assert [named.execute(f"SELECT * FROM {table}").fetchall() for table in tables] == before
    assert log(named)[n_events:] == [("owner", "anonymise")]
    assert last_event(named)[2] == {
        "file": "out.study", "comments": "drop", "benchmarks": "keep",
    }  # fmt: skip


def test_a_file_that_exists_or_cannot_be_made_and_an_error_on_the_way_leave_nothing_behind(named, tmp_path):
    (tmp_path / "taken.study").write_text("mine")
    before = sorted(path.name for path in tmp_path.iterdir()), log(named)
    with pytest.raises(StudyError, match="exists already"):
        anonymise(named, tmp_path / "taken.study")
    with pytest.raises(StudyError, match="could not be written"):
        anonymise(named, tmp_path / "missing" / "out.study")
    assert (sorted(path.name for path in tmp_path.iterdir()), log(named)) == before
    assert (tmp_path / "taken.study").read_text() == "mine"
    named.execute("INSERT INTO events (at_utc, actor, action, details) VALUES ('', '', 'look', 'no JSON')")
    with pytest.raises(ValueError, match="Expecting value"):
        anonymise(named, tmp_path / "out.study")
    assert (sorted(path.name for path in tmp_path.iterdir()), log(named)) == (before[0], [*before[1], ("", "look")])


def test_the_new_names_follow_from_a_secret_drawn_anew_each_time(named, tmp_path):
    orders = set()
    for number in range(5):
        out = tmp_path / f"{number}.study"
        anonymise(named, out)
        sql = "SELECT p.name FROM assignments a JOIN people p USING (person_id) ORDER BY a.code"
        orders.add(tuple(rows_of(out, sql)))
    assert len(orders) > 1


def test_a_study_without_a_plan_or_answers_is_anonymised_too(db, tmp_path):
    assert anonymise(db, tmp_path / "out.study") == AnonymisationResult(0, 1, 0)
    assert rows_of(tmp_path / "out.study", "SELECT name FROM people") == [("C1",)]


HOSTILE = [
    ".*", "(a|b)", "R1", "R2", "r3", "name", "roles", "axis", "a", "an", "An na", "na", "\\d+", '"q"', "Straße",
    "$1", "[x",
]  # fmt: skip


def test_hostile_names_are_replaced_and_nothing_else_is(tmp_path):
    comment = "An na and STRASSE, not banana; r1 to R3, .* but x.*y"
    with new_study(tmp_path / "hostile.study", n_items=20, reviewers=HOSTILE, plan=True) as db:
        submit(db, "a", offers(db, "a")[0], view={"axis": "a"}, comment=comment)
        names = pseudonyms(people.all_people(db), "t")
        anonymise(db, tmp_path / "out.study", keep_comments=True, token="t")
    assert sorted(names.values()) == sorted(["C1", *(f"R{n}" for n in range(1, len(HOSTILE) + 1))])
    with open_database(tmp_path / "out.study") as out:
        (answer,) = saved_answers(out)
        details = [json.loads(text) for text in events.table(out)["details"]]
        assert {person.name for person in people.all_people(out)} == set(names.values())
    assert answer.label.comment == (
        f"{names['An na']} and {names['Straße']}, not banana; {names['R1']} to {names['r3']}, {names['.*']} but x.*y"
    )
    assert (answer.label.view["axis"], answer.reviewer) == (names["a"], names["a"])
    assert answer.label.view["rule"] == "levels"
    assert {"name", "question"} <= details[0].keys()
    assert details[1]["roles"] == ["coordinator"]


def test_imported_labels_do_not_keep_an_id_made_from_their_reviewers_name(db, tmp_path):
    table = importing.upload("labels.csv", b"item,reviewer,label\nx,Zebulon,similar\n")
    exchange.import_labels(db, tables.read_table(table, ()), actor="owner", now=NOW)
    (old,) = saved_answers(db)
    assert old.source_key == key(0, "imported", "x", "Zebulon", "fresh", "0", "similar")
    anonymise(db, tmp_path / "out.study")
    secret = studies.picture_secret(db)
    assert leaks(tmp_path / "out.study", ["Zebulon", old.label.event_id, old.source_key, secret]) == []
    ((told,),) = rows_of(tmp_path / "out.study", "SELECT details FROM events WHERE action = 'import labels'")
    assert json.loads(told)["reviewers"] == ["R1"]


def recognised(copy, items_of_plan, names):
    """Return the pseudonyms that somebody who knows all names can tell by trying seeds, as pseudonym -> name."""
    published = {}
    for row in assignments.everything(copy):
        a = row.assignment
        published.setdefault(a.reviewer, set()).add((a.item, a.kind, a.position))
    found = {}
    for seed in range(PARAMETERS.seed + 3):
        drawn = {}
        for a in draw_plan(items_of_plan, names, replace(PARAMETERS, seed=seed)).assignments:
            drawn.setdefault(a.reviewer, set()).add((a.item, a.kind, a.position))
        found |= {new: name for new, own in published.items() for name in drawn if drawn[name] == own}
    return found


@pytest.mark.parametrize("plan_secret", ["", None])
def test_trying_all_seeds_names_nobody_if_the_study_has_a_secret(tmp_path, plan_secret):
    path, out = tmp_path / "a.study", tmp_path / "out.study"
    coordinating.create_study(
        path, name="a", question="Alike?", coordinator=CAROL, plan_secret=plan_secret, now=NOW
    )  # fmt: skip
    with open_database(path) as db:
        import_all(db, *(result_file(item_name(number), series(number)) for number in range(24)))
        for name in NAMES:
            identity.add_person(db, name, [Role.REVIEWER], actor=CAROL, now=NOW)
        assigning.confirm_plan(db, PARAMETERS, actor=CAROL, now=NOW)
        secret, known = studies.plan_secret(db), {item.name: item.application for item in items.all_items(db)}
        anonymising.anonymise(db, out, actor=CAROL, now=NOW)
    assert len(secret) == (32 if plan_secret is None else 0)  # 128 random bits
    with open_database(out) as copy:
        assert len(recognised(copy, known, NAMES)) == (0 if secret else len(NAMES))
        assert studies.plan_secret(copy) == ""
    assert not secret or secret.encode() not in out.read_bytes()


def test_copies_of_a_study_keep_the_secret_of_its_plan_and_a_template_draws_its_own(planned, tmp_path):
    coordinating.back_up(planned, tmp_path / "backup.study", actor=CAROL, now=NOW)
    template.make_template(planned, tmp_path / "new.study", name="new", coordinator="dora", **WHO)
    with open_database(tmp_path / "backup.study") as backup, open_database(tmp_path / "new.study") as new:
        assert studies.plan_secret(backup) == studies.plan_secret(planned) != studies.plan_secret(new)
        assert len(studies.plan_secret(new)) == 32


# --- names in texts and in JSON, without a study


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
