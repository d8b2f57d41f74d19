"""Messages of log points: text, and expressions in braces that are evaluated where the program comes to."""

from __future__ import annotations

import re

from pyharness.model.errors import UsageError

_QUOTES = ('"', "'", '"""', "'''")
_FORM = "Write {EXPRESSION}, or in Python {EXPRESSION:FORMAT}."
_IN_VALUES = re.compile(r"""[{}]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
"""A brace, or a text in quotes, in which braces are no end."""
_LONG = 60
_MOST = 1 << 16
"""Characters of one message: whoever has a log point reads lines."""


def parts(message: str) -> tuple[list[str], list[str]]:
    """The texts of a message, and the expressions in braces between them; doubled braces are braces, as in f-strings.

    What is not closed is text.
    """
    texts, values, rest = _scanned(message)
    texts[-1] += rest
    return texts, values


def shortened(text: str) -> str:
    """One message as it is shown: what is too much of it is counted."""
    return text if len(text) <= _MOST else f"{text[:_MOST]}… and {len(text) - _MOST} characters more"


def _scanned(message: str) -> tuple[list[str], list[str], str]:
    """Texts, expressions, and what begins with a brace that is not closed."""
    texts, values = [""], list[str]()
    position = 0
    while position < len(message):
        if message[position : position + 2] in {"{{", "}}"}:
            texts[-1] += message[position]
            position += 2
        elif message[position] == "{":
            end = _end_of(message, position)
            if end < 0:
                return texts, values, message[position:]
            values.append(message[position + 1 : end])
            texts.append("")
            position = end + 1
        else:
            texts[-1] += message[position]
            position += 1
    return texts, values, ""


def _end_of(message: str, start: int) -> int:
    """Where the brace at ``start`` is closed, by one that is in no quotes if there is any; -1 where it is not."""
    depth = 0
    end = -1
    for found in _IN_VALUES.finditer(message, start):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if not depth:
            end = found.start()
            break
    return end if end >= 0 else _first_end_of(message, start)


def _first_end_of(message: str, start: int) -> int:
    """Where the brace at ``start`` is closed, whatever quotes there are: an apostrophe may be a text's."""
    depth = 0
    for position in range(start, len(message)):
        depth += {"{": 1, "}": -1}.get(message[position], 0)
        if not depth:
            return position
    return -1


def python_of(value: str) -> str:
    """Python's code for what stands in braces, as in an f-string; empty where it is none."""
    if not value.strip():
        return ""
    quoted = (f"f{quote}{{{' ' * value.startswith('{')}{value}}}{quote}" for quote in _QUOTES if quote not in value)
    return next((code for code in (*quoted, f"(\n{value}\n)") if _is_python(code)), "")


def _is_python(code: str) -> bool:
    """Whether it is an expression by itself: one that awaits or yields is only within a function."""
    try:
        compile(code, "<log message>", "eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def checked(message: str, *, python: bool = False) -> str:
    """``message``, where all that it would evaluate can be read: as Python's expressions, or as far as the braces."""
    _, values, rest = _scanned(message)
    if rest:
        raise UsageError(f"The log message {_short(message)!r} has a brace that is not closed.", _FORM)
    wrong = [value for value in values if python and not python_of(value)]
    if wrong:
        raise UsageError(f"{_short('{' + wrong[0] + '}')!r} in the log message is not a Python expression.", _FORM)
    return message


def required(message: str, *, python: bool) -> str:
    """``message``, checked, where it says something."""
    if not message:
        raise UsageError("A log point says something.", 'Give it a message, such as "loss={loss}".')
    return checked(message, python=python)


def _short(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[: _LONG - 3]}..."
