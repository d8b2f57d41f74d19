"""What `.vscode/launch.json` and `tasks.json` get: our sessions on the debug build, and the task that makes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.project.build_script import environment
from pyharness.project.jsonc_merge import Wanted

if TYPE_CHECKING:
    from pyharness.project.jsonc_merge import Entry
    from pyharness.project.kinds import Kind

FOLDER = "${workspaceFolder}"
TASK = "pyharness: debug build"
LAUNCH_VERSION, TASKS_VERSION = "0.2.0", "2.0.0"


def launch(kind: Kind, op: str, script: str) -> dict[str, Wanted]:
    """Configurations of our extension's type; ``op`` and the ``script`` that calls it may be empty."""
    env = environment(kind, FOLDER)
    configurations = [_launch("pyharness: this file, debug build", "${file}", env)]
    if script:
        configurations.insert(0, _launch(f"pyharness: {op}", f"{FOLDER}/{script}", env))
    return {"configurations": Wanted("name", configurations)}


def _launch(name: str, program: str, env: dict[str, str]) -> Entry:
    given: Entry = {"env": env} if env else {}
    return {
        "name": name,
        "type": "pyharness",
        "request": "launch",
        "program": program,
        "cwd": FOLDER,
        **given,
        "preLaunchTask": TASK,
    }


def tasks(script: str, python: str) -> dict[str, Wanted]:
    """The build; ``python`` is the interpreter as VS Code's variables say it."""
    task = {
        "label": TASK,
        "detail": f"What {script} says; your other builds stay as they are",
        "type": "shell",
        "command": "sh",
        "args": [script],
        "options": {"cwd": FOLDER, "env": {"PYHARNESS_PYTHON": python}},
        "problemMatcher": "$gcc",
        "presentation": {"reveal": "silent", "clear": True, "showReuseMessage": False},
        "group": "build",
    }
    return {"tasks": Wanted("label", [task])}
