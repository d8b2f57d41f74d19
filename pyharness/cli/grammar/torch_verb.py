"""A verb that runs torch in its own process: it goes over into the interpreter that has the user's torch."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output, own_process
from pyharness.cli.kit.interpreter import python_of
from pyharness.cli.kit.options import python_option
from pyharness.debugger.starting.interpreter import check_version
from pyharness.host import own_path
from pyharness.host.interpreters import is_this_one
from pyharness.host.missing import no_interpreter

if TYPE_CHECKING:
    import click

_START = Path(__file__).parents[2] / "debuggee" / "start.py"
_WITH_US = ("click", "rich", "pygments", "markdown_it", "mdurl", "typing_extensions")
"""What the command line imports: the program's environment need not have it."""


class TorchVerb(Verb):
    """A verb with ``--python``, whose first argument names something in a file of the user's.

    Where that file's environment has another interpreter, the same command line runs there, in place of this process.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        python_option(self)

    def invoke(self, ctx: click.Context) -> Any:
        """Run as ``Verb`` does, in the user's interpreter."""
        named, first = ctx.params.pop("python"), self.params[0].name or ""
        if not ctx.obj:  # else it went over already
            _go_over(python_of(named, None, str(ctx.params[first]).rpartition(":")[0]))
        return super().invoke(ctx)

    def run(self, ctx: click.Context) -> Any:
        """Run in a process of its own: the user's code may crash."""
        run = super().run
        own_path.put_users_first()
        output.keep()
        return own_process.apart(lambda: run(ctx))


def _go_over(python: str) -> None:
    """Run this command line under ``python``; nothing where that is this one."""
    if not python:
        return
    path = shutil.which(python)
    if path is None:
        raise no_interpreter(python)
    if is_this_one(path):
        return
    check_version(path)
    sys.stdout.flush()
    words = [path, str(_START), "verb", json.dumps(_packages()), *sys.argv[1:]]
    os.execv(path, words)  # noqa: S606  (a list of arguments, no shell)


def _packages() -> dict[str, str]:
    found = {name: importlib.util.find_spec(name) for name in _WITH_US}
    files = {name: spec.origin for name, spec in found.items() if spec is not None and spec.origin is not None}
    return {name: str(_folder(Path(file))) for name, file in files.items()}


def _folder(file: Path) -> Path:
    return file.parents[1] if file.name == "__init__.py" else file.parent
