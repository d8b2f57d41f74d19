"""What torch itself can say of the Python that made each autograd node: anomaly mode's tracebacks, and module hooks.

Slow, and independent of the recorder: the line is taken from the text of the traceback that anomaly mode keeps with the
node, the module from the sequence numbers that went by between the hooks before and after its forward.
"""

import linecache
import re
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)')
TARGET = re.compile(r"(\w+)( =|;)")


def name_of(function):
    """What its code is called: with the class or function that it is in since Python 3.11."""
    return getattr(function.__code__, "co_qualname", function.__code__.co_name)


def next_sequence_number():
    """The number that the next node of this thread gets."""
    return torch._C._autograd._get_sequence_nr()


@dataclass
class ForwardOracle:
    """Knows the nodes that were made within ``watching``."""

    root: torch.nn.Module
    spans: list = field(default_factory=list)
    """(first, end, path) of each module's forward, inner ones before outer ones."""
    _open: list = field(default_factory=list)

    @contextmanager
    def watching(self):
        paths = {module: name for name, module in reversed(list(self.root.named_modules()))}

        def enter(module, _inputs):
            self._open.append((next_sequence_number(), paths[module]))

        def leave(_module, _inputs, _output):
            first, path = self._open.pop()
            self.spans.append((first, next_sequence_number(), path))

        hooks = [register_module_forward_pre_hook(enter), register_module_forward_hook(leave, always_call=True)]
        try:
            with torch.autograd.set_detect_anomaly(True, check_nan=False):
                yield self
        finally:
            for hook in hooks:
                hook.remove()

    def module(self, node):
        """Path of the innermost module in whose forward ``node`` was made; in a generated one, that of its line."""
        number = node._sequence_nr()
        path = next((path for first, end, path in self.spans if first <= number < end), None)
        if path == "" and isinstance(self.root, torch.fx.GraphModule):
            fx_node = self.fx_node(node)
            made_in = fx_node.meta.get("nn_module_stack") if fx_node else None
            return [path for path, _kind in made_in.values()][-1] if made_in else path
        return path

    def fx_node(self, node):
        """The ``fx.Node`` in whose generated line ``node`` was made, by the text of the line."""
        fx_nodes = {each.name: each for each in self.root.graph.nodes}
        for file, line, function in stack(node):
            target = TARGET.match(linecache.getline(file, line).strip())
            if function == "forward" and target and target[1] in fx_nodes:
                return fx_nodes[target[1]]
        return None


def stack(node):
    """(file, line, function) of the frames that made ``node``, innermost first, as anomaly mode wrote them down."""
    found = [FRAME.search(text) for text in node.metadata["traceback_"]]
    return [(match["file"], int(match["line"]), match["function"]) for match in reversed(found) if match]


def graph(*roots):
    """All nodes that a backward from ``roots`` runs, AccumulateGrad's too."""
    waiting = [root.grad_fn for root in roots]
    seen = set(waiting)
    while waiting:
        node = waiting.pop()
        yield node
        fresh = {child for child, _ in node.next_functions if child is not None} - seen
        seen |= fresh
        waiting.extend(fresh)


def made_by_forward(*roots):
    """The same without AccumulateGrad: a node of each parameter, which no op made."""
    return [node for node in graph(*roots) if not node.name().endswith("AccumulateGrad")]
