"""Verbs of the command line, run as processes of their own: what an agent asks of a whole program."""

from __future__ import annotations

import asyncio
import ctypes
import os
import re
import signal
import sys
from typing import TYPE_CHECKING

from pydantic import Field

from pyharness.mcp.registry import Answer, Told
from pyharness.model.errors import HarnessError
from pyharness.model.text.visible import visible
from pyharness.project.own_command import APART, own_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.mcp.service import Service

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)
_MOST = 1 << 20
"""Characters of each stream that are kept: the last ones."""
_PRINTED = 800
_LOOKED_AT = 20.0
"""Seconds that it may take to see where a program is."""
_HANDLE = re.compile(r"^pyharness: handle .*\n?", re.MULTILINE)
"""What `run` says of how to attach."""


class VerbTold(Told):
    """How a command line ended."""

    command: str = Field(description="The command line that says the same at a terminal.")
    status: int = Field(description="Its exit status; `meaning` says what that is.")
    meaning: str
    text: str = Field(default="", description="What it said: the first page.")


def _dies_with_us() -> None:
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


async def run(
    service: Service,
    words: Sequence[str],
    folder: str,
    meanings: dict[int, str],
    seconds: float,
    *,
    runs: bool = False,
    beside: bool = False,
) -> Answer:
    """Run ``pyharness WORDS`` in ``folder``; ``meanings``: what its exit statuses say.

    ``runs``: the process becomes the program. What is said on stderr comes first, and of stdout, which is the
    program's, the end; where ``seconds`` are over, its stacks are the answer. ``beside``: it starts a program, whose
    output goes to stderr then.
    """
    process = await asyncio.create_subprocess_exec(
        *own_command(sys.executable, *words),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        preexec_fn=_dies_with_us,
        start_new_session=True,
        env={**os.environ, APART: "1"} if beside else None,
    )
    typed = f"pyharness {' '.join(words)}"
    service.groups.add(process)
    service.progress(typed)
    try:
        out, err = await asyncio.wait_for(process.communicate(), seconds)
    except asyncio.TimeoutError:
        stacks = await _stacks(process.pid) if runs else ""
        await asyncio.to_thread(service.groups.end(process.pid).join)
        if stacks:
            meaning = f"it still ran after {seconds:g} s, and was ended; where it was then:"
            return Answer(f"{meaning}\n{stacks}", VerbTold(command=typed, status=1, meaning=meaning))
        raise HarnessError(
            f"`{typed}` took longer than {seconds:g} s, and was ended with its program.",
            'Give timeout_s more; check with what="crash" says where a program is when that is over.',
        ) from None
    except asyncio.CancelledError:
        service.groups.end(process.pid)  # and nothing is waited for: whoever cancels may cancel that, too
        raise
    service.groups.forget(process.pid)
    printed, said = (visible(each.decode(errors="replace")[-_MOST:]).strip("\n") for each in (out, err))
    status = process.returncode or 0
    found_nothing = not (runs or beside or printed) and said.startswith("pyharness: ")
    if status == 2 or (status == 1 and found_nothing):
        message, _, remedy = said.removeprefix("pyharness: ").partition("\n")
        raise HarnessError(message, remedy)
    if runs or beside:
        text = _with_program(said, printed) if runs else _with_program(printed, said)
    else:
        text = "\n".join(filter(None, (printed, said)))
    meaning = meanings.get(status, f"it ended with {status}")
    told = VerbTold(command=typed, status=status, meaning=meaning, text="")
    return Answer(f"{meaning}\n{text}".rstrip(), told)


async def _stacks(pid: int) -> str:
    """Where a program is that has become the process of its verb; empty where that cannot be seen."""
    process = await asyncio.create_subprocess_exec(
        *own_command(sys.executable, "stack", "--", str(pid)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        preexec_fn=_dies_with_us,
    )
    try:
        out, _ = await asyncio.wait_for(process.communicate(), _LOOKED_AT)
    except asyncio.TimeoutError:
        return ""
    finally:
        if process.returncode is None:
            process.kill()
    return visible(out.decode(errors="replace")).strip("\n") if process.returncode == 0 else ""


def _with_program(said: str, printed: str) -> str:
    """What we say, and the end of what the program printed."""
    said = _HANDLE.sub("", said)
    if len(printed) > _PRINTED:
        printed = f"… {printed[-_PRINTED:]}"
    return "\n".join(filter(None, (said, f"the program printed:\n{printed}" if printed else "")))
