"""Attaches to a program that runs already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debugger.api.program import Program
from pyharness.debugger.starting import words
from pyharness.debugger.starting.attach import Attachment
from pyharness.model import given_numbers
from pyharness.model.errors import UsageError
from pyharness.model.evaluation import EVAL_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyharness.protocol.channel import Child


def attach(  # noqa: PLR0913  (each is a thing a user may want to say)
    target: int | str,
    *,
    children: bool = False,
    include: Sequence[str] = (),
    progress: Callable[[str], None] | None = None,
    notes: Callable[[str], None] | None = None,
    on_child: Callable[[Child], None] | None = None,
    crashes: bool = False,
    child_wait: float = 10.0,
    seconds: float = 15.0,
    eval_timeout: float = EVAL_TIMEOUT,
    debug_kernels: bool = False,
) -> Program:
    """Debug a program that runs already; it runs on when the session ends.

    Use it as files are used: in a ``with`` block, or by itself, to its ``close()``.

    Args:
        target: The handle of ``pyharness run``, a process id, or a part of one process's command line.
        children: Child processes that it starts from now on get a handle each, by which they can be attached to.
        include: Path patterns of library code (of torch, say) that steps shall stop in after all.
        progress: Called with a line of text at each phase that can take a second.
        notes: As for ``debug``.
        on_child: Called with each such child, which waits for a debugger of its own.
        crashes: Attach gdb at once where a library is loaded that is not Python's own, so that a crash is a stop.
        child_wait: Seconds that a child waits for a debugger of its own.
        seconds: How long the program may take to answer: native code may keep the GIL.
        eval_timeout: Seconds that an expression may take.
        debug_kernels: As for ``debug``, of what is compiled from now on.

    Raises:
        HarnessError: There is no such program, another debugger has it, or it cannot be reached; with the remedy.

    """
    told = words.function("progress", progress) or (lambda _text: None)
    given_numbers.seconds("child_wait", child_wait)
    given_numbers.seconds("seconds", seconds)
    kernels, followed = words.flag("debug_kernels", debug_kernels), words.flag("children", children)
    if isinstance(target, bool) or not isinstance(target, (int, str)):
        raise UsageError(f"target must be a string or a process id, not {target!r}.", "For example: attach('train.py')")
    wanted = Attachment(
        str(target),
        followed,
        child_wait=child_wait,
        seconds=seconds,
        progress=told,
        debug_kernels=kernels,
    )
    return Program(
        wanted,
        words.words("include", include),
        progress,
        notes=words.function("notes", notes),
        on_child=words.function("on_child", on_child),
        crashes=words.flag("crashes", crashes),
        eval_timeout=eval_timeout,
    )
