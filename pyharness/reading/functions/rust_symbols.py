"""Names of Rust's functions from symbols of the newer form, which begin with ``_R``: rustc 1.97 makes them (nightly).

Source: Rust's RFC 2603, "symbol name mangling v0", and "v0 Symbol Format" of the book of rustc.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_BEGIN = re.compile(r"_R(?=[A-Z])")
_SUFFIX = re.compile(r"[.$].*")
"""What LLVM puts behind the symbol of a copy, as ``.llvm.1234``."""
_NUMBER = re.compile(r"[0-9a-zA-Z]*_")
_LENGTH = re.compile(r"(u?)(0|[1-9]\d*)_?")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SPECIAL = {"C": "closure", "S": "shim"}
_BASIC: dict[str, str] = dict(
    re.findall(
        r"(\w) (\S+)",
        "a i8 b bool c char d f64 e str f f32 h u8 i isize j usize l i32 m u32 n i128 o u128 p _ s i16 t u16 u () "
        "v ... x i64 y u64 z !",
    )
)
_POINTERS = {"P": "*const ", "O": "*mut ", "R": "&", "Q": "&mut "}
_REFERENCES = "RQ"
_MOST_STEPS = 20_000
"""Parts of a name: those that refer to earlier ones can make it longer without end."""


@lru_cache(maxsize=8192)
def name_of_symbol(symbol: str) -> str:
    """``rusty::Counter::step`` of ``_RNvMCs1_5rustyNtB2_7Counter4step``; empty where it is none of these symbols."""
    begin = _BEGIN.match(symbol)
    if begin is None:
        return ""
    try:
        return _Reader(_SUFFIX.sub("", symbol[begin.end() :])).path()
    except (ValueError, IndexError, RecursionError, UnicodeError):
        return ""


class _Reader:
    """Reads a symbol behind its prefix; each method reads what the grammar calls by its name."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._left = _MOST_STEPS

    def path(self) -> str:
        """A path: of a crate, an ``impl``, an item in another path, or one with generic arguments."""
        kind = self._next()
        if kind == "C":
            return self._identifier()
        if kind == "M":
            self._skip_impl()
            return self._type()
        if kind in {"X", "Y"}:
            if kind == "X":
                self._skip_impl()
            return f"<{self._type()} as {self.path()}>"
        if kind == "N":
            return self._nested()
        if kind == "I":
            path = self.path()
            arguments = ", ".join(filter(None, self._until_end(self._generic)))
            return f"{path}<{arguments}>" if arguments else path
        if kind == "B":
            return self._earlier(self.path)
        raise ValueError(kind)

    def _nested(self) -> str:
        namespace, path = self._next(), self.path()
        number, name = self._disambiguator(), self._name()
        if namespace.isupper():
            called = _SPECIAL.get(namespace, namespace)
            return f"{path}::{{{called}{f':{name}' if name else ''}#{number}}}"
        return f"{path}::{name}" if name else path

    def _skip_impl(self) -> None:
        self._disambiguator()
        self.path()  # where the impl is written

    def _identifier(self) -> str:
        self._disambiguator()
        return self._name()

    def _disambiguator(self) -> int:
        return self._number() + 1 if self._take("s") else 0

    def _name(self) -> str:
        found = _LENGTH.match(self._text, self._at)
        if found is None:
            raise ValueError("no length")
        end = found.end() + int(found[2])
        if end > len(self._text):
            raise ValueError("too short")
        name, self._at = self._text[found.end() : end], end
        return "-".join(name.rsplit("_", 1)).encode().decode("punycode") if found[1] else name

    def _generic(self) -> str:
        if self._take("L"):
            self._number()
            return ""  # debug information has no lifetimes either
        return self._constant() if self._take("K") else self._type()

    def _type(self) -> str:
        kind = self._next()
        if kind in _BASIC:
            return _BASIC[kind]
        if kind in _POINTERS:
            if kind in _REFERENCES and self._take("L"):
                self._number()
            return f"{_POINTERS[kind]}{self._type()}"
        if kind in "AST":
            return self._sequence(kind)
        if kind in "FD":
            return self._function() if kind == "F" else self._trait_object()
        if kind == "B":
            return self._earlier(self._type)
        self._at -= 1
        return self.path()

    def _sequence(self, kind: str) -> str:
        if kind == "T":
            parts = self._until_end(self._type)
            return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
        element = self._type()
        return f"[{element}; {self._constant()}]" if kind == "A" else f"[{element}]"

    def _function(self) -> str:
        self._binder()
        unsafe = "unsafe " * self._take("U")
        abi = ""
        if self._take("K"):
            abi = f'extern "{"C" if self._take("C") else self._name().replace("_", "-")}" '
        arguments = ", ".join(self._until_end(self._type))
        result = self._type()
        return f"{unsafe}{abi}fn({arguments}){f' -> {result}' if result != '()' else ''}"

    def _trait_object(self) -> str:
        self._binder()
        traits = self._until_end(self._trait)
        if not self._take("L"):
            raise ValueError("no lifetime")
        self._number()
        return f"dyn {' + '.join(traits)}"

    def _trait(self) -> str:
        path, bindings = self.path(), []
        while self._take("p"):
            name = self._name()
            bindings.append(f"{name} = {self._type()}")
        if not bindings:
            return path
        inner = f"{path[:-1]}, " if path.endswith(">") else f"{path}<"
        return f"{inner}{', '.join(bindings)}>"

    def _constant(self) -> str:
        if self._take("B"):
            return self._earlier(self._constant)
        if self._take("p"):
            return "_"
        kind = self._type()
        sign = "-" * self._take("n")
        digits = re.compile(r"([0-9a-f]*)_").match(self._text, self._at)
        if digits is None:
            raise ValueError("no constant")
        self._at = digits.end()
        value = int(digits[1] or "0", 16)
        if kind == "bool":
            return "true" if value else "false"
        return repr(chr(value)) if kind == "char" else f"{sign}{value}"

    def _binder(self) -> None:
        if self._take("G"):
            self._number()

    def _until_end(self, read: Callable[[], str]) -> list[str]:
        found: list[str] = []
        while not self._take("E"):
            found.append(read())
        return found

    def _earlier(self, read: Callable[[], str]) -> str:
        """What stands at an earlier place of the symbol."""
        begin, target = self._at - 1, self._number()
        if target >= begin:
            raise ValueError("a reference forwards")
        after, self._at = self._at, target
        found = read()
        self._at = after
        return found

    def _number(self) -> int:
        """A number to the base of 62, which is one less with digits than without."""
        found = _NUMBER.match(self._text, self._at)
        if found is None:
            raise ValueError("no number")
        self._at = found.end()
        value = 0
        for digit in found[0][:-1]:
            value = value * 62 + _DIGITS.index(digit)
        return value + 1 if found[0] != "_" else 0

    def _take(self, letter: str) -> bool:
        taken = self._text.startswith(letter, self._at)
        self._at += taken
        return taken

    def _next(self) -> str:
        self._left -= 1
        if self._left < 0:
            raise ValueError("too long")
        self._at += 1
        return self._text[self._at - 1]
