"""The files of an exported package: one a class, one that reads the state."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pyharness.fx.code import files
from pyharness.fx.exporting.forward import Forward
from pyharness.fx.exporting.names import Imports
from pyharness.fx.exporting.registered import modules_for
from pyharness.fx.exporting.statements import double_quoted, written
from pyharness.fx.exporting.structure import Structure
from pyharness.model.package_folder import HEADING, identifier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.fx import GraphModule

_MODEL = "model"
_STATE = '''"""Reads the state of an exported model: tensors only, no pickled code."""

import torch
from torch import nn


def read_state(model: nn.Module, file) -> None:
    """Put the tensors of ``file`` into ``model``: dtypes, strides and all."""
    for path, value in torch.load(file, weights_only=True).items():
        owner, _, name = path.rpartition(".")
        getattr(model.get_submodule(owner), name).data = value


def bare(cls: type, **attributes) -> nn.Module:
    """An instance of a module's class with these attributes; its ``__init__`` is not run."""
    made = cls.__new__(cls)
    nn.Module.__init__(made)
    made.__dict__.update(attributes)
    return made
'''


class Package:
    """``files``: text by file name; ``name``: the class of the whole model."""

    def __init__(self, module: GraphModule, imports: tuple[str, ...]) -> None:
        self.files: dict[str, str] = {}
        self._classes: set[str] = set()
        self._imports = imports
        self.name = self._class(module, _MODEL)
        self.files["_state.py"] = _STATE
        about = f'"""{self.name}, a graph of torch.fx as Python: ``load()`` makes it with its parameters."""'
        self.files["__init__.py"] = (
            f"{about}\n\nfrom .{_MODEL} import {self.name}, load\n\n__all__ = [{self.name!r}, 'load']\n".replace(
                "'", '"'
            )
        )

    def _class(self, module: GraphModule, file: str) -> str:
        """Write the file of one class; its name."""
        name = identifier(files.name_of(module))
        while name in self._classes:
            name += "_"
        self._classes.add(name)
        imports = Imports()
        nested: dict[str, str] = {}

        def inner(each: GraphModule, path: str) -> str:
            inner_file = f"{file}_{identifier(path.replace('.', '_'))}"
            nested[inner_file] = self._class(each, inner_file)
            return f"{nested[inner_file]}()"

        structure = Structure(module, imports, inner)
        forward = Forward(module, imports, structure.reference)
        needed = [*self._imports, *(each for each in modules_for(module) if each not in self._imports)]
        given = [f"self.{attribute} = {value}" for attribute, value in forward.attributes.items()]
        state = [each for each, wanted in (("bare", structure.needs_bare), ("read_state", file == _MODEL)) if wanted]
        lines = [
            f'"""{name}: {HEADING}',
            "",
            *_imports(imports, needed, nested, state, whole=file == _MODEL),
            "",
            "",
            f"class {name}(nn.Module):",
            "    def __init__(self) -> None:",
            "        super().__init__()",
            *(double_quoted(line) for text in (*given, *structure.lines) for line in _statement(text)),
            "",
            *(line if line.lstrip().startswith("#") else double_quoted(line) for line in forward.lines),
            *(_load(name) if file == _MODEL else ()),
        ]
        text = "\n".join(lines) + "\n"
        compile(text, f"{file}.py", "exec")
        self.files[f"{file}.py"] = text
        return name


def _statement(text: str) -> list[str]:
    code, _, comment = text.partition("  # ")
    lines = written(ast.parse(code).body[0], 2)
    return [*lines[:-1], f"{lines[-1]}  # {comment}" if comment else lines[-1]]


def _imports(
    imports: Imports, needed: list[str], nested: dict[str, str], state: list[str], *, whole: bool
) -> Iterator[str]:
    if whole:
        yield "from pathlib import Path"
        yield ""
    yield "import torch"
    yield from imports.lines()
    yield from (f"import {each}  # registers ops that are called below" for each in needed)
    yield "from torch import nn"
    if state or nested:
        yield ""
    if state:
        yield f"from ._state import {', '.join(state)}"
    yield from (f"from .{file} import {name}" for file, name in nested.items())


def _load(name: str) -> Iterator[str]:
    yield from ("", "", f"def load() -> {name}:")
    yield '    """The model with the parameters and buffers that lie beside this file."""'
    yield "    with torch.random.fork_rng(devices=[]):  # what __init__ draws is replaced"
    yield f"        model = {name}()"
    yield '    read_state(model, Path(__file__).with_name("state.pt"))'
    yield "    return model"
