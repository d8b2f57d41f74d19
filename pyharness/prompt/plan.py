"""What a session at the prompt begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.evaluation import EVAL_TIMEOUT
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from pyharness.debugger.core.shell import CoreFile
    from pyharness.debugger.starting.attach import Attachment
    from pyharness.debugger.starting.launch import Command


@frozen
class Plan:
    """The program, and how it is debugged."""

    target: Command | Attachment | CoreFile
    include: tuple[str, ...] = ()
    """Path patterns of library code that steps shall stop in after all."""
    eval_timeout: float = EVAL_TIMEOUT
    """Seconds that an expression may take."""

    in_place: bool = False
    """Whether the program has opened the prompt itself, and waits for it."""

    waits: bool = False
    """Whether the program waits before its first line, as a rank of a job does, and the session ends with it."""

    together: bool = False
    """Whether it is one of several processes at the prompt: their end, and what none has reached, is told last."""

    child: bool = False
    """Whether another one of these has started it: that it fails is told when it does."""

    @property
    def begins(self) -> bool:
        """Whether the program stands before its first line when the session begins."""
        return self.starts or self.waits

    @property
    def starts(self) -> bool:
        """Whether the program is started for this session."""
        return self.target.ours
