"""What a client sees and changes in the frames of both languages: one model, at a Python stop and in its op."""

import pytest
from debugging import Debugging
from tensor_build import kernel

X = "Tensor float32 [2, 3] cpu [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"
PRODUCT = "Tensor float32 [2, 3] cpu grad_fn=<MulBackward0> [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]"


@pytest.fixture
def model(dap):
    """The traced model, to be stopped in its op; before it runs."""
    program = Debugging(dap.stdio(), "dap_model.py")
    functions = ["fx:first", "tensor_kernel::wait", "tensor_kernel::Waiting::apply"]
    yield program.launch("forward", functions=functions, args=[str(kernel())])
    program.leave()


def named(program, container):
    """The children of a variable by name."""
    return {each["name"]: each for each in program.children(container)}


def values(program, container):
    return {name: each["value"] for name, each in named(program, container).items()}


def frame_of(program, stood, name):
    """The id of a frame by the beginning of its name."""
    return next(frame["id"] for frame in program.stack(stood.thread) if frame["name"].startswith(name))


def assign(program, container, name, value):
    """Set a variable; what it is then."""
    reference = container["variablesReference"]
    return program.client.request("setVariable", variablesReference=reference, name=name, value=value)["value"]


def evaluated(program, expression, frame, **more):
    return program.client.request("evaluate", expression=expression, frameId=frame, **more)["result"]


def a_tensor_is_open(program, variable):
    """Shape, statistics, storage and rows of a [2, 3] tensor, in whichever half."""
    parts = named(program, variable)
    shown = {name: parts[name]["value"] for name in ("shape", "strides", "dtype", "device", "grad")}
    assert shown == {
        "shape": "[2, 3]",
        "strides": "[3, 1] (contiguous)",
        "dtype": "float32",
        "device": "cpu",
        "grad": "None",
    }
    statistics = values(program, parts["statistics"])
    assert statistics["NaN"] == "0"
    assert float(statistics["max"]) == max(float(text) for text in parts["[1]"]["value"].strip("[]").split(", "))
    assert values(program, parts["storage"])["bytes"] == "24"
    assert values(program, parts["[1]"]).keys() == {"[0]", "[1]", "[2]"}
    return parts


def test_a_python_stop(model):
    stood = model.stood()
    assert model.variables(stood.frame)["x"]["value"] == X
    parts = a_tensor_is_open(model, model.variables(stood.frame)["x"])
    assert assign(model, parts["[1]"], "[2]", "9") == "9.0"
    assert assign(model, model.scopes(stood.frame)["Locals"], "number", "40 + 2") == "42"
    for context in ("hover", "watch", "clipboard"):
        assert evaluated(model, "number", stood.frame, context=context) == "42"
    assert evaluated(model, "number", stood.frame, format={"hex": True}) == "0x2a"
    model.client.request("setExpression", expression="net.first.scale", value="[1, 2]", frameId=stood.frame)
    assert evaluated(model, "net.first.scale[1]", stood.frame) == "2"
    assert evaluated(model, "x[1, 2].item()", stood.frame) == "9.0"
    evaluated(model, "number = 5", stood.frame, context="repl")
    assert evaluated(model, "number", stood.frame) == "5"
    targets = model.client.request("completions", text="x.sha", column=6, frameId=stood.frame)["targets"]
    assert {"label": "shape", "type": "field", "start": 2, "length": 3} in targets
    assert "this frame is Python code" in model.client.refused(
        "evaluate", expression="native:number", frameId=stood.frame
    )
    assert "is not defined" in model.client.refused("evaluate", expression="nosuch", frameId=stood.frame)


def test_a_generated_line_knows_its_node(model):
    stood = model.run_on(model.stood())
    assert stood.function == "forward [fx mul of first]"
    rows = named(model, model.scopes(stood.frame)["FX"])
    assert {name: row["value"] for name, row in rows.items()} == {
        "node": "mul",
        "op": "call_function",
        "target": "operator.mul",
        "module": "first",
        "origin": f"{model.script}:{model.line('wait') - 1}",
    }
    link = model.client.request("locations", locationReference=rows["origin"]["valueLocationReference"])
    assert (link["source"]["path"], link["line"]) == (model.script, model.line("wait") - 1)
    assert "it is what FX has recorded" in model.client.refused(
        "setVariable", variablesReference=model.scopes(stood.frame)["FX"]["variablesReference"], name="op", value="1"
    )
    assert model.variables(stood.frame)["self"]["value"] == "Net (2 submodules)"


