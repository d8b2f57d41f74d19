"""``debugging/call_OP.py``: a small program that loads the debug build and calls the op."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

from pyharness.project.build_script import FOLDER, libraries
from pyharness.project.samples import FILL_IN, TENSOR, arguments, of_cxx

if TYPE_CHECKING:
    from pyharness.project.kinds import Project
    from pyharness.project.ops import Op
    from pyharness.project.reading.jit_calls import JitCall
    from pyharness.project.samples import Argument

_HEAD = '''"""Calls {name} of the debug build, which `sh debugging/build.sh` makes.

Made by `pyharness init`, yours to change: {advice}
"""

'''
_TORCH = """import os
from pathlib import Path

import torch

KIND = os.environ.get("PYHARNESS_SANITIZER", "debug")  # `pyharness run --asan` sets it
BUILD = Path(__file__).resolve().parent.parent / f"{folder}"
libraries = sorted(BUILD.rglob("*.so"))
if not libraries:
    raise SystemExit(f"There is no {{KIND}} build yet: sh debugging/build.sh {{KIND}}".removesuffix(" debug"))
for library in libraries:
    try:
        torch.ops.load_library(library)
    except OSError as error:  # one for a device that is not here, perhaps
        print(error.__cause__ or error)

"""
_MODULE = """import os
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import torch

KIND = os.environ.get("PYHARNESS_SANITIZER", "debug")  # `pyharness run --asan` sets it
BUILD = Path(__file__).resolve().parent.parent / f"{folder}"
libraries = sorted(BUILD.rglob({pattern}))
if not libraries:
    raise SystemExit(f"There is no {{KIND}} build yet: sh debugging/build.sh {{KIND}}".removesuffix(" debug"))
spec = spec_from_file_location({name}, libraries[0])
extension = module_from_spec(spec)
spec.loader.exec_module(extension)

"""
_JIT = """import os
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
KIND = os.environ.get("PYHARNESS_SANITIZER", "debug")  # `pyharness run --asan` sets it
BUILD = PROJECT / f"{folder}"
if not (BUILD / "bin/c++").exists():
    raise SystemExit(f"There is no {{KIND}} build yet: sh debugging/build.sh {{KIND}}".removesuffix(" debug"))
os.environ |= {{"CC": f"{{BUILD}}/bin/cc", "CXX": f"{{BUILD}}/bin/c++"}}
os.environ["TORCH_EXTENSIONS_DIR"] = f"{{BUILD}}/torch_extensions"
sys.path.insert(0, {folder_of_module})

import torch

{extension}

"""


def text(project: Project, op: Op) -> str:
    """The whole file."""
    given = arguments(op)
    head = _HEAD.format(name=op.python_name, advice=_advice(given))
    call = _call(op, given)
    if project.kind == "jit":  # importing it is the build
        call = f'if __name__ == "__main__":\n{textwrap.indent(call, "    ")}'
    return head + _loading(project, op) + call


def to_fill_in(project: Project, op: Op) -> list[str]:
    """What a person has to put in: arguments for which nothing could be guessed, and what loads the extension."""
    missing = [one.name for one in arguments(op) if FILL_IN in one.value]
    call = jit_call(project, op) if project.kind == "jit" else None
    lost = call is not None and not (call.sources or (call.importable and (call.variable or call.maker)))
    return [*(["extension"] if lost else []), *missing]


def _advice(given: list[Argument]) -> str:
    missing = [one.name for one in given if FILL_IN in one.value]
    if missing:
        return f"put in {', '.join(missing)}, which it could not guess."
    if any(TENSOR in one.value for one in given):
        return "values are guesses.\nThe debugger stops at the first line of the C++ function, before it looks at them."
    return "values are guesses."


def _loading(project: Project, op: Op) -> str:
    if project.kind == "jit":
        call = jit_call(project, op)
        place = f'str(PROJECT / "{call.folder}")' if call.folder else "str(PROJECT)"
        return _JIT.format(folder=_of_kind(FOLDER), folder_of_module=place, extension=_jit(call, op))
    if op.via != "module":
        return _TORCH.format(folder=_of_kind(libraries(project.kind)))
    module = op.namespace or project.module
    pattern = json.dumps(f"{module}.*so" if module else "*.so")
    name = json.dumps(module) if module else 'libraries[0].name.partition(".")[0]'
    return _MODULE.format(folder=_of_kind(libraries(project.kind)), pattern=pattern, name=name)


def _of_kind(folder: str) -> str:
    """A folder of the debug build as the script writes that of each build."""
    return folder.replace("-debug", "-{KIND}", 1)


def jit_call(project: Project, op: Op) -> JitCall:
    """The call of ``load`` that builds the op's source; the first where none names it."""
    by_source = (
        call for call in project.jit if op.file in call.sources or (call.inline and op.function in call.functions)
    )
    return next(by_source, project.jit[0])


def _jit(call: JitCall, op: Op) -> str:
    """Lines that load the extension: by the project's own module, or by its own call of ``load``."""
    if call.variable and call.importable:
        lines = [f"from {call.module} import {call.variable} as extension"]
    elif call.maker and call.importable:
        lines = [f"from {call.module} import {call.maker}", "", f"extension = {call.maker}()"]
    elif call.sources:
        names = ", ".join(f"PROJECT / {json.dumps(source)}" for source in call.sources)
        name = json.dumps(call.name if "*" not in call.name else op.name)
        lines = [
            "from torch.utils.cpp_extension import load",
            "",
            f"# As {call.file}:{call.line} does; its include folders and flags belong here too.",
            f"extension = load({name}, [{names}], is_python_module={op.via == 'module'})",
        ]
    else:
        lines = [*([f"import {call.module}", ""] if call.importable else [])]
        lines += [f"extension = ...  # put in what makes {call.file}:{call.line} load it"]
    return "\n".join(lines)


def _call(op: Op, given: list[Argument]) -> str:
    lines = [f"{one.variable} = {one.value}" for one in given]
    words = ", ".join(one.passed for one in given)
    if op.via == "class":
        name, _, method = op.python_name.rpartition(".")
        made = f"{name}({', '.join(of_cxx(kind) for kind in op.constructor)})"
        return "\n".join([f"made = {made}", *lines, f"print(made.{method}({words}))"]) + "\n"
    called = op.python_name if op.via == "torch" else f"extension.{op.name}"
    return "\n".join([*lines, f"print({called}({words}))"]) + "\n"
