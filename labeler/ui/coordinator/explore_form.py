"""What the methods may be asked about, and with."""

from typing import Any

import streamlit as st

from labeler.errors import InputError
from labeler.service import exploring, folders, importing
from labeler.service.exploring import Gathered

WARMUP = "Iterations, or a share below 1."
INSTRUMENTED = "The condition or factor that says how much was instrumented."
HELD_FIXED = "The level of the condition intervention at which the suspected cause is held fixed."


def chosen_files(method: str) -> tuple[list[Any], str]:
    """The files to work on, and what their names say of their runs."""
    files = st.file_uploader("Result files", folders.UPLOADED, accept_multiple_files=True, key=f"files-{method}")
    pattern = st.text_input("What their names say, such as {version}-{context}.json", key=f"pattern-{method}")
    return files, pattern.strip()


def of_files(files: list[Any], pattern: str) -> Gathered:
    """Their benchmarks; the files that could not be used are named."""
    if not files:
        raise InputError("Choose at least one file.")
    uploads = importing.uploads((file.name, file.getvalue()) for file in files)
    gathered = exploring.from_files(uploads, importing.read_options(None, {}), pattern=pattern or None)
    for error in gathered.refused:
        st.error("This file was refused; everything else was read.")
        st.text(str(error))
    return gathered


def asked_for(method: str) -> dict[str, Any]:
    """The options as `exploring.explore` takes them, but warmup and aggregate, from which it takes a sampling."""
    left, middle, right = st.columns(3)
    options: dict[str, Any] = {
        "aggregate": left.selectbox("What stands for a run", exploring.AGGREGATES, key=f"aggregate-{method}"),
        "warmup": middle.number_input("Warm-up left out of each run", 0.0, key=f"warmup-{method}", help=WARMUP),
        "alpha": right.number_input("Level of the tests", 0.001, 0.5, 0.05, 0.01, "%.3f", key=f"alpha-{method}"),
    }
    left, middle, right = st.columns(3)
    if method == "spread":
        options["per"] = int(left.number_input("Average over so many runs (0: all)", 0, key="per")) or None
    if method == "trust":
        options["n_runs"] = int(left.number_input("How many runs one measures", 1, 100, 5, key="n-runs"))
    if method in ("order", "contexts"):
        options["baseline"] = left.text_input("Version to compare with [first]", key=f"baseline-{method}").strip()
        options["candidate"] = middle.text_input("Other version [second]", key=f"candidate-{method}").strip()
    if method == "contexts":
        options["instrumentation"] = right.text_input("Instrumentation", key="instrument", help=INSTRUMENTED).strip()
        options["held_fixed"] = left.text_input("Intervention", key="held-fixed", help=HELD_FIXED).strip()
    return {name: None if option == "" else option for name, option in options.items()}
