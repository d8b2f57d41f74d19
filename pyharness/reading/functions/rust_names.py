"""Names of Rust's functions from their symbols: those of the older form look like C++ with a hash at the end.

Source: rustc-demangle, "legacy symbol mangling".
"""

from __future__ import annotations

import re

from pyharness.reading.functions.rust_symbols import name_of_symbol

_SYMBOL = re.compile(r"_ZN(?P<parts>(?:\d+\S+?)+?)17h[0-9a-f]{16}E(?:\.llvm\.\w+)?")
_HASH = "17h"
"""What the last part of such a symbol begins with: its length, and a letter."""
_PART = re.compile(r"(\d+)(.+)", re.DOTALL)
_ESCAPE = re.compile(r"\$(?:u([0-9a-f]+)|[A-Z]+)\$|\.\.")
_LETTERS = {"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ",", "..": "::"}


def rust_name(symbol: str) -> str:
    """``rusty::Counter::step`` of ``_ZN5rusty7Counter4step17h0123456789abcdefE``; empty for a symbol of C++."""
    found = _SYMBOL.fullmatch(symbol) if _HASH in symbol else None
    if found is None:
        return name_of_symbol(symbol)
    parts, rest = [], found["parts"]
    while rest:
        begins = _PART.match(rest)
        if begins is None or len(begins[2]) < int(begins[1]):
            return ""
        length = int(begins[1])
        part = begins[2][:length]
        parts.append(_ESCAPE.sub(_letter, part[1:] if part.startswith("_$") else part))  # no name begins with a $
        rest = begins[2][length:]
    return "::".join(parts)


def _letter(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return _LETTERS.get(escape[0].strip("$"), escape[0])
