"""Write the table of claims in docs/results/replication.md.

    python scripts/replication_guide.py FOLDER

FOLDER has the measurements of the data set, such as the 203 benchmarks that the page is about. A test compares the page
with the output of this script.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from analysis.methods.replication import Claim
from labeler.config import bundled
from labeler.files import gathering
from labeler.studies.items import importing
from labeler.studies.results import replicating

PAGE = Path(__file__).parent.parent / "docs" / "results" / "replication.md"
HEADER = ["| where | claim | paper | ours | outcome |", "|---|---|---|---|---|"]
BEFORE = "| where | claim |"
BY_CONSTRUCTION = "reproduced by construction"


def filled(page: str, claims: Sequence[Claim]) -> str:
    """Return the page with a new table of the claims that were not reproduced by construction."""
    lines = page.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith(BEFORE))
    last = next((n for n, line in enumerate(lines[first:], first) if not line.startswith("|")), len(lines))
    rows = [
        f"| {' | '.join((claim.where, claim.claim, claim.paper, claim.ours, claim.outcome))} |"
        for claim in claims
        if claim.outcome != BY_CONSTRUCTION
    ]
    return "\n".join([*lines[:first], *HEADER, *rows, *lines[last:]]) + "\n"


def main() -> None:
    """Compute the claims and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    measuring = replicating.Measuring()
    gathering.from_files(list(importing.files_below([parser.parse_args().folder])), use=measuring.add)
    claims = replicating.replicate(measuring, bundled("data", "replication")).replication.claims
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), claims), encoding="utf-8")


if __name__ == "__main__":
    main()
