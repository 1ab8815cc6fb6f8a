"""Files that are too large, declare a wrong size or lead outside a folder; and code that would execute its input."""

import ast
import gzip
import http.client
import os
import re
import socket
import threading
import zipfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from labeler.errors import InputError
from labeler.files.formats.bounds import FREELY
from labeler.files.formats.source import MAX_MEMBERS
from labeler.studies.course import coordinating
from labeler.studies.items import folders, importing
from labeler.studies.store import open_database
from tests.making import series
from tests.reliability._ground import COORDINATOR, REPOSITORY, Ground
from tests.reliability._sites import MULTIPART, upload, with_token
from tests.reliability._window import Window

MB = 2**20
UPLOAD_LIMIT = 500 * MB  # server.maxUploadSize
LIMIT_S = 5  # reading a file for longer than this would block a page
RESULTS = str(series(1)).encode()
NAMES = (
    b"../../x.json", b"..\\\\x.json", b"/etc/x.json", b"~/x.json", b"x\\x00.json", b"C:\\\\x.json", b"x" * 5000,
    b"\xff.json", b"",
)  # fmt: skip
ELSEWHERE = (
    "..", "../", "../..", "/", "/etc", "/etc/passwd", "/proc/self/environ", "/dev/zero", "x/../../..", "./../x.json",
    "\x00", "a\x00b",
    "x" * 5000, "link.json", "folder-link", "folder-link/passwd", "loop", "loop/x", "~", "file:///etc/passwd",
    "\udcff", "..\\..",
    "zero.json", "../access.study",
)  # fmt: skip
NO_FILE_NAMES = (
    "../x", "/etc/x", "a/b", "..", ".", "", "\x00", "x" * 300, ".hidden", "a\nb", "C:\\x", "nul:", "\u202ex",
)  # fmt: skip
RUNNING = {"eval", "exec", "compile", "__import__", "input", "breakpoint"}
MODULES = {
    "pickle", "cPickle", "marshal", "shelve", "dill", "joblib", "cloudpickle", "yaml", "ctypes", "xmlrpc", "telnetlib",
}  # fmt: skip
EXPECTED = {
    "labeler/files/measuring/machine.py": ["system"],  # platform.system, the name of the operating system
    "labeler/files/measuring/plan_file.py": ["shell"],  # the commands of a plan, if it sets shell = true
    "labeler/files/measuring/process.py": [
        "ctypes"
    ],  # asks the kernel to report the processes that a command leaves running
}
METHODS = {"read_pickle", "to_pickle", "system", "popen", "spawnl", "execv", "execvp", "eval"}
ARGUMENTS = ("shell", "allow_pickle")
SUSPICIOUS = re.compile(  # reading a syntax tree takes a hundred times as long as looking for words
    rf"(?<![.\w])(?:{'|'.join(RUNNING)})\b|\b(?:{'|'.join([*MODULES, *METHODS, *ARGUMENTS])})\b"
)


def sizes_and_names(ground: Ground) -> None:
    """A coordinator's browser may upload one file of at most 500 MB at a time, with any name."""
    tally, before = ground.tally, listing(ground)
    headers = with_token(ground, ground.sign_in(COORDINATOR))
    with Window(ground.url, headers["Cookie"] or "").open() as window:
        for name in NAMES:
            status = upload(ground, window.session, headers, name)
            tally.check(status in (0, 204, 400), f"{name[:20]!r}: {status}")
        for length in (UPLOAD_LIMIT + 1, 2**40):
            status = upload(ground, window.session, headers | {"Content-Length": str(length)})
            tally.check(status == 413, f"announced {length}: {status}")
        if not ground.quick:
            status = upload_without_end(ground, window.session, {name: value or "" for name, value in headers.items()})
            tally.check(status in (0, 413), f"{UPLOAD_LIMIT + 2 * MB} bytes in pieces: {status}")
    tally.check(listing(ground) == before, f"written: {listing(ground) - before}")


