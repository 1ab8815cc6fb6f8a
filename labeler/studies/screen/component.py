"""The files of the review component, and a page in which it runs without a server."""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from labeler.studies.model import Protocol, Question

FOLDER = Path(__file__).parents[1] / "ui" / "component"
LOADING, STYLE = FOLDER / "js" / "loading.js", FOLDER / "style.css"


def _module(path: Path) -> bytes:
    """Return a file of the component as a JavaScript module; a module with markup or style exports its text."""
    content = path.read_bytes()
    return content if path.suffix == ".js" else f"export default {json.dumps(content.decode())};\n".encode()


# Browsers request all files at once. If they loaded one module after another, the first item would appear later.
FILES: Mapping[str, bytes] = {
    path.name.removesuffix(".js") + ".js": _module(path)
    for path in (*sorted(FOLDER.glob("js/*.js")), *sorted(FOLDER.glob("*.html")), STYLE)
    if path != LOADING
}

_START = """import review from "review/index.js";
const root = document.querySelector(".review");
root.hidden = false;
root.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
review({ parentElement: document.body, data: JSON.parse(document.querySelector("#round").textContent),
  setTriggerValue: () => {} });"""


def standalone(data: Mapping[str, Any], title: str, *, heading: str = "") -> str:
    """Return an HTML page in which the review component runs without a server, for example from a file.

    `data` must be a practice round, and `heading` is HTML above the component. The page contains all modules, because a
    browser loads no modules from files. Its policy forbids every request and every other script.
    """
    modules = {name: content.decode().replace('"./', '"review/') for name, content in FILES.items()}
    addresses = {
        f"review/{name}": f"data:text/javascript;base64,{base64.b64encode(text.encode()).decode()}"
        for name, text in modules.items()
    }
    imports = _in_script({"imports": addresses})
    scripts = " ".join(f"'sha256-{_sha256(text)}'" for text in (imports, _START))
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src {scripts} data:; \
style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>{escape(title)}</title><style>body {{ margin: 1rem; font-family: system-ui, sans-serif; }}
.when-served {{ display: none; }}
@media screen and (prefers-color-scheme: dark) {{ body {{ background: #171c24; color: #e6eaf0; }} }}
{STYLE.read_text(encoding="utf-8")}</style>
<script type="importmap">{imports}</script></head>
<body>{heading}<main>{(FOLDER / "review.html").read_text(encoding="utf-8").replace("<section ", "<section hidden ", 1)}
</main><script type="application/json" id="round">{_in_script(data)}</script>
<script type="module">{_START}</script></body></html>
"""


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _in_script(value: object) -> str:
    """Return JSON that cannot end the script element that contains it."""
    return json.dumps(value).replace("<", "\\u003c")


def brief(question: Question, protocol: Protocol, sees: str, overlay: str) -> dict[str, Any]:
    """Return the parts of the question and the protocol that the component needs, and two texts of the help."""
    return {
        "sees": sees,
        "overlay": overlay,
        "question": {
            "text": question.text,
            "not_sure": question.not_sure,
            **({"extra": asdict(question.extra)} if question.extra else {}),
            "marking": _marking(question) if question.is_marked else None,
            "categories": [
                {
                    "name": category.name,
                    "label": category.label,
                    "key": category.key,
                    "meaning": category.meaning,
                    "colour": category.colour,
                }
                for category in question.categories
            ],
        },
        "protocol": {
            "asks_confidence": protocol.asks_confidence,
            "shows_numbers": protocol.shows_numbers,
        },
    }


def _marking(question: Question) -> dict[str, Any]:
    """Return how points are marked."""
    return {
        "marks": question.marks,
        "ranges": question.ranges,
        "no_mark": str(question.no_mark),
        "no_mark_key": question.category(str(question.no_mark)).key,
        "kinds": [{"name": kind.name, "key": kind.key} for kind in question.kinds],
    }
