"""Variables of both halves through MI at a native stop: alive, and in the core of the same program."""

import json
import os
import re

import pytest
from variables_session import PROGRAM, Looking, looking_into

from kit import marks
from kit.paths import ROOT
from pyharness.gdbmi.client import GdbError

FORWARD, KERNEL = "Net.forward", "tensor_kernel::wait"


def line_of(mark):
    return marks.line_of(mark, PROGRAM)


@pytest.fixture(scope="module")
def alive(tmp_path_factory):
    with looking_into(tmp_path_factory.mktemp("alive")) as look:
        yield look


@pytest.fixture(scope="module")
def dead(alive, tmp_path_factory):
    core = tmp_path_factory.mktemp("dead") / "core"
    alive.gdb.console("set use-coredump-filter off")
    alive.gdb.console(f"generate-core-file {core}")
    look = Looking(os.path.realpath(f"/proc/{alive.thread}/exe"))
    try:
        look.core(core, alive.thread)
        yield look
    finally:
        look.gdb.close()
        core.unlink()


@pytest.fixture(params=["alive", "dead"])
def look(request):
    return request.getfixturevalue(request.param)


PRODUCT = "Tensor float32 [2, 3] cpu grad_fn=<MulBackward0> [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]"


def test_the_scopes_of_a_native_frame(look):
    scopes = look.ask("ph-scopes", thread=look.thread, level=look.level(KERNEL))
    assert [(scope["name"], scope["expensive"]) for scope in scopes] == [
        ("Arguments", False),
        ("Locals", False),
        ("Registers", True),
        ("Globals", True),
    ]
    assert scopes[0]["count"] == 8
    assert scopes[2]["count"] is None


def test_the_scopes_of_a_python_frame(look):
    scopes = look.ask("ph-scopes", thread=look.thread, level=look.level(FORWARD))
    assert [(scope["name"], scope["expensive"]) for scope in scopes] == [("Locals", False), ("Globals", True)]


def test_arguments(look):
    found = look.variables(KERNEL, "Arguments")
    assert found["argument"]["value"] == PRODUCT
    assert found["argument"]["type"] == "const at::Tensor &"
    assert found["sizes"]["value"] == "[2, 3]"
    assert list(found) == ["argument", "many", "maybe", "sizes", "symbolic", "scalar", "ready", "go"]


def test_registers(look):
    found = look.variables(KERNEL, "Registers")
    assert found["rip"]["evaluate"] == "$rip"
    assert re.match("0x[0-9a-f]+ <tensor_kernel::wait", found["rip"]["value"])
    others = look.named(found["others"]["handle"])
    assert {"mxcsr", "st0"} <= {*look.named(others["vector"]["handle"]), *look.named(others["float"]["handle"])}


def test_globals_are_the_users_only(look):
    names = list(look.variables(KERNEL, "Globals"))
    assert names == ["TORCH_LIBRARY_static_init_tensor_kernel"]


def test_python_locals_and_globals(look):
    found = look.variables(FORWARD, "Locals")
    assert found["product"]["value"] == PRODUCT
    assert found["numbers"]["value"] == "[0, 1, 2, 3, 4, …250 items]"
    assert (found["numbers"]["named"], found["numbers"]["indexed"]) == (0, 250)
    known = look.variables(FORWARD, "Globals")
    assert known["LIMIT"]["value"] == "7"
    assert known["main"]["link"] == f"{PROGRAM}:{def_line('main')}"
    assert list(known)[-1].startswith("__")


def def_line(name):
    lines = PROGRAM.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.startswith(f"def {name}("))


def test_the_variables_of_a_module_body(look):
    assert "LIMIT" in look.variables("<module>", "Locals")


def test_a_python_object_shows_its_attributes(look):
    found = look.variables(FORWARD, "Locals")
    assert look.named(found["slotted"]["handle"])["label"]["value"] == "'wide'"
    plain = look.named(found["plain"]["handle"])
    assert plain["first"]["value"] == "1"
    entries = look.named(plain["second"]["handle"])
    assert entries["'k'"]["evaluate"] == "plain.second['k']"
    assert entries["5"]["value"] == "'five'"


