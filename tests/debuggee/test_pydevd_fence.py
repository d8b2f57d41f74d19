"""What we use of pydevd is private: it stands behind one fence, and all of it is in the debugpy that is installed.

Where a new debugpy lacks something, this file says what, and which module of ``debuggee/pydevd`` wants it.
"""

import ast
import json
import subprocess
import sys

from kit.imports import PACKAGE, modules, tree

FENCE = PACKAGE / "debuggee" / "pydevd"
STOPS = {("pydevd", "settrace"), ("pydevd", "get_global_debugger")}
"""What ``debugpy.breakpoint`` is made of: whoever stops in a frame of their choice may use it."""
PRIVATE = ("pydevd", "_pydevd")
A_DEBUGGER = "pydevd.PyDB()"
LOOKS = f"""
import importlib, json, sys
import debugpy.server
import pydevd

def is_there(module, name):
    if module == {A_DEBUGGER!r}:
        return hasattr(debugger, name)
    try:
        return hasattr(importlib.import_module(module), name) or bool(importlib.import_module(f"{{module}}.{{name}}"))
    except ImportError:
        return False

debugger = pydevd.PyDB(set_as_global=False)
missing = [use for use in json.load(sys.stdin) if not is_there(*use[1:])]
print(json.dumps(missing))
"""


def test_only_the_fence_uses_what_is_private():
    users = {path for path in modules().values() if set(_uses(tree(path))) - STOPS}
    assert users, "nobody does"
    assert not [str(path) for path in users if not path.is_relative_to(FENCE)]


def test_all_that_it_uses_is_there():
    modules_of_it = {path.stem: tree(path) for path in FENCE.rglob("*.py")}
    used = {(name, *use) for name, module in modules_of_it.items() for use in (*_uses(module), *_of_debuggers(module))}
    assert len(used) > 50, used
    assert not _missing(sorted(used))
    assert _missing([("this", "pydevd", "no_such_name")]) == [["this", "pydevd", "no_such_name"]]


def _missing(used):
    command = [sys.executable, "-c", LOOKS]
    done = subprocess.run(command, input=json.dumps(used), capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _is_private(name):
    return name.startswith(PRIVATE)


def _uses(module):
    """Each (module of pydevd's, name in it) that is imported or read."""
    read = {}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and _is_private(node.module or ""):
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            read |= {alias.asname or alias.name: alias.name for alias in node.names if _is_private(alias.name)}
    yield from ((name, "__name__") for name in read.values() if name != "pydevd")
    yield from ((read[name], attribute) for name, attribute in _attributes(module) if name in read)


def _of_debuggers(module):
    """Each attribute of a PyDB that is read: such a one is called ``debugger``."""
    yield from ((A_DEBUGGER, attribute) for name, attribute in _attributes(module) if name == "debugger")


def _attributes(module):
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.value.id, node.attr