def test_a_native_stop_shows_both_halves(model):
    stood = model.run_on(model.run_on(model.stood()))
    assert stood.function == "tensor_kernel::wait"
    arguments = model.variables(stood.frame)
    assert arguments["argument"]["value"] == PRODUCT
    assert arguments["sizes"]["value"] == "[2, 3]"
    parts = a_tensor_is_open(model, arguments["argument"])
    node = named(model, parts["grad_fn"])
    assert "set_detect_anomaly" in node["created"]["value"]
    assert list(values(model, node["next_functions"]).values())[1] == "<torch::autograd::AccumulateGrad>"
    page = model.client.request(
        "variables", variablesReference=arguments["many"]["variablesReference"], filter="indexed", start=1, count=1
    )["variables"]
    assert [(each["name"], each["value"]) for each in page] == [("[1]", X)]
    generated, train = frame_of(model, stood, "forward [fx wait"), frame_of(model, stood, "train")
    assert model.variables(generated)["mul"]["value"] == PRODUCT
    assert named(model, model.scopes(generated)["FX"])["node"]["value"] == "wait"
    # Names are read from memory; the rest is asked of the program, in the frame that is shown.
    assert evaluated(model, "number", train) == "0"
    assert evaluated(model, "number + 1", train) == "1"
    assert evaluated(model, "mul.shape[0] + 1", generated) == "3"
    assert evaluated(model, "py:mul.sum().item()", stood.frame) == "30.0"
    assert "'mul' is not defined" in model.client.refused("evaluate", expression="mul + 1", frameId=train)
    assert evaluated(model, "sizes.Data[1] + ready", stood.frame) == "4"
    assert 'No symbol "nosuch"' in model.client.refused("evaluate", expression="nosuch", frameId=stood.frame)
    for frame, target in ((train, "number"), (generated, "mul")):
        refused = model.client.refused("setExpression", expression=target, value="1", frameId=frame)
        assert "Python's variables cannot be set at a native stop" in refused


def test_values_are_changed_at_a_native_stop(model):
    stood = model.run_on(model.run_on(model.stood()))
    scope = model.scopes(stood.frame)["Arguments"]
    assert assign(model, scope, "ready", "40 + 2") == "42"
    assert evaluated(model, "ready", stood.frame, format={"hex": True}) == "0x2a"
    row = named(model, model.variables(stood.frame)["argument"])["[1]"]
    assert assign(model, row, "[2]", "-4.5") == "-4.5"
    answer = model.client.request("setExpression", expression="argument[0, 1]", value="11", frameId=stood.frame)
    assert answer["value"] == "11.0"
    assert evaluated(model, "py:mul.tolist()", stood.frame) == "[[0.0, 11.0, 4.0], [6.0, 8.0, -4.5]]"
    reference = scope["variablesReference"]
    for name, value, why in (("nosuch", "1", "cannot be set"), ("ready", "nosuch", 'No symbol "nosuch"')):
        assert why in model.client.refused("setVariable", variablesReference=reference, name=name, value=value)
    for text, label in (("argum", "argument"), ("$ri", "$rip")):
        targets = model.client.request("completions", text=text, column=len(text) + 1, frameId=stood.frame)["targets"]
        assert label in {target["label"] for target in targets}
    assign(model, scope, "ready", "1")
    model.set_lines(model.script, [])
    model.client.request("setFunctionBreakpoints", breakpoints=[{"name": "tensor_kernel::Waiting::apply"}])
    stood = model.run_on(stood)
    assert stood.function == "tensor_kernel::Waiting::apply [autograd tensor_kernel::Waiting]"
    this = named(model, model.variables(stood.frame)["this"])
    assert values(model, this["members"])["ready"] == "1"
    names = [frame["name"] for frame in model.stack(stood.thread)]
    nesting = "tensor_kernel::Nesting::apply [autograd tensor_kernel::Nesting]"
    assert names.index(nesting) < names.index("backward") < names.index("train")
