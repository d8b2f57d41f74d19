"""Torch's objects as debugpy shows them to a client, in a real program of which nothing is ours."""

import json

import pytest
from python_stop import PROGRAM, stopped

from kit.marks import line_of


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    with stopped(tmp_path_factory.mktemp("stop")) as found:
        yield found


LINES = {
    "product": "Tensor float32 [2, 3] cpu grad_fn=<MulBackward0> [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]",
    "total": "Tensor float32 [] cpu grad_fn=<SumBackward0> 30.0",
    "node": "<MulBackward0>",
    "custom": "<TwiceBackward>",
    "self": "Net (1 parameter, 1 buffer, 1 submodule)",
}
TENSORS = {
    "scalar": "Tensor float32 [] cpu 3.5",
    "empty": "Tensor float32 [0, 3] cpu []",
    "huge": "Tensor uint8 [100000000] cpu [0, 0, …, 0, 7]",
    "half": "Tensor bfloat16 [3] cpu [1.0, -2.5, 3.141]",
    "complex": "Tensor complex64 [2] cpu conj [1.0-2.0j, 3.0+4.0j]",
    "sparse": "Tensor float32 [2, 2] cpu sparse_coo <sparse: see its parts>",
    "meta": "Tensor float32 [3, 4] meta <meta tensors have no data>",
    "quantized": "Tensor quint8 [3] cpu scale=0.25 zero_point=3 [-0.75, 0.0, 1.0]",
    "freed": "Tensor float32 [4] cpu <it has no storage>",
    "with_grad": "Tensor float32 [2] cpu requires_grad [1.0, 1.0]",
    "expanded": "Tensor float32 [1099511627776] cpu [1.0, 1.0, …, 1.0, 1.0]",
}


@pytest.mark.parametrize("name", LINES)
def test_local_variables(shown, name):
    assert shown.locals[name]["value"] == LINES[name]


@pytest.mark.parametrize("name", TENSORS)
def test_tensors_of_every_kind(shown, name):
    assert shown.named(shown.locals["tensors"])[f"'{name}'"]["value"] == TENSORS[name]


def test_containers_show_tensors_too(shown):
    assert "Tensor float32 [0, 3] cpu []" in shown.locals["tensors"]["value"]


def test_a_tensor_expands(shown):
    children = shown.named(shown.locals["product"])
    values = {name: child["value"] for name, child in children.items()}
    assert values["shape"] == "[2, 3]"
    assert values["strides"] == "[3, 1] (contiguous)"
    assert values["grad"] == "None"
    assert values["grad_fn"] == "<MulBackward0>"
    assert values["[1]"] == "[6.0, 8.0, 10.0]"
    assert shown.inside(children["[1]"], "[2]")["evaluateName"] == "product[1][2]"


def test_statistics_are_computed_when_they_are_opened(shown):
    found = shown.named(shown.inside(shown.locals["tensors"], "'float16'", "statistics"))
    values = {name: child["value"] for name, child in found.items()}
    assert values == {"min": "-2.0", "max": "1.0", "mean": "-0.5", "std": "2.12132", "NaN": "1", "Inf": "1"}


def test_statistics_of_a_large_tensor_say_what_they_are_of(shown):
    found = shown.named(shown.inside(shown.locals["tensors"], "'huge'", "statistics"))
    assert found["counted"]["value"] == "the first 4194304 of 100000000 elements"


def test_elements_of_a_large_tensor_come_in_pages(shown):
    path = ("'huge'", "[99000000 … 99999999]", "[99990000 … 99999999]", "[99999900 … 99999999]", "[99999999]")
    element = shown.inside(shown.locals["tensors"], *path)
    assert element["value"] == "7"
    assert shown.evaluate(element["evaluateName"])["result"] == "Tensor uint8 [] cpu 7"


def test_a_sparse_tensor_shows_its_parts(shown):
    children = shown.named(shown.inside(shown.locals["tensors"], "'sparse'"))
    assert children["values"]["value"] == "Tensor float32 [2] cpu [1.0, 2.0]"
    assert children["indices"]["value"] == "Tensor int64 [2, 2] cpu [[0, 1], [1, 0]]"


def test_a_grad_is_a_tensor(shown):
    grad = shown.inside(shown.locals["tensors"], "'with_grad'", "grad")
    assert grad["value"] == "Tensor float32 [2] cpu [3.0, 3.0]"
    assert shown.evaluate(grad["evaluateName"])["result"] == grad["value"]


def test_an_autograd_node_expands(shown):
    children = shown.named(shown.locals["node"])
    assert children["sequence_number"]["value"].isdigit()
    assert [child["value"] for child in shown.children(children["inputs"])] == ["float32 [2, 3]"]
    saved = shown.named(children["saved"])
    assert {name: child["type"] for name, child in saved.items()} == {"self": "Tensor", "other": "Parameter"}
    following = [child["value"] for child in shown.children(children["next_functions"])]
    assert following == ["<AddBackward0>", "<torch::autograd::AccumulateGrad>"]


def test_the_line_that_made_a_node_is_shown_where_torch_recorded_it(shown):
    made = shown.inside(shown.locals["node"], "next_functions", "[0]", "created")
    assert made["value"].endswith(f"variables_zoo.py:{line_of('made', PROGRAM)}")
    assert "set_detect_anomaly" in shown.inside(shown.locals["node"], "created")["value"]


def test_a_function_written_in_python_shows_what_it_saved(shown):
    children = shown.named(shown.locals["custom"])
    assert shown.inside(children["saved"], "[0]")["value"].startswith(
        "Tensor float32 [2, 3] cpu grad_fn=<AddBackward0>"
    )
    assert shown.inside(children["members"], "factor")["value"] == "2"


def test_a_function_written_in_cxx_says_where_its_tensors_are_seen(shown):
    assert shown.locals["cxx"]["value"] == "<torch::autograd::CppNode<pyharness::ops::RmsNorm>>"
    assert "stop in native code" in shown.inside(shown.locals["cxx"], "saved")["value"]


def test_a_module_shows_parameters_before_the_noise(shown):
    names = [child["name"] for child in shown.children(shown.locals["self"])]
    assert names == ["weight", "mean", "inner", "training", "scale", "internals"]
    assert shown.inside(shown.locals["self"], "inner", "weight")["evaluateName"] == "self.inner.weight"


def test_an_element_can_be_set(shown):
    mean = shown.inside(shown.locals["self"], "mean")
    assert shown.assign(mean, "[1]", "5.5")["value"] == "5.5"
    assert shown.evaluate("self.mean")["result"] == "Tensor float32 [2] cpu [1.0, 5.5]"


def test_the_console_prints_as_python_does(shown):
    assert shown.evaluate("tensors['scalar']", "repl")["result"] == "tensor(3.5000)"
    assert shown.evaluate("tensors['freed']", "repl")["result"] == "Tensor float32 [4] cpu <it has no storage>"


def test_what_is_shown_fits_into_json(shown):
    assert len(json.dumps(shown.locals)) < 20_000
