"""Kernels below a wrapper in C++: ``cpp_wrapper``, and AOTInductor's libraries in programs with and without Python."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from two_blocks import MODEL

from kit import builds, inductor, marks
from kit.command import Command, environment_of
from kit.paths import PROGRAMS, ROOT

pytestmark = pytest.mark.rotated_tests(turns=11)

TRAINS = f"""{MODEL}
model, x = torch.compile(Model()), torch.randn(5, 20)
model(x).sum().backward()
"""
EXPORTS = f"""{MODEL}
torch.manual_seed(0)
exported = torch.export.export(Model().eval(), (torch.randn(5, 20),))
torch._inductor.aoti_compile_and_package(exported, package_path="model.pt2")
"""
LOADS = """
import torch
model = torch._inductor.aoti_load_package("model.pt2")
print(model(torch.ones(5, 20)).shape)
"""
OVERFLOWS = """
import torch
model = torch._inductor.aoti_load_package("model.pt2")
model(torch.zeros(5, 20))
model(torch.eye(5, 20) * torch.finfo(torch.float32).max)
"""
BACKWARD = ("cpp_fused_gelu_gelu_backward_", "cpp_fused_gelu_backward_")
"""How the names of the backward's kernels begin: on torch 2.15 as the second."""
AOT_LIBRARIES = ("torch", "torch_cpu", "c10")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    scripts = {"trains": TRAINS, "exports": EXPORTS, "loads": LOADS, "overflows": OVERFLOWS}
    return inductor.filled(tmp_path_factory.mktemp("cxx"), **scripts)


@pytest.fixture(scope="module")
def environment(folder):
    return inductor.environment(folder)


@pytest.fixture(scope="module")
def told(folder, environment):
    """What a command says as JSON."""

    def run(*words, **variables):
        result = Command({**environment, **variables}, folder)(*words, "--json")
        assert result.returncode == 0, result.stderr + result.stdout
        return json.loads(result.stdout)

    return run


@pytest.fixture(scope="module")
def packaged(folder, told):
    """The package of the model, and what was told of it as it was compiled."""
    return folder / "model.pt2", told("fx", "compiled", "exports.py")


def text_of(frame):
    return Path(frame["file"]).read_text().splitlines()[frame["line"] - 1].strip()


def printed(stop):
    return stop["printed"]


def test_a_node_is_the_line_of_the_wrapper_in_cxx_that_calls_its_kernel(told):
    """Both calls of one kernel, each with its own nodes; values where the kernels are built for it; backward."""
    buffers = ("--print", "buf0", "--print", "primals_3")
    inside = ("--into-native", "--print", "in_ptr0", "--print", "in_ptr1", "--print", "x0", "--over", "--out")
    second = ("--at", "fx:erf_1", "--into-native", "--stack", "--at", "fx:gelu_1", "--kill")
    words = ("--debug-kernels", "--at", "fx:blocks.0", *buffers, *inside, *second)
    stops = told("step", "trains.py", *words, TORCHINDUCTOR_CPP_WRAPPER="1")["stops"]
    call, kernel, over, out, other, again, backward = stops
    assert (call["language"], call["function"]) == ("native", "inductor_entry_impl")
    assert text_of(call).startswith("cpp_fused_add_gelu_0(")
    assert (call["fx"]["node"], call["fx"]["module"]) == ("add_1", "blocks.0")
    shown = printed(call)
    assert shown["buf0"].startswith("Tensor float32 [5, 20] cpu ")
    assert shown["primals_3"].startswith("Tensor float32 [5, 20] cpu ")
    assert (kernel["function"], kernel["file"], kernel["fx"]["module"]) == (
        "cpp_fused_add_gelu_0",
        call["file"],
        "blocks.0",
    )
    assert printed(kernel)["in_ptr0"] == f"primals_3: {shown['primals_3']}"
    assert printed(kernel)["in_ptr1"] == f"buf0: {shown['buf0']}"
    assert printed(kernel)["x0"].startswith("0 → ")
    assert over["function"] == "cpp_fused_add_gelu_0"
    assert (out["function"], out["line"]) == ("inductor_entry_impl", call["line"] + 2), "a declaration is no code"
    assert other["line"] > call["line"], "the second call"
    assert (other["fx"]["node"], other["fx"]["module"]) == ("add_3", "blocks.1")
    assert (again["function"], again["fx"]["module"]) == ("cpp_fused_add_gelu_0", "blocks.1")
    frames = [(each["function"], (each["fx"] or {}).get("module")) for each in again["stack"] if not each["plumbing"]]
    assert frames[:2] == [("cpp_fused_add_gelu_0", "blocks.1"), ("inductor_entry_impl", "blocks.1")]
    assert text_of(backward).startswith(BACKWARD)