def test_a_module_shows_parameters_before_the_noise(look):
    net = look.variables(FORWARD, "Locals")["self"]
    assert net["value"] == "Net (1 parameter, 1 buffer, 1 submodule)"
    names = [child["name"] for child in look.children(net["handle"])]
    assert (names[:3], names[5:]) == (["weight", "mean", "inner"], ["internals"])
    assert {*names[3:5]} == {"training", "scale"}  # torch 2.15 sets `training` later
    assert look.inside(net, "inner")["value"] == "Linear (1 parameter)"
    assert look.inside(net, "inner", "weight")["evaluate"] == "self.inner.weight"


TENSORS = {
    "scalar": "Tensor float32 [] cpu 3.5",
    "empty": "Tensor float32 [0, 3] cpu []",
    "half": "Tensor bfloat16 [3] cpu [1.0, -2.5, 3.141]",
    "sparse": "Tensor float32 [2, 2] cpu sparse_coo <sparse: see its parts>",
    "meta": "Tensor float32 [3, 4] meta <meta tensors have no data>",
    "quantized": "Tensor quint8 [3] cpu scale=0.25 zero_point=3 [-0.75, 0.0, 1.0]",
    "freed": "Tensor float32 [4] cpu <it has no storage>",
    "huge": "Tensor uint8 [100000000] cpu [0, 0, …, 0, 7]",
    "expanded": "Tensor float32 [1099511627776] cpu [1.0, 1.0, …, 1.0, 1.0]",
}


@pytest.mark.parametrize("name", TENSORS)
def test_tensors_of_every_kind(look, name):
    assert look.evaluate(FORWARD, f"tensors['{name}']")["value"] == TENSORS[name]


def test_a_tensor_expands(look):
    found = look.named(look.evaluate(FORWARD, "product")["handle"])
    assert found["shape"]["value"] == "[2, 3]"
    assert found["strides"]["value"] == "[3, 1] (contiguous)"
    assert found["grad_fn"]["value"] == "<MulBackward0>"
    assert found["[1]"]["value"] == "[6.0, 8.0, 10.0]"
    storage = look.named(found["storage"]["handle"])
    assert storage["bytes"]["value"] == "24"
    assert storage["shared by"]["value"] == "1 owner"


def test_statistics(look):
    found = look.named(look.inside(look.evaluate(FORWARD, "tensors['float16']"), "statistics")["handle"])
    values = {name: child["value"] for name, child in found.items()}
    assert values == {"min": "-2.0", "max": "1.0", "mean": "-0.5", "std": "2.12132", "NaN": "1", "Inf": "1"}


def test_any_page_of_a_huge_tensor(look):
    huge = look.evaluate(FORWARD, "tensors['huge']")
    assert huge["indexed"] == 100_000_000
    page = look.children(huge["handle"], huge["named"] + 99_999_998, 10)
    assert [(element["name"], element["value"]) for element in page] == [("[99999998]", "0"), ("[99999999]", "7")]
    same = look.children(huge["handle"], 99_999_998, 10, filter="indexed")
    assert same == page
    assert len(look.children(huge["handle"], 0, 10_000_000, filter="indexed")) == 1000
    assert {child["name"] for child in look.children(huge["handle"], filter="named")} >= {"shape", "grad_fn"}


def test_rows_of_rows(look):
    cube = look.evaluate(FORWARD, "tensors['cube']")
    assert look.inside(cube, "[1]", "[2]", "[3]")["value"] == "23.0"
    assert look.inside(cube, "[1]", "[2]")["evaluate"] == "tensors['cube'][1][2]"


def test_a_grad(look):
    assert look.inside(look.evaluate(FORWARD, "tensors['with_grad']"), "grad")["value"] == (
        "Tensor float32 [2] cpu [3.0, 3.0]"
    )


def test_an_autograd_node_expands(look):
    found = look.named(look.evaluate(FORWARD, "product.grad_fn")["handle"])
    assert found["sequence_number"]["value"].isdigit()
    assert [child["value"] for child in look.children(found["inputs"]["handle"])] == ["float32 [2, 3]"]
    saved = look.named(found["saved"]["handle"])
    assert saved["other"]["value"].startswith("Tensor float32 [2, 3] cpu requires_grad [[0.0, 1.0")
    assert saved["self"]["value"].startswith("Tensor float32 [2, 3] cpu grad_fn=<AddBackward0> [[2.0")
    following = look.children(found["next_functions"]["handle"])
    assert [child["value"] for child in following] == ["<AddBackward0>", "<torch::autograd::AccumulateGrad>"]


