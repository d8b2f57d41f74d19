"""How ``std::function`` is shown: by the function that it holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.ingdb import console
from pyharness.ingdb.printers.registry import shows

if TYPE_CHECKING:
    from collections.abc import Iterator

    import gdb

_HANDLER = re.compile(r"std::_Function_handler<(?P<words>.*)>::_M_(?:manager|invoke)\b")
_FUNCTION = re.compile(r".*\(\*\)\(.*")
_PARTS = {"<": 1, "(": 1, "{": 1, ">": -1, ")": -1, "}": -1}


@shows(r"std::(?:move_only_)?function<.*>")
def _function(value: gdb.Value) -> str:
    manager = int(value["_M_manager"])
    if not manager:
        return "empty"
    held = _held_type(manager)
    if held is None:
        return f"a callable (its type is unknown: {manager:#x})"
    if _FUNCTION.fullmatch(held):
        return name_at(int(value["_M_functor"]["_M_unused"]["_M_function_pointer"]))
    return held


def _held_type(manager: int) -> str | None:
    """The type of the callable, from the name of the function that copies and destroys it."""
    found = _HANDLER.search(name_at(manager))
    return _last_argument(found["words"]) if found else None


def first_argument(words: str) -> str:
    """``A`` of ``A, B``, where either may have commas inside brackets."""
    return words[: next(_commas(words), None)].strip()


def _last_argument(words: str) -> str:
    begins = [0, *(index + 1 for index in _commas(words))][-1]
    return words[begins:].strip()


def _commas(words: str) -> Iterator[int]:
    """Where the commas are that part the arguments."""
    depth = 0
    for index, letter in enumerate(words):
        if letter == "," and depth == 0:
            yield index
        if letter != ">" or words[index - 1] != "-":
            depth += _PARTS.get(letter, 0)


def name_at(address: int) -> str:
    """The symbol at an address, demangled."""
    return console.run(f"info symbol {address}").strip().partition(" in section ")[0].removesuffix(" + 0")
