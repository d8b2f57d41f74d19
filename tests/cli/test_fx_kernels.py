"""``pyharness fx compiled`` on programs that torch.compile compiles for real."""

import json
import re
from pathlib import Path

import pytest
from two_blocks import MODEL

from kit import inductor, marks
from kit.command import Command, environment_of
from pyharness.model.codec import decode
from pyharness.model.results.compiled import CompileReport
from pyharness.model.results.kernels_text import wrapper_lines

pytestmark = pytest.mark.rotated_tests(turns=11)

PROGRAM = f"""{MODEL}
if "lacking" in sys.argv:
    import torch._inductor.loop_body
    del torch._inductor.loop_body.LoopBody.replace_indirect  # what this program never needs
model = torch.compile(Model())
model(torch.randn(5, 20)).sum().backward()
print("done")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the program lies, with torch's cache and our folder with its maps."""
    path = tmp_path_factory.mktemp("compiled")
    (path / "script.py").write_text(PROGRAM)
    return path


@pytest.fixture(scope="module")
def run(folder):
    """``pyharness fx compiled`` of the program; with other folders where they are named."""

    def run(*words, torch="torch", home="home", verb="compiled"):
        environment = {**environment_of(folder / home), "TORCHINDUCTOR_CACHE_DIR": inductor.cache(folder / torch)}
        return Command(environment, folder)("fx", verb, "script.py", *words)

    return run


@pytest.fixture(scope="module")
def made(run):
    """What it says of code that torch has just generated."""
    result = run("--json")
    assert result.stderr == "done\n"
    return graphs(result)


def graphs(result):
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["wrappers"]


def untimed(found):
    return [{**graph, "kernels": [{**kernel, "times": None} for kernel in graph["kernels"]]} for graph in found]


@pytest.mark.rotated_tests(turns=3, number=0)
def test_the_json_has_each_line_of_each_kernel_with_its_node_module_and_origin(made, folder):
    assert [(graph["id"], graph["kind"], graph["mapped"]) for graph in made] == [
        ("0/0", "forward", True),
        ("0/0", "backward", True),
    ]
    (kernel,) = made[0]["kernels"]
    assert kernel["name"] == "cpp_fused_add_gelu_0"
    assert (kernel["calls"], kernel["modules"], kernel["loops"]) == (2, ["blocks.0", "blocks.1"], ["100"])
    assert kernel["bytes"] == 3 * 100 * 4
    assert len(kernel["times"]) == 2, "one for each call"
    assert all(0 < time < 60e9 for time in kernel["times"])
    text = Path(kernel["file"]).read_text().splitlines()
    script = folder / "script.py"
    assert {line["origin"] for line in kernel["lines"]} == {f"{script}:{marks.line_of('residual', script)}"}
    assert all(text[line["line"] - 1].strip() == line["text"] for line in kernel["lines"])
    values = {(line["call"], line["module"]): line for line in kernel["lines"] if ".erf()" in line["text"]}
    assert set(values) == {(1, "blocks.0"), (2, "blocks.1")}
    assert values[1, "blocks.0"]["node"] == "erf"
    assert values[1, "blocks.0"]["captured"] == "gelu"
    assert values[1, "blocks.0"]["holds"] == ["erf[x0 // 20, (x0 % 20)]"]
    loads = [line["reads"] for line in kernel["lines"] if line["call"] == 2 and line["kind"] == "load"]
    assert set(loads) == {"add_1", "addmm_1"}


def test_code_from_torchs_cache_has_the_map_that_was_made_with_it(made, run):
    files = [kernel["file"] for graph in made for kernel in graph["kernels"]]
    times = [Path(file).stat().st_mtime_ns for file in files]
    assert untimed(graphs(run("--json"))) == untimed(made)
    assert [Path(file).stat().st_mtime_ns for file in files] == times, "nothing was compiled again"


@pytest.mark.usefixtures("made")
def test_code_from_torchs_cache_has_the_lines_that_the_file_has_now(run, folder):
    script = folder / "script.py"
    script.write_text(f"# another line\n# and another\n{PROGRAM}")
    forward, backward = graphs(run("--json"))
    script.write_text(PROGRAM)
    residual = marks.line_of("residual", script) + 2
    assert forward["mapped"]
    assert {line["origin"] for kernel in forward["kernels"] for line in kernel["lines"]} == {f"{script}:{residual}"}
    lines = {int(line["origin"].rpartition(":")[2]) for kernel in backward["kernels"] for line in kernel["lines"]}
    assert lines == {residual, residual - 1}


