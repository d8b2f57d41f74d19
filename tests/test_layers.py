"""The house's rules of docs/architecture.md, enforced: who may import and include what, at which time.

What breaks a rule today is named as a known exception, with the reason; one that is needed no more fails its test.
"""

import ast
import re
import sys
from collections import Counter

from kit.imports import (
    PACKAGE,
    circles,
    edges,
    imports,
    includes,
    modules,
    outside,
    packages_of,
    reached,
    room,
    sources,
    tree,
)
from kit.paths import ROOT, TESTS

AT_RUN_TIME = ("start", "later")
ALWAYS = (*AT_RUN_TIME, "types")
SHARED = {"host", "model", "protocol"}
"""What every process reads; ``protocol`` stands on ``model``, which asks ``host`` for files and folders."""
ANYTHING = {"native", "fx", "inspect", "debuggee", "gdbmi", "debugger", "dap", "session", "report", "cli"}
ANYTHING |= {
    "doctor",
    "project",
    "dapwire",
    "engine",
    "reading",
    "prompt",
    "ranks",
    "aftermath",
    "pytest_plugin",
    "mcp",
}
ALLOWED = {
    "host": set(),
    "model": set(),
    "protocol": set(),
    "engine": set(),
    "native": {"fx", "engine", "reading"},
    "ops": {"native"},
    "fx": {"native"},
    "inspect": {"native", "fx"},
    "debuggee": {"native", "fx", "inspect", "reading"},
    "reading": set(),
    "ingdb": {"reading"},
    "gdbmi": set(),
    "dapwire": set(),
    "debugger": {"gdbmi", "dapwire", "reading", "engine"},
    "dap": {"debugger", "dapwire"},
    "session": {"debugger"},
    "prompt": {"debugger", "session"},
    "mcp": {"prompt", "session", "debugger", "project"},
    "ranks": {"reading", "debugger", "report"},
    "report": set(),
    "aftermath": {"debugger", "ranks", "reading", "report"},
    "pytest_plugin": {"debuggee", "fx", "native", "reading"},
    "doctor": {"gdbmi", "debugger", "reading", "engine"},
    "project": set(),
    "cli": ANYTHING,
    "__main__": {"cli"},
    "views": ANYTHING,
    "__init__": ANYTHING,
}
"""Folder or file of the package → those that it may import, beside itself and what is shared."""
STDLIB_ONLY = {"host", "model", "protocol", "engine", "reading", "ingdb", "gdbmi", "dapwire"}
LAZY_TORCH = {
    "cli",
    "views",
    "debugger",
    "session",
    "ranks",
    "aftermath",
    "prompt",
    "mcp",
    "dap",
    "doctor",
    "project",
    "__init__",
    "__main__",
}
STOREYS = {
    "reading": (
        {"binaries"},
        {"process"},
        {"functions", "tensors"},
        {"python", "autograd"},
        {"collectives", "sanitized"},
        {"stack"},
        {"live"},
    ),
    "ingdb": (
        {"process"},
        {"functions"},
        {"python", "autograd"},
        {"tensors"},
        {"printers"},
        {"stack"},
        {"stops", "calls"},
        {"variables", "opening"},
        {"mi", "prompt"},
        {"commands"},
    ),
}
"""The folders of a room, each above those that it may import; on the same storey none imports another."""
STAIRS: dict[tuple[str, str], str] = {}
"""Known exceptions: modules that come to a higher storey through files at their room's root, and by what."""
CIRCLES = {
    frozenset({"cli", "cli.grammar.shells"}): "completion asks for all commands, one of which is completion",
    frozenset({f"debuggee.link.{name}" for name in ("children", "forked", "served", "session")}): (
        "a forked child becomes a served program, which starts children"
    ),
    frozenset({"fx.tracing.remembered", "fx.tracing.tracer"}): "the tracer remembers its traces, which are traced anew",
    frozenset(
        {"fx.transforms"}
        | {f"fx.transforms.{name}" for name in ("inlining", "inverting", "probing", "registry", "replacing")}
    ): "the registry imports its own package, so that all transforms are registered",
    frozenset({"ingdb.variables.of_torch.node", "ingdb.variables.tensor"}): "a tensor has a node, which saves tensors",
}
"""Known exceptions: modules that import each other at run time, inside of functions."""
INCLUDES = {
    "csrc": {"csrc"},
    "engine": set(),
    "engine/provenance": {"engine"},
    "engine/kernels": {"engine", "engine/nan"},
    "engine/values": {"engine"},
    "engine/nodes": {"engine"},
    "engine/record": {"engine", "engine/nodes", "engine/provenance"},
    "engine/nan": {"engine", "engine/nodes", "engine/provenance", "engine/values"},
    "engine/saved": {"engine", "engine/provenance"},
    "breakpoints": {"breakpoints/conditions", "engine", "engine/nodes", "engine/provenance"},
    "breakpoints/conditions": {"engine/values"},
    "trap": {"trap/frames", "trap/monitoring"},
    "trap/frames": set(),
    "trap/monitoring": {"trap/frames"},
    "guard": set(),
    "xstate": set(),
    "sanitized": {"guard"},
    "ops": set(),
}
"""Folder of csrc → the other folders whose headers it may include; all may include csrc's own and the installed one."""
PATCHED = {"_thread", "queue", "select", "socket", "threading"}
"""Modules whose locks, sockets and threads gevent replaces in a program."""
OF_PROGRAMS = {"apart", "entries.recorded", "link.thread_names", "pydevd.saved_modules", "pydevd.frames.traced_frames"}
"""What in ``debuggee`` imports the program's own of them: to know its threads, or (``apart``) before ours can come."""
WITHOUT_TORCH = ("csrc/trap/", "csrc/guard/", "csrc/xstate/", "csrc/sanitized/")
"""What loads where there is no torch: into any program, and into gdb."""


