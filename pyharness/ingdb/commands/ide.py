"""Commands for the configurations of an IDE that drives gdb itself: what a person does at the prompt, in order."""

from __future__ import annotations

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.opening import attach
from pyharness.ingdb.process import libraries
from pyharness.ingdb.prompt import library_watch
from pyharness.ingdb.prompt.registry import command

_AFTER_CORE = "ph-symbols"


@command("ph-keep")
def ph_keep(_argument: str) -> None:
    """From now on `kill` lets the program run on: an IDE says it at the end of each session that launched gdb."""
    _Kill()


@command("ph-own-symbols", gdb.COMMAND_FILES)
def ph_own_symbols(_argument: str) -> None:
    """Have gdb read only your libraries of a program or core file that comes later, whoever starts or opens it.

    For an IDE that does so itself; it must leave `auto-solib-add` off.
    """
    attach.configure()
    gdb.events.new_objfile.connect(_on_new_objfile)
    for hook in ("target hookpost-core", "hookpost-core-file"):
        console.run(f"define {hook}\n{_AFTER_CORE}\nend")


@command(_AFTER_CORE, gdb.COMMAND_FILES)
def ph_symbols(_argument: str) -> None:
    """Read the symbols of your libraries that gdb has not read yet."""
    libraries.load_user_symbols()


_started: list[int] = []


def _on_new_objfile(event: gdb.NewObjFileEvent) -> None:
    """The kernel's own library is gdb's first of a process, which has not run an instruction by then."""
    pid = gdb.selected_inferior().pid
    if pid and "system-supplied DSO" in (event.new_objfile.filename or "") and pid not in _started:
        _started[:] = [pid]
        library_watch.start()


class _Kill(gdb.Command):
    """kill: let the program run on (ph-keep)."""

    def __init__(self) -> None:
        super().__init__("kill", gdb.COMMAND_RUNNING)

    def invoke(self, _argument: str, _from_tty: bool) -> None:  # noqa: FBT001  (gdb's signature)
        if gdb.selected_inferior().pid:
            console.run("detach")
