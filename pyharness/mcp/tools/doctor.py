"""``doctor``: what is missing on this machine, of a process, of an extension."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from pyharness.mcp import verbs
from pyharness.mcp.registry import Answer, Asked, ProcessName, tool
from pyharness.mcp.verbs import VerbTold

if TYPE_CHECKING:
    from pyharness.mcp.service import Service


class Doctor(Asked):
    """What to look at: the machine and the project, if nothing is named."""

    process: ProcessName = Field(
        default="", description="A process that cannot be debugged: id, handle or command line."
    )
    extension: str = Field(default="", description="An extension, by path or module.")
    cwd: str = Field(default="", description="The project's folder: the first root if not given.")


@tool("doctor", "Diagnose the set-up", VerbTold, harm="none")
async def doctor(service: Service, asked: Doctor) -> Answer:
    """Say what debugging lacks here: gdb, ptrace, debug information, Python, torch, and how to get each."""
    folder = service.roots.folder(asked.cwd)
    words = ["doctor", "--project", folder]
    words += ["--extension", asked.extension] if asked.extension else []
    words += ["--", asked.process] if asked.process else []
    meanings = {0: "there is no problem", 1: "there is at least one problem"}
    return await verbs.run(service, words, folder, meanings, 120)
