"""The guards of compiled code, read from Dynamo's cache, and those that failed, from what it notes of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pyharness.model.results.compiled import FailedGuard, Guard, Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType

_PARTS = re.compile(r"^(?P<check>.*?)\s*(?:\s\s?# (?P<source>.*?))?\s*# (?P<file>\S+):(?P<line>\d+) in \S+", re.DOTALL)
_FAILED = re.compile(r"^(?P<id>\S+?/\d+(?:_\d+)?): (?P<text>.*)$", re.DOTALL)
_HINT = re.compile(r"\s*\(HINT: .*\)\s*$", re.DOTALL)
_STACK = "\nUser stack trace:\n"


def guards_of(code: CodeType, compile_id: str, files: Iterable[str]) -> tuple[Guard, ...] | None:
    """The guards of the compilation ``compile_id`` of ``code``; ``None`` where Dynamo's cache has it no more.

    ``files`` are those that were traced: torch shortens their names.
    """
    from torch._dynamo.eval_frame import _debug_get_cache_entry_list

    for entry in _debug_get_cache_entry_list(code):
        if str(entry.compile_id) == compile_id:
            root = getattr(entry.guard_manager, "root", None)
            return None if root is None else tuple(dict.fromkeys(_all(root, tuple(files))))
    return None


def _all(manager: Any, files: tuple[str, ...]) -> Iterator[Guard]:
    leaves = list(manager.get_leaf_guards())
    if hasattr(manager, "get_epilogue_lambda_guards"):
        leaves += manager.get_epilogue_lambda_guards()
    for leaf in leaves:
        for part in leaf.verbose_code_parts():
            text, place = read_part(part, files)
            yield Guard(type(leaf).__name__, text, place)
    for child in _children(manager):
        yield from _all(child, files)


def _children(manager: Any) -> Iterator[Any]:
    yield from manager.get_child_managers()
    if hasattr(manager, "get_key_value_managers"):  # of a dict: one for the key and one for the value
        for pair in manager.get_key_value_managers().values():
            yield from filter(None, pair)


def read_part(part: str, files: tuple[str, ...]) -> tuple[str, Place | None]:
    """The check and its line, of ``CHECK  # SOURCE LINE  # FILE:LINE in FUNCTION (HINT: ...)``."""
    match = _PARTS.match(part)
    if match is None:
        return _HINT.sub("", part).strip(), None
    file = _whole(match["file"], files)
    return match["check"].strip(), Place(file, int(match["line"]), (match["source"] or "").strip())


def _whole(file: str, files: tuple[str, ...]) -> str:
    return next((each for each in files if each == file or each.endswith(file)), file)


def read_failure(text: str, files: tuple[str, ...]) -> FailedGuard | None:
    """What Dynamo notes of a guard that failed: ``0/0: tensor 'x' size mismatch ...``."""
    match = _FAILED.match(text.partition(_STACK)[0])
    if match is None:
        return None
    check, place = read_part(match["text"], files)
    return FailedGuard(match["id"], check, place)
