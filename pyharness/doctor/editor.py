"""VS Code: whether it is here, has our extension, and the project a launch.json that uses us."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.doctor.machine import machine_checks
from pyharness.doctor.registry import Area
from pyharness.host.folders import home_folder
from pyharness.host.visible import entries, is_file, is_there
from pyharness.model.text import jsonc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.doctor.machine import Machine
    from pyharness.model.results.diagnosis import Diagnosis

AREA = Area("VS Code")
_EXECUTABLES = ("code", "code-insiders", "codium", "code-server", "cursor")
_FOLDERS = (
    ".vscode/extensions",
    ".vscode-server/extensions",
    ".vscode-insiders/extensions",
    ".vscode-oss/extensions",
    ".cursor/extensions",
    ".cursor-server/extensions",
    ".local/share/code-server/extensions",
)
_OURS = "pyharness.pyharness-"
_STOCK = {"ms-python.debugpy-": "ms-python.debugpy", "ms-vscode.cpptools-": "ms-vscode.cpptools"}
_HALVES = "pyharness.debuggee.meet"
_WRITE = "`pyharness init` writes one for our extension, `pyharness vscode` one for the stock ones."


@machine_checks.add(AREA, "vscode")
def executable(_machine: Machine) -> Iterator[Diagnosis]:
    """Whether there is one, and what it has."""
    found = next((path for name in _EXECUTABLES if (path := shutil.which(name))), None)
    installed = _installed()
    if found is None and not installed:
        yield AREA.inapplicable("vscode", "VS Code is not here; any other client takes `pyharness dap`.")
        return
    yield AREA.ok("vscode", f"VS Code is {found}." if found else "VS Code's extensions are here.")
    yield _extensions(installed)


def _installed() -> list[str]:
    home = home_folder()
    folders = [home / folder for folder in _FOLDERS] if home else []
    return [entry.name for folder in folders for entry in entries(folder)]


def _extensions(installed: list[str]) -> Diagnosis:
    if any(name.startswith(_OURS) for name in installed):
        return AREA.ok("vscode-extension", "Our extension is installed: one session for both languages.")
    absent = [full for part, full in _STOCK.items() if not any(name.startswith(part) for name in installed)]
    ours = "`make vscode` in pyharness's source tree packages it"
    if absent:
        seen = f"Our extension is not installed, and of the stock ones {' and '.join(absent)} are not."
        return AREA.warning("vscode-extension", seen, f"{ours}; or install the stock ones.")
    seen = "Our extension is not installed, but those that `pyharness vscode` needs for two sessions are."
    return AREA.ok("vscode-extension", seen)


@machine_checks.add(AREA, "launch-json")
def launch(machine: Machine) -> Iterator[Diagnosis]:
    """The project's configurations."""
    file = machine.wanted.project / ".vscode/launch.json"
    if not is_file(file):
        yield AREA.inapplicable("launch-json", f"The project has no {file}.", _WRITE)
        return
    try:
        found = _configurations(file.read_text(encoding="utf-8"))
    except ValueError as error:
        yield AREA.warning("launch-json", f"{file} cannot be read: {error}.", "Mend it: VS Code cannot read it either.")
        return
    ours = [one for one in found if one.get("type") == "pyharness" or one.get("module") == _HALVES]
    if not ours:
        yield AREA.warning("launch-json", f"No configuration in {file} uses pyharness.", "`pyharness init` adds one.")
        return
    missing = [path for one in ours for path in _named_files(one, machine.wanted.project) if not is_there(path)]
    if missing:
        seen = f"{file} names {missing[0]}, which is not there."
        yield AREA.warning("launch-json", seen, "Change it there.")
        return
    yield AREA.ok(
        "launch-json",
        f"{file} has {len(ours)} configuration{'s that use' if len(ours) > 1 else ' that uses'} pyharness.",
    )


def _configurations(text: str) -> list[dict[str, Any]]:
    """The configurations of a launch.json with comments; ``ValueError`` where it is none."""
    data = jsonc.loads(text)
    if not isinstance(data, dict) or not isinstance(data.get("configurations", []), list):
        raise ValueError("it is not an object with configurations")  # noqa: TRY004  (the file's content, not a type)
    return [entry for entry in data.get("configurations", []) if isinstance(entry, dict)]


def _named_files(entry: dict[str, Any], project: Path) -> Iterator[Path]:
    """The interpreter and the program, where no variable but the project's folder is in their names."""
    for key in ("python", "program"):
        value = entry.get(key)
        if isinstance(value, str) and value:
            text = value.replace("${workspaceFolder}", str(project.resolve()))
            if "${" not in text and os.path.isabs(text):  # noqa: PTH117  (a pattern, not a path yet)
                yield Path(text)
