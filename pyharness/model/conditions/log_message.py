"""Messages of log points: text, and expressions in braces that are evaluated where the program comes to."""

from __future__ import annotations

import ast

from pyharness.model.errors import UsageError

_QUOTES = ('"', "'", '"""', "'''")
_FORM = "Write {EXPRESSION}, or in Python {EXPRESSION:FORMAT}."
_LONG = 60


def parts(message: str) -> tuple[list[str], list[str]]:
    """The texts of a message, and the expressions in outer braces between them; one that is not closed is text."""
    texts, values = [""], list[str]()
    depth = start = 0
    for position, char in enumerate(message):
        if char == "{":
            depth += 1
            start = position + 1 if depth == 1 else start
        elif char == "}" and depth:
            depth -= 1
            if not depth:
                values.append(message[start:position])
                texts.append("")
        elif not depth:
            texts[-1] += char
    if depth:
        texts[-1] += message[start - 1 :]
    return texts, values


def python_of(value: str) -> str:
    """Python's code for what stands in braces, as in an f-string; empty where it is none."""
    if not value.strip():
        return ""
    quoted = (f"f{quote}{{{' ' * value.startswith('{')}{value}}}{quote}" for quote in _QUOTES if quote not in value)
    return next((code for code in (*quoted, f"(\n{value}\n)") if _is_python(code)), "")


def _is_python(code: str) -> bool:
    try:
        ast.parse(code, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def checked(message: str, *, python: bool = False) -> str:
    """``message``, where all that it would evaluate can be read: as Python's expressions, or as far as the braces."""
    texts, values = parts(message)
    if "{" in texts[-1]:
        raise UsageError(f"The log message {_short(message)!r} has a brace that is not closed.", _FORM)
    wrong = [value for value in values if python and not python_of(value)]
    if wrong:
        raise UsageError(f"{_short('{' + wrong[0] + '}')!r} in the log message is no Python expression.", _FORM)
    return message


def _short(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[: _LONG - 3]}..."
