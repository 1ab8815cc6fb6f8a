"""Compare two reports number by number, also a report of an earlier version with a new computation."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.document import json_values
from analysis.report._agreement import TITLES

if TYPE_CHECKING:
    from analysis.report._report import Report

DEFINITIONS, OLDEST_DEFINITIONS = "0.2", "0.1"  # reports of the oldest definitions do not name them
# Numbers that are defined otherwise since a version: what they are called, and their places.
DEFINED_ANEW: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    "0.2": {
        "specific agreement": re.compile(r"agreement\.specific\."),
        "intervals of agreement and kappa": re.compile(
            r"(agreement|course\.(calibration|selection))\.(?!(pairs|retest)\[\d+\]\.percent|leniency(?!\.pairs\[)|order).*"
            r"\.(se|low|high|reason|band_low|band_high)$"
        ),
        "the test of equal agreement of all pairs": re.compile(r"agreement\.(homogeneity|pair_equality)($|\.|\[)"),
        "agreement with third labels": re.compile(r"agreement\.by_labels_used\[1\]"),
        "intervals of classifiers by application": re.compile(
            r"classifiers(\.|\[).*(\.(se|low|high|reason)|\.by_group(\[\d+\])*)$"
        ),
        "corrected p values of two classifiers": re.compile(r"comparisons\[\d+\]\.\w+\.p_holm$"),
        "tests and status of the latent class model": re.compile(
            r"consensus\.latent\.(state|misfit|dependence|residuals|pair_fits|left_out)($|\.|\[)|"
            r"(consensus\.latent\..*|classifiers(\.|\[).*by_consensus\.latent)\.(state|state_words)$"
        ),
    }
}
# numbers of the latent class model, which are withheld if its tests reject it
OF_LATENT_CLASS = re.compile(r"consensus\.latent\.|classifiers(\.|\[).*by_consensus\.latent")
STATUS_OF_LATENT_CLASS, REJECTED = "consensus.latent.state.state", "rejected"
# what reports lack before definitions 0.2, and the question, which was not printed as it was shown
SINCE_0_2 = re.compile(r"(agreement\.(against_the_rest|drift)|plan\.(assigned|repeats)|study\.question)($|\[|\.)")
# since definitions 0.2, withheld with fewer than 10 items: kappa of a group, interval and test of two classifiers
WITHHELD_IN_SMALL_GROUPS = re.compile(
    r"(comparisons\[\d+\]\.\w+|classifiers(\.|\[).*baseline)\.(difference\.(low|high|se|reason)|p_holm|verdict)$|"
    r"agreement\.(by_(application|date|position|time_quartile|axis_rule)|confidence\.by_confidence)\[\d+\]\.kappa\.value$"
)
ROUNDING = 1e-15  # a smaller number is a rounding error of 0

# time and versions can differ, and published numbers are not computed
NOT_COMPARED = re.compile(
    r"(definitions|study\.(reported_utc|chain)|versions|published|agreement\.by_time_on_task)($|[.\[])"
)
QUARTILES = "agreement.by_time_quartile"  # replaced by_time_on_task (thirds), together with another interval of kappa
WITH_QUARTILES = re.compile(
    rf"{QUARTILES}|agreement\.(pairs|retest)\[\d+\]\.cohen_kappa\.(se|low|high|reason|warning)$"
)


# sentences that explain a value; they are not compared because later versions can use other words
EXPLANATION = re.compile(
    r".*(^|\.)(reason|words|state_words|warning|remedies\[\d+\])$|consensus\.latent\.dependence\..*\.model$"
)

# whether a classifier may replace a reviewer; reports of earlier versions lack it
REPLACING = re.compile(r"(replacing|parameters\.epsilon)($|\[|\.)")

# planned labels that were never given; reports of earlier versions lack them
NOT_GIVEN = re.compile(r"course\.not_given($|\[)")

# states beside numbers that reports of earlier versions lack
LATER_STATES = re.compile(
    r"consensus\.latent\.(undecided\[\d+\]\.state|dependence\.best\.(prevalence|rates\[\d+\])\.state(_words)?)$"
)

# values that reports without `show_rejected` lack, compute differently, or word differently
OF_LATER_FORM = re.compile(
    r"parameters\.show_rejected$|course\.(flags|selection)($|\[|\.)|reviewers_follow($|\.)|consensus\.latent\.|"
    r"agreement\.(jackknife|if_given|confidence|time_on_task|disputed)|"
    r"classifiers(\.|\[).*(\.|\])(always_dissimilar|baseline|mcc|by_consensus\.latent)"
    r"($|\.)|.*\.(p_mid|p_holm|warning|reason|words|remedies(\[\d+\])?)$"
)


@dataclass(frozen=True)
class ReportDifference:
    """A place where two reports differ, and both values. A value is None if its report lacks this place."""

    place: str
    reported: Any
    recomputed: Any


def differences(
    reported: Mapping[str, Any], recomputed: Mapping[str, Any], *, tolerance: float = 1e-9
) -> list[ReportDifference]:
    """Return the places where two reports differ, in the order of the reported numbers.

    `tolerance` is the largest relative difference at which two numbers count as equal, because processors may differ in
    the last digits; a number below 1e-15 counts as 0 because it is a rounding error. Time and versions are not
    compared. Of reasons and warnings, only their presence is compared, not their wording. A report of an earlier form
    lacks the parameter `show_rejected`. In such a report, numbers that are now computed or withheld differently are not
    compared either: the latent class model, the baseline, corrected p-values, and the presence of reasons.
    """
    ours, theirs = dict(_leaves(recomputed)), dict(_leaves(reported))
    places = [*theirs, *(place for place in ours if place not in theirs)]
    if not any(place.startswith(QUARTILES) for place in theirs):
        places = [place for place in places if not WITH_QUARTILES.match(place)]
    if any(map(NOT_GIVEN.match, ours)) and not any(map(NOT_GIVEN.match, theirs)):
        places = [place for place in places if not (NOT_GIVEN.match(place) or place.startswith("agreement.if_given"))]
    if not any(map(REPLACING.match, theirs)):
        places = [place for place in places if not REPLACING.match(place)]
    if not any(map(LATER_STATES.match, theirs)):
        places = [place for place in places if not LATER_STATES.match(place)]
    anew = defined_anew(reported)
    places = [place for place in places if not any(pattern.match(place) for pattern in anew.values())]
    if anew and (theirs.get(STATUS_OF_LATENT_CLASS) == REJECTED) != (ours.get(STATUS_OF_LATENT_CLASS) == REJECTED):
        places = [place for place in places if not OF_LATENT_CLASS.match(place)]
    if anew:
        places = [
            place
            for place in places
            if not SINCE_0_2.match(place)
            and not (
                WITHHELD_IN_SMALL_GROUPS.match(place) and (ours.get(place, "") is None or place.endswith(".reason"))
            )
        ]
    if is_of_earlier_form(reported):
        places = [place for place in places if not OF_LATER_FORM.match(place)]
    return [
        ReportDifference(place, theirs.get(place), ours.get(place))
        for place in places
        if not NOT_COMPARED.match(place)
        and not (place in ours and place in theirs and _same(theirs[place], ours[place], tolerance))
        and not (EXPLANATION.match(place) and isinstance(theirs.get(place), str) and isinstance(ours.get(place), str))
    ]


def defined_anew(reported: Mapping[str, Any]) -> dict[str, re.Pattern[str]]:
    """Return the numbers that are defined otherwise since the report was made: names, and patterns of their places."""
    version = _version(reported.get("definitions", OLDEST_DEFINITIONS))
    return {
        name: pattern for since, of in DEFINED_ANEW.items() if version < _version(since) for name, pattern in of.items()
    }


def _version(text: Any) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", str(text)))


def is_of_earlier_form(report: Mapping[str, Any]) -> bool:
    """Return whether a report comes from an old version, which still showed the numbers of rejected models."""
    parameters = report.get("parameters")
    return isinstance(parameters, Mapping) and "show_rejected" not in parameters


def _leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every number, text and empty collection with its place, such as `agreement.pairs[0].percent.value`."""
    if isinstance(value, Mapping) and value:
        for name, entry in value.items():
            yield from _leaves(entry, _entry_place(place, str(name)))
    elif isinstance(value, (list, tuple)) and value:
        for index, entry in enumerate(value):
            yield from _leaves(entry, f"{place}[{index}]")
    else:
        yield place, value