def test_the_line_that_made_a_node_is_a_link_where_torch_recorded_it(look):
    node = look.evaluate(FORWARD, "node")
    made = look.inside(node, "next_functions", "[0]", "created")
    assert made["link"] == f"{PROGRAM}:{line_of('made')}"
    assert "set_detect_anomaly" in look.inside(node, "created")["note"]


def test_a_function_written_in_python_shows_what_it_saved(look):
    custom = look.evaluate(FORWARD, "custom")
    assert custom["value"] == "<TwiceBackward>"
    assert look.inside(custom, "saved", "[0]")["value"].startswith("Tensor float32 [2, 3] cpu grad_fn=<AddBackward0>")
    assert look.inside(custom, "members", "factor")["value"] == "2"


def test_a_function_written_in_cxx_shows_what_it_saved(look):
    node = look.evaluate(FORWARD, "cxx")
    assert node["value"] == "<torch::autograd::CppNode<pyharness::ops::RmsNorm>>"
    saved = look.children(look.inside(node, "saved")["handle"])
    assert [tensor["value"].split(" cpu")[0] for tensor in saved][:2] == [
        "Tensor float32 [2, 3]",
        "Tensor float32 [3]",
    ]


def test_containers_of_cxx(look):
    found = look.variables(KERNEL, "Locals")
    assert [child["value"] for child in look.children(found["boxed_list"]["handle"])] == ["1", "2", "3"]
    assert [child["value"] for child in look.children(found["boxed_tuple"]["handle"])] == ["1", "True"]
    assert look.children(found["vector"]["handle"])[0]["value"] == PRODUCT
    assert found["hundred"]["indexed"] == 100
    assert [child["name"] for child in look.children(found["hundred"]["handle"], 98, 10)] == ["[98]", "[99]"]
    assert found["corrupt_sizes"]["handle"] == 0


def test_what_is_corrupt_says_so(look):
    found = look.variables(KERNEL, "Locals")
    assert found["corrupt"]["handle"] == 0
    assert "dimensions" in found["corrupt"]["note"]
    assert found["unmapped"]["note"] == "its TensorImpl cannot be read"


PYTHON = {
    "LIMIT": "7",
    "plain.kind": "'plain'",
    "plain.second['k'][1]": "1.0",
    "numbers[-1]": "249",
    "points[0].y": "2.5",
    "self.inner.weight.shape": "[2, 2]",
    "self._buffers['mean'][0]": "1.0",
    "tensors['transposed'][1, 2]": "9.0",
    "ordered['b'][0]": "2",
}


@pytest.mark.parametrize("expression", PYTHON)
def test_names_attributes_and_items_are_resolved_from_memory(look, expression):
    found = look.evaluate(FORWARD, expression)
    assert (found["name"], found["value"]) == (expression, PYTHON[expression])


REFUSED = {
    "len(points)": "len(points) cannot be evaluated: ",
    "plain.computed": "plain.computed cannot be evaluated: ",
    "product + 1": "product + 1 cannot be evaluated: ",
    "numbers[1000]": "numbers has 250 elements",
    "plain.second['none']": "there is no such key",
    "nosuch": "There is no variable 'nosuch' in this frame.",
    "x +": "is not a Python expression",
}


@pytest.mark.parametrize("expression", REFUSED)
def test_what_cannot_be_evaluated_says_why(look, expression):
    with pytest.raises(GdbError) as error:
        look.evaluate(FORWARD, expression)
    first, remedy = error.value.message.split("\n")
    assert REFUSED[expression] in first
    assert remedy


def test_why_depends_on_what_is_debugged(alive, dead):
    with pytest.raises(GdbError, match="cannot run Python code"):
        alive.evaluate(FORWARD, "len(points)")
    with pytest.raises(GdbError, match="nothing runs in a core file"):
        dead.evaluate(FORWARD, "len(points)")


