"""Write an anonymised copy of a study, without names, addresses or sign-ins.

The report of the copy has the same numbers as the report of the study, except those that rest on random draws: draws
follow the order of the names, so these numbers can change slightly. In free text, full names and addresses are
replaced where they occur as whole words. A first name alone or a nickname is not recognised.

The copy has neither the seed nor the secret of the plan, because anyone who knows the exact names could use both to
find out who labelled what. For the same reason, the hash of the plan is computed from the new names, the log has no
hashes of changed plans, and each answer gets a new event id.
"""

import json
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from labeler.errors import StudyError
from labeler.studies.items import drawing
from labeler.studies.model import Origin, Person, Role
from labeler.studies.plan.design import hash_of, key
from labeler.studies.preparing import assigning
from labeler.studies.questions import hash_in_plan
from labeler.studies.store import (
    Database,
    actions,
    assignments,
    chain,
    copies,
    events,
    items,
    open_database,
    people,
    studies,
)
from labeler.studies.store.events import Deed
from labeler.text import Words, folded, without_folders

TIMES_STAY = (
    "The copy has the date and time of every answer, because its log, its audit and its report are computed from them. "
    "Anyone who knows when a person labelled can find this person in it. `labeler publish` writes labels without dates."
)
SEED = frozenset({"seed"})  # the private field that a copy has if `keep_seed` is true
NAMING = frozenset(action.name for action in (actions.REMOVE_IMPORT, actions.KNOWN_CHANGES))
SOMEBODY = "somebody"  # replaces an address whose person is no longer in the study
_STRING = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?')  # a string in JSON; if a colon follows, the string is a key

Rewritten = Callable[[str], str]


@dataclass(frozen=True)
class AnonymisationResult:
    """The result of writing an anonymised copy."""

    n_reviewers: int
    n_coordinators: int
    n_comments: int  # number of comments that were kept or left out


def anonymise(
    db: Database,
    out: Path,
    *,
    keep_comments: bool = False,
    keep_benchmarks: bool = True,
    token: str | None = None,
    dry_run: bool = False,
    actor: str,
    now: datetime,
) -> AnonymisationResult:
    """Write a copy of the study without names, addresses and sign-ins.

    The copy also lacks the metadata of the runs, such as the name of the machine. Names and addresses in comments are
    replaced even where comments are kept. Unless `keep_benchmarks` is true, numbers replace the names of items,
    benchmarks and applications, and parameters and files are left out. `token` decides the order of the new names; by
    default it is random, and it is never stored. With `dry_run`, the copy is removed again, and the log has no event.
    Raises StudyError if the file exists or cannot be written. No incomplete file remains.
    """
    chosen = {"comments": "keep" if keep_comments else "drop", "benchmarks": "keep" if keep_benchmarks else "drop"}
    try:
        if out.exists():
            raise StudyError(f"{out} exists already. Choose another file name.")
        with TemporaryDirectory(prefix=".anonymise-", dir=out.parent) as folder:
            partial_file = Path(folder) / "copy.study"
            done = copy_without_names(
                db,
                partial_file,
                token=token or secrets.token_hex(32),
                keep_comments=keep_comments,
                keep_benchmarks=keep_benchmarks,
                entry=(now, chosen),
            )
            if dry_run:
                return done
            partial_file.rename(out)
    except OSError as error:
        raise StudyError(f"The anonymised study could not be written to {out}: {error.strerror}.") from error
    with events.by(db, actor, now) as deed:
        deed.log(actions.ANONYMISE, file=out.name, **chosen)
    return done


def copy_without_names(
    db: Database,
    file: Path,
    *,
    token: str,
    keep_comments: bool = False,
    keep_benchmarks: bool = True,
    keep_seed: bool = False,
    forget: Callable[[str, str], bool] | None = None,
    entry: tuple[datetime, Mapping[str, str]] | None = None,
) -> AnonymisationResult:
    """Write an anonymised copy of the study into a new file; the same study and token always give the same copy.

    `token` decides the order of the new names. With the seed of the plan (`keep_seed`), anyone who knows the names can
    identify the people. `forget` takes time and action of an event and says whether to leave it out; `entry` is the
    time and details of an event added at the end of the log. Raises OSError if the file cannot be written.
    """
    db.backup(file)
    with open_database(file) as copy:
        with copy.atomic(), copies.rewritable(copy):
            done = _anonymise(
                copy, token, keep_comments=keep_comments, keep_benchmarks=keep_benchmarks, keep_seed=keep_seed
            )
            if forget is not None:
                copies.forget_events(copy, forget)
            if entry is not None:
                Deed(copy, "owner", entry[0]).log(actions.ANONYMISE, **entry[1])
            chain.rebuild(copy)  # the content has changed, so the copy gets a new hash chain
        copies.seal(copy)
    return done


