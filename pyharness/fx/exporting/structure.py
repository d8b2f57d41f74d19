"""The statements of ``__init__``: the tree of modules as it was, so that names in the state stay what they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.fx import GraphModule

from pyharness.fx.exporting.constructors import all_attributes, call_of
from pyharness.fx.exporting.error import ExportError
from pyharness.fx.exporting.names import Imports, NoCodeError, is_plain, literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


class Structure:
    """What ``__init__`` of one exported class does."""

    def __init__(self, root: GraphModule, imports: Imports, nested: Callable[[GraphModule, str], str]) -> None:
        self.lines: list[str] = []
        self.needs_bare = False
        self._root = root
        self._imports = imports
        self._nested = nested
        self._modules: dict[int, str] = {id(root): ""}
        self._tensors: dict[int, str] = {}
        self._shared: list[str] = []
        self._check_hooks(root, "")
        self._check_tensors()
        self._inside(root, "")
        self._frozen()
        self.lines += self._shared
        self._training()

    def reference(self, path: str) -> str:
        """Code for what lies at ``path``: ``self.blocks[0].norm``."""
        text, owner = "self", self._root
        for part in filter(None, path.split(".")):
            text += self._step(owner, part)
            owner = getattr(owner, part)
        return text

    def _step(self, owner: Any, part: str) -> str:
        if part.isdigit() and isinstance(owner, nn.Module) and self._is_list(owner):
            return f"[{part}]"
        return f".{part}" if is_plain(part) else f".get_submodule({part!r})"

    def _is_list(self, module: nn.Module) -> bool:
        """Whether it is made as a ``ModuleList``: children called 0, 1, ... and nothing of its own."""
        if isinstance(module, nn.Sequential | nn.ModuleList):
            return True
        names = list(module._modules)  # noqa: SLF001
        numbered = names == [str(number) for number in range(len(names))]
        return type(module) is nn.Module and bool(names) and numbered and not (module._parameters or module._buffers)  # noqa: SLF001

    def _inside(self, module: nn.Module, path: str) -> None:
        """What a module has that is not made by a call of its class."""
        for name, child in module._modules.items():  # noqa: SLF001
            where = f"{path}.{name}".lstrip(".")
            if child is not None and is_check(child):
                continue
            if child is None:
                self.lines.append(f"{self.reference(path)}.register_module({name!r}, None)")
            else:
                self._module(module, child, path, where)
        for name, parameter in module._parameters.items():  # noqa: SLF001
            self._parameter(name, parameter, path)
        for name, buffer in module._buffers.items():  # noqa: SLF001
            self._buffer(module, name, buffer, path)

    def _module(self, owner: nn.Module, child: nn.Module, path: str, where: str) -> None:
        known = self._modules.get(id(child))
        if known is not None:
            self._attach(owner, path, where, self.reference(known))
            return
        self._modules[id(child)] = where
        self._check_hooks(child, where)
        if isinstance(child, GraphModule):
            self._attach(owner, path, where, self._nested(child, where))
            self._note(child, where)
            return
        if type(child) is nn.Module:
            self._attach(owner, path, where, "nn.ModuleList()" if self._is_list(child) else "nn.Module()")
            self._inside(child, where)
            return
        call = call_of(child, self._imports)
        if call is not None:
            self._attach(owner, path, where, call)
            self._note(child, where)
            return
        self._attach(owner, path, where, self._bare(child, where))
        self._inside(child, where)

    def _bare(self, module: nn.Module, where: str) -> str:
        """A call that makes an instance without its ``__init__``, whose arguments nobody can tell."""
        self.needs_bare = True
        try:
            kind = self._imports.expression(type(module))
        except NoCodeError as error:
            raise ExportError(f"{self._user(where)} calls a {type(module).__name__}: {error}.", _IMPORTABLE) from None
        given = [f"{name}={self._value(module, name, value, where)}" for name, value in all_attributes(module).items()]
        return f"bare({', '.join([kind, *given])})"

    def _value(self, module: nn.Module, name: str, value: Any, where: str) -> str:
        try:
            return literal(value, self._imports)
        except NoCodeError as error:
            what = f"a {type(module).__name__}, whose attribute {name!r} has no code"
            raise ExportError(f"{self._user(where)} calls {what}: {error}.", _PLAIN) from None

    def _attach(self, owner: nn.Module, path: str, where: str, value: str) -> None:
        name = where.rpartition(".")[2]
        holder = self.reference(path)
        if self._is_list(owner) and type(owner) is nn.Module:
            self.lines.append(f"{holder}.append({value})")
        elif is_plain(name) and not isinstance(owner, nn.ModuleDict | nn.ModuleList | nn.Sequential):
            self.lines.append(f"{holder}.{name} = {value}")
        else:
            self.lines.append(f"{holder}.add_module({name!r}, {value})")

    def _note(self, module: nn.Module, where: str) -> None:
        """A call made all that is inside; what is the same object as something before is put in its place later."""
        for name, inner in module.named_modules():
            self._modules.setdefault(id(inner), f"{where}.{name}".rstrip("."))
        for name, tensor in _tensors(module):
            full = f"{where}.{name}"
            known = self._tensors.setdefault(id(tensor), full)
            if known != full:
                self._share(full, known)

    def _share(self, path: str, known: str) -> None:
        holder, _, name = path.rpartition(".")
        self._shared.append(f"{self.reference(holder)}.{name} = {self._tensor(known)}  # shared")

    def _tensor(self, path: str) -> str:
        holder, _, name = path.rpartition(".")
        return f"{self.reference(holder)}.{name}" if is_plain(name) else f"getattr({self.reference(holder)}, {name!r})"

    def _parameter(self, name: str, parameter: nn.Parameter | None, path: str) -> None:
        holder, full = self.reference(path), f"{path}.{name}".lstrip(".")
        if parameter is None:
            self.lines.append(f"{holder}.register_parameter({name!r}, None)")
            return
        known = self._tensors.setdefault(id(parameter), full)
        if known != full:
            value = self._tensor(known)
        else:
            learns = "" if parameter.requires_grad else ", requires_grad=False"
            value = f"nn.Parameter({_empty(parameter)}{learns})"
        self.lines.append(
            f"{holder}.{name} = {value}" if is_plain(name) else f"{holder}.register_parameter({name!r}, {value})"
        )

    def _buffer(self, module: nn.Module, name: str, buffer: torch.Tensor | None, path: str) -> None:
        holder, full = self.reference(path), f"{path}.{name}".lstrip(".")
        if buffer is None:
            value = "None"
        else:
            known = self._tensors.setdefault(id(buffer), full)
            value = self._tensor(known) if known != full else _empty(buffer)
        persistent = "" if name not in module._non_persistent_buffers_set else ", persistent=False"  # noqa: SLF001
        self.lines.append(f"{holder}.register_buffer({name!r}, {value}{persistent})")

    def _frozen(self) -> None:
        """Parameters of called modules that shall not learn."""
        by_path = dict(_tensors(self._root))
        made = {line.split(" = ")[0] for line in self.lines}
        for path in self._tensors.values():
            tensor = by_path.get(path)
            if isinstance(tensor, nn.Parameter) and not tensor.requires_grad and self._tensor(path) not in made:
                self.lines.append(f"{self._tensor(path)}.requires_grad_(False)")

    def _training(self) -> None:
        if not self._root.training:
            self.lines.append("self.eval()")
        for path, module in self._root.named_modules():
            if path and module.training != self._root.training:
                self.lines.append(f"{self.reference(path)}.training = {module.training}")

    def _check_hooks(self, module: nn.Module, where: str) -> None:
        for field in _HOOKS:
            if any(not _is_exports(hook) for hook in getattr(module, field, {}).values()):
                hooks = f"{type(module).__name__} has {field[1:].replace('_', ' ')}"
                raise ExportError(f"{self._user(where)}: its {hooks}, which are no code.", "Remove them first.")
        if "_extra_state" in module.state_dict() and where:
            raise ExportError(
                f"{self._user(where)}: {type(module).__name__} has extra state of its own.",
                "Inline the module, or leave its call out of the graph.",
            )

    def _check_tensors(self) -> None:
        for path, tensor in _tensors(self._root):
            if type(tensor) not in _TENSORS or tensor.is_meta or tensor.layout != torch.strided:
                what = f"a {type(tensor).__name__} on {tensor.device}"
                raise ExportError(
                    f"{self._user(path)}: {path} is {what}, which has no plain values.", "Make it a plain tensor first."
                )

    def _user(self, path: str) -> str:
        """The node that uses what lies at ``path``."""
        for node in self._root.graph.nodes:
            target = str(node.target)
            if node.op in {"call_module", "get_attr"} and (
                f"{path}.".startswith(f"{target}.") or f"{target}.".startswith(f"{path}.")
            ):
                return f"node {node.name} ({target})"
        return f"module {path}" if path else type(self._root).__name__


_TENSORS = {torch.Tensor, nn.Parameter, nn.Buffer}
_PLAIN = "Trace through that module, or give it plain attributes."
_IMPORTABLE = "A class must be importable in a fresh process: define it at the top of a module."


def is_check(module: nn.Module) -> bool:
    """What torch.export calls to look at its inputs; it computes nothing."""
    return type(module).__name__ == "GuardsFn" and _is_exports(type(module))


def _is_exports(value: object) -> bool:
    return str(getattr(value, "__module__", "")).startswith(("torch.export", "torch._export"))


def _tensors(module: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from module.named_parameters(remove_duplicate=False)
    yield from module.named_buffers(remove_duplicate=False)


def _empty(tensor: torch.Tensor) -> str:
    return f"torch.empty({tuple(tensor.shape)}, dtype={tensor.dtype})"


def state_of(module: nn.Module) -> dict[str, torch.Tensor]:
    """Every tensor by its path, each once: parameters, buffers, also those that are not persistent."""
    state: dict[str, torch.Tensor] = {}
    seen: set[int] = set()
    for path, tensor in _tensors(module):
        if id(tensor) not in seen:
            seen.add(id(tensor))
            state[path] = tensor.detach()
    return state