OLDEST = (3, 9)
OF_OLD_PYTHONS = {"ingdb", "reading", "debuggee", "model", "host", "protocol"}
LATER = {
    "Concatenate",
    "Never",
    "NotRequired",
    "ParamSpec",
    "Required",
    "Self",
    "TypeAlias",
    "TypeGuard",
    "TypeVarTuple",
}
LATER |= {"assert_never", "assert_type", "dataclass_transform", "override", "reveal_type"}
"""Names that ``typing`` has since 3.10."""


def test_imports_follow_the_layer_table():
    assert {room(name) for name in modules()} == set(ALLOWED), "every folder and file has its line in the table"
    wrong = [
        f"{name} may not import {other}"
        for name, others in edges(*ALWAYS).items()
        for other in others
        if room(other) not in ALLOWED[room(name)] | _shared(room(name)) | {room(name), "__init__"}
    ]
    assert not wrong, "\n".join(wrong)


def _shared(folder):
    return {"host", "model"} if folder in {"host", "model"} else SHARED


def test_what_runs_in_gdb_or_anywhere_is_standard_library_only():
    light = [name for name in modules() if room(name) in STDLIB_ONLY]
    known = set(sys.stdlib_module_names)
    paths = reached(light, edges(*AT_RUN_TIME))
    used = {
        path: outside(name, *AT_RUN_TIME) - known - ({"gdb"} if room(name) == "ingdb" else set())
        for name, path in paths.items()
        if room(name) != "__init__"
    }
    assert not [f"{path}: {others}" for path, others in used.items() if others]


def test_what_runs_in_gdb_or_in_programs_is_known_to_their_python():
    """That of gdb, or of a program, may be 3.9: no syntax and no name of ``typing`` that came later."""
    paths = sorted(path for name, path in modules().items() if room(name) in OF_OLD_PYTHONS)
    later = []
    for path in paths:
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=OLDEST)
        run = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "typing"]
        later += [f"{path}: {each.name}" for node in run for each in node.names if each.name in LATER]
        later += [f"{path}: match" for node in ast.walk(tree) if isinstance(node, ast.Match)]
    assert paths
    assert not later


def test_what_waits_in_a_program_is_unpatched():
    """Our threads would wait for greenlets there: all but what is about the program's own imports ``unpatched``."""
    inside = {name.removeprefix("pyharness.debuggee."): name for name in modules() if room(name) == "debuggee"}
    users = {short for short, name in inside.items() if outside(name, *AT_RUN_TIME) & PATCHED}
    assert users - OF_PROGRAMS == set()
    assert OF_PROGRAMS - users == set(), "an exception that is needed no more"


