"""Shared parts of several tests: golden values, folders of real data, missing tools, the order of tests."""

import asyncio
import gc
import json
import os
import random
import shutil
import sys
from collections import defaultdict
from collections.abc import Collection, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pytest
from hypothesis import settings

# As on the command line: several threads of OpenBLAS slow down small matrices. NumPy reads this when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A slow machine is not a failure. Ordinary runs try a tenth of the examples, the same in every run; `make flicker`
# draws others, and `make test-all` tries all of them.
settings.register_profile("all", deadline=None)
settings.register_profile("drawn", settings.get_profile("all"), max_examples=10)
settings.register_profile("daily", settings.get_profile("drawn"), derandomize=True, database=None)
settings.load_profile("daily")

WAITING = {"browser", "reliability"}  # folders whose tests start servers
GOLDEN = Path(__file__).parent / "golden"
T = TypeVar("T")


def examples(n: int) -> int:
    """Settings for `n` examples with `make test-all`, and for a tenth of them in ordinary runs."""
    assert settings.default is not None
    return -(-n * settings.default.max_examples // 100)


def some_slow(values: Iterable[Any], slow: Collection[Any]) -> list[Any]:
    """Return the values for a parametrised test; the slow values only run with `make test-all`."""
    return [pytest.param(value, marks=pytest.mark.slow) if value in slow else value for value in values]


def missing(what: str, remedy: str) -> NoReturn:
    """Skip a test whose tool is not installed; fail where CI promises that everything runs."""
    message = f"no {what}; {remedy}"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


def tool(name: str, remedy: str) -> str:
    """Return the path of a program; without it, the test is skipped."""
    return shutil.which(name) or missing(name, remedy)


def completed(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine, run in a thread: in this one, the browser of other tests runs a loop."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, work).result()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run modules, and the tests in each, in a drawn order")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Let each process begin with a different test module, so that in a new checkout pytest rewrites each module once.

    All processes would otherwise rewrite the same modules at the same time, which takes ten seconds of each.
    """
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    if number == 0 or session.config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    paths = sorted(Path(__file__).parent.rglob("test_*.py"))
    first = len(paths) * number // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for path in (*paths[first:], *paths[:first]):
        with suppress(Exception, pytest.skip.Exception):  # pytest reports what is wrong when it collects the module
            import_module(".".join(path.relative_to(session.config.rootpath).with_suffix("").parts))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let tests that wait for servers and browsers begin, so that no process is left with them at the end.

    Shuffle the tests if asked to; a module stays together, because its tests share what is built once.
    """
    seed = config.getoption("--shuffle")
    if seed is None:
        items.sort(key=lambda item: not WAITING.intersection(item.path.parts))
        return
    drawn = random.Random(seed)
    modules: dict[Path, list[pytest.Item]] = defaultdict(list)
    for item in items:
        modules[item.path].append(item)
    groups = list(modules.values())
    drawn.shuffle(groups)
    for group in groups:
        drawn.shuffle(group)
    items[:] = [item for group in groups for item in group]


def pytest_collection_finish() -> None:
    """Look for garbage less often: by default the thousands of collected tests are searched again and again."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name each reason for skipped tests once, with the number of tests."""
    skipped: dict[str, list[Any]] = defaultdict(list)
    for report in terminalreporter.stats.get("skipped", ()):
        skipped[str(report.longrepr[2]).removeprefix("Skipped: ")].append(report)
    for reason, reports in sorted(skipped.items()):
        kind = "browser test" if all("browser" in report.keywords for report in reports) else "test"
        terminalreporter.write_line(f"{len(reports)} {kind}{'s' if len(reports) > 1 else ''} skipped: {reason}")


def golden(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def main_module() -> Iterator[None]:
    """Streamlit's test runner leaves its script as `__main__`, which worker processes of later tests would import."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture(scope="session")
def golden_agreement() -> dict[str, Any]:
    """Published agreement cases by id."""
    return {case["id"]: case for case in golden("agreement")["cases"]}


@pytest.fixture(scope="session")
def icpe_dir() -> Path:
    """The folder with the benchmarks of the ICPE 2023 data challenge."""
    folder = os.environ.get("LABELER_ICPE_DIR")
    if not folder:
        pytest.skip("set LABELER_ICPE_DIR to the folder with the ICPE 2023 data challenge files to run this test")
    return Path(folder)


@pytest.fixture(scope="session")
def published_classes() -> Path:
    """The file with the published classes of the ICPE 2023 benchmarks (change-point detection)."""
    folder = os.environ.get("LABELER_STEADY_STATE_DIR")
    if not folder:
        pytest.skip("set LABELER_STEADY_STATE_DIR to the folder with published.json to run this test")
    return Path(folder) / "published.json"
