"""Decodes the Python frames below which something was called: file and line, function, module path, FX node.

The native half keeps code objects, instructions and modules (csrc/engine/provenance/provenance.h); what they mean is
found out here, once, and outside of what is recorded.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyharness.model.frames import FxPlace
from pyharness.model.results.trace import Call
from pyharness.model.source_map import place_of
from pyharness.native.load import load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import CodeType, FrameType

    Link = tuple[CodeType, int, Any]
    """Code object, offset of the instruction in bytes, the ``nn.Module`` that is called or ``None``."""

_EVALUATED = "<eval_with_key>"
"""How torch.fx names a generated ``forward`` that has no file."""
_COMPILER = "/torch/_dynamo/convert_frame.py"
COMPILING = "(compiling)"
"""Module of what torch.compile runs to compile, within the module whose call made it compile."""
_WRAPPED = "_orig_mod"
"""Where torch.compile's module keeps the user's."""


def engine() -> Any:
    """The module ``pyharness._engine``, built where none fits, and told which frames are calls of modules."""
    module = load("_engine", build=True)
    module.set_module_call(_module_call())
    return module


def calls_of(chain: int) -> tuple[Call, ...]:
    """The calls of a chain by its number, innermost first; empty for 0 and for one that is gone."""
    return ChainReader().calls(load("_engine").chain_links(chain))


def calls_from(frame: FrameType | None) -> tuple[Call, ...]:
    """The calls of a live frame and of its callers, innermost first."""
    return ChainReader().calls(list(_links_from(frame)))


def _links_from(frame: FrameType | None) -> Iterator[Link]:
    call = _module_call()
    while frame is not None:
        yield frame.f_code, frame.f_lasti, frame.f_locals.get("self") if frame.f_code is call else None
        frame = frame.f_back


def _module_call() -> CodeType | None:
    """The code that runs for each call of each module, with the module in its first local variable."""
    modules = sys.modules.get("torch.nn.modules.module")
    # Not `__call__`: a library may have put a function of its own there, which calls this one.
    code: CodeType | None = vars(modules.Module)["_wrapped_call_impl"].__code__ if modules else None
    return code


class ChainReader:
    """Decodes many chains; remembers what they share."""

    def __init__(self, chains: Iterable[Sequence[Link]] = ()) -> None:
        """``chains`` are all that will be read, where they are known.

        A module that is outermost in one, and part of what is outermost in another, is named as that part: so a
        checkpointed module that backward runs again keeps its path.
        """
        self._lines: dict[tuple[CodeType, int], int] = {}
        self._paths: dict[int, dict[int, str]] = {}
        outermost = (next((module for *_, module in reversed(links) if module is not None), None) for links in chains)
        self._outermost = {id(module): module for module in outermost if module is not None}
        self._parts: dict[int, str] = {}

    def calls(self, links: Sequence[Link]) -> tuple[Call, ...]:
        """The calls, innermost first."""
        found: list[Call] = []
        path: str | None = None
        around: Any = None
        within: str | None = None  # `path`, or what a generated line was made for
        compiling = False
        for code, instruction, module in reversed(links):
            if module is not None and not compiling:
                path, around = self._path(module, path, around), module
                within = path
            elif not compiling and code.co_filename.endswith(_COMPILER):
                compiling = True
                path = within = f"{path}.{COMPILING}" if path else COMPILING
            call = self._call(code, self._line(code, instruction), path, around)
            within = call.module if call.node is not None else within
            found.append(replace(call, module=within))
        return tuple(reversed(found))

    def _path(self, module: Any, outer: str | None, around: Any) -> str:
        """Path of ``module``, which was called within ``around``."""
        if outer is None or around is None:
            return self._part(module)
        name = self._names_in(around).get(id(module), f"({type(module).__name__})")
        return f"{outer}.{name}" if outer and name else outer or name

    def _part(self, module: Any) -> str:
        if id(module) not in self._parts:
            others = (other for other in self._outermost.values() if other is not module)
            names = (self._names_in(other).get(id(module), "") for other in others)
            self._parts[id(module)] = max(names, key=len, default="")
        return self._parts[id(module)]

    def _names_in(self, module: Any) -> dict[int, str]:
        if id(module) not in self._paths:
            names: dict[int, str] = {}
            for name, each in module.named_modules(remove_duplicate=False):
                names.setdefault(id(each), ".".join(part for part in name.split(".") if part != _WRAPPED))
            self._paths[id(module)] = names
        return self._paths[id(module)]

    def _line(self, code: CodeType, instruction: int) -> int:
        key = (code, instruction)
        if key not in self._lines:
            of_range = (line for start, end, line in code.co_lines() if start <= instruction < end and line)
            self._lines[key] = next(of_range, code.co_firstlineno)
        return self._lines[key]

    def _call(self, code: CodeType, line: int, path: str | None, around: Any) -> Call:
        function = getattr(code, "co_qualname", code.co_name)  # from Python 3.11 on
        place = place_of(code.co_filename, line) or _place_in(around, code, line)
        if place is None:
            return Call(code.co_filename, line, function, path)
        within = ".".join(part for part in (path, place.module) if part)
        return Call(code.co_filename, line, function, within if place.module is not None else path, place.node)


def _place_in(module: Any, code: CodeType, line: int) -> FxPlace | None:
    """What a ``GraphModule`` that has no file knows of a line of its ``forward``."""
    numbers = getattr(module, "_lineno_map", None)
    if numbers is None or not code.co_filename.startswith(_EVALUATED):
        return None
    nodes = list(module.graph.nodes)
    number = numbers.get(line - getattr(module, "_prologue_start", 0))
    if number is None or number >= len(nodes):
        return None
    stack = nodes[number].meta.get("nn_module_stack") or {}
    paths = [str(each[0]) for each in stack.values()]
    return FxPlace(nodes[number].name, paths[-1] if paths else None, None)
