"""Commands for the configurations of an IDE that drives gdb itself: what a person does at the prompt, in order."""

from __future__ import annotations

import gdb

from pyharness.ingdb import attach, libraries
from pyharness.ingdb.commands import running
from pyharness.ingdb.commands.arguments import program_arguments
from pyharness.ingdb.commands.registry import command
from pyharness.model.errors import UsageError

_AFTER_CORE = "ph-symbols"


@command("ph-start")
def ph_start(argument: str) -> None:
    """Start a Python program and stop before its first instruction: ph-start SCRIPT [ARGS], or -m MODULE [ARGS].

    For an IDE that then sets its breakpoints and continues. Name the interpreter with `file` before.
    """
    if not argument and not program_arguments():
        raise UsageError("Start what?", "Write ph-start SCRIPT [ARGS].")
    running.start(argument or program_arguments())


@command("ph-keep")
def ph_keep(_argument: str) -> None:
    """From now on `kill` lets the program run on: an IDE says it at the end of each session that launched gdb."""
    _Kill()


@command("ph-cores", gdb.COMMAND_FILES)
def ph_cores(_argument: str) -> None:
    """Have gdb read only your libraries of a core file, whoever opens it: for an IDE that does so itself."""
    attach.configure()
    for hook in ("target hookpost-core", "hookpost-core-file"):
        gdb.execute(f"define {hook}\n{_AFTER_CORE}\nend", to_string=True)


@command(_AFTER_CORE, gdb.COMMAND_FILES)
def ph_symbols(_argument: str) -> None:
    """Read the symbols of your libraries that gdb has not read yet."""
    libraries.load_user_symbols()


class _Kill(gdb.Command):
    """kill: let the program run on (ph-keep)."""

    def __init__(self) -> None:
        super().__init__("kill", gdb.COMMAND_RUNNING)

    def invoke(self, _argument: str, _from_tty: bool) -> None:  # noqa: FBT001  (gdb's signature)
        if gdb.selected_inferior().pid:
            gdb.execute("detach", to_string=True)
