"""Check benchmark results in a build: are the runs similar, and has a benchmark changed against the baseline?"""

from analysis.check._check import check as check
from analysis.check._confirm import confirm as confirm
from analysis.check._design import STEP as STEP
from analysis.check._document import document as document, markdown as markdown
from analysis.check._known import acknowledge as acknowledge
from analysis.check._machine import ALLOWED as ALLOWED
from analysis.check._model import (
    DEFAULT_RULES as DEFAULT_RULES,
    FOUND as FOUND,
    INCONCLUSIVE as INCONCLUSIVE,
    NOTHING_FOUND as NOTHING_FOUND,
    Check as Check,
    Finding as Finding,
    KnownChange as KnownChange,
    Limit as Limit,
    Rules as Rules,
)
from analysis.check._noise import Noise as Noise, noise as noise
from analysis.check._several import combine as combine
from analysis.check._summary import summarise as summarise, to_lines as to_lines