def _entry_place(place: str, name: str) -> str:
    """Return the place of an entry in a mapping; quote the name of the entry if the name itself looks like a place."""
    if not re.fullmatch(r"[\w -]+", name):
        return f"{place}[{json.dumps(name)}]"
    return f"{place}.{name}" if place else name


def _same(a: Any, b: Any, tolerance: float) -> bool:
    are_numbers = all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in (a, b))
    if are_numbers:
        return math.isclose(a, b, rel_tol=tolerance) or (0 in (a, b) and abs(a - b) < ROUNDING)
    if isinstance(a, (Mapping, list, tuple)) and isinstance(b, (Mapping, list, tuple)):
        return len(a) == len(b) == 0
    return type(a) is type(b) and bool(a == b)


def is_former(stored: Mapping[str, Any]) -> bool:
    """Return whether a report on own categories has the layout of the former version."""
    return {"question", "coefficients", "classifiers", "parameters", "notes"} <= set(stored)


def recomputed_as(stored: Mapping[str, Any], report: "Report") -> dict[str, Any]:
    """Return the numbers of a report as JSON values, in the layout of the stored report that they are compared with.

    The intervals of the correlation of classifiers are left as they are stored: their random numbers differ now.
    """
    values: dict[str, Any] = json_values(report)
    if not is_former(stored) or report.by_category is None:
        return values
    agreement, decided, by_category = values["agreement"], values["consensus"], values["by_category"]
    retests = {row["rater"]: row for row in agreement["retest"]}
    none = {"value": None, "se": None, "low": None, "high": None, "reason": "no hidden retest"}
    parameters = {**values["parameters"], "show_rejected": False}
    coefficients = [{"name": title, "weights": "", "value": _estimate(agreement[name])} for name, title in TITLES]
    return {
        "definitions": values["definitions"],
        **{name: values[name] for name in ("study", "question", "plan", "hashes", "versions", "notes")},
        "parameters": {name: parameters.get(name, value) for name, value in stored["parameters"].items()},
        "level": parameters["level"],
        "seed": parameters["resampling"]["seed"],
        "n_draws": parameters["resampling"]["n_bootstrap"],
        "n_items": decided["n_items"],
        "n_labels": agreement["n_labels"],
        "n_items_with_two_labels": agreement["n_items_with_two_labels"],
        "n_agreed": decided["agreed"],
        "n_split": decided["split"],
        "n_adjudicated": decided["majority"]["adjudicated"],
        "percent": agreement["percent"],
        "coefficients": [*coefficients, *by_category["weighted"]],
        "categories": [{name: row[name] for name in row if name != "kappa"} for row in values["categories"]],
        "pairs": [
            {name: pair[name] for name in ("a", "b", "n", "agree", "percent", "cohen_kappa")}
            for pair in agreement["pairs"]
        ],
        "reviewers": [
            {**row, "n_retests": retests.get(row["reviewer"], {"n": 0})["n"],
             "retest": retests.get(row["reviewer"], {"percent": none})["percent"]}
            for row in by_category["reviewers"]
        ],
        "truth": {name: by_category["truth"][name] for name in ("identified", "words", "prevalence", "errors")},
        "classifiers": [
            {"classifier": name, **row, "result": _without_draws(row["result"], name, stored)}
            for name, row in by_category["classifiers"].items()
        ],
        "comparisons": by_category["comparisons"],
    }  # fmt: skip


def _estimate(kappa: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in kappa.items() if not name.startswith("band_")}


def _without_draws(result: Mapping[str, Any], name: str, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of a classifier with the stored interval of its correlation."""
    known: Mapping[str, Any] = next(
        (row["result"]["mcc"] for row in stored["classifiers"] if row["classifier"] == name), {}
    )
    drawn = {end: known[end] for end in ("se", "low", "high") if end in known}
    return {**result, "mcc": {**result["mcc"], **drawn}}
