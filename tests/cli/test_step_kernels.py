"""``pyharness step`` into the kernels of an unchanged program that torch.compile compiles with its default backend."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from two_blocks import MODEL

from kit import inductor, marks
from kit.command import Command, environment_of

pytestmark = pytest.mark.rotated_tests(turns=11)

PROGRAM = f"""{MODEL}
def main():
    model, x = torch.compile(Model()), torch.randn(int(sys.argv[1]), 20)
    model(x)  # @compiles
    result = model(x).sum()  # @forward
    result.backward()  # @backward

main()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return inductor.filled(tmp_path_factory.mktemp("compiled"), script=PROGRAM)


@pytest.fixture(scope="module")
def told(folder):
    """What ``pyharness step`` says: its stops, and its notes; ``{mark}`` in a word is that line of the program."""
    lines = {
        name: f"py:script.py:{marks.line_of(name, folder / 'script.py')}"
        for name in ("compiles", "forward", "backward")
    }

    def run(*words, torch="torch", rows="5", **variables):
        cache = {"TORCHINDUCTOR_CACHE_DIR": inductor.cache(folder / torch)}
        environment = {**environment_of(folder / "home"), **cache, **variables}
        words = [word.format(**lines) for word in words]
        result = Command(environment, folder)("step", "script.py", *words, "--json", "--", rows)
        assert result.returncode == 0, result.stderr + result.stdout
        return json.loads(result.stdout)["stops"], result.stderr

    return run


@pytest.fixture(scope="module")
def stops(told):
    return lambda *words, **named: told(*words, **named)[0]


def text_of(frame):
    return Path(frame["file"]).read_text().splitlines()[frame["line"] - 1]


BACKWARD = ("cpp_fused_gelu_gelu_backward_0", "cpp_fused_gelu_backward_0")
"""What the kernel of the backward is called: on torch 2.15 the second."""
COMPILES = ("--at", "{compiles}", "--into", "--into", "--out")
"""Passes by what compiles: into Dynamo's own code for the function first, then into inductor's wrapper."""


@pytest.mark.rotated_tests(turns=3, number=0)
@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_into_goes_to_the_loop_of_the_kernel_and_out_to_the_wrappers_next_line(stops, folder, cache):
    calls = ("--at", "{forward}", "--into-native", "--out", "--at", "{backward}", "--into-native", "--out")
    _, function, call, back, _, kernel, wrapper, _, backward, after = stops(*COMPILES, *calls)
    assert (function["function"], Path(function["file"]).name) == ("forward", "script.py")
    assert (call["function"], call["fx"]["module"]) == ("call", "blocks.0.linear"), "past what comes before it"
    assert text_of(call).strip().startswith("extern_kernels.addmm(")
    assert (back["function"], back["file"]) == ("forward", function["file"])
    assert kernel["function"] == "cpp_fused_add_gelu_0", cache
    assert kernel["fx"]["module"] == "blocks.0"
    origin = f"{folder / 'script.py'}:{marks.line_of('residual', folder / 'script.py')}"
    assert kernel["fx"]["origin"] == origin
    assert kernel["fx"]["node"] in {"add_1", "mul", "mul_1", "erf", "add", "mul_2"}
    assert wrapper["language"] == "python"
    lines = Path(wrapper["file"]).read_text().splitlines()
    assert lines[wrapper["line"] - 2].strip().startswith("cpp_fused_add_gelu_0(")
    assert backward["function"] in BACKWARD
    assert (backward["fx"]["module"], backward["fx"]["origin"]) == ("blocks.1", origin)
    assert after["language"] == "python"


@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_a_node_or_a_module_is_the_wrappers_line_that_calls_its_kernel(stops, cache):
    words = ("--at", "fx:blocks.0", "--into-native", "--over", "--out", "--at", "fx:erf_1", "--into-native")
    call, kernel, over, out, other, again = stops(*words, torch="named")
    lines = Path(call["file"]).read_text().splitlines()
    assert call["language"] == "python", cache
    assert lines[call["line"] - 1].strip().startswith("cpp_fused_add_gelu_0(")
    assert (call["fx"]["node"], call["fx"]["module"]) == ("add_1", "blocks.0")
    assert (kernel["function"], kernel["fx"]["module"]) == ("cpp_fused_add_gelu_0", "blocks.0")
    assert over["function"] == "cpp_fused_add_gelu_0"
    assert (out["file"], out["line"]) == (call["file"], call["line"] + 1)
    assert other["file"] == call["file"]
    assert other["line"] > call["line"], "another call of the same kernel"
    assert (other["fx"]["node"], other["fx"]["module"]) == ("add_3", "blocks.1")
    assert (again["file"], again["fx"]["module"]) == (kernel["file"], "blocks.1")


