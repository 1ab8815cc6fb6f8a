"""Check benchmark results in a build: are the runs similar, and has a benchmark changed against the baseline?"""

from analysis.methods.check._changes import Noise as Noise, noise as noise
from analysis.methods.check._check import check as check
from analysis.methods.check._document import (
    document as document,
    markdown as markdown,
    summarise as summarise,
    to_lines as to_lines,
)
from analysis.methods.check._results import (
    DEFAULT_RULES as DEFAULT_RULES,
    FOUND as FOUND,
    INCONCLUSIVE as INCONCLUSIVE,
    NOT_DONE as NOT_DONE,
    NOTHING_FOUND as NOTHING_FOUND,
    Check as Check,
    Finding as Finding,
    KnownChange as KnownChange,
    Limit as Limit,
    Rules as Rules,
    acknowledge as acknowledge,
    combine as combine,
    confirm as confirm,
    stopped as stopped,
    with_refused as with_refused,
)
from analysis.methods.check._sides import ALLOWED as ALLOWED, STEP as STEP
