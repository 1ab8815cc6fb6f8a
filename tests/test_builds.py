"""The check in builds: the action and the workflows of docs/ci.md, run on a simulated pull request."""

import json
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
import yaml

import labeler
from tests.conftest import some_slow
from tests.workflows import ACTION, ROOT, Runner, example, tools

SCHEMAS = (sys.executable, "-m", "check_jsonschema", "--builtin-schema")
CHECK = ROOT / "data" / "check"
BENCHMARKS = """
import argparse, random
import pyperf

parser = argparse.ArgumentParser()
parser.add_argument("--processes", type=int)
parser.add_argument("--append")
given = parser.parse_args()
level = float(open("level.txt").read())
for _ in range(given.processes):
    values = tuple(level * random.uniform(0.99, 1.01) for _ in range(3))
    metadata = {"name": "sort", "unit": "second", "loops": 1}
    suite = pyperf.BenchmarkSuite([pyperf.Benchmark([pyperf.Run(values, metadata=metadata, collect_metadata=False)])])
    pyperf.add_runs(given.append, suite)
"""


def git(folder, *words):
    identity = ("-c", "user.name=ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def pull_request(tmp_path):
    """A checkout with a branch that is slower than its target branch."""
    origin, checkout = tmp_path / "origin", tmp_path / "checkout"
    origin.mkdir()
    git(origin, "init", "--quiet", "--initial-branch", "trunk")
    (origin / "benchmarks.py").write_text(BENCHMARKS)
    (origin / "level.txt").write_text("0.001")
    git(origin, "add", ".")
    git(origin, "commit", "--quiet", "--message", "benchmarks: measure sorting")
    git(tmp_path, "clone", "--quiet", "origin", "checkout")
    (checkout / "level.txt").write_text("0.0012")
    git(checkout, "commit", "--quiet", "--all", "--message", "sort: check the input")
    return checkout


@pytest.fixture
def runner(tmp_path):
    """A runner in an empty checkout with the results of two versions."""
    for name in ("workspace", "temp"):
        (tmp_path / name).mkdir()
    for file in CHECK.iterdir():
        shutil.copy(file, tmp_path / "workspace" / f"my {file.name}")
    event = {"pull_request": {"number": 7, "base": {"ref": "trunk"}}}
    return Runner(tmp_path / "workspace", tmp_path / "temp", tools(tmp_path / "tools"), event)


def test_the_action_shows_what_changed_in_summary_annotations_and_junit(runner):
    runner.action({"files": "my after.json\n", "baseline": "my before.json"})
    assert runner.code == 1
    assert runner.outputs["exit-code"] == "1"
    assert runner.summary.startswith("# Benchmark check: 1 slower, 1 faster, 3 no change\n")
    (annotation,) = runner.annotations
    assert annotation.startswith("::error file=my after.json,title=slugs::slower (+4.6 %25")
    assert ET.parse(runner.workspace / "benchmark-check.xml").getroot().get("failures") == "1"
    assert json.loads((runner.workspace / "benchmark-check.json").read_text())["outcome"] == 1


def test_the_action_passes_with_known_changes(runner):
    runner.action({"files": "my after.json", "baseline": "my before.json", "known-changes": "my known-changes.toml"})
    assert (runner.code, runner.outputs["exit-code"]) == (0, "0")
    assert "## Known changes" in runner.summary
    assert [line.partition(" ")[0] for line in runner.annotations] == ["::notice"]


def test_the_action_takes_patterns_options_and_no_baseline(runner):
    runner.action({"files": "my be*.json\r\n", "options": "--max-spread=1%\n--allow-inconclusive"})
    assert runner.code == 1
    assert runner.summary.startswith("# Benchmark check: 5 dissimilar\n") and "more than 1 %25" in runner.annotations[0]


def test_the_action_fails_with_what_is_wrong(runner):
    runner.action({"files": "gone-*.json", "baseline": "my before.json"})
    assert (runner.code, runner.outputs["exit-code"]) == (2, "2")
    assert "gone-*.json: no file" in runner.log


def test_the_action_installs_only_what_the_check_needs_and_runs_that(runner):
    runner.has_cache = False
    fake = runner.tools / "fake-python"
    fake.write_text(f"""#!/bin/sh
echo "$@" >> "{runner.temp}/installed"
case "$*" in
    "-m venv"*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
    *--no-deps*) cp "{runner.tools}/labeler" "$(dirname "$0")/labeler" ;;
    -c*) echo 3.12.1 ;;
esac
""")
    fake.chmod(0o755)
    runner.action({"files": "my after.json", "baseline": "my before.json", "python": str(fake)})
    _version, venv, packages, project = (runner.temp / "installed").read_text().splitlines()
    assert runner.outputs["version"] == "3.12.1" and runner.outputs["exit-code"] == "1"
    assert venv.startswith("-m venv ") and packages.endswith(" numpy scipy click orjson")
    assert project.endswith(f" --no-deps {ROOT}")


def test_the_page_and_the_action_install_the_same_packages():
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert "    pip install numpy scipy click orjson\n    pip install --no-deps benchmark-run-labeler\n" in page
    light = (ROOT / "scripts" / "light").read_text(encoding="utf-8")
    assert all("numpy scipy click orjson\n" in text for text in (ACTION.read_text(encoding="utf-8"), light))


def test_the_action_runs_nothing_that_an_input_holds(runner):
    runner.action(
        {"files": "$(touch broken-in); `touch broken-in`\nmy after.json", "max-slowdown": "5%; touch broken-in"}
    )
    assert runner.code == 2
    assert not (runner.workspace / "broken-in").exists()


def steps_of_release(job, word):
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    return next(step for step in workflow["jobs"][job]["steps"] if word in step.get("name", ""))


@pytest.mark.parametrize(
    ("tag", "is_right"), [(f"v{labeler.__version__}", True), ("v99.0.0", False), (labeler.__version__, False)]
)
def test_a_release_goes_on_only_if_the_tag_names_the_version(runner, tag, is_right):
    runner.event, runner.workspace = {"ref": f"refs/tags/{tag}"}, ROOT
    runner.step(steps_of_release("build", "Compare"), {})
    assert (runner.code == 0) is is_right


def test_the_image_is_pushed_once_it_is_healthy_under_a_name_that_registries_accept(runner):
    docker = runner.tools / "docker"
    docker.write_text("""#!/bin/sh
echo "$@" >> "$RUNNER_TEMP/calls"
case "$1" in
    run) echo container;;
    inspect) cat "$RUNNER_TEMP/health";;
esac
""")
    docker.chmod(0o755)
    runner.event, runner.workspace = {"ref": "refs/tags/v1.0.0"}, ROOT
    (runner.temp / "health").write_text("healthy")
    runner.step(steps_of_release("image", "Build"), {})
    calls = (runner.temp / "calls").read_text().splitlines()
    assert runner.code == 0
    assert calls[0] == "build --tag ghcr.io/owner/benchmark-run-labeler:1.0.0 ."
    assert "--read-only" in calls[1] and "--cap-drop ALL" in calls[1]
    assert calls[-1] == "push ghcr.io/owner/benchmark-run-labeler:1.0.0"


@pytest.mark.parametrize(("schema", "files"), [
    ("github-actions", ["action.yml"]),
    ("github-workflows", [".github/workflows/*.yml"]),
    ("github-issue-forms", [".github/ISSUE_TEMPLATE/[!c]*.yml"]),
    ("github-issue-config", [".github/ISSUE_TEMPLATE/config.yml"]),
    ("dependabot", [".github/dependabot.yml"]),
    ("citation-file-format", ["CITATION.cff"]),
    ("compose-spec", ["compose.yml"]),
])  # fmt: skip
def test_files_for_other_services_follow_their_schemas(schema, files):
    paths = [str(path) for pattern in files for path in ROOT.glob(pattern)]
    assert paths
    command = [*SCHEMAS, f"vendor.{schema}", *paths]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_every_action_of_the_workflows_is_pinned_to_a_commit_and_names_its_version():
    for path in (ACTION, *sorted((ROOT / ".github" / "workflows").glob("*.yml"))):
        for line in path.read_text(encoding="utf-8").splitlines():
            if "uses:" in line:
                assert re.search(r"uses: [\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+$", line), (path.name, line)


def test_the_workflow_of_the_page_follows_its_schema_and_finds_a_slower_branch(runner, pull_request, tmp_path):
    workflow = example("ci.md", "yaml", "GitHub Actions")
    path = tmp_path / "workflow.yml"
    path.write_text(yaml.safe_dump({("on" if key is True else key): value for key, value in workflow.items()}))
    subprocess.run([*SCHEMAS, "vendor.github-workflows", str(path)], check=True)
    runner.workspace = pull_request
    runner.job(workflow["jobs"]["compare"])
    assert runner.code == 1
    assert runner.summary.startswith("# Benchmark check: 1 slower\n")
    assert "| sort | slower | +" in runner.summary and "20 / 20" in runner.summary


# A stand-in for each tool: takes the arguments of the page, reads the level from level.txt of the version that it
# measures, and writes one process of the real tool's output.
TOOL = """
import json, random, sys
from pathlib import Path

tool, arguments = sys.argv[1], sys.argv[2:]
folder = Path(arguments[1]).parent.parent if tool == "java" else Path()
level = float((folder / "level.txt").read_text()) * random.uniform(0.995, 1.005)
if tool == "go":
    print("goos: linux\\ngoarch: amd64\\npkg: example.org/sorting")
    for name in "AB":
        print(f"Benchmark{name}-8 \\t 1000 \\t {level * 1e9:.1f} ns/op")
    print("PASS\\nok  \\texample.org/sorting\\t1.2s")
elif tool == "cargo":
    for name in "ab":
        print(f"test {name} ... bench: {level * 1e9:12,.2f} ns/iter (+/- 10.00)")
elif tool == "java":
    metric = {"scoreUnit": "s/op", "rawData": [[level * random.uniform(0.99, 1.01) for _ in range(5)]]}
    entry = {"benchmark": "org.Sort.sort", "mode": "avgt", "threads": 1, "forks": 1, "params": {}}
    Path(arguments[-1]).write_text(json.dumps([{**entry, "primaryMetric": metric}]))
else:
    (path,) = [one.partition("=")[2] for one in arguments if one.startswith("--benchmark-json=")]
    data = [level * random.uniform(0.99, 1.01) for _ in range(5)]
    entry = {"name": "test_sort", "fullname": "test_sort.py::test_sort", "params": None, "stats": {"data": data}}
    content = {"machine_info": {}, "commit_info": {}, "benchmarks": [entry], "version": "5.1.0"}
    Path(path).write_text(json.dumps(content))
"""


@pytest.mark.parametrize("tool", some_slow(["go", "cargo", "java", "pytest"], ["cargo", "java", "pytest"]))
def test_the_loop_of_the_page_measures_and_finds_a_slower_version(runner, tmp_path, tool):
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8").partition("## Measure with other tools")[2]
    blocks = re.findall(r"^```bash\n(.*?)^```$", page.partition("\n## ")[0], flags=re.MULTILINE | re.DOTALL)
    (loop,) = [block for block in blocks if re.search(rf"\b{tool} ", block)]
    (tmp_path / "tool.py").write_text(TOOL)
    program = runner.tools / tool
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{tmp_path}/tool.py" {tool} "$@"\n')
    program.chmod(0o755)
    for folder, level in (("base", 0.001), ("workspace", 0.0012)):
        (tmp_path / folder / "target").mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "level.txt").write_text(str(level))
    runner.step({"run": loop}, {})
    assert runner.code == 1, runner.log
    assert re.match(r"[12] slower", runner.log), runner.log


