"""What a value is made of, in either language: a tensor's facts and elements, an object's attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debugger.expressions import value_of
from pyharness.debugger.frame_variables import GROUPS
from pyharness.debugger.native.variables import NativeVariables
from pyharness.debugger.python.dap_client import RequestError
from pyharness.model.frozen import frozen
from pyharness.prompt.shown.values import expression_of, raised

if TYPE_CHECKING:
    from pyharness.prompt.session import Session

_MOST = 100
"""Parts that are shown of one value."""


@frozen
class Part:
    """A value, or a part of one; its handle opens it, 0 for none."""

    name: str
    value: str
    type: str
    handle: int
    is_pythons: bool


def whole(session: Session, typed: str) -> Part:
    """The value of an expression."""
    shown = session.where.shown
    expression = expression_of(session, typed, "tensor x")
    if expression.language == "python" and shown.debugpy is not None:
        asked = {"expression": expression.text, "frameId": shown.debugpy, "context": "watch"}
        try:
            body = session.shell.python.asking.ask("evaluate", asked)
        except RequestError as error:
            raise raised(error.message) from error
        return Part(
            typed, str(body["result"]), str(body.get("type")), int(body.get("variablesReference", 0)), is_pythons=True
        )
    found = value_of(session.shell, session.where.around, shown, expression, manner="whole").variable
    return Part(typed, found.value, found.type, found.handle, is_pythons=False)


def parts(session: Session, of: Part) -> list[Part]:
    """What it is made of; nothing for a number or a text."""
    if not of.handle:
        return []
    if of.is_pythons:
        asked = {"variablesReference": of.handle, "start": 0, "count": _MOST}
        entries = session.shell.python.asking.ask("variables", asked)["variables"]
        return [
            Part(
                each["name"],
                str(each["value"]),
                str(each.get("type")),
                int(each.get("variablesReference", 0)),
                is_pythons=True,
            )
            for each in entries[:_MOST]
            if each["name"] not in GROUPS
        ]
    known = NativeVariables(session.shell.attach())
    found = known.children(session.where.thread, of.handle, 0, _MOST)
    return [
        Part(
            each.name,
            f"{each.value} <{each.note}>".strip() if each.note else each.value,
            each.type,
            each.handle,
            is_pythons=False,
        )
        for each in found
    ]