def upload_without_end(ground: Ground, session: str, headers: dict[str, str]) -> int:
    """The status of a chunked upload that does not state its length and exceeds the limit."""
    where, piece = urlsplit(ground.url), b"x" * MB
    connection = http.client.HTTPConnection(where.netloc, timeout=60)
    connection.putrequest("PUT", f"/_stcore/upload_file/{session}/file")
    for name, value in {**headers, "Content-Type": MULTIPART, "Transfer-Encoding": "chunked"}.items():
        connection.putheader(name, value)
    try:
        connection.endheaders()
        head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.json"\r\n\r\n'
        for part in (head, *[piece] * (UPLOAD_LIMIT // MB + 2), b"\r\n--x--\r\n"):
            connection.send(b"%x\r\n%b\r\n" % (len(part), part))
        connection.send(b"0\r\n\r\n")
        return connection.getresponse().status
    except (ConnectionError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def bombs(ground: Ground) -> None:
    """A file that unpacks to too much is refused by name, and none of it is kept."""
    tally, size = ground.tally, FREELY + MB if ground.quick else 1024 * MB
    many = zipped({f"{number}.json": b"[]" for number in range(MAX_MEMBERS + 1)})
    inner = zipped({"a.json": bytes(size)})
    bad = {
        "bomb.zip": inner, "bomb.json.gz": gzip.compress(bytes(size), 1), "many.zip": many,
        "in.zip": zipped({"b.zip": inner}),
        "lies.zip": lying(inner), "two.json": gzip.compress(inner), "cut.zip": inner[: len(inner) // 2],
    }  # fmt: skip
    with draft(ground) as db:
        for name, data in bad.items():
            sent = [*importing.uploads([(name, data)])]
            results = list(importing.import_files(db, sent, actor=COORDINATOR, now=datetime.now(UTC)))
            tally.check(bool(results) and all(result.refused for result in results), f"{name}: {results}"[:200])
        tally.check(coordinating.list_items(db) == [], "items were kept")
    tally.more = f"up to {size // MB} MB unpacked"


def zipped(members: dict[str, bytes]) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def lying(archive: bytes) -> bytes:
    """Return the same file with a central directory that declares a small size."""
    at = archive.rindex(b"PK\x01\x02") + 24
    return archive[:at] + (1000).to_bytes(4, "little") + archive[at + 4 :]


def draft(ground: Ground) -> Any:
    """Return a study that accepts measurements."""
    path = ground.folder / f"draft-{len(list(ground.folder.iterdir()))}.study"
    coordinating.create_study(path, name="Draft", question="Alike?", coordinator=COORDINATOR, now=datetime.now(UTC))
    return open_database(path)


def names_in_archives(ground: Ground) -> None:
    """A name in a zip file is only a name, never a path: nothing is written."""
    names = (
        "../../x.json", "/etc/x.json", "a/../../../b.json", "..\\x.json", "C:\\x.json", "~/x.json", "x\n.json",
        "\u202ex.json",
    )  # fmt: skip
    tally = ground.tally
    with draft(ground) as db:
        before, now = listing(ground), datetime.now(UTC)
        for number, name in enumerate(names):
            content = str(series(number + 2)).encode()
            for sent in ((name, content), ("x.zip", zipped({name: content + b" "}))):
                results = list(importing.import_files(db, [*importing.uploads([sent])], actor=COORDINATOR, now=now))
                tally.check(len(results) == 1, f"{name!r}: {results}"[:200])
        tally.check(listing(ground) == before, f"written: {listing(ground) - before}")


def listing(ground: Ground) -> set[Path]:
    """Return all files in and around the folder of the study, except the study's own journal."""
    here = {path for path in ground.folder.rglob("*") if not path.name.endswith(("-wal", "-shm"))}
    return (
        here
        | set(ground.folder.parent.glob("*.json"))
        | set(Path("/").glob("*.json"))
        | set(Path("/etc").glob("*.json"))
    )


def places(ground: Ground) -> None:
    """No path leads out of the import folder, and the import does not wait for special files."""
    tally, root = ground.tally, ground.folder / "results"
    prepare(root)
    for path in ELSEWHERE:
        found = within(LIMIT_S, partial(contents, root, path, ground.study))
        tally.check(isinstance(found, InputError), f"{path[:30]!r}: {found!r}"[:200])
    for path in ("pipe.json", "socket.json", "."):
        found = within(LIMIT_S, partial(contents, root, path, ground.study))
        tally.check(isinstance(found, InputError) or found in ([], [RESULTS]), f"{path}: {found!r}"[:200])
    release(root / "pipe.json")
    for name in NO_FILE_NAMES:
        try:
            made: object = folders.path_in_study_folder(ground.study, name)
        except InputError as refusal:
            made = refusal
        tally.check(isinstance(made, InputError), f"a copy called {name[:20]!r}: {made}")


def prepare(root: Path) -> None:
    """One file of results, and several that only look like one."""
    (root / "good.json").write_bytes(RESULTS)
    (root / "link.json").symlink_to("/etc/passwd")
    (root / "folder-link").symlink_to("/etc")
    (root / "loop").symlink_to(root / "loop")
    (root / "zero.json").symlink_to("/dev/zero")
    os.mkfifo(root / "pipe.json")
    with suppress(OSError), socket.socket(socket.AF_UNIX) as one:
        one.bind(str(root / "socket.json"))


def contents(root: Path, path: str, study: Path) -> list[bytes]:
    """Return the content that an import from the server's disk reads."""
    return [source.content() for source in folders.result_files(root, path, study=study) if not refused(source)]


def refused(source: Any) -> bool:
    try:
        source.content()
    except InputError:
        return True
    return False


def within(limit_s: float, work: Callable[[], object]) -> object:
    """Return the result or the error message; a different message if it takes too long."""
    found: list[object] = []

    def run() -> None:
        try:
            found.append(work())
        except Exception as error:  # noqa: BLE001 - the caller looks at what it is
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(limit_s)
    return found[0] if found else f"nothing for {limit_s} s"


def release(pipe: Path) -> None:
    """Release processes that still wait for input."""
    with suppress(OSError):
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))


def syntax_trees(ground: Ground) -> None:
    """The code of the two packages never executes its input."""
    tally = ground.tally
    for path in sorted([*(REPOSITORY / "labeler").rglob("*.py"), *(REPOSITORY / "analysis").rglob("*.py")]):
        found = dangers(path.read_text(encoding="utf-8"))
        name = path.relative_to(REPOSITORY).as_posix()
        tally.check(found == EXPECTED.get(name, []), f"{name}: {', '.join(found)}")


def dangers(code: str) -> list[str]:
    """Return everything in a module that would execute its input."""
    if not SUSPICIOUS.search(code):
        return []
    return sorted(set(filter(None, map(dangerous, ast.walk(ast.parse(code))))))


def dangerous(node: ast.AST) -> str:
    """The danger of a part of a program; "" if there is none."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        return next((name for name in names if name.partition(".")[0] in MODULES), "")
    if not isinstance(node, ast.Call):
        return ""
    told = {keyword.arg: getattr(keyword.value, "value", True) for keyword in node.keywords}
    if argument := next(filter(told.get, ARGUMENTS), ""):
        return argument
    if isinstance(node.func, ast.Name):
        return node.func.id if node.func.id in RUNNING else ""
    return node.func.attr if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS else ""
