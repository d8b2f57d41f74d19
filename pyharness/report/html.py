"""A trace as one HTML page: nothing is fetched, and nothing that the program named is ever markup.

The data is JSON in an element that browsers do not run; the script puts names into the page as text only. The page's
own policy forbids it to reach the network or to run any script but this one.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.report.page_data import page_data

if TYPE_CHECKING:
    from pyharness.model.trace import Trace

_FOLDER = Path(__file__).parent / "page"
_SCRIPTS = (
    "data.js",
    "units.js",
    "colours.js",
    "layout.js",
    "view.js",
    "draw.js",
    "overview.js",
    "details.js",
    "legend.js",
    "search.js",
    "pointer.js",
    "keys.js",
    "main.js",
)
"""In the order of loading: each uses only what comes before it, ``main.js`` starts."""


def page(trace: Trace) -> str:
    """The whole file."""
    script = _script()
    parts = {
        "POLICY": f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_digest(script)}'",
        "TITLE": html.escape(f"{_printable(trace.program or 'recording')} · pyharness trace"),
        "STYLE": _read("page.css"),
        "DATA": _harmless(json.dumps(page_data(trace), separators=(",", ":"))),
        "SCRIPT": script,
    }
    pieces = _read("page.html").split("@@")  # text, name, text, name, ... text: what is put in is not looked at again
    return "".join(piece if number % 2 == 0 else parts[piece] for number, piece in enumerate(pieces))


def _script() -> str:
    body = "\n".join(_read(name) for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{body}\n}})();'


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _printable(name: str) -> str:
    """A file name may hold bytes that are no text."""
    return name.encode("utf-8", "replace").decode()


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _harmless(data: str) -> str:
    """JSON that cannot end the element that it is in, nor open a comment or another element."""
    return data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
