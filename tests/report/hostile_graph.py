"""Graphs made up for the page: of any size, and with names that try to be markup."""

from dataclasses import replace

from pyharness.model.graph import Graph, GraphNode, KernelBox, KernelNode

HOSTILE = "</script><img src=x onerror='window.ran = true'>"
_OPS = ["call_module", "call_function", "call_method", "get_attr"]
PER_BLOCK = 20


def graph_of_size(count):
    """``count`` nodes in blocks of modules; each uses the one before and one from some way back."""
    nodes = [GraphNode("x", "placeholder", "x", "", 2, None, None, None, (), "", "", "float32[2, 3]")]
    lines = ["def forward(self, x):"]
    for number in range(1, count - 1):
        block, place = divmod(number - 1, PER_BLOCK)
        path = f"blocks.{block}" if place < PER_BLOCK // 2 else f"blocks.{block}.mlp"
        op = _OPS[number % 4]
        inputs = () if op == "get_attr" else tuple(dict.fromkeys([nodes[-1].name, nodes[max(0, number - 7)].name]))
        target = {"call_module": f"{path}.linear", "get_attr": f"{path}.weight"}.get(op, "torch.relu")
        lines.append(f"    node_{number} = {target}({', '.join(inputs)});  gone = None")
        kind = {"call_module": "Linear", "get_attr": "Parameter"}.get(op, "")
        module = target if op == "call_module" else path
        nodes.append(
            GraphNode(
                f"node_{number}", op, target, module, number + 1, None, __file__, 3, inputs, "", kind, "float32[2, 3]"
            )
        )
    lines.append(f"    return {nodes[-1].name}")
    nodes.append(GraphNode("output", "output", "output", None, count, None, None, None, (nodes[-1].name,), ""))
    return Graph("Model", "\n".join(lines), tuple(nodes))


def compiled_graph():
    """As a compiler makes it: the parameters of two modules are inputs, before everything else."""
    names = [f"{module}_{name}" for module in ("first", "second") for name in ("weight", "bias", "scale")]
    nodes = [GraphNode(name, "placeholder", name, "", 1, None, None, None, (), "") for name in ["x", *names]]
    for module in ("first", "second"):
        used = (nodes[-1].name if module == "second" else "x", *(name for name in names if name.startswith(module)))
        linear = GraphNode(f"{module}_linear", "call_function", "linear", module, 2, None, None, None, used, "")
        scale = (linear.name, f"{module}_scale", "x")
        nodes += [linear, GraphNode(f"{module}_mul", "call_function", "mul", module, 3, None, None, None, scale, "")]
    nodes.append(GraphNode("output", "output", "output", None, 4, None, None, None, (nodes[-1].name,), ""))
    return Graph("Compiled", "", tuple(nodes))


def fused_graph():
    """A graph as inductor compiles it: one kernel for both products, one for the second again, called twice."""
    graph = compiled_graph()
    long = "cpp_fused__native_batch_norm_legit_functional_convolution_backward_relu_threshold_backward_1"
    boxes = [
        ("cpp_fused_mul_0", 1, ["first_mul"]),
        (long, 1, ["first_mul", "second_mul"]),
        (long, 2, ["second_linear"]),
    ]
    kernels = [
        KernelBox(name, f"/cache/ab/{name}.main.cpp", call, 2 if name == long else 1, tuple(map(_stored, nodes)))
        for name, call, nodes in boxes
    ]
    return replace(graph, kernels=tuple(kernels))


def _stored(name):
    return KernelNode(name, stored=True, lines=(7, 8))


def hostile_graph():
    """Every name is markup."""
    nodes = [
        GraphNode("x", "placeholder", HOSTILE, "", 1, None, HOSTILE, 1, (), HOSTILE, HOSTILE, HOSTILE),
        GraphNode(HOSTILE, "call_function", HOSTILE, HOSTILE, 1, None, HOSTILE, 1, ("x",), HOSTILE, HOSTILE, HOSTILE),
        GraphNode("output", "output", HOSTILE, None, 1, None, None, None, (HOSTILE, "x"), HOSTILE),
    ]
    return Graph(HOSTILE, HOSTILE, tuple(nodes))
