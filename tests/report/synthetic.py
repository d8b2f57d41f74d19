"""Traces made up for tests: a model of blocks that trains, forward and backward, on one thread or several."""

from dataclasses import replace

from pyharness.model.results.trace import Call, Event, GraphTask, TensorInfo, Trace

_LAYERS = (
    ("norm", "pyharness::rms_norm", "RmsNormBackward"),
    ("mixer.query", "aten::linear", "AddmmBackward0"),
    ("mixer.out", "aten::mul", "MulBackward0"),
    ("mlp.0", "aten::linear", "AddmmBackward0"),
    ("mlp.1", "aten::gelu", "GeluBackward0"),
)
SHAPES = (TensorInfo((4, 16, 64), "float32", "cpu"), TensorInfo((64,), "float32", "cpu"))


class Maker:
    """Adds events in order of time."""

    def __init__(self):
        self.events = []
        self.tasks = []
        self.clock = 0

    def add(self, name, duration, *, stack, thread=1, parent=None, **fields):
        number = len(self.events)
        event = Event(
            number=number,
            kind=fields.pop("kind", "op"),
            name=name,
            overload=fields.pop("overload", ""),
            thread=thread,
            start=fields.pop("start", self.clock),
            duration=duration,
            depth=self.events[parent].depth + 1 if parent is not None else 0,
            parent=parent,
            graph_task=fields.pop("graph_task", None),
            reentrant=fields.pop("reentrant", 0),
            sequence=fields.pop("sequence", None),
            forward=fields.pop("forward", None),
            stack=stack,
            **fields,
        )
        self.events.append(event)
        return event

    def trace(self, **fields):
        threads = {event.thread: f"thread {event.thread}" for event in self.events}
        return Trace(
            tuple(self.events), tuple(self.tasks), **{"lost": 0, "threads": threads, "program": "train.py", **fields}
        )


def stack_of(module, line=1, node=None):
    """A generated line of the module, called from a script."""
    return (
        Call("/home/someone/gen/Model_0123.py", line, "forward", module, node),
        Call("/home/someone/train.py", 31, "train", "", None),
        Call("/home/someone/train.py", 99, "<module>", None, None),
    )


def training(events=200, *, thread=1, blocks=6, shapes=False):
    """Steps of forward and backward until there are about so many events; linear has an addmm inside of it."""
    maker = Maker()
    while len(maker.events) < events:
        step(maker, thread, blocks, shapes=shapes)
    return maker.trace()


def step(maker, thread=1, blocks=6, *, shapes=False):
    infos = {"inputs": SHAPES, "outputs": SHAPES[:1], "memory": 16384} if shapes else {}
    forward = []
    for block in range(blocks):
        for place, (layer, op, node) in enumerate(_LAYERS):
            module = f"blocks.{block}.{layer}"
            stack = stack_of(module, 9 + 5 * block + place, f"{layer.replace('.', '_')}_{block}")
            made = maker.add(op, 9000, stack=stack, thread=thread, sequence=len(forward), **infos)
            if op == "aten::linear":
                inner = maker.add("aten::addmm", 6000, stack=stack, thread=thread, parent=made.number, **infos)
                maker.events[-1] = replace(inner, start=made.start + 1000)
            forward.append((made, node, stack))
            maker.clock += 10000
    number = len(maker.tasks)
    begun = maker.clock
    for made, node, stack in reversed(forward):
        maker.add(
            node,
            15000,
            stack=stack,
            thread=thread,
            kind="node",
            graph_task=number,
            reentrant=1,
            forward=made.number,
            sequence=made.sequence,
            **infos,
        )
        maker.clock += 16000
    nodes = len(forward)
    maker.tasks.append(
        GraphTask(number, "backward", thread, begun, maker.clock - begun, nodes, None, stack_of("", 2)[1:])
    )
    maker.clock += 5000