def test_native_expressions(look):
    assert look.evaluate(KERNEL, "sizes.Data[1] + 1")["value"] == "4"
    assert look.evaluate(KERNEL, "argument")["value"] == PRODUCT
    with pytest.raises(GdbError, match='No symbol "nosuch" in current context'):
        look.evaluate(KERNEL, "nosuch")


PARTS_OF_A_TENSOR = {
    "argument[1, 0]": "6.0",
    "argument[-1][2]": "10.0",
    "argument[1]": "[6.0, 8.0, 10.0]",
    "argument[0, 1:]": "[2.0, 4.0]",
    "argument[1, sizes.Data[1] - 3]": "6.0",
    "argument.shape": "[2, 3]",
    "raw[0, 1]": "2",
}


@pytest.mark.parametrize("expression", PARTS_OF_A_TENSOR)
def test_parts_of_a_tensor_of_cxx_are_those_of_python(look, expression):
    assert look.evaluate(KERNEL, expression)["value"] == PARTS_OF_A_TENSOR[expression]


@pytest.mark.parametrize(
    ("expression", "why"), [("argument[2, 0]", "2 elements"), ("argument.nosuch", "of argument are")]
)
def test_a_part_of_a_tensor_that_is_not_there(look, expression, why):
    with pytest.raises(GdbError, match=why):
        look.evaluate(KERNEL, expression)


SLICES = {
    "raw[0:0]": "[]",
    "pointer->const_data_ptr<const float>()[4:6]": "[8, 10]",
    "((float *) untyped)[2:4]": "[4, 6]",
    "hundred[98:1000]": "[1, 1]",
    "long_sizes[-2:]": "[1, 1]",
    "garbage[0:1]": "[4702111234474983745]",
}


@pytest.mark.parametrize("expression", SLICES)
def test_slices_of_native_values(look, expression):
    assert look.evaluate(KERNEL, expression)["value"] == SLICES[expression]


SECTION = (ROOT / "docs/values.md").read_text().partition("## Pointers and slices")[2].partition("\n## ")[0]
PAGE = dict(re.findall(r"^\| `(.*)` \| `(.*)` \|$", SECTION, re.MULTILINE))


def test_pointers_and_slices_look_as_the_page_says(look):
    assert len(PAGE) > 5
    shown = {expression: look.evaluate(KERNEL, expression)["value"] for expression in PAGE}
    assert {name: re.sub("^0x[0-9a-f]+", "0x55d0f2288100", value) for name, value in shown.items()} == PAGE


def test_a_slice_expands_into_elements_by_their_own_numbers(look):
    found = look.evaluate(KERNEL, "raw[2:5]")
    children = look.children(found["handle"])
    assert [(one["name"], one["value"], one["evaluate"]) for one in children] == [
        ("[2]", "4", "raw[2]"),
        ("[3]", "6", "raw[3]"),
        ("[4]", "8", "raw[4]"),
    ]
    assert (found["name"], found["indexed"], found["evaluate"]) == ("raw[2:5]", 3, "raw[2:5]")


def test_a_long_slice_is_cut_and_can_be_turned_over(look):
    found = look.evaluate(KERNEL, "hundred[10:]")
    assert found["value"] == f"[{'1, ' * 20}…] (90)"
    assert [one["name"] for one in look.children(found["handle"], 88, 10)] == ["[98]", "[99]"]


REFUSED_SLICES = {
    "untyped[0:2]": "nothing is known of what it points to",
    "wild_numbers[0:]": "a pointer does not say how many elements follow",
    "raw[4:0:-1]": "the step is -1",
    "number[0:2]": "has no elements",
    "raw[0:nosuch]": 'No symbol "nosuch" in current context',
    "nosuch[0:2]": 'No symbol "nosuch" in current context',
    "raw[0:0x10000000000]": "would have 1099511627776 elements",
}


@pytest.mark.parametrize("expression", REFUSED_SLICES)
def test_a_slice_that_cannot_be_shown_says_why(look, expression):
    with pytest.raises(GdbError) as error:
        look.evaluate(KERNEL, expression)
    first, remedy = error.value.message.split("\n")
    assert REFUSED_SLICES[expression] in first
    assert remedy


