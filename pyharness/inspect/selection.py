"""Which modules of a model are captured, by depth and pattern, and which cannot be seen from Python."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import nn
from torch.jit._script import RecursiveScriptModule

from pyharness.model.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = "(root)"
"""How the model itself is shown; its path is the empty string."""


class Target(NamedTuple):
    """One module and every path that leads to it."""

    module: nn.Module
    paths: tuple[str, ...]
    wanted: bool
    """Whether to record the module; else it is watched only to tell the calls of the shared modules below it apart."""

    @property
    def shared(self) -> bool:
        """Whether it can be called in several places of the model."""
        return len(self.paths) > 1


@dataclass(frozen=True)
class Selection:
    """What is looked at, in the order of ``named_modules``."""

    targets: tuple[Target, ...]
    enclosing: frozenset[int]
    """``id`` of each module around a shared one: when it begins must be known."""
    unseen: dict[str, str]
    """The wanted modules that run where no hook is called, and why."""


def select(model: nn.Module, depth: int | None, pattern: str | Sequence[str] | None, *, eager: bool) -> Selection:
    """The modules that ``capture`` was asked for; ``UsageError`` where there is none or none can be seen."""
    if not isinstance(model, nn.Module):
        raise UsageError(
            f"capture takes a torch.nn.Module, not {type(model).__name__}.", "Of a function, capture its modules."
        )
    paths: dict[int, list[str]] = {}
    modules: dict[int, nn.Module] = {}
    _walk(model, "", modules, paths)
    patterns = _patterns(pattern)
    every = depth is None and patterns is None
    wanted = set(paths) if every else {key for key, each in paths.items() if _is_wanted(each, depth, patterns)}
    if not wanted:
        raise _nothing(depth, patterns, [path for each in paths.values() for path in each])
    hidden = _hidden(modules, paths, eager=eager)
    unseen = {path: hidden[path] for key in wanted for path in paths[key] if path in hidden} if hidden else {}
    visible = {key for key in wanted if any(path not in hidden for path in paths[key])} if hidden else wanted
    if not visible:
        path, why = next(iter(unseen.items()))
        raise UsageError(f"{path or 'The model'} is {why}.", _remedy(why))
    enclosing = _enclosing(paths, visible)
    targets = [
        Target(module, tuple(paths[key]), key in visible)
        for key, module in modules.items()
        if key in visible or key in enclosing
    ]
    return Selection(tuple(targets), frozenset(enclosing), unseen)


def _walk(module: nn.Module, path: str, modules: dict[int, nn.Module], paths: dict[int, list[str]]) -> None:
    """Walk as ``named_modules(remove_duplicate=False)`` does, in half of its time."""
    modules[id(module)] = module
    paths.setdefault(id(module), []).append(path)
    prefix = f"{path}." if path else ""
    for name, child in module._modules.items():  # noqa: SLF001
        if child is not None:
            _walk(child, prefix + name, modules, paths)


def _patterns(pattern: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if pattern is None:
        return None
    patterns: tuple[Any, ...] = tuple(pattern) if isinstance(pattern, (list, tuple)) else (pattern,)
    if not all(isinstance(each, str) for each in patterns):
        raise UsageError(f"pattern is a pattern or several, not {pattern!r}.", "pattern='blocks.*.attention', say.")
    return patterns


def _is_wanted(paths: list[str], depth: int | None, patterns: tuple[str, ...] | None) -> bool:
    if depth is None and patterns is None:
        return True
    near = [path for path in paths if depth is None or _depth(path) <= depth]
    return any(patterns is None or any(fnmatchcase(path, each) for each in patterns) for path in near)


def _depth(path: str) -> int:
    return path.count(".") + 1 if path else 0


def _nothing(depth: int | None, patterns: tuple[str, ...] | None, known: list[str]) -> UsageError:
    if not patterns:
        return UsageError(f"depth={depth} leaves no module.", "0 is the model itself, 1 its children, None all.")
    matching = [path for path in known if any(fnmatchcase(path, each) for each in patterns)]
    if matching:
        return UsageError(
            f"depth={depth} leaves none of the modules that match, as {matching[0]!r} does.",
            f"depth={min(map(_depth, matching))} is the least that has one.",
        )
    return UsageError(
        f"No module matches {' or '.join(map(repr, patterns))}.",
        nearest(patterns[0], known) or "named_modules() lists the paths; * stands for any part, with its dots.",
    )


def _enclosing(paths: dict[int, list[str]], visible: set[int]) -> set[int]:
    """Every module on the way to a shared one: by whose call the shared one was called tells which path it was."""
    shared = [path for key in visible if len(paths[key]) > 1 for path in paths[key]]
    if not shared:
        return set()
    at = {path: key for key, each in paths.items() for path in each}
    return {at[around] for path in shared for around in _around(path)}


def _around(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[:count]) for count in range(len(parts))] if path else []


def _hidden(modules: dict[int, nn.Module], paths: dict[int, list[str]], *, eager: bool) -> dict[str, str]:
    """Paths below (or at) something that does not call Python's hooks, and what that is."""
    hidden: dict[str, str] = {}
    optimized = None if eager else _optimized_module()
    for key, module in modules.items():
        inside = _inside(module, optimized)
        if inside is None:
            continue
        why, itself = inside
        for root in paths[key]:
            prefix = f"{root}." if root else ""
            below = [path for each in paths.values() for path in each if path.startswith(prefix) and path != root]
            for path in below + [root] * itself:
                hidden.setdefault(path, why)
    return hidden


_SCRIPTED = "in a scripted module: TorchScript runs it without Python's hooks"
_COMPILED = "compiled by torch.compile: what runs is compiled code, without the hooks"


def _optimized_module() -> Any:
    """What ``torch.compile`` makes of a module; None while nothing can be compiled."""
    return sys.modules["torch._dynamo.eval_frame"].OptimizedModule if "torch._dynamo" in sys.modules else None


def _inside(module: nn.Module, optimized: Any) -> tuple[str, bool] | None:
    """Why the modules in this one are not seen, and whether it is not seen itself."""
    if isinstance(module, torch.jit.ScriptModule):
        return _SCRIPTED, isinstance(module, RecursiveScriptModule)  # a traced one calls its own hooks
    if optimized is None:
        return None
    if isinstance(module, optimized):
        return _COMPILED, False
    return (_COMPILED, True) if module.__dict__.get("_compiled_call_impl") is not None else None


def _remedy(why: str) -> str:
    if why == _COMPILED:
        return "capture(..., eager=True) runs the compiled parts uncompiled meanwhile."
    return "Capture the model as it was before torch.jit."
