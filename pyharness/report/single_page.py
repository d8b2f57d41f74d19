"""A page in one file: nothing is fetched, and nothing that a program named is ever markup.

The data is JSON in an element that browsers do not run; the script puts names into the page as text only. The page's
own policy forbids it to reach the network or to run any script but this one.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_FOLDER = Path(__file__).parent


def single_page(
    folder: str, styles: Sequence[str], scripts: Sequence[str], *, title: str, search: str, data: Any
) -> str:
    """The whole file, of ``folder``'s ``control.html`` and ``body.html``; scripts are in the order of loading.

    ``search``: what can be searched for. Names are relative to the folder of this module.
    """
    script = _script(scripts)
    parts = {
        "POLICY": f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_digest(script)}'",
        "TITLE": html.escape(printable(title)),
        "STYLE": "\n".join(_read(name) for name in styles),
        "CONTROL": _read(f"{folder}/control.html").rstrip("\n"),
        "SEARCH": f"Search: {search}",
        "BODY": _read(f"{folder}/body.html").rstrip("\n"),
        "DATA": _harmless(json.dumps(data, separators=(",", ":"))),
        "SCRIPT": script,
    }
    pieces = _read("page/frame.html").split(
        "@@"
    )  # text, name, text, name, ... text: what is put in is not looked at again
    return "".join(piece if number % 2 == 0 else parts[piece] for number, piece in enumerate(pieces))


def printable(name: str) -> str:
    """A file name may hold bytes that are no text."""
    return name.encode("utf-8", "replace").decode()


def _script(names: Sequence[str]) -> str:
    body = "\n".join(_read(name) for name in names)
    return f'(() => {{\n"use strict";\n{body}\n}})();'


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _harmless(data: str) -> str:
    """JSON that cannot end the element that it is in, nor open a comment or another element."""
    return data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
