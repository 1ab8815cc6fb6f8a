"""Marked points in series: compare the marks of people and detectors, and detect changes."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use
from analysis.points._consensus import (
    MarkCluster as MarkCluster,
    MarkConsensus as MarkConsensus,
    consensus_of_marks as consensus_of_marks,
)
from analysis.points._detectors import DETECTORS as DETECTORS, Detector as Detector
from analysis.points._scores import (
    F1 as F1,
    MARGIN as MARGIN,
    MATCHINGS as MATCHINGS,
    covering as covering,
    each_against_rest as each_against_rest,
    f1 as f1,
    matches as matches,
    usable_detections as usable_detections,
)
from analysis.points._segments import Segmentation as Segmentation, Segmenter as Segmenter

if TYPE_CHECKING:
    from analysis.points._agreement import (
        AboveChance as AboveChance,
        MarginRow as MarginRow,
        MarkAgreement as MarkAgreement,
        MarkedSeries as MarkedSeries,
        StartAgreement as StartAgreement,
        interval_alpha as interval_alpha,
        intraclass as intraclass,
        mark_agreement as mark_agreement,
        start_agreement as start_agreement,
    )

_OF_AGREEMENT = (
    "AboveChance", "MarginRow", "MarkAgreement", "MarkedSeries", "StartAgreement", "interval_alpha", "intraclass",
    "mark_agreement", "start_agreement",
)  # fmt: skip
__getattr__ = on_first_use(__name__, dict.fromkeys(_OF_AGREEMENT, "_agreement"))
