"""What commands refuse: one sentence, exit code 2, no output, and nothing in the study or the folder changed."""

import json
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from labeler.studies.course import course
from labeler.studies.items import browsing
from labeler.studies.model import PlanParameters
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.results import splits
from labeler.studies.store import items, open_database
from labeler.studies.verdicts import computing, stored_verdicts
from tests.labeler.commands import refused
from tests.making import NOW, answer_everything, item_name, make_study

STEP = np.repeat([1.0, 2.0], 50)
ITEM, OTHER = item_name(0), item_name(1)
KNOWN = '[[known]]\nbenchmark = "b"\n'
BECAUSE = f'{KNOWN}reason = "r"\n'
UNTIL = f"{BECAUSE}until = 2027-01-01\n"
VERSIONS = "\n".join(f"x,{n},1.{n},{v},s" for v in ("aaaa1111", "bbbb1111", "bbbb2222") for n in range(4))
FILES = {  # a command that names one of these finds it in its folder
    "alike.json": json.dumps([STEP.tolist(), (STEP + 1e-6).tolist(), STEP.tolist()]),
    "old.json": json.dumps([[level] * 3 for level in (1.0, 1.01, 0.99, 1.0)]),
    "few.json": json.dumps([[level] * 3 for level in (1.0, 1.01, 1.02)]),
    "table.csv": "benchmark,run,value\n" + "\n".join(f"b,{n},1.{n}" for n in range(6)),
    "versions.csv": f"benchmark,run,value,version,unit\n{VERSIONS}\n",
    "trials.csv": "benchmark,run,value,order_type\n" + "\n".join(f"b,{n},1.{n},fixed" for n in range(6)),
    "x.csv": "benchmark,run,iteration,value\nparse,0,0,1\nparse,1,0,1\n",
    "reference.csv": "item,label\nx,perhaps\n",
    "labels.csv": "item,reviewer,label\nnothing,ada,similar\n",
    "rater.csv": f"{ITEM},1,1\n",
    "no-reviewer.csv": "item,label\na,similar\n",
    "one-label.csv": "item,reviewer,label\na,ada,similar\n",
    "no-label.csv": "item,reviewer\na,ada\n",
    "maybe.csv": "item,reviewer,label\na,ada,maybe\na,ben,similar\n",
    "nobody.csv": "item,reviewer,label\na,ada,x\na,,y\n",
    "no-labels.csv": "item,reviewer,label\n",
    "text.study": "hello",
    "text.json": "no json",
    "list.json": "[1, 2]",
    "part.json": '{"agreement": 1}',
    "plan.toml": 'runs = 0\n[[benchmarks]]\nname = "b"\ncommand = ["true"]',
    "marks.csv": "benchmark,version,decision\nx,bbbb1111,perhaps\n",
    "names.toml": '"sort/old" = 3\n',
    "known-1.toml": "[[known]", "known-2.toml": "[known]\nbenchmark = 1", "known-3.toml": "b = 1",
    "known-4.toml": '[[known]]\nreason = "r"', "known-5.toml": f'{KNOWN}reason = " "', "known-6.toml": BECAUSE,
    "known-7.toml": f'{BECAUSE}until = "2027-01-01"', "known-8.toml": f"{BECAUSE}until = 2027-01-01T00:00:00",
    "known-9.toml": f"{UNTIL}at_most = 0.06", "known-10.toml": f'{UNTIL}at_most = "-6%"',
    "known-11.toml": '[[known]]\nbench = "b"', "known-12.toml": b"\xff", "known-13.toml": UNTIL,
    "limits-1.toml": "min_change = 5", "limits-2.toml": "runs = 0", "limits-3.toml": 'speed = "5%"',
    "limits-4.toml": '[[limit]]\nmin_change = "5%"', "limits-5.toml": '[[limit]]\nbenchmark = "b"\nruns = 3',
    "limits-6.toml": "[limit]", "limits-7.toml": "[[limit",
}  # fmt: skip
FOLDERS = ("empty", "measures-by-application.svg")

