"""Compute a report from labels and verdicts: all numbers, typed, and a document that shows the same numbers."""

from analysis.report._agreement import PICTURES as PICTURES
from analysis.report._attention import (
    AttentionChecks as AttentionChecks,
    CheckAnswer as CheckAnswer,
    attention_checks as attention_checks,
    describe_attention as describe_attention,
    describe_checked as describe_checked,
)
from analysis.report._classifiers import main_rates as main_rates
from analysis.report._consensus import UNDECIDED as UNDECIDED
from analysis.report._course import how_chosen as how_chosen
from analysis.report._differences import ReportDifference as ReportDifference, differences as differences
from analysis.report._document import (
    document as document,
    draw as draw,
    paper_tables as paper_tables,
    to_html as to_html,
    to_latex as to_latex,
    to_markdown as to_markdown,
    undecided as undecided,
    wide as wide,
)
from analysis.report._in_short import ShortSentence as ShortSentence, in_short as in_short
from analysis.report._replacing import EXPERT as EXPERT
from analysis.report._report import (
    PAPER as PAPER,
    PublishedNumber as PublishedNumber,
    Report as Report,
    judges_classifiers as judges_classifiers,
    summarise as summarise,
)
from analysis.report._settings import (
    SIGNS as SIGNS,
    SIMILARITY as SIMILARITY,
    CategorySet as CategorySet,
    Provenance as Provenance,
    Resampling as Resampling,
    registry as registry,
    registry_of_rules as registry_of_rules,
)
from analysis.report._units import (
    Units as Units,
    applications_of as applications_of,
    estimate_by as estimate_by,
    groups_of_items as groups_of_items,
    units_of as units_of,
)
