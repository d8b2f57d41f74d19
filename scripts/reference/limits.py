"""docs/limits.md: every section of limits of README and the pages, on one page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT = Path(__file__).parents[2]
_DOCS = _ROOT / "docs"
_HEADING = re.compile(r"^(#+) (.+)$")
_ITSELF = "limits.md"


def page() -> Iterator[str]:
    """The page: README's limits, which hold for all of it, then each page's own."""
    yield from ("# Limits", "", "What pyharness does not do, or not yet, collected from all pages.", "")
    yield from ("## In general", "", *_trimmed(_sections(_ROOT / "README.md", own=False)))
    for path in _pages():
        lines = _trimmed(_sections(path, own=True))
        if lines:
            title = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
            yield from (f"## {title}", "", f"Of [{path.name}]({path.name}):", "", *lines)


def _pages() -> Iterator[Path]:
    """Those that a person wrote, in the order of the navigation."""
    index = (_DOCS / "index.md").read_text(encoding="utf-8")
    for name in re.findall(r"^([\w-]+)$", index, re.MULTILINE):
        path = _DOCS / f"{name}.md"
        if path.is_file() and path.name != _ITSELF:
            yield path


def _trimmed(lines: Iterator[str]) -> list[str]:
    """Without empty lines around them, and one behind."""
    text = "\n".join(lines).strip()
    return [*text.splitlines(), ""] if text else []


def _sections(path: Path, *, own: bool) -> Iterator[str]:
    """The lines below each heading that ends in "limits", with links that work from ``docs``."""
    level, fenced, found = 0, False, False
    for line in path.read_text(encoding="utf-8").splitlines():
        fenced ^= line.startswith("```")
        heading = None if fenced else _HEADING.match(line)
        if heading and (not level or len(heading[1]) <= level):
            level = len(heading[1]) if heading[2].lower().endswith("limits") else 0
            found = found or level > 0
        elif level:
            yield line if own else line.replace("](docs/", "](")
    if not found and not own:
        raise HarnessError(f"{path.name} has no section of limits.", "docs/limits.md begins with it.")
