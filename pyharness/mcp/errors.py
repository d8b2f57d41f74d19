"""What went wrong in a call, as a client gets it: a code, a message, and what to do about it."""

from __future__ import annotations

import os
import re
import traceback
from typing import TYPE_CHECKING

import mcp_types as types
from pydantic import ValidationError

from pyharness.mcp.roots import OutsideError
from pyharness.model.errors import DebuggerLostError, HarnessError, UsageError, nearest
from pyharness.model.system_errors import of_the_system
from pyharness.model.text.visible import visible

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_CODES = ((UsageError, "usage"), (OutsideError, "outside_roots"), (DebuggerLostError, "debugger_lost"))
_MOST = 1500
_OF_OURS = re.compile(r" or instance of \w+")
"""What pydantic says of a class that no caller knows."""


class BugError(HarnessError):
    """A mistake of ours."""


def unforeseen(error: Exception) -> HarnessError:
    """The error for one that nobody has foreseen: the system's, or a mistake of ours."""
    if found := of_the_system(error):
        return found
    if os.environ.get("PYHARNESS_TRACEBACK"):
        traceback.print_exception(error)
    what = "".join(traceback.format_exception_only(error)).strip()
    return BugError(
        f"This is a bug in pyharness: {what}", "PYHARNESS_TRACEBACK=1 in the server's environment prints where."
    )


def result(error: HarnessError | ValidationError) -> types.CallToolResult:
    """``{code, message, remedy}``, and both in words."""
    if isinstance(error, ValidationError):
        error = _of_arguments(error)
    code = next((code for kind, code in _CODES if isinstance(error, kind)), "failed")
    code = "bug" if isinstance(error, BugError) else code
    message, remedy = (visible(each)[:_MOST] for each in (error.message, error.remedy))
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=f"{message}\n{remedy}".rstrip())],
        structured_content={"code": code, "message": message, "remedy": remedy},
        is_error=True,
    )


def _of_arguments(error: ValidationError) -> UsageError:
    """The first argument that is wrong, and how it should be."""
    details = error.errors(include_url=False)
    first, many = details[0], len(details)
    name = ".".join(map(str, first["loc"])) or "The arguments"
    more = f" ({many - 1} more are wrong.)" if many > 1 else ""
    if first["type"] == "extra_forbidden":
        tool, known = _taker(error)
        return UsageError(f"{tool} takes no {name!r}.{more}", nearest(name, known) or f"It takes {', '.join(known)}.")
    message = _OF_OURS.sub("", first["msg"]).rstrip(".")
    return UsageError(f"{name}: {message}.{more}", _remedy(first))


def _remedy(detail: ErrorDetails) -> str:
    given = detail.get("input")
    if detail["type"] == "literal_error" and isinstance(given, str):
        expected = str(detail.get("ctx", {}).get("expected", ""))
        return nearest(given, [word.strip(" '") for word in expected.replace(" or ", ", ").split(",")])
    if detail["type"] == "missing":  # then it is all that was given
        return ""
    return f"It was {(repr(given) if isinstance(given, dict | list) else repr(str(given)))[:100]}."


def _taker(error: ValidationError) -> tuple[str, list[str]]:
    """The tool whose arguments these are, and their names."""
    from pyharness.mcp.registry import TOOLS

    for each in TOOLS.values():
        if each.asked.__name__ == error.title:
            return each.name, list(each.asked.model_fields)
    return error.title, []