def test_the_inputs_that_the_page_names_are_those_of_the_action():
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    inputs = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["inputs"]
    table = page.partition("| input | meaning |")[2].partition("\n\n")[0]
    assert [name for name in inputs if f"`{name}`" not in table] == []


@pytest.mark.slow
def test_the_job_of_gitlab_on_the_page_finds_a_slower_branch(runner, pull_request, tmp_path):
    pipeline = example("ci.md", "yaml", "GitLab")
    path = tmp_path / ".gitlab-ci.yml"
    path.write_text(yaml.safe_dump(pipeline))
    subprocess.run([*SCHEMAS, "vendor.gitlab-ci", str(path)], check=True)
    job = pipeline["benchmarks"]
    environment = {"PATH": f"{runner.tools}:/usr/bin:/bin", "HOME": str(tmp_path), "CI_PROJECT_DIR": str(pull_request),
                   "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "trunk"}  # fmt: skip
    script = "\n".join(["set -eo pipefail", *job["script"]])
    done = subprocess.run(["bash", "-c", script], cwd=pull_request, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    reports = job["artifacts"]["reports"]
    (entry,) = json.loads((pull_request / reports["codequality"]).read_text())
    assert entry["severity"] == "major" and entry["description"].startswith("sort: slower (+")
    assert ET.parse(pull_request / reports["junit"]).getroot().get("failures") == "1"
