"""What is asked of Python on a thread that gdb holds: by the program's agent, as far as the GIL lets it answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.codec import MalformedError
from pyharness.model.errors import HarnessError
from pyharness.protocol.agent import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from pyharness.debugger.native.side import NativeSide
    from pyharness.protocol.agent import Request
    from pyharness.protocol.question import Answer

_MAX_STOPS = 1000
"""Stops of other threads that a question waits for."""


class GilHeldError(HarnessError):
    """Nothing of Python's can be asked of a thread in native code: another one that stands has the GIL."""

    def __init__(
        self,
        holder: int,
        who: str = "another stopped thread holds the GIL",
        remedy: str = "Continue: the stop of that thread comes next.",
    ) -> None:
        super().__init__(f"Python cannot answer: {who}.", remedy)
        self.holder = holder
        """The thread that has it."""


class GilBlockedError(GilHeldError):
    """The thread with the GIL runs, and waits in native code: for the one that is asked, maybe."""

    def __init__(self, holder: int) -> None:
        super().__init__(
            holder,
            f"thread {holder} holds the GIL and waits in native code",
            "Name a variable of the native code, or continue to a line of Python's.",
        )


class ElsewhereError(HarnessError):
    """The thread runs Python of a subinterpreter."""

    def __init__(self) -> None:
        super().__init__(
            "This thread runs a subinterpreter, where no Python can be asked or stepped: debugpy is in the main one.",
            "Step in the native code, or continue.",
        )


def ask_agent(
    native: NativeSide,
    thread: int,
    request: Request[Answer],
    standing: Callable[[], Collection[int]],
    wait: Callable[[], None],
) -> Answer | None:
    """Ask the agent on a stopped thread, once every other thread that ran into a trap of ours has passed it.

    ``standing`` are the threads that stand for a person; ``wait`` handles what comes next. ``None`` where the program
    has no agent, or none any more.
    """
    if native.agent is None:
        return None
    holder = 0
    for _ in range(_MAX_STOPS):
        reply = native.asking.ask_agent(thread, request)
        if reply.is_elsewhere:
            raise ElsewhereError
        if reply.is_gone:
            return None
        if not reply.later:
            return _answer(request, reply.answer)
        if reply.is_blocked:
            raise GilBlockedError(reply.holder)
        holder = reply.holder
        if holder in standing():
            break
        wait()
    raise GilHeldError(holder)


def asked_while_held(native: NativeSide, thread: int, ask: Callable[[], Answer | None]) -> Answer | None:
    """The answer of a thread that waits in native code, and is held meanwhile where Python may be asked."""

    def asked() -> list[Answer | None]:
        if stop := native.asking.come_out(thread):
            native.threads.tell(stop)
            raise HarnessError(f"Thread {thread}, for which this one works, has come to a stop.", "Continue.")
        return [ask()]

    for answer in native.threads.held(thread, asked) or ():
        return answer
    raise HarnessError(f"Thread {thread}, for which this one works, cannot be held to be asked.", "Try again.")


def _answer(request: Request[Answer], said: object) -> Answer:
    try:
        return request.answer_in(said)
    except (RefusedError, MalformedError) as error:
        raise HarnessError(f"The program refused {request.tag!r}: {error}") from error
