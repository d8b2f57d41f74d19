"""Demangled C++ names as a person writes them: without return type, parameters and clone suffixes."""

from __future__ import annotations

import re
from functools import lru_cache

from pyharness.model.glue import cython_name

UNNAMED = "(anonymous namespace)::"
"""What a demangled name has for an unnamed namespace."""
_CLONE = re.compile(r"( \[clone [^]]*\])+$|(\.(cold|part|isra|constprop|lto_priv|localalias|llvm)\b[.\w]*)+$")
_AFTER_PARAMETERS = re.compile(r"(\s*(const|volatile|noexcept|&&?))+$")
_OPERATOR = re.compile(r"(?<![\w~])operator(?!\w)")
_QUALIFIER = re.compile(r" (const|volatile|&&?)(?=::| const| volatile| &)")
_STRING = re.compile(
    r"std::(__cxx11::)?basic_string<char, std::char_traits<char>, std::allocator<char> >|std::__cxx11::string\b"
)
_CONST_FIRST = re.compile(r"(?<=[(,< ])const\s+([\w:]+(?:<[^<>]*>)?)")
_SPACES = re.compile(r"(?<=[^\w])\s+|\s+(?=[^\w])")
_CLOSED_BY = {"(": ")", "<": ">", "{": "}", "[": "]"}


@lru_cache(maxsize=8192)
def bare_name(demangled: str) -> str:
    """``at::add`` of ``at::Tensor at::add<int>(at::Tensor const&) const [clone .cold]``, template arguments kept."""
    if demangled.startswith("__pyx_"):
        return cython_name(demangled)
    name = _without_parameters(_CLONE.sub("", demangled))
    operator = list(_OPERATOR.finditer(name))
    end = operator[-1].start() if operator else len(name)
    return name[_last_space(name[:end]) + 1 :]


def _without_parameters(name: str) -> str:
    stripped = _AFTER_PARAMETERS.sub("", name)
    if not stripped.endswith(")"):
        return name
    depth = 0
    for index in range(len(stripped) - 1, -1, -1):
        depth += (stripped[index] == ")") - (stripped[index] == "(")
        if not depth:
            kept = stripped[:index]
            return kept if kept and not kept.endswith("operator") else stripped
    return name


def _last_space(text: str) -> int:
    """Index of the last space outside all brackets, -1 without one: what precedes it is a return type."""
    found = -1
    opened: list[str] = []
    for index, letter in enumerate(text):
        if letter in _CLOSED_BY:
            opened.append(_CLOSED_BY[letter])
        elif opened and letter == opened[-1]:  # a ">" inside "(...)" is an operator
            opened.pop()
        elif letter == " " and not opened and not _QUALIFIER.match(text, index):
            found = index
    return found


def without_template_arguments(name: str) -> str:
    """``ns::f`` of ``ns::f<int>::g<char>``; names of operators are left alone."""
    if _OPERATOR.search(name):
        return name
    depth, kept = 0, []
    for letter in name:
        depth += letter == "<"
        if not depth:
            kept.append(letter)
        depth -= letter == ">"
    return "".join(kept)


def _as_written(signature: str) -> str:
    """A signature in one spelling: ``std::string`` by that name, ``const`` behind its type, no needless spaces."""
    named = _STRING.sub("std::string", signature)
    return _SPACES.sub("", _CONST_FIRST.sub(r"\1 const", named))


def matches(demangled: str, wanted: str) -> bool:
    """Whether ``wanted`` (qualified or its last part, with or without parameters) names the function ``demangled``."""
    wanted, spellings = _spellings(demangled, wanted)
    return any(name == wanted or name.endswith(("::" + wanted, "." + wanted)) for name in spellings)


def matches_in_full(demangled: str, wanted: str) -> bool:
    """Whether ``wanted`` leaves no namespace or class out of the name of the function ``demangled``."""
    wanted, spellings = _spellings(demangled, wanted)
    return any(name == wanted or name.endswith(" " + wanted) for name in spellings)


def _spellings(demangled: str, wanted: str) -> tuple[str, list[str]]:
    """The name that is wanted, and what it may be of ``demangled``: nobody writes the name of an unnamed namespace."""
    wanted = wanted.removeprefix("::").strip()
    if "(" in wanted:
        wanted, demangled = _as_written(wanted), _as_written(demangled)
    spellings = [demangled, bare_name(demangled)]
    if "<" not in wanted:
        spellings.append(without_template_arguments(spellings[1]))
    named = [name.replace(UNNAMED, "") for name in spellings if UNNAMED in name]
    return wanted, [*spellings, *named]
