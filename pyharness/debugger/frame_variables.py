"""The variables of a frame in either language, as lines of a name and a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.debugger.native.variables import NativeVariables
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from pyharness.debugger.merged_stack import StackFrame
    from pyharness.debugger.shell import Shell

_MOST = 200
GROUPS = ("special variables", "function variables", "class variables", "protected variables")
"""What debugpy shows as one row: of a module's own variables these are not what a person looks for."""
_NOT_VALUES = ("module", "type", "function", "builtin_function_or_method", "ABCMeta")
_ARGUMENTS, _BUFFERS = "Arguments", "Buffers"
_SCOPES = frozenset({"Nodes", "Tensors", _BUFFERS, _ARGUMENTS, "Locals"})
"""Scopes of a native frame: tensors of an op or an autograd node; nodes and buffers of a kernel of inductor's."""


@frozen
class Named:
    """A variable of a frame."""

    name: str
    value: str
    argument: bool = False


def variables_of(shell: Shell, shown: StackFrame) -> list[Named]:
    """Arguments first, then locals; of a module's level what it has computed, and not what it has defined."""
    if shown.debugpy is not None:
        return _of_debugpy(shell, shown, shown.debugpy)
    if shown.level < 0:
        return []
    return _of_gdb(shell, shown)


def _of_gdb(shell: Shell, shown: StackFrame) -> list[Named]:
    known = NativeVariables(shell.attach())
    found: dict[str, Named] = {}
    for scope in known.scopes(shown.thread, shown.level):
        if scope.name in _SCOPES and not scope.expensive:
            for each in known.children(shown.thread, scope.handle, 0, _MOST):
                if shown.frame.language == "python" and _is_special(each.name):
                    continue
                text = f"{each.value} <{each.note}>".strip() if each.note else each.value
                named = Named(each.name, text, scope.name in {_ARGUMENTS, _BUFFERS})
                found.setdefault(each.name, named)  # a kernel's argument is a buffer first, and then a pointer
    return list(found.values())


def _is_special(name: str) -> bool:
    """Whether Python itself has set it, as ``__file__``: what debugpy shows as a row of its own."""
    return name.startswith("__") and name.endswith("__")


def _of_debugpy(shell: Shell, shown: StackFrame, frame: int) -> list[Named]:
    scopes = shell.python.scopes(frame)
    if not scopes:
        return []
    asked = {"variablesReference": scopes[0]["variablesReference"]}
    entries: list[dict[str, Any]] = shell.python.asking.ask("variables", asked)["variables"]
    of_module = shown.frame.function == "<module>"
    kept = [
        each for each in entries if each["name"] not in GROUPS and not (of_module and each.get("type") in _NOT_VALUES)
    ]
    return [Named(each["name"], str(each["value"])) for each in kept[:_MOST]]
