"""``pyharness vscode [FOLDER]``: a launch.json with debugpy and gdb side by side, for a project of one's own."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import click

from pyharness.cli.grammar import completers
from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import launch_json, output
from pyharness.host.missing import check_link
from pyharness.host.regular_file import read_text
from pyharness.host.whole_file import write_whole
from pyharness.model.errors import HarnessError, UsageError
from pyharness.project.changes import check_inside

_CHOSEN = "${command:python.interpreterPath}"
_VENVS = (".venv", "venv", "env")
_HAS_PYHARNESS = (
    "import sys; sys.path[:] = filter(None, sys.path); "  # what lies in the current folder is not installed
    "from importlib.util import find_spec; sys.exit(find_spec('pyharness') is None)"
)

_EXAMPLES = (
    ("F5 builds, then runs train.py under both debuggers", "pyharness vscode --script train.py --build build"),
    ("only show what would be written", "pyharness vscode --print"),
)
_STATUSES = (("0", "written, or printed"), ("1", "it cannot be written"))


@click.command(cls=Verb, examples=_EXAMPLES, statuses=_STATUSES)
@click.argument(
    "folder", default=".", metavar="[FOLDER]", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option(
    "--script",
    metavar="FILE",
    type=Path,
    help="What F5 runs; without it, the file in the editor.",
    shell_complete=completers.files,
)
@click.option("--build", default="", metavar="TASK", help="Label of the task in tasks.json that builds the extension.")
@click.option("--print", "only_print", is_flag=True, help="Print it instead of writing FOLDER/.vscode/launch.json.")
@click.option("--overwrite", is_flag=True, help="Replace the launch.json that is there.")
def command(folder: Path, script: Path | None, build: str, only_print: bool, overwrite: bool) -> None:  # noqa: FBT001  (click calls it)
    """Write FOLDER/.vscode/launch.json: "Python + gdb attach" by F5 on VS Code's stock extensions.

    FOLDER is your project, this folder if not given. A launch.json that is there is kept, unless --overwrite says
    otherwise.
    """
    run = _inside(folder, script) if script else ""
    project = launch_json.Project(_interpreter(folder), run, build)
    text = launch_json.text(project, _made_by(run, build))
    if only_print:
        output.write(text.rstrip("\n"))
        return
    _write(folder, ".vscode/launch.json", text, replace=overwrite)
    output.write("It needs the VS Code extensions ms-python.python, ms-python.debugpy and ms-vscode.cpptools.")
    for note in _notes(folder, project):
        output.write(note)


def _inside(folder: Path, script: Path) -> str:
    """The script relative to the folder; a shell completes it relative to where the person is."""
    for file in (folder / script, script):
        if file.is_file() and file.resolve().is_relative_to(folder.resolve()):
            return file.resolve().relative_to(folder.resolve()).as_posix()
        check_link(file, str(script))
    raise UsageError(f"There is no script {str(script)!r} in {folder.resolve()}.", "Name it relative to the folder.")


def _interpreter(folder: Path) -> str:
    """The folder's own environment; otherwise the interpreter that is chosen in VS Code."""
    own = next((name for name in _VENVS if (folder / name / "bin/python").exists()), None)
    return f"{launch_json.FOLDER}/{own}/bin/python" if own else _CHOSEN


def _made_by(script: str, build: str) -> str:
    options = [*(["--script", script] if script else []), *(["--build", build] if build else [])]
    return shlex.join(["pyharness", "vscode", *options])


def _write(folder: Path, name: str, text: str, *, replace: bool) -> None:
    file = folder / name
    try:
        if file.exists() and not file.is_file():
            raise HarnessError(
                f"{file} is not a file.", "Take it away, or look at what `pyharness vscode --print` shows."
            )
        check_inside(folder, file)
        file.parent.mkdir(exist_ok=True)
        if file.exists() and not replace:
            remedy = "Add what `pyharness vscode --print` shows to it by hand, or replace it with --overwrite."
            raise UsageError(f"{file} is there already.", remedy)
        write_whole(file.resolve(), text.encode())
    except FileExistsError:
        raise HarnessError(f"{file.parent} is not a folder.", "VS Code keeps its settings in it.") from None
    except OSError as error:
        raise HarnessError(
            f"{file} cannot be written: {error.strerror}.", "--print shows what it would hold."
        ) from None
    output.write(f"Wrote {file}.")


def _text_of(file: Path) -> str:
    """What it holds; empty where it cannot be read."""
    try:
        return read_text(file)
    except OSError:
        return ""


def _notes(folder: Path, project: launch_json.Project) -> list[str]:
    """What F5 would fail of, as far as it can be seen now."""
    notes = []
    tasks = folder / ".vscode/tasks.json"
    if project.build and f'"{project.build}"' not in _text_of(tasks):
        notes.append(f"{tasks} has no task {project.build!r}: F5 runs it first, so write it there.")
    python = Path(project.python.replace(launch_json.FOLDER, str(folder)))
    if python.exists() and subprocess.run([python, "-c", _HAS_PYHARNESS], check=False).returncode:
        notes.append(f"pyharness is not installed in {python}: install it there.")
    return notes