@pytest.mark.rotated_tests(turns=11, number=1)
def test_a_package_of_aotinductor_has_its_kernels_with_their_nodes(packaged):
    (wrapper,) = packaged[1]["wrappers"]
    assert wrapper["file"].endswith(".wrapper.cpp")
    kernel, second = wrapper["kernels"]
    assert (kernel["name"], second["name"]) == ("cpp_fused_add_gelu_0", "cpp_fused_add_gelu_1")
    assert kernel["file"] == second["file"]
    assert kernel["file"].endswith(".kernel.cpp")
    lines = Path(kernel["file"]).read_text().splitlines()
    erf = [each for each in kernel["lines"] if each["node"] == "erf" and ".erf()" in each["text"]]
    assert erf
    assert all(".erf()" in lines[each["line"] - 1] for each in erf)
    modules = [{line["module"] for line in each["lines"]} for each in (kernel, second)]
    assert modules == [{"blocks.0"}, {"blocks.1"}]


@pytest.mark.rotated_tests(turns=11, number=5)
def test_an_element_in_a_package_is_a_place(environment, tmp_path):
    """AOTInductor has the kernels in a file beside that of the wrapper."""
    (tmp_path / "exports.py").write_text(EXPORTS)
    (tmp_path / "loads.py").write_text(LOADS)
    command = Command(environment, tmp_path)
    assert command("step", "exports.py", "--debug-kernels").returncode == 0
    printing = ("--print", "gelu_1", "--kill", "--json")
    played = command("step", "loads.py", "--at", "fx:gelu_1[4, 3]", "--over", *printing)
    there, over = json.loads(played.stdout)["stops"]
    assert (there["reason"], there["function"]) == ("breakpoint", "cpp_fused_add_gelu_1")
    assert re.search(r"\w+\[\d, \d+\] to \[4, \d+\], along x\d", printed(over)["gelu_1"]), over


@pytest.mark.usefixtures("packaged")
@pytest.mark.rotated_tests(turns=11, number=1)
def test_the_library_of_a_package_is_stepped_through_in_python(told):
    words = ("--at", "fx:blocks.1", "--into-native", "--stack", "--out")
    call, kernel, out = told("step", "loads.py", *words)["stops"]
    assert call["function"].endswith("::run_impl")
    assert text_of(call).startswith("cpp_fused_add_gelu_1(")
    assert (call["fx"]["node"], call["fx"]["module"]) == ("add_3", "blocks.1")
    assert kernel["file"].endswith(".kernel.cpp")
    assert (kernel["function"], kernel["fx"]["module"]) == ("cpp_fused_add_gelu_1", "blocks.1")
    assert [each["language"] for each in kernel["stack"] if not each["plumbing"]] == ["native", "native", "python"]
    assert out["function"].endswith("::run_impl")


@pytest.mark.usefixtures("packaged")
@pytest.mark.rotated_tests(turns=11, number=1)
def test_kernels_of_a_package_are_recorded_with_their_nodes(told):
    events = [each for each in told("trace", "loads.py")["events"] if each["name"].startswith("cpp_")]
    assert [(each["name"], each["module"], each["nodes"][-1]) for each in events] == [
        ("cpp_fused_add_gelu_0", "blocks.0", "add_1"),
        ("cpp_fused_add_gelu_1", "blocks.1", "add_3"),
    ]
    assert all(each["origin"]["function"].endswith("::run_impl") and each["duration_ns"] for each in events)
    assert [text_of(each["origin"]).partition("(")[0] for each in events] == [each["name"] for each in events]


@pytest.mark.usefixtures("packaged")
@pytest.mark.rotated_tests(turns=11, number=1)
def test_the_first_bad_value_of_a_package_is_named(folder, environment):
    result = Command(environment, folder)("run", "--nan", "overflows.py")
    assert result.returncode == 1
    assert (
        "The first Inf was made by node add_1 in the kernel cpp_fused_add_gelu_0: its inputs had none." in result.stderr
    )
    assert re.search(r"module blocks\.0$", result.stderr, re.MULTILINE)
    assert re.search(r"kernel +\S+\.kernel\.cpp:\d+  auto \w+ = \w+ \+ \w+;$", result.stderr, re.MULTILINE)
    assert re.search(r"native +torch::aot_inductor::AOTInductorModel::run_impl .*\[fx: add_1", result.stderr)
    assert re.search(r'overflows\.py", line 5', result.stderr), "the line of Python that called"


