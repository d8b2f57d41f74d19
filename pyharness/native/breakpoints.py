"""Breakpoints on ops, autograd nodes and places in kernels, tested inside of the program at native speed.

What is not meant costs a look at its name; a condition is tested in C++; only a match comes to Python, and to whoever
debugs: gdb, pdb, debugpy, or a line on stderr.
"""

from __future__ import annotations

import itertools
import os
import sys
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from pyharness.host.own_rank import OWN_RANK
from pyharness.model.conditions.condition import compile_condition
from pyharness.model.errors import UsageError, nearest
from pyharness.native import breakpoint_actions, chains
from pyharness.native.evaluation import is_evaluated
from pyharness.native.load import load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType, TracebackType

    from pyharness.model.conditions.condition import Condition
    from pyharness.model.results.trace import Call
    from pyharness.native.breakpoint_actions import Action, Answer

_PACKAGE = os.fspath(Path(__file__).parent) + os.sep


@dataclass(frozen=True)
class Hit:
    """One match of a breakpoint: what an action is given."""

    kind: str
    """``op``, ``node`` or ``site``."""
    name: str
    """``aten::mul``, ``MulBackward0``, or the place's name."""
    overload: str
    before: bool
    """Whether the op or node has not run yet."""
    count: int
    """Which match of its breakpoint this is, from 1."""
    file: str
    """The file of the user's Python line that called; empty on a thread without Python."""
    line: int
    function: str
    inputs: tuple[Any, ...] = ()
    """Tensors and numbers that went in; what torch has no Python object for is described by a text."""
    outputs: tuple[Any, ...] = ()
    """What came out, where it has run."""
    variables: dict[str, float] = field(default_factory=dict)
    """The variables of a place in a kernel."""
    tensors: dict[str, int] = field(default_factory=dict, repr=False)
    """Addresses of the tensors (``c10::TensorImpl``) by the names that conditions use."""
    others: dict[str, Any] = field(default_factory=dict, repr=False)
    """What is no tensor, by the same names."""
    note: str = ""
    """What a debugger that stops says of it, where that is more than the op and its tensors."""
    frame: FrameType | None = field(default=None, repr=False)

    @property
    def calls(self) -> tuple[Call, ...]:
        """The Python frames that called, innermost first, with their module's path."""
        return chains.calls_from(self.frame)


class Breakpoint:
    """A breakpoint that is set; as a context manager it goes with the block."""

    def __init__(self, text: str, action: Action, *, decides: bool = False) -> None:
        self._text = text
        self._action = action
        self._decides = decides
        self._native: Any = None
        self._numbers = itertools.count(1)
        """Numbers of the matches: a thread may match before the thread that sets the breakpoint has ``_native``."""

    @property
    def hits(self) -> int:
        """How often it has acted."""
        return int(self._native.hits)

    def remove(self) -> None:
        """Take it away; again does nothing."""
        self._native.remove()

    def __enter__(self) -> Breakpoint:  # noqa: PYI034  (Self is not in 3.10's typing)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"<breakpoint {self._text}, {self.hits} hits>"

    def _met(self, raw: dict[str, Any]) -> Answer | Literal[False]:
        """Called by C++ where it matches; false where that is none of the program's doing."""
        caller = sys._getframe().f_back  # none on a thread without Python
        if is_evaluated(caller):
            return False
        hit = _hit(raw, next(self._numbers), caller)
        if self._decides and callable(self._action):
            return cast("Answer", self._action(hit))
        return breakpoint_actions.act(self._action, hit)


def breakpoint(  # noqa: A001  (the name is what one looks for)
    *,
    op: str = "",
    module: str = "",
    node: str = "",
    site: str = "",
    nth: int = 0,
    when: str = "",
    action: Action = "",
) -> Breakpoint:
    """Act where an op, an autograd node or a place in a kernel runs; see ``docs/engine.md``.

    Args:
        op: Name of ops as the dispatcher has it: ``aten::mul``, ``aten::add.Tensor``, ``aten::*norm*``, or ``mul``.
            With ``node``, only ops that such a node runs.
        module: Path of a module, from the one that was called: what is called within, in forward, or was made there,
            in backward. ``blocks.1.*`` is all modules within ``blocks.1``.
        node: Name of autograd nodes: ``MulBackward0``, ``*Backward*``.
        site: Name of a place in a kernel that was compiled with ``pyharness/breakpoint.h``.
        nth: Only this match of all, from 1; each where it is 0.
        when: A condition, such as ``nan(out) or shape(in0)[0] == 1``. One that asks ``out`` is tested when the op has
            run, any other before, so that one can step into it.
        action: ``stop`` (in gdb), ``pdb``, ``debugpy``, ``log``, or a function of a ``Hit``. Without one: ``stop``
            where a debugger of ours is there, ``pdb`` on a terminal, else ``log``.

    Raises:
        UsageError: a name or a condition that cannot be meant, with the nearest.

    """
    breakpoint_actions.check(action)
    if not isinstance(nth, int) or not 0 <= nth < _ENDLESS:
        raise UsageError(f"nth is {nth!r}; the first match is 1, and 0 is each.", "Give 0 or more.")
    if wrong := next((each for each in (op, module, node, site, when) if not isinstance(each, str)), None):
        raise UsageError(f"{wrong!r} is no name and no condition.", 'These are texts: op="aten::mul".')
    if not (op or module or node or site):
        raise UsageError("A native breakpoint needs one of op, node, module and site.", 'Name one: op="aten::mul".')
    if site and (op or node or module):
        raise UsageError("A place in a kernel has no op, node or module.", "Write a condition on its variables.")
    made = Breakpoint(_described(op=op, module=module, node=node, site=site, when=when), action)
    if site:
        made._native = _at_sites(site, when, nth, made._met)
    else:
        made._native = _at_ops(op, module, node, when, nth, made._met)
    return made