def test_a_node_of_dynamos_graph_is_the_wrappers_line_that_computes_its_first_part(stops):
    """Forward and backward; ``x_1`` is a variable's name, for a call that torch calls ``add_1``."""
    words = ("--at", "fx:gelu", "--at", "fx:hidden_1", "--at", "fx:x_1", *["--at", "fx:gelu_1"] * 2, "--kill")
    first, linear, second, _, backward = stops(*words, torch="named")
    assert [each["fx"]["node"] for each in (first, linear, second)] == ["add_1", "addmm_1", "add_3"]
    assert len({each["file"] for each in (first, linear, second)}) == 1
    assert [each["fx"]["module"] for each in (first, second, backward)] == ["blocks.0", "blocks.1", "blocks.1"]
    assert text_of(backward).strip().partition("(")[0] in BACKWARD


def test_names_near_to_an_unknown_one_are_those_of_dynamos_graph_too(folder):
    cache = {"TORCHINDUCTOR_CACHE_DIR": inductor.cache(folder / "named")}
    command = Command({**environment_of(folder / "home"), **cache}, folder)
    result = command("step", "script.py", "--at", "fx:gelu_3", "--", "5")
    assert re.search(r"Did you mean gelu_1, gelu\b", result.stderr), result.stderr


def test_into_goes_to_the_loop_of_a_kernel_that_runs_in_parallel(stops):
    words = ("--at", "fx:blocks.0", "--into-native", "--stack", "--out")
    call, kernel, after = stops(*words, torch="parallel", rows="5000")
    assert (kernel["function"], kernel["fx"]["module"]) == ("cpp_fused_add_gelu_0", "blocks.0")
    outer = [each["function"] for each in kernel["stack"] if each["language"] == "native"]
    assert outer[0] == "cpp_fused_add_gelu_0"
    assert "GOMP_parallel" in outer, outer
    assert (after["language"], after["function"], after["line"]) == ("python", call["function"], call["line"] + 1)


def test_over_goes_from_line_to_line_where_the_compiler_did_not_optimize(stops):
    words = ("--at", "{forward}", "--into-native", *["--over"] * 9, "--out")
    unoptimized = {"torch": "unoptimized", "AOT_INDUCTOR_DEBUG_COMPILE": "1"}
    _, *kernel, wrapper = stops(*words, **unoptimized)
    lines = [frame["line"] for frame in kernel]
    assert lines == list(range(lines[0], lines[0] + 10))
    nodes = [frame["fx"]["node"] for frame in kernel]
    assert nodes == ["add_1", "mul", "mul", "mul", "mul", "mul_1", "mul_1", "mul_1", "erf", "add"]
    assert ".erf()" in text_of(kernel[8])
    assert wrapper["language"] == "python"


def test_debug_kernels_are_built_unoptimized_into_a_cache_of_our_own(told, folder):
    words = ("--debug-kernels", "--at", "{forward}", "--into-native", "--over", "--print", "x0", "--kill")
    inductor.cache(folder / "users")
    before = set((folder / "users").rglob("*"))
    (_, kernel, over), notes = told(*words, torch="users")
    assert kernel["file"].startswith(str(folder / "home" / "debug-kernels"))
    assert (over["function"], over["line"]) == (kernel["function"], kernel["line"] + 1)
    assert over["printed"]["x0"].endswith("[0, 0]: row 0, column 0")
    assert "optimized" not in notes
    assert set((folder / "users").rglob("*")) == before, "the user's cache is left alone"


def test_the_first_stop_in_an_optimized_kernel_says_so_and_names_the_option(told):
    words = ("--at", "{forward}", "--into-native", "--over", "--at", "{backward}", "--into-native", "--kill")
    _, notes = told(*words)
    assert notes.count("--debug-kernels") == 1, notes


@pytest.mark.rotated_tests(turns=3, number=1)
def test_a_kernel_without_line_tables_is_named_and_so_is_what_builds_them(stops, folder):
    """torch up to 2.12 builds libraries so."""
    stops("--at", "fx:blocks.0", "--kill", torch="stripped")
    for library in (folder / "stripped").rglob("*.so"):
        subprocess.run(["strip", "--strip-debug", library], check=True)
    call, after = stops("--at", "fx:blocks.0", "--into-native", "--kill", torch="stripped")
    assert (after["file"], after["line"]) == (call["file"], call["line"] + 1)
    assert after["note"].startswith("cpp_fused_add_gelu_0 has no line tables")
    assert "--debug-kernels" in after["note"]