@pytest.mark.rotated_tests(turns=11, number=0)
def test_kernels_below_a_wrapper_in_cxx_are_timed(told):
    kernels = told("fx", "compiled", "trains.py", TORCHINDUCTOR_CPP_WRAPPER="1")["wrappers"][0]["kernels"]
    assert all(time for each in kernels for time in each["times"]), kernels


@pytest.mark.usefixtures("packaged")
@pytest.mark.rotated_tests(turns=11, number=1)
def test_a_place_in_a_library_without_line_tables_says_how_to_have_them(folder, environment, tmp_path):
    """torch up to 2.12 builds libraries so."""
    cache = {"TORCHINDUCTOR_CACHE_DIR": inductor.cache(tmp_path / "torch"), "TORCHINDUCTOR_CPP_WRAPPER": "1"}
    command = Command({**environment, **cache}, folder)
    assert command("step", "trains.py", "--at", "fx:blocks.0").returncode == 0
    for library in (tmp_path / "torch").rglob("*.so"):
        subprocess.run(["strip", "--strip-debug", library], check=True)
    result = command("step", "trains.py", "--at", "fx:blocks.0", "--kill")
    assert result.returncode == 1
    assert re.search(r"fx:blocks\.0: \w+\.main\.cpp, where it is, has no line tables", result.stderr)
    assert "--debug-kernels" in result.stderr
    events = json.loads(command("trace", "trains.py", "--json").stdout)["events"]
    nodes = {each["name"]: each["nodes"] for each in events if each["name"].startswith("cpp_fused")}
    assert "erf" in nodes[next(f"{name}2" for name in BACKWARD if f"{name}2" in nodes)], "the only call of it"
    assert not nodes["cpp_fused_add_gelu_0"], "either of two layers"


@pytest.mark.usefixtures("packaged")
def test_a_library_without_a_map_says_how_to_have_one(folder, environment, tmp_path):
    command = Command({**environment, **environment_of(tmp_path / "home")}, folder)
    result = command("step", "loads.py", "--at", "fx:blocks.1")
    assert result.returncode == 1
    assert re.search(r"There is no fx:blocks\.1: \w+\.wrapper\.cpp has no map\.\n`pyharness fx compiled", result.stderr)


@pytest.mark.usefixtures("packaged")
@pytest.mark.rotated_tests(turns=11, number=1)
def test_the_library_of_a_package_is_stepped_through_without_python(folder, environment):
    library = next((folder / "torch").rglob("*.wrapper.so"))
    main = PROGRAMS / "aot_model.cpp"
    program = builds.compiled(main, "", "-O0", "-g", *builds.linked_with_torch(*AOT_LIBRARIES))
    commands = ("run", "ph-into", "ph-bt", "ph-break fx:blocks.0", "continue", "ph-into", "ph-bt", "ph-over", "ph-bt")
    words = [f"source {ROOT}/pyharness/ingdb/load.py", f"break {main.name}:{marks.line_of('runs', main)}", *commands]
    script = folder / "aot.gdb"
    script.write_text("\n".join(["set pagination off", "set debuginfod enabled off", *words, "kill", ""]))
    command = ["gdb", "-nx", "-batch", "-x", script, "--args", program, library]
    gdb = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)
    stacks = gdb.stdout.split("no Python in this process")[1:]
    assert len(stacks) == 3, gdb.stdout + gdb.stderr
    assert "AOTInductorModel::run_impl" in stacks[0], gdb.stdout
    assert re.search(r"cpp_fused_add_gelu_0 .*\[fx: \w+ ← blocks.0", stacks[1]), gdb.stdout
    assert re.search(r"run_impl .*\[fx: add_1 ← blocks.0", stacks[1]), gdb.stdout
    assert "cpp_fused_add_gelu_0 " in stacks[2], gdb.stdout  # of optimized code the next line may have no node
    assert re.search(r"run_impl .*\[fx: add_1 ← blocks.0", stacks[2]), gdb.stdout


@pytest.mark.usefixtures("packaged")
@pytest.mark.rotated_tests(turns=11, number=1)
def test_what_is_compiled_ahead_of_time_is_the_same_to_the_byte(folder, environment):
    """But for its place and the commands behind it."""
    alone = inductor.cache(folder / "alone")
    subprocess.run(
        [sys.executable, "exports.py"], cwd=folder, env={**environment, "TORCHINDUCTOR_CACHE_DIR": alone}, check=True
    )
    for kind in ("wrapper", "kernel"):
        ours, theirs = (next(Path(each).rglob(f"*.{kind}.cpp")) for each in (folder / "torch", alone))
        texts = [each.read_text().partition("\n// Compile cmd\n")[0] for each in (ours, theirs)]
        assert texts[0].replace(str(folder / "torch"), alone) == texts[1]
