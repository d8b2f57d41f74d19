"""The family of the ``-ph-*`` commands, and those of them that run code of the user's."""

from __future__ import annotations

from pyharness.protocol.question import Answer, Question


class Command(Question[Answer]):
    """One MI command of ours; ``tag`` is its name without the dash."""


class Running(Command[Answer]):
    """One that may run code of the user's on a thread: for a limited time, and Ctrl-C ends it."""

    thread: int

    @property
    def code(self) -> str:
        """What it runs."""
        raise NotImplementedError
