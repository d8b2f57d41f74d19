"""A function by its bare name, as pdb and gdb take one: of Python's where the program has it, else of native code."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.debugger.python.dap_client import RequestError
from pyharness.model.application import is_archive
from pyharness.model.errors import UsageError
from pyharness.model.text.code_functions import CodeFunction, functions_of
from pyharness.model.text.source_line import short_path
from pyharness.prompt.shown.values import literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.prompt.session import Session

_NAME = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?=\s+(?:if|when|hits)\b|\s*$)")
_MOST = 8
_FOUND = (
    "(lambda f: (lambda c: (c.co_filename, c.co_firstlineno, c.co_name))"
    "(getattr(__import__('inspect').unwrap(getattr(f, '__func__', f)), '__code__')))({name})"
)
"""Where the function is written that a name stands for, without its decorators' wrappers."""


def resolved(session: Session, text: str) -> str:
    """The place that a bare name at its beginning means, with what follows; any other text as it is.

    ``UsageError`` where several functions have the name.
    """
    found = _NAME.match(text)
    if found is None:
        return text
    name, rest = found[1], text[found.end() :]
    functions = _named_here(session, name) or list(_written(session, name))
    if len(functions) > 1:
        listed = "\n".join(f"  py:{short_path(file)}:{each.line}  {each.name}" for file, each in functions[:_MOST])
        raise UsageError(f"Several functions are called {name!r}:\n{listed}", "Name one by its place.")
    if functions:
        file, function = functions[0]
        return f"py:{file}:{function.line}{rest}"
    is_node = bool(session.debuggee) and name in session.shell.breakpoints.names("fx")
    if is_node or ("." in name and not _archive(session)):
        return f"fx:{name}{rest}"
    if archive := _archive(session):
        last = name.split(".")[-1]
        raise UsageError(
            f"{name!r} may be a function of the archive {short_path(archive)}, and nothing stops at the lines of one.",
            f"Unpack it, and run the folder. A function of C or C++ is native:{last}.",
        )
    return f"native:{name}{rest}"


def _archive(session: Session) -> str:
    """The archive that the program is run from, where Python's code is looked at; empty where it is files."""
    frame = session.position.shown.frame if session.position else None
    file = Path(session.plan.target.file)
    if frame and frame.language == "native":
        return ""
    return next((str(each) for each in (file, *file.parents) if each.suffix and is_archive(each)), "")


def _named_here(session: Session, name: str) -> list[tuple[str, CodeFunction]]:
    """The function that the name stands for in the frame that is looked at, as in pdb; one, or none."""
    frame = session.position.shown.debugpy if session.position else None
    if frame is None:
        return []
    asked = {"expression": _FOUND.format(name=name), "frameId": frame, "context": "watch"}
    with suppress(RequestError, SyntaxError, ValueError, TypeError):
        body = session.shell.python.asking.ask("evaluate", asked)
        file, first, _ = ast.literal_eval(literal(str(body["result"])))
        return [(file, each) for each in functions_of(file) if each.first == first]
    return []


def _written(session: Session, name: str) -> Iterator[tuple[str, CodeFunction]]:
    """Functions of this name in the file that is looked at, else in the program's first."""
    for file in _files(session):
        having = [each for each in functions_of(file) if f".{each.name}".endswith(f".{name}")]
        if having:
            exact = [each for each in having if each.name == name]
            yield from ((file, each) for each in exact or having)
            return


def names_here(session: Session) -> list[str]:
    """The names of Python functions that are known without a prefix, for completion."""
    return list(dict.fromkeys(each.name for file in _files(session) for each in functions_of(file)))


def _files(session: Session) -> Iterator[str]:
    frame = session.position.shown.frame if session.position else None
    if frame and frame.file and frame.language == "python":
        yield frame.file
    if file := session.plan.target.file:
        yield file
