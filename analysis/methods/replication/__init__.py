"""Check the claims of Bauer et al. (2023), doi:10.1145/3578245.3584693, with measurements and labels."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use

if TYPE_CHECKING:
    from analysis.methods.replication._claims import (
        OUTCOMES as OUTCOMES,
        Claim as Claim,
        claims_of_labels as claims_of_labels,
    )
    from analysis.methods.replication._counts import LabelScope as LabelScope
    from analysis.methods.replication._document import document as document
    from analysis.methods.replication._figures import charts as charts
    from analysis.methods.replication._measured import (
        FOCUS as FOCUS,
        READINGS as READINGS,
        Measured as Measured,
        measure as measure,
    )
    from analysis.methods.replication._survey import Replication as Replication, survey as survey

_PLACES = {
    "_claims": ("OUTCOMES", "Claim", "claims_of_labels"),
    "_counts": ("LabelScope",),
    "_document": ("document",),
    "_figures": ("charts",),
    "_measured": ("FOCUS", "READINGS", "Measured", "measure"),
    "_survey": ("Replication", "survey"),
}
__getattr__ = on_first_use(__name__, {name: module for module, names in _PLACES.items() for name in names})
