"""What `pyharness init` does to a project: the files, what they are for, and what to type next."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.model.errors import UsageError, nearest
from pyharness.project import agent_files, build_script, call_script, kinds, session_files, vscode_files
from pyharness.project.changes import Change, State, current, own_file
from pyharness.project.jsonc_merge import Wanted, merged
from pyharness.project.ops import Op, Source, ops_of, read_sources
from pyharness.project.reading.cxx_functions import read
from pyharness.project.reading.sources import CXX, HEADERS, files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyharness.project.kinds import Project

FOLDER = "debugging"
_INLINE = "main.cpp"
"""What torch calls the file that it writes ``load_inline``'s code to."""
BUILD = f"{FOLDER}/build.sh"
TASK = vscode_files.TASK
_NO_OP = (
    "No op was found: no TORCH_LIBRARY, RegisterOperators, PYBIND11_MODULE or NB_MODULE in the C++ sources. "
    "`pyharness step YOUR_SCRIPT --at native:FUNCTION --stack` stops in any function of yours."
)


@dataclass(frozen=True)
class Choices:
    """What the person asked for."""

    kind: str = ""
    op: str = ""
    vscode: bool = True
    replace: bool = False
    python: str = "python3"
    """The project's interpreter, relative to its folder or as a shell finds it."""
    vscode_python: str = "python3"
    """The interpreter as VS Code's variables name it."""
    named_python: str = ""
    """What ``PYHARNESS_PYTHON`` is to be where a shell finds another interpreter than the one that runs pyharness."""
    agent: Sequence[str] = ()
    """The command that starts a server for agents, where there is to be one."""
    more: Mapping[str, Wanted] = field(default_factory=dict)
    """Further lists for launch.json."""


@dataclass(frozen=True)
class Plan:
    """A project, its ops, and what is to change."""

    project: Project
    sources: int
    ops: Sequence[Op]
    op: Op | None
    """The one to stop in."""
    changes: list[Change]
    added: Mapping[str, list[str]]
    """File → names of what is added to its lists."""
    notes: list[str]
    next: list[str]
    """Commands to type."""

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        project = self.project
        return {
            "project": {"folder": str(project.root), "name": project.name, "kind": project.kind, "also": project.also},
            "ops": [_op_json(op) for op in self.ops],
            "op": _op_json(self.op) if self.op else None,
            "files": [{"file": one.name, "state": one.state, "what": one.what} for one in self.changes],
            "notes": self.notes,
            "next": self.next,
        }


def _op_json(op: Op) -> dict[str, Any]:
    place = {"function": op.function, "file": op.file, "line": op.line}
    return {"name": op.full_name, "via": op.via, "schema": op.schema, "key": op.key, **place, "place": op.place}


def plan(root: Path, choices: Choices) -> Plan:
    """Read the project and say what to write; nothing is written."""
    project = kinds.project_in(root, choices.kind)
    sources = _sources(project)
    ops = ops_of(sources, project.module)
    op = _chosen(ops, choices.op)
    script = f"{FOLDER}/call_{session_files.file_name(op)}.py" if op else ""
    ours = _own_files(project, op, script, choices)
    vscode, added = _vscode(project, op, script, choices) if choices.vscode else ([], {})
    agents = agent_files.changes(project.root, choices.agent, replace=choices.replace) if choices.agent else []
    return Plan(
        project=project,
        sources=len(sources),
        ops=ops,
        op=op,
        changes=[*ours, *vscode, *agents],
        added=added,
        notes=_notes(project, op, script, ours),
        next=[*_way_to(project.root), *_next(op, script, choices.named_python)],
    )


def _sources(project: Project) -> list[Source]:
    """C++ files, headers with them, and what Python files hold for ``load_inline``."""
    kinds.sources(project)
    found = read_sources(project.root, files(project.root, CXX + HEADERS))
    inline = [
        Source(_INLINE, read(_bound(call.inline, call.functions)), in_tests=False)
        for call in project.jit
        if call.inline
    ]
    return [*found, *inline] if project.kind == "jit" else found


def _bound(text: str, functions: tuple[str, ...]) -> str:
    """The C++ of ``load_inline`` as torch writes it: below a line with an ``#include``, with bindings added."""
    calls = "".join(f'm.def("{name}", &{name});' for name in functions)
    return f"\n{text}\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ {calls} }}\n"


