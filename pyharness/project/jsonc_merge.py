"""Adds entries to the lists of a JSONC file, and leaves every other character of it as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyharness.model.errors import UsageError
from pyharness.model.text import jsonc

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Entry = dict[str, Any]


@dataclass(frozen=True)
class Wanted:
    """A list of a file: its entries are told apart by the value of ``key``."""

    key: str
    entries: Sequence[Entry]


def merged(text: str | None, wanted: Mapping[str, Wanted], version: str, name: str) -> tuple[str, list[str]]:
    """The file with what it lacks, and the names of what was added; ``name`` is what messages call the file.

    ``text`` is ``None``, or holds comments only, where there is no file yet. Raises ``UsageError`` for a file that is
    no JSON object, or has something else where a list belongs.
    """
    if text is None or jsonc.is_empty(text):
        return _new(text or "", wanted, version)
    added: list[str] = []
    for member, want in wanted.items():
        root = _root(text, name)
        node = root.members.get(member)
        if node is not None and not isinstance(node.value, list):
            raise UsageError(f"{name}: {member!r} is not a list.", "Mend it there: VS Code cannot use it either.")
        have = [entry.get(want.key) for entry in node.value if isinstance(entry, dict)] if node else []
        lacking = [entry for entry in want.entries if entry[want.key] not in have]
        if lacking:
            text = _with_items(text, node, lacking) if node else _with_member(text, root, member, lacking)
            added += [str(entry[want.key]) for entry in lacking]
    return text, added


def _new(comments: str, wanted: Mapping[str, Wanted], version: str) -> tuple[str, list[str]]:
    data = {"version": version, **{member: list(want.entries) for member, want in wanted.items() if want.entries}}
    added = [str(entry[want.key]) for want in wanted.values() for entry in want.entries]
    head = f"{comments.rstrip()}\n" if comments.strip() else ""
    return f"{head}{_spread(data)}\n", added


def _spread(data: Entry) -> str:
    """The top two levels have lines of their own, however short they are."""
    parts = []
    for member, value in data.items():
        if isinstance(value, list):
            inside = ",\n".join(f"    {jsonc.dumps(one, '  ', '    ')}" for one in value)
            parts.append(f'  "{member}": [\n{inside}\n  ]')
        else:
            parts.append(f'  "{member}": {jsonc.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}"


def _root(text: str, name: str) -> jsonc.Node:
    try:
        root = jsonc.parse(text)
    except jsonc.JsoncError as error:
        raise UsageError(
            f"{name} is not JSON: {error}.",
            "Mend it there: VS Code cannot read it either. Or leave it out: --no-vscode.",
        ) from error
    if not isinstance(root.value, dict):
        raise UsageError(f"{name} is not a JSON object.", "VS Code's begins with {.")
    return root


def _with_items(text: str, node: jsonc.Node, entries: Sequence[Entry]) -> str:
    """Entries at a list's end."""
    unit, margin = _unit(text), _margin(text, node.start)
    inner = (
        _margin(text, node.items[-1].start)
        if node.items and _begins_line(text, node.items[-1].start)
        else margin + unit
    )
    return _inserted(text, node, [jsonc.dumps(one, unit, inner) for one in entries], inner, margin)


def _with_member(text: str, root: jsonc.Node, member: str, entries: Sequence[Entry]) -> str:
    """A list as a new member at the object's end."""
    unit, margin = _unit(text), _margin(text, root.start)
    inner = margin + unit
    body = ",\n".join(f"{inner + unit}{jsonc.dumps(one, unit, inner + unit)}" for one in entries)
    return _inserted(text, root, [f'"{member}": [\n{body}\n{inner}]'], inner, margin)


def _inserted(text: str, node: jsonc.Node, pieces: list[str], inner: str, margin: str) -> str:
    """Pieces before the closing bracket, behind comments that stand there; commas as the file has them."""
    newline = "\r\n" if "\r\n" in text else "\n"
    children = node.items or tuple(node.members.values())
    closing = node.end - 1
    head = text[: node.start + 1 + len(text[node.start + 1 : closing].rstrip())]
    after = text[len(head) : closing] if "\n" in text[len(head) : closing] else f"\n{margin}"
    if children and not node.trailing_comma:
        end = children[-1].end
        head = f"{head[:end]},{head[end:]}"
    body = ",\n".join(f"{inner}{piece}" for piece in pieces) + ("," if node.trailing_comma else "")
    added = f"\n{body}".replace("\n", newline)
    return f"{head}{added}{after if newline in after else after.replace(chr(10), newline)}{text[closing:]}"


def _begins_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()


def _margin(text: str, at: int) -> str:
    """The white space that the line of ``at`` begins with."""
    found = re.match(r"[ \t]*", text[text.rfind("\n", 0, at) + 1 :])
    return found[0] if found else ""


def _unit(text: str) -> str:
    """What the file indents with."""
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found[1] if found else "  "