def pseudonyms(everyone: Iterable[Person], token: str) -> dict[str, str]:
    """Return new names such as R1 for reviewers and C1 for other people.

    The names are numbered in the order of a hash of the token and the name.

    Examples
    --------
    >>> ada = Person(1, "ada", frozenset({Role.REVIEWER}), active=True)
    >>> carol = Person(2, "carol", frozenset({Role.COORDINATOR}), active=True)
    >>> pseudonyms([carol, ada], "any")
    {'ada': 'R1', 'carol': 'C1'}
    """
    ordered = sorted(everyone, key=lambda person: key(0, token, person.name))
    reviewers = [person.name for person in ordered if Role.REVIEWER in person.roles]
    coordinators = [person.name for person in ordered if Role.REVIEWER not in person.roles]
    numbered = {name: f"R{number}" for number, name in enumerate(reviewers, start=1)}
    return numbered | {name: f"C{number}" for number, name in enumerate(coordinators, start=1)}


def replacing(replacements: Mapping[str, str], untouched: Collection[str] = ()) -> Rewritten:
    """Return a function that replaces names in a text.

    The returned function replaces whole words only, in upper or lower case. It reads the text only once, so that a
    replacement is never replaced again. Where two names overlap, the longer one is replaced. Texts in `untouched` stay,
    unless the whole text is a name.

    Examples
    --------
    >>> hidden = replacing({"Ben": "R1", "Ben Lee": "R2"})
    >>> hidden("ask ben lee, or BEN; not the bench")
    'ask R2, or R1; not the bench'
    """
    words = Words(replacements)
    new_of = {name: replacements[name] for name in replacements} | {
        folded(name): new for name, new in replacements.items()
    }

    @cache  # cached, because the same few words occur in the views of all answers
    def replaced(text: str) -> str:
        whole = new_of.get(text) or new_of.get(folded(text))
        if whole is not None or text in untouched:
            return whole or text
        return words.replaced(text, replacements.__getitem__)

    return replaced


def in_json(text: str, rewritten: Rewritten) -> str:
    """Replace all strings in a JSON text except keys; all other bytes stay the same.

    Examples
    --------
    >>> in_json('{"ada": ["ada", 1.50]}', replacing({"ada": "R1"}))
    '{"ada": ["R1", 1.50]}'
    """

    def literal(match: re.Match[str]) -> str:
        old = match[1] if match[2] else json.loads(match[1])
        new = old if match[2] else rewritten(old)
        return match[0] if new == old else json.dumps(new, ensure_ascii=text.isascii())

    return _STRING.sub(literal, text)


def _anonymise(
    copy: Database, token: str, *, keep_comments: bool, keep_benchmarks: bool, keep_seed: bool
) -> AnonymisationResult:
    kept = SEED if keep_seed else frozenset[str]()
    names = pseudonyms(people.all_people(copy), token)
    words = {text: names.get(name, SOMEBODY) for text, name in other_names(copy).items()} | names
    if not keep_benchmarks:
        words = _number_benchmarks(copy, token) | words
    words |= _new_codes(copy, token)
    copies.rewrite(copy, "people", "name", names.__getitem__)
    copies.forget_who_signed_in(copy)
    copies.forget_sources(copy)
    studies.renew_picture_secret(copy)
    if not keep_seed:
        studies.forget_plan_secret(copy)
    needed = drawing.neutral_conditions(copy)
    copies.forget_conditions(copy, needed)
    if needed:
        drawing.refresh(copy)  # stored pictures could name versions
    if not keep_comments:
        copies.forget_replies(copy)
    _renumber(copy, list(names.values()))
    words |= _make_plan_hash_anew(copy, actions.DRAW_PLAN.private - kept)
    untouched = {item.name for item in items.all_items(copy, with_checks=True)}
    hidden = partial(_hidden, replacing(words, untouched), untouched)
    n_comments = _rewrite_texts(copy, hidden, kept, keep_comments=keep_comments)
    for table in ("labels", "decisions"):
        copies.rewrite(copy, table, "event_id", partial(key, 0, token))
    n_reviewers = sum(name.startswith("R") for name in names.values())
    return AnonymisationResult(n_reviewers, len(names) - n_reviewers, n_comments)


def _hidden(replaced: Rewritten, untouched: Collection[str], text: str) -> str:
    """Return a text with the new names, and without the folders of somebody's computer."""
    return replaced(text) if text in untouched else without_folders(replaced(text))


def other_names(copy: Database) -> dict[str, str]:
    """Return all current and former e-mail addresses and shown names, as text -> name of the person."""
    found = people.emails(copy)
    for event in events.of_actions(copy, [actions.SET_EMAIL, actions.RENAME_PERSON]):
        shown = event.details.get("shown") or event.details.get("email", "")  # a copy has no addresses
        found[shown] = event.details.get("name", SOMEBODY)
    return {text: name for text, name in found.items() if text}


