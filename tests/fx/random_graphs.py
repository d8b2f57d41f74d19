"""Random graphs of real ops, and one random mutation of such a graph: who was changed is known beforehand."""

import copy
import operator
import random
from dataclasses import dataclass

import torch
from torch import fx, nn
from torch.nn import functional

SHAPE = (3, 4, 4)
UNARY = (torch.relu, torch.tanh, torch.sigmoid, functional.gelu, torch.neg, torch.sin, functional.silu, torch.abs)
BINARY = (torch.add, torch.sub, torch.mul, torch.maximum, torch.matmul, torch.atan2, operator.sub)
ALONG = (torch.softmax, torch.cumsum, torch.flip, functional.normalize, torch.roll)
KEPT = (torch.sum, torch.mean, torch.amax)
METHODS = ("sub", "div", "copysign")


class Root(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)
        self.batch = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.4)
        self.weight = nn.Parameter(torch.randn(4, 4))
        self.register_buffer("offset", torch.randn(4))


class Generator:
    """Nodes are executed as they are made, so that each is valid; every value has ``SHAPE`` and float32."""

    def __init__(self, number, size=14):
        self.random = random.Random(number)  # noqa: S311  (repeatable)
        torch.manual_seed(number)
        self.root = Root()
        self.root.train(self.random.random() < 0.5)
        self.graph = fx.Graph(self.root)
        self.values = [self.graph.placeholder(name) for name in ("x", "y")]
        for _ in range(size):
            self.values.append(self.random.choice(self.kinds)(self))
        tail = self.values[-1]
        for other in self.random.sample(self.values[2:-1], 3):
            tail = self.graph.call_function(torch.add, (tail, other))
        self.graph.output({"tail": tail, "last": (self.values[-1], self.values[2])})
        self.graph.eliminate_dead_code()
        self.module = fx.GraphModule(self.root, self.graph)

    def pick(self):
        late = self.values[-6:]
        return self.random.choice(late if self.random.random() < 0.8 else self.values)

    def two(self):
        one = self.pick()
        return one, self.random.choice([each for each in self.values if each is not one])

    def unary(self):
        return self.graph.call_function(self.random.choice(UNARY), (self.pick(),))

    def binary(self):
        return self.graph.call_function(self.random.choice(BINARY), self.two())

    def constant(self):
        target = self.random.choice((torch.add, torch.mul, operator.truediv, operator.pow))
        value = self.random.choice((2, 3)) if target is operator.pow else round(self.random.uniform(0.5, 2.0), 2)
        return self.graph.call_function(target, (self.pick(), value))

    def along(self):
        target = self.random.choice(ALONG)
        dim = self.random.choice((-1, -2))
        if target is torch.flip:
            return self.graph.call_function(target, (self.pick(), [dim]))
        args = (self.pick(), 1) if target is torch.roll else (self.pick(),)
        return self.graph.call_function(target, args, {"dim" if target is not torch.roll else "dims": dim})

    def kept(self):
        dim, source = self.random.choice((0, 1, 2)), self.pick()
        found = self.graph.call_function(self.random.choice(KEPT), (source,), {"dim": dim, "keepdim": True})
        return self.graph.call_function(torch.sub, (source, found))

    def cat(self):
        one, other = self.two()
        wide = self.graph.call_function(torch.cat, ([one, other],), {"dim": 2})
        start = self.random.choice((0, 1, 3))
        return self.graph.call_function(torch.narrow, (wide, 2, start, 4))

    def cast(self):
        low = self.graph.call_method("to", (self.pick(), self.random.choice((torch.bfloat16, torch.float16))))
        low = self.graph.call_function(torch.mul, (low, 1.5))
        return self.graph.call_method("to", (low, torch.float32))

    def method(self):
        return self.graph.call_method(self.random.choice(METHODS), self.two())

    def transposed(self):
        return self.graph.call_method("transpose", (self.pick(), 1, 2))

    def called(self):
        return self.graph.call_module(self.random.choice(("linear", "norm", "batch", "drop")), (self.pick(),))

    def parameter(self):
        held = self.graph.get_attr(self.random.choice(("weight", "offset")))
        return self.graph.call_function(torch.add, (self.pick(), held))

    def dropped(self):
        training = self.random.random() < 0.5
        return self.graph.call_function(functional.dropout, (self.pick(), 0.3), {"training": training})

    kinds = (unary, binary, binary, constant, along, kept, cat, cast, method, transposed, called, parameter, dropped)


def inputs(number):
    torch.manual_seed(1000 + number)
    return torch.randn(SHAPE), torch.randn(SHAPE)


@dataclass(frozen=True)
class Mutation:
    kind: str
    nodes: frozenset
    """Names in the mutated graph: one of these is to be found; of a removed node, those that took its value."""
    missing: str | None = None


def mutate(module, rng, kinds=None):
    """A copy with one node changed, and which; ``None`` where the chosen mutation has no place in this graph."""
    changed = copy.deepcopy(module)
    mutation = rng.choice(kinds or MUTATIONS)(changed, rng)
    if mutation is not None:
        changed.graph.lint()
        changed.recompile()
    return changed, mutation


def _called(module, test=lambda _: True):
    return [node for node in module.graph.nodes if node.op.startswith("call_") and test(node)]


def _chosen(module, rng, test):
    found = _called(module, test)
    return rng.choice(found) if found else None


def swap(module, rng):
    node = _chosen(module, rng, lambda each: len(each.args) == 2 and all(isinstance(a, fx.Node) for a in each.args))
    if node is None:
        return None
    node.args = node.args[::-1]
    return Mutation("swap", frozenset({node.name}))


