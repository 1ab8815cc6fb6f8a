"""Test whether response times reveal the kind of an item: some hundred answers over the websocket, compared by kind."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from labeler.studies.course import course
from labeler.studies.model import Kind, PlanParameters
from labeler.studies.plan.lifecycle import Step
from labeler.studies.store import open_database
from tests.browser import studies
from tests.browser.conftest import Served, serving
from tests.performance.wire import is_saved
from tests.reliability._crawl_window import Caller, Heard, Visit
from tests.reliability._matching import at_chance, in_words, n_found
from tests.reliability._strangers import ALPHA, permutation_test
from tests.reliability._telltales import COORDINATOR, OTHERS, OWN, given, tasks_with_kinds
from tests.reliability.cases import Case

REVIEWERS = (OWN, *OTHERS)
N_ITEMS, N_QUICK = 180, 90
MIN_EACH = 10

Times = dict[str, dict[str, float]]  # reviewer -> code -> seconds until the answer was acknowledged


def cases(folder: Path, *, quick: bool) -> Iterator[Case]:
    """All reviewers label everything, and then the third-label round, through one server."""
    study, n_items = folder / "times.study", N_QUICK if quick else N_ITEMS
    plan = PlanParameters(5, overlap=0, retest=n_items // 6)  # many hidden copies; about every third item is split
    studies.make(study, studies.many(n_items), reviewers=REVIEWERS, parameters=plan)
    with serving(study) as served:
        times, sizes = label_everything(served)
        copies, fresh = by_kind(study, times)
        yield compared("acknowledging a hidden copy takes as long as a fresh item", copies, fresh)
        yield compared_by_size(study, sizes)
        with open_database(study) as db:
            course.change_state(db, Step.THIRD, why="because", actor=COORDINATOR, now=datetime.now(UTC))
        times, _ = label_everything(served)
        split, agreed = by_agreement(study, times)
        yield compared(
            "acknowledging a split item takes as long as an agreed item in the third-label round", split, agreed
        )


def label_everything(served: Served) -> tuple[Times, dict[str, int]]:
    """Label everything; returns the seconds by reviewer and code, and the size of each transmitted item by code."""
    times: Times = {}
    sizes: dict[str, int] = {}
    for name in REVIEWERS:
        caller = Caller(served.url, Heard()).sign_in(served.secrets[name])
        times[name] = {}
        with Visit(caller) as window:
            window.go("")
            while window.data["offers"]:  # the list gets shorter with each answer
                sizes |= {offer["code"]: size_of(offer) for offer in window.data["offers"]}
                code = window.data["offers"][0]["code"]
                answer = "dissimilar" if len(times[name]) % 3 == 0 else "similar"
                if not is_saved(window.answer(answer)):
                    raise RuntimeError(f"the answer of {name} to {code} was not kept")
                times[name][code] = window.took_s
                caller.heard.frames.clear()
    return times, sizes


def size_of(offer: Mapping[str, object]) -> int:
    """Return the number of characters of a transmitted item, with all of its plots."""
    return len(repr(offer))


def by_kind(study: Path, times: Times) -> tuple[list[float], list[float]]:
    """Return the times of hidden copies, and of the fresh items after the first hidden copy."""
    copies: list[float] = []
    fresh: list[float] = []
    with open_database(study) as db:
        for name, of_code in times.items():
            kinds = {task.code: kind for task, kind in tasks_with_kinds(db, name)}
            in_turn = [(kinds[code], took) for code, took in of_code.items()]
            begins = next((at for at, (kind, _) in enumerate(in_turn) if kind is Kind.RETEST), len(in_turn))
            copies += [took for kind, took in in_turn[begins:] if kind is Kind.RETEST]
            fresh += [took for kind, took in in_turn[begins:] if kind is not Kind.RETEST]
    return copies, fresh


def by_agreement(study: Path, times: Times) -> tuple[list[float], list[float]]:
    """The times of split items in the third-label round, and of agreed items."""
    found: dict[bool, list[float]] = {True: [], False: []}
    with open_database(study) as db:
        said = given(db)
        for name, of_code in times.items():
            items = {task.code: task.item_id for task, kind in tasks_with_kinds(db, name) if kind is Kind.THIRD}
            for code, took in of_code.items():
                if code in items:
                    found[len(said[items[code]]) > 1].append(took)
    return found[True], found[False]


def compared(what: str, one: list[float], other: list[float]) -> Case:
    if min(len(one), len(other)) < MIN_EACH:
        return Case(what, f"{len(one)} and {len(other)} answers are too few to say", passed=None)
    is_one = np.arange(len(one) + len(other)) < len(one)
    p, difference_s = permutation_test(np.array([*one, *other]), is_one, np.random.default_rng(1))
    figures = (
        f"{len(one)} and {len(other)} answers, medians {1000 * np.median(one):.2f} and {1000 * np.median(other):.2f} "
        f"ms, difference {1000 * difference_s:+.2f} ms, p = {p:.3f}"
    )
    return Case(what, figures, p >= ALPHA)


def compared_by_size(study: Path, sizes: Mapping[str, int]) -> Case:
    """An attacker who compares the sizes of transmitted items finds hidden copies no more often than by chance."""
    hits, n_pairs, n_among = 0, 0, len(sizes)
    with open_database(study) as db:
        for name in REVIEWERS:
            of_item: dict[int, list[str]] = {}
            for task, _ in tasks_with_kinds(db, name):
                of_item.setdefault(task.item_id, []).append(task.code)
            pairs = [codes for codes in of_item.values() if len(codes) == 2]
            places = {codes[0]: place for place, codes in enumerate(of_item.values())}
            wanted = [(sizes[copy], places[first]) for first, copy in pairs]
            hits += n_found(wanted, [sizes[code] for code in places], lambda size: {size})
            n_pairs, n_among = n_pairs + len(pairs), min(n_among, len(places))
    figures = in_words([("size", hits)], n_pairs, n_among)
    return Case(
        "the size of a hidden copy does not reveal its item", figures, n_pairs > 0 and at_chance(hits, n_pairs, n_among)
    )
