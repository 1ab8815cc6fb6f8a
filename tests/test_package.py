"""The package as people install it: sdist, wheel, and the commands of the wheel without a checkout."""

import email
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import time
import tomllib
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

import analysis
import labeler

ROOT = Path(__file__).parent.parent
MAX_WHEEL_BYTES = 6_000_000
START_S = 120.0  # on a busy machine


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the sdist and the wheel built from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The commands of an environment with the wheel; dependencies come from the environment of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    install = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-index",
        "--no-deps",
        wheel,
    ]
    subprocess.run(install, check=True, capture_output=True, text=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    others = [path for path in sys.path if path.endswith("-packages")]
    (packages / "dependencies.pth").write_text("\n".join(others), encoding="utf-8")
    return folder / "bin"


def output(*command, folder):
    """Return the output of a command in an empty folder, without our settings."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder, env=environment)
    return done.stdout


@pytest.mark.slow
def test_wheel_and_sdist_are_accepted_by_the_package_index(built):
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *built.iterdir()], check=True)


@pytest.mark.slow
def test_the_wheel_is_small_and_has_the_two_packages_only(wheel):
    assert wheel.stat().st_size < MAX_WHEEL_BYTES
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (scripts,) = [archive.read(name).decode() for name in names if name.endswith("entry_points.txt")]
        (metadata,) = [archive.read(name).decode() for name in names if name.endswith("METADATA")]
    assert {re.sub(r"-.*\.dist-info", ".dist-info", name.split("/")[0]) for name in names} == {
        "analysis", "labeler", "benchmark_run_labeler.dist-info"}  # fmt: skip
    assert [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".study"))] == []
    assert "labeler = labeler.cli:main" in scripts and "benchmark-run-labeler = labeler.cli:main" in scripts
    fields = email.message_from_string(metadata)
    assert (fields["Name"], fields["Version"]) == ("benchmark-run-labeler", labeler.__version__)
    assert {"oidc", "cluster"} <= set(fields.get_all("Provides-Extra") or [])


@pytest.mark.slow
def test_the_sdist_has_what_is_needed_to_test_it(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"LICENSE", "README.md", "CHANGELOG.md", "Makefile", "constraints.txt", "pyproject.toml", "scripts/check",
              "tests/conftest.py", "data/demo/demo.parquet", ".streamlit/config.toml", "action.yml", "Dockerfile",
              ".dockerignore", ".github/workflows/release.yml"}  # fmt: skip
    assert needed - names == set()


@pytest.mark.slow
def test_the_files_that_the_image_is_built_from_are_enough(wheel, tmp_path):
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert lines[lines.index("*") + 1 :]
    for name in [line.removeprefix("!") for line in lines if line.startswith("!")]:
        target = tmp_path / "context" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, tmp_path / "context"]
    subprocess.run(command, check=True, capture_output=True)
    (other,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(other) as from_context, zipfile.ZipFile(wheel) as from_sdist:
        assert sorted(from_context.namelist()) == sorted(from_sdist.namelist())
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert re.search(r"^USER (?!root)\w+$", dockerfile, re.MULTILINE) and "HEALTHCHECK" in dockerfile


@pytest.mark.slow
def test_the_commands_work_from_the_wheel_alone(installed, tmp_path):
    assert output(installed / "benchmark-run-labeler", "--version", folder=tmp_path) == output(
        installed / "labeler", "--version", folder=tmp_path
    )
    where = "import labeler, analysis; print(labeler.__file__, analysis.__file__)"
    places = output(installed / "python", "-c", where, folder=tmp_path).split()
    assert all(place.startswith(str(installed.parent)) for place in places)
    assert "Table 3" in output(installed / "labeler", "replicate", folder=tmp_path)
    (tmp_path / "runs.json").write_text("[[1.0, 1.01, 1.02], [1.01, 1.0, 1.02], [1.0, 1.02, 1.01]]", encoding="utf-8")
    assert "1 similar" in output(installed / "labeler", "check", "runs.json", folder=tmp_path)


@pytest.mark.slow
def test_the_demo_starts_from_the_wheel_alone(installed, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [installed / "labeler", "demo", "--port", str(port)]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    log = (tmp_path / "log.txt").open("w+", encoding="utf-8")
    with log, subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=log) as server:
        try:
            health, links = answer(f"http://127.0.0.1:{port}/_stcore/health", server), []
            end = time.monotonic() + START_S
            while time.monotonic() < end and len(links) < 2:  # they are printed when the server answers
                time.sleep(0.1)
                log.seek(0)
                links = re.findall(r"http://127\.0\.0\.1:\d+/s/\w+/join/\S+\n", log.read())
            pages = [answer(link.strip(), server) for link in links]
        finally:
            server.terminate()
    assert health == "ok"
    assert len(links) == 2
    assert links[0].endswith("?page=results\n")
    assert all("<form" in page for page in pages)


def answer(url, server):
    """Return the server's response at an address, as soon as the server responds."""
    end = time.monotonic() + START_S
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5) as response:
                return response.read().decode()
        except OSError:
            time.sleep(0.3)
    pytest.fail(f"{url} did not answer")


@pytest.mark.slow
def test_the_statistics_and_the_check_need_no_streamlit(tmp_path):
    everything = "import sys, analysis; [getattr(analysis, name) for name in analysis.__all__]; print(*sys.modules)"
    modules = output(sys.executable, "-c", everything, folder=tmp_path).split()
    assert {"analysis.raters.agreement", "scipy"} <= set(modules) and len(analysis.__all__) > 30
    assert [name for name in modules if name.partition(".")[0] in ("streamlit", "uvicorn", "starlette")] == []
    check = [sys.executable, "-X", "importtime", "-m", "labeler", "check", str(ROOT / "data" / "check" / "after.json")]
    done = subprocess.run(check, capture_output=True, text=True, cwd=tmp_path, check=True)
    imported = set(re.findall(r"\| +([\w.]+)$", done.stderr, flags=re.MULTILINE))
    assert "analysis.methods.check" in imported
    assert [name for name in imported if name.partition(".")[0] in ("streamlit", "uvicorn", "starlette")] == []


def test_the_interpreters_that_are_declared_are_those_of_the_page():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    assert versions[0] == project["requires-python"].removeprefix(">=")
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8").partition("## Python versions")[2]
    assert re.findall(r"\b3\.\d+\b", page.strip().split(". ")[0]) == versions