def at_place(kind: str, name: str, when: str, stop: Callable[[Hit], Answer]) -> Breakpoint:
    """A breakpoint of a debugger's, which decides itself whether a hit stops; the op may not be loaded yet."""
    made = Breakpoint(f"{kind}:{name}", stop, decides=True)
    pattern = name if kind == "node" or "::" in name else f"*::{name}"
    made._native = _add(kind, pattern, when, met=made._met)
    return made


def include_dir() -> str:
    """The folder to compile with, ``-I``, for ``#include <pyharness/breakpoint.h>``."""
    return str(Path(__file__).resolve().parent.parent / "include")


def op_pattern(op: str) -> str:
    """The pattern of an op's name; ``UsageError`` where its namespace has no such op."""
    pattern = op if "::" in op else f"*::{op}"
    name = pattern.partition("::")[0]
    if any(letter in op for letter in "*?"):
        return pattern
    known = known_ops()
    if not any(fnmatchcase(each, pattern) or each.partition(".")[0] == pattern for each in known):
        of_namespace = [each for each in known if each.startswith(f"{name}::")]
        if name == "*" or of_namespace:  # the ops of another namespace may be loaded later
            names = [each.partition(".")[0] for each in of_namespace or known]
            short = [each.partition("::")[2] for each in names]
            raise UsageError(f"There is no op {op!r}.", nearest(pattern, names) or nearest(op, short))
    return pattern


def known_ops() -> Sequence[str]:
    """The ops that are registered so far, each overload by itself: ``aten::add.Tensor``."""
    import torch

    names: list[str] = torch._C._dispatch_get_all_op_names()
    return names


def _at_ops(op: str, module: str, node: str, when: str, nth: int, met: Callable[..., Any]) -> Any:
    if node and not op:
        return _add("node", node, when, nth, module, met=met)
    return _add("op", op_pattern(op or "*"), when, nth, module, node, met=met)


def _add(
    kind: str,
    pattern: str,
    when: str,
    nth: int = 0,
    module: str = "",
    within: str = "",
    *,
    met: Callable[..., Any],
) -> Any:
    condition = compile_condition(when, rank=OWN_RANK.number) if when else None
    try:
        return _engine().add_breakpoint(
            is_node=kind == "node",
            pattern=pattern,
            within=within,
            condition=_code(condition),
            after=condition is not None and condition.needs_outputs,
            nth=nth,
            in_module=_in_module(module) if module else None,
            on_hit=met,
        )
    except ValueError as error:
        raise UsageError(
            f"{str(error).capitalize()}.", "Remove one, or name several by a pattern: *Backward*."
        ) from None


def _at_sites(site: str, when: str, nth: int, met: Callable[..., Any]) -> Any:
    places = [place for place in _engine().sites() if place[0] == site]
    if not places:
        names = sorted({place[0] for place in _engine().sites()})
        offered = nearest(site, names) or (f"There are {', '.join(names[:8])}." if names else _NO_SITES)
        raise UsageError(f"No loaded library has a place {site!r}.", offered)
    conditions = [compile_condition(when, _names(place[3]), OWN_RANK.number) for place in places] if when else [None]
    if any(each != conditions[0] for each in conditions):
        raise UsageError(f"The places {site!r} have different variables.", "Give them different names.")
    return _engine().add_site_breakpoint(site, _code(conditions[0]), nth, met)


_ENDLESS = 1 << 63
_NO_SITES = "A library must be loaded first, and compiled with PYHARNESS_BREAKPOINT of pyharness/breakpoint.h."


def _names(variables: str) -> list[str]:
    """The names by which a condition knows a place's variables: expressions are v0, v1, ... by their place."""
    parts, depth, start = [], 0, 0
    for index, letter in enumerate(variables):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append(variables[start:index])
            start = index + 1
    parts += [variables[start:]] if variables.strip() else []
    return [part.strip() if part.strip().isidentifier() else f"v{index}" for index, part in enumerate(parts)]


def _in_module(pattern: str) -> Callable[[int], bool]:
    def within(chain: int) -> bool:
        return any(call.module is not None and fnmatchcase(call.module, pattern) for call in chains.calls_of(chain))

    return within


def _code(condition: Condition | None) -> list[tuple[str, int, int, float, str]] | None:
    return [each.to_tuple() for each in condition.instructions] if condition else None


def _engine() -> Any:
    engine = chains.engine()
    engine.set_trap(load("_trap").addresses()["python_line"])
    return engine


def _hit(raw: dict[str, Any], count: int, frame: FrameType | None) -> Hit:
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    caller = breakpoint_actions.user_frame(frame)
    return Hit(
        raw["kind"],
        raw["name"],
        raw["overload"],
        raw["before"],
        count,
        caller.f_code.co_filename if caller else "",
        caller.f_lineno if caller else 0,
        caller.f_code.co_name if caller else "",
        raw["inputs"],
        raw["outputs"],
        dict(zip(_names(raw.get("names", "")), raw["variables"], strict=False)),
        raw["tensors"],
        _others(raw),
        frame=frame,
    )


def _others(raw: dict[str, Any]) -> dict[str, Any]:
    sides = (("in", raw["inputs"]), ("out", raw["outputs"]))
    named = ((f"{side}{index}", value) for side, values in sides for index, value in enumerate(values))
    return {name: value for name, value in named if name not in raw["tensors"]}


def _described(**parts: str) -> str:
    return " ".join(f"{name}={value!r}" for name, value in parts.items() if value)
