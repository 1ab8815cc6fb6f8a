"""Write the runs that the guide's examples are made of into a small file, so that no server reads the whole demo data.

    python scripts/guide_runs.py

Run the script after a change of `BASES` in labeler/studies/labelling/guide.py or of the demo data; a test compares the
file with the demo data.
"""

import gzip
import json

from labeler.config import bundled
from labeler.files.formats import Source, read
from labeler.studies.labelling.guide import BASES, RUNS

if __name__ == "__main__":
    runs = {
        each.benchmark: each.values for each in read(Source("demo.parquet", bundled("data", "demo", "demo.parquet")))
    }
    content = {name: [runs[name][number].tolist() for number in chosen] for name, (chosen, _) in BASES.items()}
    bundled(*RUNS).write_bytes(gzip.compress(json.dumps(content).encode(), mtime=0))
