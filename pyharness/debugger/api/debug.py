"""Starts a program under both debuggers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.debugger.api.program import Program
from pyharness.debugger.starting import words
from pyharness.debugger.starting.launch import Command
from pyharness.model.evaluation import EVAL_TIMEOUT

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from typing import IO


def debug(  # noqa: PLR0913  (each is a thing a user may want to say)
    script: str | os.PathLike[str],
    *arguments: str | os.PathLike[str],
    module: bool = False,
    python: str | os.PathLike[str] = "",
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    stdout: IO[Any] | int | None = None,
    pass_fds: Sequence[int] = (),
    include: Sequence[str] = (),
    progress: Callable[[str], None] | None = None,
    notes: Callable[[str], None] | None = None,
    crashes: bool = False,
    eval_timeout: float = EVAL_TIMEOUT,
    debug_kernels: bool = False,
    overwritten: bool = False,
) -> Program:
    """Start ``script`` under both debuggers: the program stands before its first line.

    Use it as files are used: in a ``with`` block, which ends it, or by itself, to its ``close()``.

    Args:
        script: A Python file, or the name of a module with ``module=True``.
        arguments: Its command line.
        module: Run it as ``python -m``.
        python: Its interpreter; this one when empty.
        cwd: Its working folder.
        env: Added to its environment.
        stdout: Where its output goes (as ``subprocess.Popen`` takes it); this process's when ``None``.
        pass_fds: File descriptors that it gets beside its streams, as in ``subprocess.Popen``.
        include: Path patterns of library code (of torch, say) that steps shall stop in after all.
        progress: Called with a line of text at each phase that can take a second.
        notes: Called with what to know while the program runs, such as the nearest names to a place that nothing has;
            ``None`` is a warning of the logger ``pyharness``, which Python writes to stderr.
        crashes: Attach gdb with the first library that is not Python's own, so that a crash in one is a stop.
        eval_timeout: Seconds that an expression may take.
        debug_kernels: Have torch.compile build its C++ kernels unoptimized and with debug information, into a cache of
            pyharness's own.
        overwritten: Stop where something writes into a tensor that autograd saved, as a signal; see
            ``pyharness.find_overwritten``.

    Raises:
        HarnessError: The script, its interpreter, gdb or debugpy cannot be used; the error carries the remedy.

    """
    command = Command(
        words.word("script", script),
        words.words("arguments", arguments),
        words.flag("module", module),
        words.word("python", python),
        None if cwd is None else words.word("cwd", cwd),
        words.environment(env or {}),
        words.stream("stdout", stdout),
        pass_fds=words.descriptors("pass_fds", pass_fds),
        debug_kernels=words.flag("debug_kernels", debug_kernels),
        overwritten=words.flag("overwritten", overwritten),
    )
    return Program(
        command,
        words.words("include", include),
        words.function("progress", progress),
        notes=words.function("notes", notes),
        crashes=words.flag("crashes", crashes) or command.overwritten,
        eval_timeout=eval_timeout,
    )