PYTHON_SLICES = {
    "numbers[2:5]": "[2, 3, 4]",
    "numbers[-2:]": "[248, 249]",
    "numbers[::100]": "[0, 100, 200]",
    "plain.second['k'][1:]": "[1.0, 2.0]",
    "tensors['cube'][1, 2, 1:3]": "[21.0, 22.0]",
}


@pytest.mark.parametrize("expression", PYTHON_SLICES)
def test_slices_in_a_frame_of_python(look, expression):
    assert look.evaluate(FORWARD, expression)["value"] == PYTHON_SLICES[expression]


def test_a_pointer_into_a_tensor_names_it_and_has_its_shape(look):
    found = look.variables(KERNEL, "Locals")
    assert re.fullmatch(
        r"0x[0-9a-f]+ → argument, float32 \[2, 3\] \[\[0\.0, 2\.0, 4\.0\], \[6\.0, 8\.0, 10\.0\]\]",
        found["raw"]["value"],
    )
    assert found["by_reference"]["value"] == found["raw"]["value"]
    assert look.inside(found["raw"], "[1]", "[2]")["value"] == "10.0"
    assert re.fullmatch(r"0x[0-9a-f]+ → argument\[1\], float32 \[2, 3\]", found["second_row"]["value"])
    assert re.fullmatch(r"\(?.*0x8", found["wild_numbers"]["value"])


def test_a_frame_that_is_not_there(look):
    with pytest.raises(GdbError, match="There is no frame 1000: the stack has"):
        look.ask("ph-scopes", thread=look.thread, level=1000)


def test_the_whole_of_a_value_that_a_line_cuts(look):
    def whole(function, expression):
        asked = {"thread": look.thread, "level": look.level(function), "expression": expression}
        return look.ask("ph-evaluate-variable", **asked, whole=True)["value"]

    assert look.evaluate(FORWARD, "numbers")["value"] == "[0, 1, 2, 3, 4, …250 items]"
    assert whole(FORWARD, "numbers") == f"[{', '.join(map(str, range(100)))}, …250 items]"
    text = PROGRAM.read_text().split('"""')[1]
    assert look.evaluate(FORWARD, "__doc__")["value"] == f"{text[:60]!r}…"
    assert whole(FORWARD, "__doc__") == repr(text)
    letters = '"abcdefghijklmnopqrstuvwxyz"'
    assert look.evaluate(KERNEL, letters)["value"] == '"abcdefghijklmnopqrst"...'
    assert whole(KERNEL, letters) == letters
    assert whole(KERNEL, "argument") == PRODUCT


@pytest.mark.parametrize(
    ("text", "labels", "length"),
    [
        ("pro", {"product"}, 3),
        ("LIM", {"LIMIT"}, 3),
        ("self.in", {"inner"}, 2),
        ("self.inner.", {"weight", "in_features"}, 0),
        ("1 + plain.second['k'].sh", {"shape"}, 2),
        ("points[0].", set(), 0),
        ("nothing.", set(), 0),
        ("say().", set(), 0),
    ],
)
def test_completions_of_python(look, text, labels, length):
    found = look.ask("ph-complete", thread=look.thread, level=look.level(FORWARD), text=text)
    shown = {entry["label"] for entry in found}
    assert labels <= shown if labels else not shown
    assert {entry["length"] for entry in found} <= {length}
    assert "internals" not in shown


def test_a_core_file_cannot_be_changed(dead):
    scope = dead.scope(KERNEL, "Arguments")
    with pytest.raises(GdbError, match="A core file cannot be changed"):
        dead.ask("ph-set-variable", thread=dead.thread, handle=scope["handle"], name="ready", value="2")


def test_handles_are_void_after_they_are_forgotten(alive):
    handle = alive.scope(KERNEL, "Arguments")["handle"]
    alive.ask("ph-forget-variables")
    with pytest.raises(GdbError, match=f"no variables {handle} any more"):
        alive.children(handle)
    assert alive.scope(KERNEL, "Arguments")["handle"] > handle


def test_answers_are_small(look):
    for function, name in ((FORWARD, "Locals"), (KERNEL, "Locals")):
        assert len(json.dumps(look.children(look.scope(function, name)["handle"]))) < 100_000
