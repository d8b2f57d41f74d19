"""What a pass made of the generated code, as a diff around the first bad node."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.fx import GraphModule

_FREES = re.compile(r";  (?:\w+ = )+None$", re.MULTILINE)
_MOST = 24
"""Lines of a diff that are shown."""
_CONTEXT = 2


def plain_code(module: GraphModule) -> str:
    """The generated code, without the statements that free values: they move whenever a use does."""
    return _FREES.sub("", module.code).strip()


def change(before: GraphModule, after: GraphModule, node: str | None) -> tuple[str, ...]:
    """A unified diff of the generated code, from the hunk that names ``node``; empty where the code is the same."""
    hunks = list(_hunks(plain_code(before).split("\n"), plain_code(after).split("\n")))
    named = re.compile(rf"^[-+]\s*{re.escape(node or '')}\b")
    first = next((index for index, hunk in enumerate(hunks) if node and any(map(named.match, hunk))), 0)
    lines = [line for hunk in hunks[first:] for line in hunk]
    left = sum(map(len, hunks)) - len(lines) + max(0, len(lines) - _MOST)
    return (*lines[:_MOST], *([f"… {left} more lines of the diff"] if left else []))


def _hunks(before: list[str], after: list[str]) -> Iterator[list[str]]:
    hunk: list[str] = []
    for line in list(difflib.unified_diff(before, after, n=_CONTEXT, lineterm=""))[2:]:
        if line.startswith("@@") and hunk:
            yield hunk
            hunk = []
        hunk.append(line)
    if hunk:
        yield hunk