def test_code_from_torchs_cache_without_a_map_gets_one_and_nothing_is_compiled_again(made, run):
    kernels = [Path(kernel["file"]).with_suffix(".so") for graph in made for kernel in graph["kernels"]]
    times = [each.stat().st_mtime_ns for each in kernels]
    assert untimed(graphs(run("--json", home="another"))) == untimed(made)
    assert [each.stat().st_mtime_ns for each in kernels] == times


@pytest.mark.usefixtures("made")
def test_people_read_kernels_with_each_line_and_its_node(run, folder):
    text = run("--lines").stdout
    place = f"script.py:{marks.line_of('residual', folder / 'script.py')}"
    assert "  cpp_fused_add_gelu_0  100, 1.17 KiB, called 2 times" in text.splitlines()
    assert re.search(rf"\d+ auto tmp8 = tmp7\.erf\(\); +erf ← gelu = erf\[.*\]  blocks\.0  {place}", text)


def test_people_read_kernels_with_their_nodes_and_the_lines_of_each(made, folder):
    report = decode(CompileReport, {"compilations": [], "wrappers": made}, "the report")
    lines = [line.text for line in wrapper_lines(report.wrappers)]
    place = rf"\S*script\.py:{marks.line_of('residual', folder / 'script.py')}"
    assert any(re.match(rf" +erf ← gelu +blocks\.0 +{place} +lines \d+, \d+$", line) for line in lines)
    assert any(re.match(rf" +erf_1 ← gelu_1 +blocks\.1 +{place} +lines \d+, \d+$", line) for line in lines)


@pytest.mark.usefixtures("made")
def test_a_drawing_has_the_nodes_in_boxes_of_their_kernels_though_torch_has_the_code_in_its_cache(run, folder):
    page = folder / "graphs.html"
    assert run("-o", page, verb="draw").returncode == 0
    data = json.loads(re.search(r'<script[^>]* id="data">(.*?)</script>', page.read_text(), re.DOTALL)[1])
    drawn = [each for each in data["graphs"] if each["kernels"]]
    assert [each["maker"] for each in drawn] == ["AOT forward", "AOT backward"]
    titles = [[kernel["title"] for kernel in each["kernels"]] for each in drawn]
    assert titles[0] == ["cpp_fused_add_gelu_0, call 1 of 2", "cpp_fused_add_gelu_0, call 2 of 2"]
    assert all((folder / kernel["file"]).is_file() for each in drawn for kernel in each["kernels"])
    nodes = {node["name"]: node for node in drawn[0]["nodes"]}
    gelu = ("mul", "mul_1", "erf", "add", "mul_2", "add_1")
    assert {nodes[name]["kernel"] for name in gelu} == {0}
    assert {nodes[name]["kernel"] for name in ("primals_1", "permute", "addmm", "addmm_1", "output")} == {None}
    assert {node["module"] for node in drawn[1]["nodes"] if node["kernel"] is not None} >= {"blocks.0", "blocks.1"}
    assert {node["shape"] for node in drawn[1]["nodes"] if node["name"].startswith("mul")} == {"float32[5, 20]"}


def test_a_torch_that_lacks_a_part_compiles_as_ever_and_the_part_is_named(run):
    result = run("--", "lacking", torch="lacking")
    assert result.returncode == 1
    assert "done" in result.stdout
    lacking = "torch._inductor.loop_body.LoopBody.replace_indirect"
    assert f"Kernels of torch.compile have no maps: this torch has no {lacking}" in result.stderr


def test_a_folder_that_cannot_be_written_costs_the_map_alone(run, folder):
    home = folder / "spoiled"
    home.mkdir(mode=0o700)
    (home / "kernels").write_text("a file where a folder is to be")
    result = run(torch="unwritten", home="spoiled")
    assert "done" in result.stdout
    assert result.stderr.count("The maps of kernels are not kept.") == 1
    assert "cpp_fused_add_gelu_0" in result.stdout