def dimension(module, rng):
    node = _chosen(module, rng, lambda each: "dim" in each.kwargs or "dims" in each.kwargs)
    if node is None:
        return None
    key = "dim" if "dim" in node.kwargs else "dims"
    node.kwargs = {**node.kwargs, key: rng.choice([dim for dim in (0, 1, 2) if dim != node.kwargs[key] % 3])}
    return Mutation("dimension", frozenset({node.name}))


def constant(module, rng):
    node = _chosen(module, rng, lambda each: any(isinstance(a, float) for a in each.args))
    if node is None:
        return None
    node.args = tuple(a * 1.25 if isinstance(a, float) else a for a in node.args)
    return Mutation("constant", frozenset({node.name}))


def cast(module, rng):
    node = _chosen(module, rng, lambda each: each.target == "to")
    if node is None:
        return None
    if rng.random() < 0.5:
        other = torch.float64 if node.args[1] is torch.float32 else torch.float32
        node.args = (node.args[0], other)
        return Mutation("cast", frozenset({node.name}))
    return _without(module, node, "dropped cast")


def target(module, rng):
    groups = (UNARY, BINARY, KEPT)
    node = _chosen(module, rng, lambda each: any(each.target in group for group in groups))
    if node is None:
        return None
    group = next(group for group in groups if node.target in group)
    node.target = rng.choice([each for each in group if each is not node.target])
    return Mutation("target", frozenset({node.name}))


def replaced(module, rng):
    """As a pass does it: a new node, the old one erased; the new one has another name."""
    node = _chosen(module, rng, lambda each: each.target in UNARY)
    if node is None:
        return None
    with module.graph.inserting_before(node):
        new = module.graph.call_function(torch.cos, node.args)
    node.replace_all_uses_with(new)
    module.graph.erase_node(node)
    return Mutation("replaced", frozenset({new.name}))


def inserted(module, rng):
    node = _chosen(module, rng, lambda each: bool(each.users))
    with module.graph.inserting_after(node):
        new = module.graph.call_function(torch.mul, (node, 1.01))
    node.replace_all_uses_with(new, lambda user: user is not new)
    return Mutation("inserted", frozenset({new.name}))


def rewire(module, rng):
    node = _chosen(module, rng, lambda each: bool(each.all_input_nodes))
    earlier = []
    for each in module.graph.nodes:
        if each is node:
            break
        earlier.append(each)
    old = rng.choice(node.all_input_nodes)
    others = [each for each in earlier if each not in node.all_input_nodes and each.op != "get_attr"]
    if not others:
        return None
    node.replace_input_with(old, rng.choice(others))
    return Mutation("rewire", frozenset({node.name}))


def removed(module, rng):
    node = _chosen(module, rng, lambda each: len(each.all_input_nodes) == 1)
    return _without(module, node, "removed") if node else None


def _without(module, node, kind):
    users = frozenset(user.name for user in node.users)
    node.replace_all_uses_with(node.all_input_nodes[0])
    module.graph.erase_node(node)
    return Mutation(kind, users, node.name)


def parameter(module, rng):
    node = _chosen(module, rng, lambda each: each.target in {"linear", "norm", "batch"})
    if node is None:
        return None
    with torch.no_grad():
        module.get_submodule(node.target).weight[1] += 0.1
    return Mutation("parameter", frozenset(each.name for each in _called(module, lambda e: e.target == node.target)))


def attribute(module, rng):
    found = [node for node in module.graph.nodes if node.op == "get_attr"]
    if not found:
        return None
    node = rng.choice(found)
    with torch.no_grad():
        getattr(module, node.target).mul_(1.1)
    return Mutation("attribute", frozenset(each.name for each in found if each.target == node.target))


def mode(module, rng):
    node = _chosen(module, rng, lambda each: each.target in {"drop", "batch", functional.dropout})
    if node is None:
        return None
    if node.op == "call_module":
        held = module.get_submodule(node.target)
        held.train(not held.training)
        return Mutation("mode", frozenset(each.name for each in _called(module, lambda e: e.target == node.target)))
    node.kwargs = {"training": not node.kwargs["training"]}
    return Mutation("mode", frozenset({node.name}))


def in_place(module, rng):
    """``add`` becomes ``add_``, where what it changes is taken by somebody later."""
    names = {torch.add: "add_", torch.mul: "mul_", torch.sub: "sub_", torch.tanh: "tanh_", torch.relu: "relu_"}
    order = {node: index for index, node in enumerate(module.graph.nodes)}
    node = _chosen(
        module,
        rng,
        lambda each: (
            each.target in names
            and isinstance(each.args[0], fx.Node)
            and each.args[0].op.startswith("call_")
            and any(order[user] > order[each] for user in each.args[0].users)
        ),
    )
    if node is None:
        return None
    node.op, node.target = "call_method", names[node.target]
    return Mutation("in place", frozenset({node.name}))


MUTATIONS = (
    swap,
    dimension,
    constant,
    cast,
    target,
    replaced,
    inserted,
    rewire,
    removed,
    parameter,
    attribute,
    mode,
    in_place,
)


def disguised(module, rng):
    """The same graph with every node renamed, put in another valid order, and what is equal computed once."""
    new, made = fx.Graph(module), {}
    waiting = list(module.graph.nodes)
    output = waiting.pop()
    while waiting:
        ready = [node for node in waiting if all(each in made for each in node.all_input_nodes)]
        inputs_first = [node for node in ready if node.op == "placeholder"][:1]
        node = inputs_first[0] if inputs_first else rng.choice(ready)
        waiting.remove(node)
        made[node] = new.node_copy(node, made.__getitem__)
        made[node].name = f"n{len(made)}" if node.op != "placeholder" else node.name
    new.output(fx.node.map_arg(output.args[0], made.__getitem__))
    renamed = {node.name: copy_.name for node, copy_ in made.items()}
    return fx.GraphModule(module, new), renamed
