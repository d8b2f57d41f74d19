"""Writes docs/reference from the code, and the tables of docs/sessions.md.

Usage: python scripts/reference [--check]. With --check nothing is written: it fails where a page is not what the code
says, or where a public name has no docstring.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import cli
import gdb_commands
import launch
import python_api
import session
from python_names import PAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DOCS = Path(__file__).parents[2] / "docs"
_NOTE = "<!-- Written by `python scripts/reference` from where it is said first; changes belong there. -->"
_MAKERS: dict[str, Callable[[], Iterator[str]]] = {
    "cli": cli.page,
    "gdb": gdb_commands.page,
    "launch": launch.page,
    **{each.file: partial(python_api.page, each) for each in PAGES},
}


def texts() -> dict[Path, str]:
    """Each file and what it is to hold."""
    pages = {DOCS / "reference" / f"{name}.md": _page(maker()) for name, maker in _MAKERS.items()}
    sessions = DOCS / "sessions.md"
    return {**pages, sessions: session.filled(sessions.read_text(encoding="utf-8"))}


def _page(lines: Iterator[str]) -> str:
    title, *rest = lines
    return "\n".join([title, "", _NOTE, *rest]).rstrip() + "\n"


def main() -> int:
    """Write or check; the exit status."""
    stale = {path: text for path, text in texts().items() if not path.is_file() or path.read_text("utf-8") != text}
    if "--check" not in sys.argv[1:]:
        for path, text in stale.items():
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(DOCS.parent)}")
        return 0
    complaints = [f"{path.relative_to(DOCS.parent)} is stale: run `python scripts/reference`" for path in stale]
    complaints += [f"{name} has no docstring" for page in PAGES for name in python_api.undocumented(page)]
    print("\n".join(complaints) or f"{len(_MAKERS) + 1} pages are what the code says")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