# state of the study that the command gets as --study s.study ("" for none); command line; what the sentence says
REFUSED = [
    # studies and commands
    ("", "nothing", "No such command 'nothing'."),
    ("", "lable", "Did you mean 'labels'?"),
    ("", "stat", "Did you mean one of: 'state', 'status', 'steady'?"),
    ("", "reviewers revok", "Did you mean 'revoke'?"),
    ("", "status", "No study given. Use --study FILE, or set LABELER_STUDY."),
    ("", "status --study text.study", "is not a study file"),
    ("", "status --study none.study", "There is no study none.study"),
    ("", "audit", "No study given."),
    ("open", "init", "s.study already exists."),
    ("open", "backup", "Missing option '--out'"),
    ("open", "backup a --out b", "Got unexpected extra argument (a)"),
    ("open", "anonymise --out text.study", "text.study exists already"),
    ("", "init --study new.study --axis own", "'own' is not one of 'levels', 'core', 'pooled', 'full'"),
    ("", "init --study new.study --min-span -0.1", "is not in the range 0<=x<=10"),
    ("", "init --study new.study --min-span 11", "is not in the range 0<=x<=10"),
    ("", "init --study new.study --min-span wide", "'wide' is not a valid float"),
    ("", "init --study new.study --min-span nan", "a number from 0 to 10, not nan."),
    ("", f"init --study new.study --instructions {'x' * 4001}", "have 4001 characters"),
    # measurements and items
    ("empty", "import", "Give the files to import"),
    ("empty", "import empty", "no result files"),
    ("empty", "import gone", "no such file"),
    ("empty", "import --undo", "no import to take back"),
    ("empty", "import --undo --dry-run", "no import to take back"),
    ("", "import --dry-run table.csv --columns x", "benchmark=NAME"),
    ("", "import --dry-run *.txt", "file matches this pattern"),
    ("", "import --dry-run table.csv --file-is runs", "'runs' is not one of"),
    ("", "import --dry-run --before a", "Give both --before and --after"),
    ("", "import --dry-run x.csv --before a --before b --after c", "each given once"),
    ("", "convert table.csv --to icpe -o empty", "empty already exists"),
    ("open", "exclude nowhere --reason x", "no item 'nowhere'"),
    ("open", "exclude {agreed}", "Missing option '--reason'"),
    ("judged", "template", "Missing option '--out'"),
    ("judged", "browse --verdict his=similar", "These classifiers have verdicts: heuristic"),
    ("judged", "browse --verdict mine=odd", "'odd' is not a verdict"),
    ("judged", "browse --application x", "no application 'x'"),
    ("judged", "browse --min-range 2 --max-range 1", "the smaller limit first"),
    ("judged", "template --out s.study", "already exists"),
    ("judged", "browse --verdict heuristic", "CLASSIFIER=VERDICT"),
    ("judged", "browse --verdict =similar", "CLASSIFIER=VERDICT"),
    ("judged", "browse --verdict mine=", "CLASSIFIER=VERDICT"),
    ("judged", "classifiers --most-disputed 0", "--most-disputed"),
    # people
    ("open", "reviewers add Ada", "person called"),
    ("open", "reviewers add eve --valid-days 0", "0 is not … 1<=x<=3650"),
    ("open", "reviewers link ada --valid-days=-1", "-1 is not … 1<=x<=3650"),
    ("open", "reviewers link ada --valid-days 3651", "3651 is not … 1<=x<=3650"),
    ("open", "reviewers link ada --valid-days x", "is not a valid integer"),
    *((state, f"{group} {command}", f"{group.removesuffix('s')} called {name}")
      for state, group, name in (("open", "reviewers", "zoe"), ("open", "coordinators", "ada"))
      for command in (f"link {name}", f"revoke {name}", f"email {name} x@example.org", f"rename {name} X")),
    ("open", "reviewers email ben ada", "'ada' … not an e-mail address"),
    ("open", "reviewers pause nobody --reason x", "reviewer called nobody"),
    ("open", "reviewers remove carol --reason x", "reviewer called carol"),
    ("open", "reviewers replace ada ada --reason x", "own successor"),
    ("open", "reviewers replace ada carol --reason x", "carol"),
    ("open", "reviewers remove ada", "Missing option '--reason'"),
    ("open", "reviewers pause ada", "Missing option '--reason'"),
    ("open", "reviewers replace ada eve", "Missing option '--reason'"),
    ("open", "reviewers resume ada", "ada already takes part."),
    ("closed", "reviewers remove ada --reason x", "It is closed"),
    # plan and course
    ("unplanned", "plan --verify", "no plan yet … labeler plan"),
    ("unplanned", "plan --overlap 2", "Invalid value for '--overlap'"),
    ("unplanned", "plan --seed -1", "Invalid value for '--seed'"),
    ("unplanned", "plan --per-item 5", "Each item needs 5 reviewers, but the study has 4."),
    ("unplanned", "plan --paper-design --overlap 0.2", "overlap and no retest"),
    ("unplanned", "plan --calibration 9", "8 of 10 items … not 9"),
    ("empty", "plan", "Import measurements first"),
    ("open", "state open", "Missing option '--reason'"),
    ("open", "state sideways --reason x", "'sideways' is not one of"),
    ("open", "state unblind --reason now", "The study is open … unblind … third, close, pause"),
    ("open", "state third --reason split", "label: ada, ben … cleo, dan"),
    ("round", "calibration --required-agreement 1.5", "--required-agreement"),
    ("round", "calibration --required-agreement x", "--required-agreement"),
    ("round", "calibration --on nothing", "--on"),
    ("round", "calibration --reference .", "."),
    ("round", "calibration --required-agreement 0.5 --reference reference.csv",
     "reference.csv: line 2: 'perhaps' is not a label. Use one of: similar, dissimilar"),
    ("closed", "adjudicate {split}", "To decide an item"),
    ("closed", "adjudicate {split} dissimilar", "To decide an item, give its name"),
    ("closed", "adjudicate {split} dissimilar --reason ' '", "1 to 1000 characters"),
    ("closed", "adjudicate {split} 'not sure' --reason x", "'not sure' is not a category"),
    ("closed", "adjudicate nowhere similar --reason x", "There is no item 'nowhere'"),
    ("closed", "adjudicate {agreed} similar --reason x", "not a split item"),
    ("labelled", "adjudicate {split} similar --reason x", "only while the study is closed"),
    ("labelled", "attention", "only while the study is closed or unblinded. It is open now."),
    ("unplanned", "plan --attention 9", "8 of 10 items … attention checks, not 9"),
    ("unplanned", "plan --attention -1", "--attention"),
    ("unplanned", "adjudicate {agreed} similar --reason x", "It is being set up now."),
    # labels, verdicts, comments, reports
    ("open", "labels", "Give --out FILE or --import FILE."),
    ("open", "labels --out a --import b", "--out FILE and --import FILE cannot be used together."),
    ("open", "labels --out a --dry-run", "--dry-run needs --import FILE."),
    *(("open", f"labels --out gone/labels.csv --layout {layout}", "gone/labels.csv could not be written")
      for layout in ("long", "wide")),
    ("open", "labels --import labels.csv", "labels.csv: Line 2: … no item 'nothing'"),
    ("open", "labels --import rater.csv --layout rater", "rater"),
    ("open", "verdicts --classifier x", "--classifier can only be used with --import."),
    ("open", "verdicts --dry-run", "--dry-run needs --import FILE.csv or --remove NAME."),
    ("open", "flags --reviewer ada", "--reviewer can only be used with --answer ITEM TEXT."),
    ("open", "flags --answer nothing ?", "There is no item 'nothing'"),
    ("open", "flags --answer {agreed} ' '", "The answer is empty"),
    ("open", "flags --answer {agreed} ? --reviewer dan", "dan flagged or commented on"),
    ("open", "learn --labels a", "Give both --labels and --verdicts, or neither."),
    ("open", "report", "Give --out DIR or --verify FILE."),
    ("open", "report --out a --verify b", "--out DIR and --verify FILE cannot be used together."),
    ("open", "report --verdicts a --out b", "--verdicts needs --labels."),
    ("open", "report --out x --seed -1", "--seed"),
    ("open", "report --quick --out text.study/r", "text.study/r could not be written: Not a directory."),
    ("", "report --labels no-reviewer.csv --out x", "no-reviewer.csv … there is no column for the reviewer"),
    ("open", "report --verify text.json", "not valid JSON"),
    ("open", "report --verify list.json", "not a report of labeler"),
    ("open", "report --verify part.json", "not a report of labeler"),
    ("open", "report --verify none.json", "No such file"),
    *(("open", f"report --verify out/report.{kind}", "Give the report.json beside it.") for kind in ("html", "md")),
    ("open", "publish", "Give --out DIR, --init, --list-comments FILE.csv or --dry-run."),
    ("open", "publish --init --dry-run", "--init and --dry-run cannot be used together."),
    ("open", "publish --out a --init", "--out DIR and --init cannot be used together."),
    ("open", "publish --out out", "Create it with --init"),
    ("judged", "figures --out out --item nothing", "There is no item 'nothing' in this study."),
    ("judged", "figures --out out --application nothing", "No benchmark has the application 'nothing'."),
    ("judged", "figures --out text.study/figures", "could not be written"),
    ("open", "figures --out out", "item has the measures"),
    ("judged", "figures --out out --figure-format gif", "'gif' is not one of"),
    ("judged", "figures", "Missing option '--out'"),
    # agreement in label files
    ("", "agreement --labels one-label.csv", "No item has two first labels"),
    ("", "agreement --labels no-label.csv", "label"),
    ("", "agreement --labels maybe.csv", "maybe"),
    ("", "agreement --labels nobody.csv --fail-under alpha:.67", "nobody.csv: line 3: the reviewer is empty"),
    ("", "agreement --labels a --fail-under kappa:2", "NAME is one of: percent, kappa, light, conger, alpha, ac1"),
    *(("", f"agreement --labels one-label.csv --fail-under {required}", "such as alpha:.67")
      for required in ("alpha", "alpha:x", "alpha:2", "beta:.5", ":.5", "alpha:nan")),
    # planning
    *(("", f"planning {option}", words) for option, words in (
        ("--kappa 1", "appa must be at least -0.818"), ("--kappa nan", "appa must be at least -0.818"),
        ("--prevalence 0", "revalence must be within"), ("--half-width 1", "(0, 1), got 1"),
        ("--seconds 0", "--seconds"), ("--seconds inf", "--seconds"), ("--seconds x", "--seconds"),
        ("--per-item 5", "got 5 with 4 reviewers"), ("--half-width 0", "--half-width"), ("--items 0", "--items"),
        ("--reviewers 1", "--reviewers"), ("--per-item 1", "--per-item"), ("--overlap 1.1", "--overlap"),
        ("--retest -1", "--retest"), ("--study none.study", "no study"))),
    ("empty", "planning", "items"),
    # the check
    ("", "check", "Missing argument 'PATH...'"),
    ("", "check gone.json", "gone.json: no such file or folder."),
    ("", "check alike.json --against gone.json", "gone.json: no such file or folder."),
    ("", "check alike.json --against", "--against"),
    ("", "check alike.json --against ''", "names is empty"),
    ("", "check '' --against alike.json", "names is empty"),
    ("", "check --against alike.json", "Missing argument 'PATH...'"),
    ("", "check empty", "no result files"),
    ("", "check alike.json --format xml", "There is no format 'xml'. The formats are"),
    ("", "check alike.json --classifier oracle", "--classifier"),
    ("", "check alike.json --alpha 1", "--alpha"),
    ("", "check alike.json --fail-on odd", "--fail-on"),
    ("", "check alike.json --warmup -1", "--warmup"),
    ("", "check alike.json --warmup 1.5", "or auto, got 1.5"),
    ("", "check alike.json --warmup automatic", "warmup"),
    ("", "check alike.json --warmup 100", "all of them warm-up"),
    ("", "check alike.json --columns x", "benchmark=NAME"),
    ("", "check alike.json --against alike.json --nonsense", "No such option"),
    ("", "check alike.json --json --markdown", "--markdown cannot"),
    ("", "check alike.json --json alike.json", "--json alike.json"),
    ("", "check alike.json --min-change 5", "write 5%."),
    ("", "check alike.json --max-slowdown much", "'much' is not a share. Write it as 2% or 0.02."),
    ("", "check alike.json --max-slowdown -5%", "'-5%' is not a share"),
    ("", "check old.json --allow-different cpu,os", "'os' is not one of cpu, runtime, build, all."),
    ("", "check old.json --confirm alike.json", "--confirm needs a baseline"),
    ("", "check old.json --against alike.json --confirm old.json", "already part of the first sample"),
    ("", "check versions.csv --between bbbb aaaa", "bbbb is the beginning of 2 versions: bbbb1111, bbbb2222"),
    ("", "check versions.csv --between aaaa cccc", "neither such versions, nor such benchmarks"),
    ("", "check versions.csv --between aaa bbbb1", "Versions: aaaa1111, bbbb1111, bbbb2222. Benchmarks: x."),
    ("", "check versions.csv --between aaaa", "needs two or more different names"),
    ("", "check versions.csv --between aaaa aaaa", "needs two or more different names"),
    ("", "check versions.csv --against versions.csv --between a b", "Give only one of --against and --between"),
    ("", "check versions.csv --against-version c", "one of which is c. Versions: aaaa1111, bbbb1111"),
    ("", "check old.json --against alike.json --renamed names.toml", "'sort/old' must be a name in quotes"),
    ("", "noise few.json", "t least 6 runs"),
    *(("", f"check old.json --ack known-{number}.toml", words) for number, words in enumerate((
        "is not valid TOML", "begin with [[known]]", "begin with [[known]]", "entry 1: benchmark must be text",
        "entry 1: reason must be text", "entry 1: until", "entry 1: until", "entry 1: until",
        "at_most must be a share", "at_most must be a share",
        "entry 1: unknown key 'bench'. Possible keys: benchmark, reason, until, at_most.",
        "known-12.toml … not valid TOML"), start=1)),
    ("", "check old.json --ack known-13.toml --json known-13.toml", "input file"),
    ("", "check old.json --ack gone.toml", "gone.toml: No such"),
    *(("", f"check old.json --limits limits-{number}.toml", words) for number, words in enumerate((
        'min_change must be a share of the baseline, such as "6%", not 5.',
        "runs must be a whole number above 0, not 0.", "unknown key 'speed'",
        "entry 1: benchmark must be text in quotes", "entry 1: unknown key 'runs'",
        "each entry must begin with [[limit]]", "is not valid TOML"), start=1)),
    # methods
    ("", "spread", "No study given. Use --study FILE, or set LABELER_STUDY."),
    ("empty", "spread", "There are no measurements to analyse."),
    ("empty", "replicate", "no measurements"),
    ("open", "replicate --out text.study/r", "text.study/r could not be written: Not a directory."),
    ("", "order gone.csv", "gone.csv: no such file or folder."),
    ("", "contexts empty", "no result files"),
    ("open", "trust table.csv", "Files and --study FILE cannot be used together. Give only one of them."),
    ("", "spread table.csv --format xml", "no format 'xml'"),
    ("", "spread table.csv --subset-runs 1", "--subset-runs"),
    ("", "spread table.csv --figures text.study", "text.study"),
    ("", "spread table.csv --warmup 1.5", "Warmup must be a number of iterations, a share below 1, or auto, got 1.5."),
    *(("", f"spread gone.csv {option}", option.split()[0]) for option in (
        "--alpha 0", "--alpha 1", "--warmup -1", "--aggregate max", "--figure-format gif", "--better nicer",
        "--columns x", "--seed -1")),
    ("", "order trials.csv --baseline 1.0", "1.0"),
    ("", "contexts table.csv --from-name x.csv", "at least one condition"),
    ("", "trend versions.csv --marks marks.csv", "line 2: the decision is 'perhaps'. Write accepted or refused."),
    ("", "replicate --labels no-labels.csv", "need FOLDER"),
    ("", "replicate empty", "empty"),
    ("open", "replicate empty", "FOLDER and --study FILE cannot be used together."),
    ("", "measure none.toml", "`labeler measure --init` writes an example."),
    ("", "measure plan.toml", "plan.toml: … runs must be … got 0"),
    ("", "measure plan.toml --init", "plan.toml already exists"),
    ("", "variants", "Missing option '--factor'"),
    *(("", f"variants --factor {factors}", words) for factors, words in (
        ("env", "such as env=0,64,128"), ("=0,1", "NAME=LEVEL"), ("env=0,0", "env must have different levels"),
        ("'env=a b,c'", "'a b'"), ("env=0,1 --contexts 3", "got 3."), ("env=0,1 --contexts 0", "--contexts"),
        ("env=0,1 --runs 0", "--runs"), ("env=0,1 --factor env=2,3", "given twice"))),
]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Closed studies to be copied, one for each state."""
    folder = tmp_path_factory.mktemp("refusals")
    for state in ("empty", "unplanned", "open"):
        is_empty = state == "empty"
        make_study(
            folder / f"{state}.study",
            n_items=0 if is_empty else 10,
            reviewers=() if is_empty else ("ada", "ben", "cleo", "dan"),
            plan=state == "open",
        )
    for state, before in (("round", "unplanned"), ("judged", "unplanned"), ("labelled", "open"), ("closed", "open")):
        with open_database(shutil.copy(folder / f"{before}.study", folder / f"{state}.study")) as db:
            if state == "round":
                parameters = PlanParameters(seed=3, overlap=0.25, retest=0, calibration=3)
                assigning.confirm_plan(db, parameters, actor="carol", now=NOW)
            elif state == "judged":
                rows = (f"{ITEM},mine,dissimilar", f"{ITEM},yours,similar", f"{OTHER},mine,dissimilar")
                (folder / "verdicts.csv").write_text("\n".join(["item,classifier,verdict", *rows]))
                computing.compute_verdicts(db, actor="carol")
                stored_verdicts.import_verdicts(db, folder / "verdicts.csv", None, actor="carol", now=NOW)
                browsing.exclude(db, item_name(2), "twice in it", actor="carol", now=NOW)
            else:
                answer_everything(db, {"ada": "similar", "ben": "similar", "cleo": "similar", "dan": "dissimilar"})
            if state == "closed":
                course.change_state(db, Step.CLOSE, why="done", actor="carol", now=NOW)
    return folder


@pytest.mark.parametrize(
    ("state", "line", "words"), REFUSED, ids=[f"{row[0]}: {row[1]:.60}".removeprefix(": ") for row in REFUSED]
)
def test_a_command_is_refused_in_one_sentence_and_changes_nothing(made, tmp_path, monkeypatch, state, line, words):
    monkeypatch.delenv("LABELER_STUDY", raising=False)
    monkeypatch.chdir(tmp_path)
    for name in [name for name in FILES if name in line]:
        content = FILES[name]
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    for name in [name for name in FOLDERS if name in line]:
        Path(name).mkdir()
    names = {}
    if state:
        with open_database(shutil.copy(made / f"{state}.study", Path("s.study"))) as db:
            split = sorted(one.item.name for one in splits.split_items(db))
            agreed = sorted({item.name for item in items.all_items(db)} - set(split))
            names = {"split": "".join(split[:1]), "agreed": "".join(agreed[:1])}
    refused(*shlex.split(line.format(**names)), *(("--study", "s.study") if state else ()), words=words)
