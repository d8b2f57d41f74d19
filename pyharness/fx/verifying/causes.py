"""Says what is wrong with a node that errs: what it does otherwise than its counterpart in the original."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch.fx import Node

from pyharness.fx.code.mapping import target_of
from pyharness.fx.verifying.calls import tensors_of
from pyharness.fx.verifying.differences import Tolerance, differences
from pyharness.fx.verifying.signatures import arguments, inputs, word
from pyharness.fx.verifying.values import Leaf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.fx.verifying.replay import Replay, Root
    from pyharness.model.results.verdict import Difference, Kind


class Cause(NamedTuple):
    """Why a node errs."""

    kind: Kind
    reason: str
    missing: Node | None = None
    """A node of the original that is gone."""
    difference: Difference | None = None
    """What differs in its parameters."""


_MODES = frozenset({"training", "train"})
_PLAIN = (bool, int, float, complex, str, tuple, list, type(None), torch.dtype)


def cause_of(root: Root, replay: Replay) -> Cause:
    """The most telling thing that the node does otherwise."""
    if root.changed is not None:
        return _in_place(root, replay)
    found = next(_causes(root, replay), None)
    if found is not None:
        return found
    difference = replay.measured(root)
    if difference.symptom == "error":
        return Cause("error", difference.message)
    if root.through:
        names = ", ".join(node.name for node in root.through[-4:])
        return Cause("value", f"its value is wrong, or one of those it is made from ({names})")
    if difference.symptom == "state":
        return Cause("value", difference.message)
    return Cause("value", "from the same inputs it makes another value")


def _causes(root: Root, replay: Replay) -> Iterator[Cause]:
    node, other = root.node, root.counterpart
    if node in replay.alignment.instead:
        yield Cause("input", f"it stands between {other.name} and what takes that, and changes the value")
        return
    if node.op == "call_module" and _names_another(node, other, replay):
        yield Cause("value", f"it stands for {other.name} of the original, and makes another value")
    if word(node) != word(other):
        yield Cause("target", f"it calls {target_of(node)}, where the original calls {target_of(other)}")
    if node.op == other.op == "call_module":
        yield from _of_modules(root, replay)
    yield from _of_inputs(root, replay)
    yield from _of_constants(node, other)
    yield from _of_graphs(root, replay)
    if node.target != other.target and "output" not in {node.op, other.op}:
        yield Cause("target", f"it calls {target_of(node)}, where the original calls {target_of(other)}")
    if node.op == other.op == "get_attr":
        yield Cause("parameter", f"{node.target} does not hold what it holds in the original")


def _names_another(node: Node, other: Node, replay: Replay) -> bool:
    """Whether it calls a module that the original calls elsewhere: one into which others were folded."""
    calls = [each.target for each in replay.original.nodes if each.op == "call_module"]
    return node.target != other.target and node.target in calls


def _in_place(root: Root, replay: Replay) -> Cause:
    changed, users = root.changed, [user.name for user in root.users]
    name = changed.name if changed else ""
    if root.writer is not None and root.writer not in replay.alignment.back:
        reason = f"it takes {name}, which the original changes in place before by its {root.writer.name}, which is gone"
        return Cause("missing", reason, root.writer)
    if root.writer is not None:
        return Cause("in-place", f"it does not change {name} in place as the original does; {users[0]} takes that")
    return Cause("in-place", f"it changes {name} in place, which {users[0]} takes afterwards")


def _of_inputs(root: Root, replay: Replay) -> Iterator[Cause]:
    node, other = root.node, root.counterpart
    mine, theirs = inputs(node), inputs(other)
    if mine.keys() != theirs.keys() and len(mine) == len(theirs):
        mine, theirs = ({str(n): each for n, each in enumerate(found.values())} for found in (mine, theirs))
    of = replay.alignment.of
    taken, wanted = [of.get(each) for each in mine.values()], list(theirs.values())
    if taken != wanted and Counter(taken) == Counter(wanted):
        names = ", ".join(each.name for each in mine.values())
        yield Cause("operands", f"it takes ({names}), in the original the order is ({_names(wanted)})")
        return
    for path in mine:
        expected = theirs.get(path)
        if expected is None or of.get(mine[path]) is expected or mine[path] not in of:
            continue
        back = replay.alignment.back.get(expected)
        if back is None:
            reason = f"it takes {mine[path].name}; the original takes the value of its {expected.name}, which is gone"
            yield Cause("missing", reason, expected)
        else:
            yield Cause("input", f"it takes {mine[path].name}; the original takes what {back.name} is here")
    if len(mine) != len(theirs) and root.node.op != "output":
        yield Cause("input", f"it takes {len(mine)} values, the original {len(theirs)}")


def _names(nodes: list[Node]) -> str:
    return ", ".join(node.name for node in nodes)


def _of_constants(node: Node, other: Node) -> Iterator[Cause]:
    mine, theirs = arguments(node), arguments(other)
    for path in dict.fromkeys((*theirs, *mine)):
        pair = mine.get(path, _ABSENT), theirs.get(path, _ABSENT)
        if any(isinstance(each, Node) for each in pair) or _same(*pair):
            continue
        name = path.split("[")[0] or f"argument {int(path[1 : path.index(']')]) + 1}"
        is_mode = path in _MODES or (isinstance(pair[0], bool) and "dropout" in target_of(node))
        reason = f"{name} is {_said(pair[0])}, in the original {_said(pair[1])}"
        yield Cause("mode" if is_mode else "argument", reason)


def _of_graphs(root: Root, replay: Replay) -> Iterator[Cause]:
    """Graphs that a higher-order op such as ``cond`` is given."""
    mine, theirs = inputs(root.node), inputs(root.counterpart)
    for path in mine.keys() & theirs.keys():
        pair = replay.values[mine[path]], replay.original.values[theirs[path]]
        one, other = (each.code if isinstance(each, torch.fx.GraphModule) else None for each in pair)
        if one != other:
            yield Cause("argument", f"{mine[path].target} is another graph than in the original")


_ABSENT = object()


def _said(value: object) -> str:
    return "not given" if value is _ABSENT else repr(value)


def _same(one: object, other: object) -> bool:
    return one is other or (type(one) is type(other) and repr(one) == repr(other))


def _of_modules(root: Root, replay: Replay) -> Iterator[Cause]:
    mine, theirs = replay.held(root.node), replay.original.held(root.counterpart)
    if mine is None or theirs is None or mine is theirs:
        return
    name = str(root.node.target)
    if type(mine) is not type(theirs) and not isinstance(mine, torch.fx.GraphModule):
        yield Cause("target", f"{name} is a {_class(mine)}, in the original a {_class(theirs)}")
    yield from _of_modes(mine, theirs, name)
    yield from _of_tensors(mine, theirs, name)
    yield from _of_attributes(mine, theirs, name)


def _class(module: torch.nn.Module) -> str:
    return f"{type(module).__module__}.{type(module).__qualname__}"


def _of_modes(mine: torch.nn.Module, theirs: torch.nn.Module, name: str) -> Iterator[Cause]:
    known = dict(theirs.named_modules())
    for path, module in mine.named_modules():
        if path in known and module.training != known[path].training:
            modes = [("evaluation", "training")[each.training] for each in (module, known[path])]
            where = ".".join(filter(None, (name, path)))
            yield Cause("mode", f"{where} is in {modes[0]} mode, in the original in {modes[1]} mode")


def _of_tensors(mine: torch.nn.Module, theirs: torch.nn.Module, name: str) -> Iterator[Cause]:
    here, there = tensors_of(mine), tensors_of(theirs)
    for path in dict.fromkeys((*there, *here)):
        if path not in here or path not in there:
            yield Cause("parameter", f"{name} has {'no' if path not in here else 'a'} {path}, unlike the original")
            continue
        exact = Tolerance(0.0, 0.0)
        for found in differences((Leaf("", there[path]),), (Leaf("", here[path]),), exact):
            yield Cause("parameter", f"{name}.{path} is not the original's: {found.message}", difference=found)


def _of_attributes(mine: torch.nn.Module, theirs: torch.nn.Module, name: str) -> Iterator[Cause]:
    known = dict(theirs.named_modules())
    for path, module in mine.named_modules():
        other = known.get(path)
        for key, value in vars(module).items() if other is not None else ():
            there = vars(other).get(key, _ABSENT)
            if not key.startswith("_") and key != "training" and isinstance(value, _PLAIN) and not _same(value, there):
                where = ".".join(filter(None, (name, path, key)))
                yield Cause("attribute", f"{where} is {_said(value)}, in the original {_said(there)}")
