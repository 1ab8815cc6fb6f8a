import hashlib
import struct

import numpy as np
from hypothesis import given, strategies as st

from labeler.studies.model import combined_hash, measurement_hash

RUNS = st.lists(st.lists(st.floats(allow_nan=False), max_size=8), min_size=1, max_size=5)


def arrays(runs):
    return [np.array(run, dtype=np.float64) for run in runs]


def hash_by_hand(runs):
    lengths = b"".join(struct.pack("<q", len(run)) for run in runs)
    values = b"".join(struct.pack("<d", value) for run in runs for value in run)
    return hashlib.sha256(lengths + values).hexdigest()


@given(RUNS)
def test_the_hash_of_measurements_is_sha256_of_the_lengths_and_then_of_the_values(runs):
    assert measurement_hash(arrays(runs)) == hash_by_hand(runs)


@given(RUNS)
def test_the_hash_does_not_depend_on_how_the_numbers_lie_in_memory(runs):
    expected = measurement_hash(arrays(runs))
    read_only = arrays(runs)
    for run in read_only:
        run.flags.writeable = False
    assert measurement_hash([run.astype(">f8") for run in arrays(runs)]) == expected
    assert measurement_hash([run.astype("<f8") for run in arrays(runs)]) == expected
    assert measurement_hash([np.repeat(run, 2)[::2] for run in arrays(runs)]) == expected
    assert measurement_hash([run[::-1].copy()[::-1] for run in arrays(runs)]) == expected
    assert measurement_hash(read_only) == expected
    assert measurement_hash(tuple(arrays(runs))) == expected


HASHES = st.lists(st.text("0123456789abcdef", min_size=64, max_size=64), max_size=6)


@given(HASHES, st.randoms(use_true_random=False))
def test_the_combined_hash_does_not_depend_on_the_order(hashes, random):
    shuffled = random.sample(hashes, len(hashes))
    assert combined_hash(shuffled) == combined_hash(iter(hashes))


def test_the_combined_hash_by_hand():
    assert combined_hash(["ff", "0a"]) == hashlib.sha256(b"0a\nff").hexdigest()
