"""The method ``forward``: what torch.fx generated, without what only frees values, with a comment for each module."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from pyharness.fx.exporting.error import ExportError
from pyharness.fx.exporting.names import Imports, NoCodeError, literal
from pyharness.fx.exporting.statements import WIDTH, written
from pyharness.fx.graphs.snapshot import snapshot
from pyharness.model.text.source_line import short_path, source_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch.fx import GraphModule

    from pyharness.model.graph import GraphNode


class Forward:
    """``lines`` of the method, and ``attributes``: code for what it reads of ``self`` beside modules and tensors."""

    def __init__(self, module: GraphModule, imports: Imports, reference: Callable[[str], str]) -> None:
        self._module = module
        self._imports = imports
        self._reference = reference
        graph = snapshot(module)
        self._nodes = {node.line: node for node in graph.nodes if node.line and node.op != "placeholder"}
        function = _function(graph.code)
        self._rename(function)
        names = _Paths(module, reference)
        function = names.visit(function)
        self.attributes = {name: self._attribute(name) for name in sorted(names.others)}
        self.lines = list(self._lines(function))

    def _rename(self, function: ast.FunctionDef) -> None:
        """Imports what the code names, under the names that it uses where those are free."""
        known = type(self._module).forward.__globals__
        for each in ast.walk(function):
            if isinstance(each, ast.arg):
                each.annotation = _annotation(each.annotation, known)
        function.returns = _annotation(function.returns, known)
        own = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
        own |= {
            each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        for each in ast.walk(function):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each.id not in own:
                each.id = self._imported(each.id, known, getattr(each, "lineno", 0))

    def _imported(self, name: str, known: dict[str, Any], line: int) -> str:
        if name not in known:
            if hasattr(builtins, name):
                return name
            raise ExportError(
                f"{self._who(line)} uses {name!r}, which nothing defines.",
                "Recompile the GraphModule, or export one that was not edited by hand.",
            )
        try:
            return (
                literal(known[name], self._imports)
                if _is_value(known[name])
                else self._imports.expression(known[name], name)
            )
        except NoCodeError as error:
            raise ExportError(
                f"{self._who(line)} uses {name!r}: {error}.", "Export needs what can be imported."
            ) from None

    def _who(self, line: int) -> str:
        node = next((self._nodes[each] for each in sorted(self._nodes) if each >= line), None)
        return f"node {node.name}" if node else type(self._module).__name__

    def _attribute(self, name: str) -> str:
        value = getattr(self._module, name, None)
        if isinstance(value, pytree.TreeSpec):
            return f"{self._imports.expression(pytree, 'pytree')}.treespec_loads({pytree.treespec_dumps(value)!r})"
        try:
            return literal(value, self._imports)
        except NoCodeError as error:
            user = next((node.name for node in self._module.graph.nodes if str(node.target).split(".")[0] == name), "")
            who = f"node {user}" if user else "the generated code"
            raise ExportError(
                f"{who} reads self.{name}, which has no code: {error}.",
                "Replace the node, or define what it uses in a module that imports.",
            ) from None

    def _lines(self, function: ast.FunctionDef) -> Iterator[str]:
        arguments = ast.unparse(function.args)
        returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
        yield f"    def forward({arguments}){returns}:"
        said = ""
        for statement in function.body:
            node = self._nodes.get(statement.lineno)
            if _frees(statement) or (node and node.kind == "GuardsFn"):
                continue
            comment = _comment(node) if node and node.op != "output" else ""
            if comment and comment != said:
                yield f"        # {comment}"[:WIDTH]
                said = comment
            yield from written(statement, 2)


def _function(code: str) -> ast.FunctionDef:
    found = [each for each in ast.parse(code).body if isinstance(each, ast.FunctionDef) and each.name == "forward"]
    if not found:
        raise ExportError("The generated code has no forward.", "Recompile the GraphModule.")
    return found[-1]


def _annotation(annotation: ast.expr | None, known: dict[str, Any]) -> ast.expr | None:
    """Tensors only: other annotations may be text, or name what cannot be imported, and nothing needs them."""
    value = known.get(annotation.id) if isinstance(annotation, ast.Name) else None
    is_tensor = value is torch.Tensor or value in {"Tensor", "torch.Tensor"}
    return ast.parse("torch.Tensor", mode="eval").body if is_tensor else None


def _is_value(value: object) -> bool:
    """FX keeps ``inf``, ``nan`` and the class of ``None`` under names of its own."""
    return isinstance(value, float) or value is type(None)


def _comment(node: GraphNode) -> str:
    """``layer1.0: model.py:33: out = torch.relu(...)``; a called module's own path stands in the code."""
    home = (node.module or "").rpartition(".")[0] if node.op == "call_module" else node.module
    parts = [home] if home else []
    if node.origin_file and node.origin_line:
        parts.append(f"{short_path(node.origin_file).rpartition('/')[2]}:{node.origin_line}")
        text = source_line(node.origin_file, node.origin_line)
        parts += [text] if text else []
    return ": ".join(parts)


def _frees(statement: ast.stmt) -> bool:
    """``x = None``: the end of the function frees it as well."""
    return (
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is None
    )


class _Paths(ast.NodeTransformer):
    """``getattr(self.blocks, "0").norm`` becomes ``self.blocks[0].norm``."""

    def __init__(self, module: GraphModule, reference: Callable[[str], str]) -> None:
        self._module = module
        self._reference = reference
        self.others: set[str] = set()

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """An attribute of self, or of what is in it."""
        return self._replaced(node) or self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """``getattr(x, "name")`` is one, too."""
        return self._replaced(node) or self.generic_visit(node)

    def _replaced(self, node: ast.expr) -> ast.AST | None:
        parts = _path(node)
        if not parts:
            return None
        owner: Any = self._module
        taken = 0
        for part in parts:
            children = {**owner._modules, **owner._parameters, **owner._buffers} if hasattr(owner, "_modules") else {}  # noqa: SLF001
            if part not in children:
                break
            owner = children[part]
            taken += 1
        if not taken:
            self.others.add(parts[0])
            return node
        text = self._text(parts[:taken])
        for part in parts[taken:]:
            text += f".{part}"
        return ast.copy_location(ast.parse(text, mode="eval").body, node)

    def _text(self, parts: list[str]) -> str:
        holder, name = ".".join(parts[:-1]), parts[-1]
        owner = self._module.get_submodule(holder)
        if name in owner._modules or name.isidentifier():  # noqa: SLF001
            return self._reference(".".join(parts))
        return f"getattr({self._reference(holder)}, {name!r})"


def _path(node: ast.expr) -> list[str]:
    """``["blocks", "0", "norm"]``, empty for what does not begin at self."""
    if isinstance(node, ast.Name):
        return []
    if isinstance(node, ast.Attribute):
        inner, name = node.value, node.attr
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and len(node.args) == 2
    ):
        inner, constant = node.args
        name = constant.value if isinstance(constant, ast.Constant) and isinstance(constant.value, str) else ""
    else:
        return []
    if isinstance(inner, ast.Name):
        return [name] if inner.id == "self" and name else []
    before = _path(inner)
    return [*before, name] if before and name else []
