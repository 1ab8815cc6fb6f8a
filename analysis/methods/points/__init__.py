"""Marked points in series: compare the marks of people and detectors, and detect changes."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use
from analysis.methods.points._consensus import (
    MarkCluster as MarkCluster,
    MarkConsensus as MarkConsensus,
    consensus_of_marks as consensus_of_marks,
    margin_of as margin_of,
)
from analysis.methods.points._detectors import (
    DETECTORS as DETECTORS,
    NONE as NONE,
    STEPS as STEPS,
    Detector as Detector,
)
from analysis.methods.points._scores import (
    F1 as F1,
    MARGIN as MARGIN,
    MATCHINGS as MATCHINGS,
    PUBLISHED as PUBLISHED,
    covering as covering,
    each_against_rest as each_against_rest,
    f1 as f1,
    matches as matches,
    usable_detections as usable_detections,
)
from analysis.methods.points._steps import (
    ALPHA as ALPHA,
    LEAST_VERSIONS as LEAST_VERSIONS,
    ROUNDING as ROUNDING,
    Levels as Levels,
    find_levels as find_levels,
    on_log_scale as on_log_scale,
    rounding_variance as rounding_variance,
)
from analysis.runs.segments import Segmentation as Segmentation, Segmenter as Segmenter

if TYPE_CHECKING:
    from analysis.methods.points._agreement import (
        N_PERMUTATIONS as N_PERMUTATIONS,
        AboveChance as AboveChance,
        MarginRow as MarginRow,
        MarkAgreement as MarkAgreement,
        MarkedSeries as MarkedSeries,
        StartAgreement as StartAgreement,
        WithinRow as WithinRow,
        interval_alpha as interval_alpha,
        intraclass as intraclass,
        mark_agreement as mark_agreement,
        start_agreement as start_agreement,
    )
    from analysis.methods.points._document import document as document, in_short as in_short, sections as sections
    from analysis.methods.points._figures import charts as charts
    from analysis.methods.points._survey import (
        CHANGES as CHANGES,
        STARTS as STARTS,
        DetectorResult as DetectorResult,
        DetectorScore as DetectorScore,
        ItemMarks as ItemMarks,
        PointsSurvey as PointsSurvey,
        survey as survey,
    )

_LATER = {
    "_agreement": (
        "N_PERMUTATIONS", "AboveChance", "MarginRow", "MarkAgreement", "MarkedSeries", "StartAgreement", "WithinRow",
        "interval_alpha", "intraclass", "mark_agreement", "start_agreement",
    ),
    "_document": ("document", "in_short", "sections"),
    "_figures": ("charts",),
    "_survey": ("CHANGES", "STARTS", "DetectorResult", "DetectorScore", "ItemMarks", "PointsSurvey", "survey"),
}  # fmt: skip
__getattr__ = on_first_use(__name__, {name: module for module, names in _LATER.items() for name in names})
