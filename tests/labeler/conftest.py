"""Shared parts of the tests of the application: small studies at several stages, and actions of people."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from labeler.studies.store import Database
from tests.labeler.packages import Site
from tests.making import copy_of, make_study

NOBODY, ENTER = 65534, 0o011


@pytest.fixture(scope="session")
def masters(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One closed file per stage, to be copied."""
    folder = tmp_path_factory.mktemp("masters")
    made = {stage: folder / f"{stage}.study" for stage in ("empty", "unplanned", "planned")}
    make_study(made["empty"], n_items=0, reviewers=())
    make_study(made["unplanned"])
    make_study(made["planned"], plan=True)
    return made


@pytest.fixture
def study_path(tmp_path: Path) -> Path:
    """The path for a new study."""
    return tmp_path / "new.study"


@pytest.fixture
def db(masters: dict[str, Path], tmp_path: Path) -> Iterator[Database]:
    """A new study with one coordinator and nothing else."""
    with copy_of(masters["empty"], tmp_path) as opened:
        yield opened


@pytest.fixture
def study(masters: dict[str, Path], tmp_path: Path) -> Iterator[Database]:
    """A study with 8 items and 4 reviewers, and no plan."""
    with copy_of(masters["unplanned"], tmp_path) as opened:
        yield opened


@pytest.fixture
def planned(masters: dict[str, Path], tmp_path: Path) -> Iterator[Database]:
    """The same study, planned and open: 5 assignments per reviewer, 2 items seen by all."""
    with copy_of(masters["planned"], tmp_path) as opened:
        yield opened


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A folder for other packages, which this process and its child processes find."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")])))
    installed = Site(folder)
    yield installed
    installed.clear()


@contextmanager
def unprivileged(folder: Path) -> Iterator[None]:
    """Drop root's rights, keeping access to the folder, because permissions do not restrict root."""
    if os.geteuid() != 0:
        yield
        return
    modes = {parent: stat.S_IMODE(parent.stat().st_mode) for parent in folder.resolve().parents}
    closed = {parent: mode for parent, mode in modes.items() if mode & ENTER != ENTER}
    try:
        for parent, mode in closed.items():
            parent.chmod(mode | ENTER)
        os.seteuid(NOBODY)
        try:
            yield
        finally:
            os.seteuid(0)
    finally:
        for parent, mode in closed.items():
            parent.chmod(mode)
