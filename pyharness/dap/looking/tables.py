"""Numbers that stand for what a client looks at while the program stands: frames, variables, texts of code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pyharness.model.errors import HarnessError
from pyharness.model.text.source_line import is_told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.dapwire.wire import Message
    from pyharness.debugger.merged_stack import StackFrame

_FIRST_TEXT = 1 << 29
"""debugpy numbers its sources from 1, files that only this side has begin at ``1 << 30`` (``path_mappings``)."""
_GONE = "It was that of an earlier stop, or never existed: ask for the stack again."


class Frames:
    """Frame ids, valid until the program goes on.

    None is given twice: a request that comes late must not be answered for another frame, and VS Code draws a stack
    anew only where an id of it has changed.
    """

    def __init__(self) -> None:
        self._frames: list[StackFrame] = []
        self._gone = 0
        self.stacks: dict[int, list[StackFrame]] = {}
        """The whole stack of a thread, once it was asked for."""

    def clear(self) -> None:
        """The program goes on."""
        self._gone += len(self._frames)
        self._frames.clear()
        self.stacks.clear()

    def add(self, frame: StackFrame) -> int:
        """Add a frame; its id."""
        self._frames.append(frame)
        return self._gone + len(self._frames)

    def get(self, number: int) -> StackFrame:
        """The frame of an id; raises ``HarnessError`` for one that is not valid."""
        if not 0 < number - self._gone <= len(self._frames):
            raise HarnessError(f"There is no frame {number}.", _GONE)
        return self._frames[number - self._gone - 1]


class Texts:
    """Numbers of sources that are in no file, of which the client asks for the text; one keeps its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def reference(self, path: str) -> Message:
        """What a ``source`` says of a path besides: nothing where a file is meant."""
        if not is_told(path):
            return {}
        return {"sourceReference": self._numbers.setdefault(path, _FIRST_TEXT + len(self._numbers))}

    def path(self, number: int) -> str:
        """The path that a number was given for; empty for another number."""
        return next((path for path, each in self._numbers.items() if each == number), "")


@dataclass(frozen=True)
class Container:
    """What a ``variablesReference`` stands for."""

    side: Literal["debugpy", "gdb", "ready"]
    handle: int = 0
    """The reference in that debugger."""
    frame: StackFrame | None = None
    """Where it was looked at."""
    variables: Sequence[Message] = ()
    """All variables of a ``ready`` container."""

    @property
    def thread(self) -> int:
        """The thread of its frame."""
        return self.frame.thread if self.frame else 0


class Variables:
    """Variable references, and those to source lines, valid until the program goes on; no reference is given twice."""

    def __init__(self) -> None:
        self._links: list[tuple[str, int]] = []
        self._expressions: dict[tuple[int, str], str] = {}
        self._containers: list[Container] = []
        self._gone = 0
        self._numbers: dict[tuple[Any, ...], int] = {}

    def clear(self) -> None:
        """The program goes on."""
        self._gone += len(self._containers)
        self._containers.clear()
        self._numbers.clear()
        self._links.clear()
        self._expressions.clear()

    def add(self, container: Container) -> int:
        """Add a container; its reference, the same each time."""
        key = (
            container.side,
            container.handle,
            container.frame and (container.frame.thread, container.frame.level, container.frame.debugpy),
            id(container.variables) if container.variables else 0,
        )
        if key not in self._numbers:
            self._containers.append(container)
            self._numbers[key] = self._gone + len(self._containers)
        return self._numbers[key]

    def get(self, number: int) -> Container:
        """What a reference stands for; raises ``HarnessError`` for one that is not valid."""
        if not 0 < number - self._gone <= len(self._containers):
            raise HarnessError(f"There are no variables {number}.", _GONE)
        return self._containers[number - self._gone - 1]

    def remember(self, number: int, variables: Sequence[Message]) -> None:
        """Keep the expressions of what was shown behind a reference."""
        self._expressions |= {
            (number, each["name"]): each["evaluateName"] for each in variables if "evaluateName" in each
        }

    def expression(self, number: int, name: str) -> str:
        """The expression of a variable that was shown; its name where it has none."""
        return self._expressions.get((number, name), name)

    def add_link(self, link: str) -> int:
        """The reference of a ``FILE:LINE``; 0 for what is none."""
        file, _, line = link.rpartition(":")
        if not file or not line.isdigit():
            return 0
        self._links.append((file, int(line)))
        return len(self._links)

    def link(self, number: int) -> tuple[str, int]:
        """The file and the line of a reference."""
        if not 0 < number <= len(self._links):
            raise HarnessError(f"There is no location {number}.", _GONE)
        return self._links[number - 1]