def _chosen(ops: list[Op], named: str) -> Op | None:
    if not named:
        return ops[0] if ops and ops[0].line else None
    wanted = named.replace("torch.ops.", "").replace("::", ".")
    found = [op for op in ops if wanted in {op.name, op.full_name.replace("::", "."), op.function.replace("::", ".")}]
    if not found:
        known = [op.full_name for op in ops]
        offer = nearest(named, known) or nearest(wanted, [op.name for op in ops])
        raise UsageError(f"There is no op {named!r}.", offer or f"Known: {', '.join(known[:8]) or 'none'}.")
    return found[0]


def _own_files(project: Project, op: Op | None, script: str, choices: Choices) -> list[Change]:
    def file(name: str, text: str, what: str, mode: int = 0o644) -> Change:
        return own_file(project.root, name, text, what, replace=choices.replace, mode=mode)

    build = build_script.text(project, choices.python, script)
    changes = [file(BUILD, build, f"debug build, into {build_script.FOLDER}", 0o755)]
    if op is None:
        return changes
    name = session_files.file_name(op)
    session = session_files.session(op, name, script.removeprefix(f"{FOLDER}/"), FOLDER)
    gdb = session_files.gdb_script(op, name, script, FOLDER, choices.python)
    return [
        *changes,
        file(script, call_script.text(project, op), f"calls {op.full_name}"),
        file(f"{FOLDER}/{name}.toml", session, "session: stops in its C++"),
        file(f"{FOLDER}/{name}.gdb", gdb, "the same for plain gdb"),
    ]


def _vscode(
    project: Project, op: Op | None, script: str, choices: Choices
) -> tuple[list[Change], dict[str, list[str]]]:
    launch = {**choices.more}
    for member, want in vscode_files.launch(project.kind, op.name if op else "", script).items():
        more = choices.more[member].entries if member in choices.more else ()
        launch[member] = Wanted(want.key, [*want.entries, *more])
    tasks = vscode_files.tasks(BUILD, choices.vscode_python)
    parts = (
        (".vscode/launch.json", launch, vscode_files.LAUNCH_VERSION),
        (".vscode/tasks.json", tasks, vscode_files.TASKS_VERSION),
    )
    made = [_merged(project.root, *part) for part in parts]
    return [change for change, _ in made], {change.name: added for change, added in made}


def _merged(root: Path, name: str, wanted: Mapping[str, Wanted], version: str) -> tuple[Change, list[str]]:
    before = current(root / name)
    after, added = merged(before, wanted, version, name)
    state: State = "unchanged" if not added else "written" if before is None else "merged"
    return Change(root / name, name, before, after, state, f"{len(added)} added" if added else "has them"), added


def _notes(project: Project, op: Op | None, script: str, ours: list[Change]) -> list[str]:
    notes = []
    if project.also:
        others = " and ".join(project.also)
        notes.append(f"It is of kind {others} as well; --kind {project.also[0]} builds it that way.")
    if cannot := build_script.cannot_build(project):
        notes.append(cannot)
    kept = [one.name for one in ours if one.state == "kept"]
    if kept:
        notes.append(
            f"Kept as they are, though init would write them otherwise: {', '.join(kept)}. --overwrite replaces them."
        )
    if op is None:
        notes.append(_NO_OP)
    elif missing := call_script.to_fill_in(project, op):
        notes.append(f"{script}: put in {', '.join(missing)}; nothing could be guessed.")
    if op and not op.runs_on_cpu:
        notes.append(f"{op.full_name} seems to run on a device only: put tensors there in {script}.")
    if project.kind == "jit" and any(call.own_folder for call in project.jit):
        call = next(call for call in project.jit if call.own_folder)
        notes.append(f"{call.file}:{call.line} names a build_directory, which the debug build shares: take it out.")
    return notes


def _way_to(root: Path) -> list[str]:
    """What leads a shell there, where it is elsewhere: the words behind it are for that folder."""
    here, there = Path.cwd(), root.resolve()
    if there == here:
        return []
    return [f"cd {shlex.quote(str(there.relative_to(here) if there.is_relative_to(here) else there))}"]


def _next(op: Op | None, script: str, python: str) -> list[str]:
    build = f"{f'PYHARNESS_PYTHON={shlex.quote(python)} ' if python else ''}sh {BUILD}"
    if op is None:
        return [build, "pyharness step YOUR_SCRIPT --at native:FUNCTION --stack"]
    return [
        build,
        f"pyharness session run {FOLDER}/{session_files.file_name(op)}.toml",
        f"pyharness step {script} --at {op.place} --stack --kill",
    ]
