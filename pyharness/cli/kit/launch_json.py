"""What VS Code's launch.json needs for the classic way, debugpy and gdb side by side, on the stock extensions.

docs/vscode.md explains each attribute; tests/vscode plays each configuration to a real gdb.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyharness.model.text import jsonc
from pyharness.project.jsonc_merge import Wanted
from pyharness.project.own_command import own_command

FOLDER = "${workspaceFolder}"
_GDB_HALF = "gdb half"
_BOTH, _GDB = "1 both", "2 gdb"
_LISTS = ("compounds", "configurations", "inputs")

Entry = dict[str, Any]


@dataclass(frozen=True)
class Project:
    """What of a project the configurations name."""

    python: str
    """The interpreter, as VS Code's variables say it."""
    script: str = ""
    """The script that the first compound runs, relative to the folder; without it there is none."""
    build: str = ""
    """Label of the task that is run before; none when empty."""

    @property
    def load(self) -> Entry:
        """The command that brings ours into gdb, wherever pyharness is installed."""
        question = own_command(self.python, "gdb-script")
        text = (
            f"python import subprocess; gdb.execute('source ' + subprocess.check_output({question}, text=True).strip())"
        )
        return {"text": text, "description": "Load pyharness into gdb"}

    @property
    def task(self) -> Entry:
        """The attribute of what is started by F5."""
        return {"preLaunchTask": self.build} if self.build else {}


def text(project: Project, made_by: str) -> str:
    """The whole file, with the command that made it."""
    head = f"// Made by `{made_by}`.\n// Each attribute is explained in docs/vscode.md of pyharness."
    return f"{head}\n{jsonc.dumps(_file(project))}\n"


def lists(project: Project) -> dict[str, Wanted]:
    """The entries of ``launch.json`` as lists, to be merged into a file that exists."""
    file = _file(project)
    return {member: Wanted("id" if member == "inputs" else "name", file[member]) for member in _LISTS}


def _file(project: Project) -> Entry:
    halves = _halves(project)
    return {
        "version": "0.2.0",
        "compounds": [
            {
                "name": name,
                "configurations": [half["name"], _GDB_HALF],
                **project.task,
                "stopAll": True,
                "presentation": {"group": _BOTH, "order": order},
            }
            for order, (name, half) in enumerate(halves.items(), 1)
        ],
        "configurations": [*halves.values(), *_gdb_configurations(project)],
        "inputs": [
            _input("program", "A part of the program's command line, or its process id", "python"),
            _input("rank", "The rank to debug", "0"),
            _input("core", "The core file", "core"),
        ],
    }


def _halves(project: Project) -> dict[str, Entry]:
    """The name of each compound with its Python half."""
    name = "Python + gdb attach"
    meet = ["--key", FOLDER]
    script = [*meet, f"{FOLDER}/{project.script}"]
    own = {name: _python_half(project, "the script", script)} if project.script else {}
    ranks = [
        "--standalone",
        "--nproc-per-node=2",
        "-m",
        "pyharness.debuggee.meet",
        *meet,
        "--rank",
        "${input:rank}",
        "${file}",
    ]
    return {
        **own,
        f"{name}: this file": _python_half(project, "this file", [*meet, "${file}"]),
        f"{name}: tests in this file": _python_half(project, "pytest", [*meet, "-m", "pytest", "${file}"]),
        f"{name}: one rank of torchrun": _python_half(project, "torchrun", ranks, module="torch.distributed.run"),
    }


def _python_half(project: Project, name: str, arguments: list[str], module: str = "pyharness.debuggee.meet") -> Entry:
    return {
        "name": f"Python half: {name}",
        "type": "debugpy",
        "request": "launch",
        "python": project.python,
        "module": module,
        "args": arguments,
        "cwd": FOLDER,
        "console": "integratedTerminal",
        "presentation": {"hidden": True},
    }


def _gdb_configurations(project: Project) -> list[Entry]:
    return [
        {**_attach(project, _GDB_HALF, f"ph-meet {FOLDER}"), "presentation": {"hidden": True}},
        _shown(1, _attach(project, "gdb: attach to a running program", "ph-attach ${input:program}")),
        _shown(2, _attach(project, "gdb: attach to a running pytest", "ph-attach pytest")),
        _shown(3, _attach(project, "gdb: attach to one rank of a running torchrun", "ph-attach rank:${input:rank}")),
        _shown(
            4,
            {
                **_own_symbols(project, "gdb: launch this file"),
                "args": ["-m", "pyharness.debuggee", "${file}"],
                **project.task,
            },
        ),
        _shown(5, {**_own_symbols(project, "gdb: open a core file"), "coreDumpPath": "${input:core}"}),
    ]


def _attach(project: Project, name: str, command: str) -> Entry:
    """Commands of ours instead of the adapter's own: those would ask for a process id."""
    return {
        **_gdb(project, name),
        "setupCommands": _DISPLAY,
        "customLaunchSetupCommands": [
            project.load,
            {"text": "ph-merged-stack", "description": "One call stack for both languages"},
            {"text": "ph-keep", "description": "Let the program run on when the session ends"},
            {"text": command, "description": "Attach"},
        ],
        "launchCompleteCommand": "exec-continue",
    }


def _own_symbols(project: Project, name: str) -> Entry:
    """The adapter starts or opens it; gdb reads the symbols of the person's libraries only."""
    own = [{"text": "ph-merged-stack"}, {"text": "ph-own-symbols"}]
    return {
        **_gdb(project, name),
        "setupCommands": [*_DISPLAY, project.load, *own],
        "symbolLoadInfo": {"loadAll": False},
    }


def _gdb(project: Project, name: str) -> Entry:
    return {
        "name": name,
        "type": "cppdbg",
        "request": "launch",
        "program": project.python,
        "cwd": FOLDER,
        "MIMode": "gdb",
    }


_DISPLAY = [{"text": "-enable-pretty-printing"}, {"text": "-enable-frame-filters"}]


def _shown(order: int, entry: Entry) -> Entry:
    return {**entry, "presentation": {"group": _GDB, "order": order}}


def _input(name: str, description: str, default: str) -> Entry:
    return {"id": name, "type": "promptString", "description": description, "default": default}