def test_torch_is_imported_where_it_is_needed():
    """No command waits for torch as it starts: not through any module, nor through the packages around it."""
    graph = {name: others | packages_of(name) for name, others in edges("start").items()}
    paths = reached([name for name in modules() if room(name) in LAZY_TORCH], graph)
    assert not [path for name, path in paths.items() if "torch" in outside(name, "start")]


def test_no_module_is_on_a_circle():
    """Of imports at run time, those inside of functions counted."""
    found = {frozenset(name.removeprefix("pyharness.") for name in circle) for circle in circles(edges(*AT_RUN_TIME))}
    assert not [sorted(circle) for circle in found - set(CIRCLES)]
    assert not [sorted(circle) for circle in set(CIRCLES) - found], "a known exception that is needed no more"


def test_folders_stand_one_on_another():
    """Also by way of the files at the root of their room, which stand nowhere."""
    graph = edges(*AT_RUN_TIME)
    stairs = {name: others for name, others in graph.items() if _storey(name) is None}
    climbs = {}
    for name in modules():
        storey, folder = _storey(name), _folder(name)
        if storey is not None:
            paths = reached([name], {**stairs, name: graph[name]})
            climbs |= {
                (name.removeprefix("pyharness."), _folder(other)): path
                for other, path in paths.items()
                if room(other) == room(name) and _folder(other) != folder and _stands_beside_or_above(other, storey)
            }
    assert not [path for climb, path in climbs.items() if climb not in STAIRS]
    assert set(climbs) == set(STAIRS), "a known exception that is needed no more"


def _folder(module):
    """The folder that a module lies in, in a room that has storeys, or the file at its root."""
    return ".".join(module.split(".")[2:3]) if room(module) in STOREYS else ""


def _storey(module):
    storeys = STOREYS.get(room(module), ())
    return next((number for number, folders in enumerate(storeys) if _folder(module) in folders), None)


def _stands_beside_or_above(module, storey):
    its = _storey(module)
    return its is not None and its >= storey


def test_every_folder_has_its_storey():
    for name, storeys in STOREYS.items():
        assert {path.parent.name for path in (PACKAGE / name).glob("*/*.py")} == set().union(*storeys)


def test_includes_follow_the_table():
    assert {_part(name) for name in includes()} == set(INCLUDES)
    wrong = [
        f"{name} may not include {header}"
        for name, headers in includes().items()
        for header in headers
        if _part(header) not in INCLUDES[_part(name)] | {_part(name), "csrc", "pyharness"}
    ]
    assert not wrong, "\n".join(wrong)
    assert not [sorted(circle) for circle in circles(includes())]


def _part(file):
    """The folder of csrc; ``csrc`` for a file at its root, ``pyharness`` for the header that is installed."""
    folder = file.rpartition("/")[0]
    return folder.removeprefix("csrc/") if folder.startswith("csrc") else "pyharness"


def test_what_loads_into_programs_without_torch_includes_none():
    """Its own headers may be found under any name: everything that they include is read."""
    torchless = [name for name in includes() if name.startswith(WITHOUT_TORCH)]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sources()}
    used = {path: texts.get(name, "") for name, path in reached(torchless, includes()).items()}
    assert not [path for path, text in used.items() if re.search(r"#include <(torch|ATen|c10)/", text)]
    assert {name.split("/")[1] for name in torchless} == {"trap", "guard", "xstate", "sanitized"}


def test_the_first_line_says_the_job():
    assert not [name for name, path in modules().items() if not ast.get_docstring(tree(path))]


def test_imports_are_seen_at_their_time():
    """The reader that the tests above trust."""
    seen = {(each.name, each.when) for each in imports()["pyharness.ingdb.opening.core_file"]}
    assert ("gdb", "start") in seen
    assert any(each.when == "later" for found in imports().values() for each in found)
    assert any(each.when == "types" for found in imports().values() for each in found)


def test_modules_of_tests_have_names_of_their_own():
    """pytest imports them by their base names; those of the kit are imported as its."""
    paths = [path for path in TESTS.rglob("*.py") if path.parent.name != "kit" and path.name != "conftest.py"]
    names = Counter(path.name for path in paths)
    assert not [name for name, count in names.items() if count > 1 and name != "__init__.py"]