def _renumber(copy: Database, names: list[str]) -> None:
    """Give people ids in the order of their new names, and assignments ids in the order of their codes.

    The old ids would reveal the order in which people were added.
    """
    numbers = {name: number for number, name in enumerate(names, start=1)}
    copies.renumber(copy, "people", {person.person_id: numbers[person.name] for person in people.all_people(copy)})
    in_order = enumerate(copies.assignments_by_code(copy), start=1)
    copies.renumber(copy, "assignments", {assignment_id: number for number, assignment_id in in_order})


def _new_codes(copy: Database, token: str) -> dict[str, str]:
    """Give assignments new codes, because reviewers know the codes that they saw; return {old code: new code}."""
    codes = copies.codes(copy)
    order = sorted(codes, key=partial(key, 0, token))
    new = dict(zip(order, assigning.codes_in_order(len(order)), strict=True))
    copies.rewrite(copy, "assignments", "code", new.__getitem__)
    return new


def _make_plan_hash_anew(copy: Database, left_out: Collection[str]) -> dict[str, str]:
    """Store the hash of the plan with the new names and the remaining parameters; return {old hash: new hash}."""
    study = studies.get(copy)
    if study.plan_hash is None:
        return {}
    planned = (row.assignment for row in assignments.everything(copy) if row.origin is Origin.PLAN)
    new_hash = hash_of(planned, hash_in_plan(study.question))
    studies.set_plan(copy, _without(study.plan_parameters or {}, left_out), new_hash)
    return {study.plan_hash: new_hash}


def _number_benchmarks(copy: Database, token: str) -> dict[str, str]:
    """Replace the names of items, benchmarks and applications by numbers; return {old name: new name}.

    The numbers are drawn at random, and items get ids in the order of their numbers: files are often imported in the
    order of the alphabet. Without salt, hashes of published measurements would name the items.
    """
    all_items = items.all_items(copy, with_checks=True)
    copies.forget_parameters(copy)
    copies.forget_files(copy)
    copies.salt_hashes(copy, partial(key, 0, token))
    words: dict[str, str] = {}
    for column, noun in (("application", "application"), ("benchmark", "benchmark"), ("name", "item")):
        numbers = _numbered({getattr(item, column) for item in all_items} - {""}, noun, token)
        copies.rewrite(copy, "items", column, partial(_looked_up, numbers))
        words |= numbers
    by_number = sorted(all_items, key=lambda item: words[item.name])
    copies.renumber(copy, "items", {item.item_id: number for number, item in enumerate(by_number, start=1)})
    _merge_imports(copy, words)
    return words


def _merge_imports(copy: Database, words: Mapping[str, str]) -> None:
    """Give the first event of each import all its items, and remove what else names files or benchmarks.

    Each file has an event, and files are mostly imported in the order of their names.
    """
    imports: dict[str, list[str]] = {}
    for event in events.of_actions(copy, [actions.IMPORT_FILE]):
        of_import = imports.setdefault(event.at_utc, [])
        of_import += [words[name] for name in event.details.get("items", ()) if name in words]

    def merged(at_utc: str, action: str, text: str) -> str:
        if action == actions.IMPORT_FILE.name:
            return json.dumps({"items": sorted(imports.pop(at_utc, ()))})
        return "{}" if action in NAMING else text

    events.rewrite(copy, merged)


def _numbered(texts: Collection[str], noun: str, token: str) -> dict[str, str]:
    digits, in_order = max(3, len(str(len(texts)))), sorted(texts, key=partial(key, 0, token, noun))
    return {text: f"{noun}-{number:0{digits}}" for number, text in enumerate(in_order, start=1)}


def _looked_up(replacements: Mapping[str, str], text: str) -> str:
    return replacements.get(text, text)


def _rewrite_texts(copy: Database, hidden: Rewritten, kept: Collection[str], *, keep_comments: bool) -> int:
    """Replace names in each text that a person may have written; return the number of comments."""
    n_texts = {}
    for table, column in copies.FREE_TEXTS:
        if (table, column) == ("events", "details"):
            events.rewrite(copy, partial(_details, hidden, kept))
        elif (table, column) == ("labels", "comment") and not keep_comments:
            n_texts[column] = copies.rewrite(copy, table, column, lambda _: None)
        else:
            of_column = partial(in_json, rewritten=hidden) if column in ("view", "definition") else hidden
            n_texts[column] = copies.rewrite(copy, table, column, of_column)
    return n_texts["comment"]


def _details(hidden: Rewritten, kept: Collection[str], _at_utc: str, action: str, text: str) -> str:
    """Return the details of an event with the new names and without its private fields, except those that are kept.

    Lists of people are sorted by new name. Nothing is kept of an event whose action is unknown.
    """
    if action not in actions.ACTIONS:
        return "{}"
    details = json.loads(text)
    published = _without(details, actions.ACTIONS[action].private - set(kept))
    for name, value in published.items():
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            new = [hidden(part) for part in value]
            published[name] = value if new == value else sorted(new)
    return in_json(text if published == details else json.dumps(published, ensure_ascii=False), hidden)


def _without(values: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}
