"""Kernels of torch.compile that come from a template (matrix products), or run in parallel: as a whole and in parts."""

import json
import re

import pytest

from kit import inductor
from kit.command import Command

pytestmark = pytest.mark.rotated_tests(turns=5, number=2)

PRODUCTS = """
import json, sys, torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(64, 96), torch.nn.Linear(96, 32)

    def forward(self, x):
        return torch.log(self.second(torch.relu(self.first(x))))  # @product

torch.manual_seed(0)
net, x = Net().eval(), torch.randn(128, 64)
with torch.no_grad():
    for file in sys.argv[1:]:
        json.dump(net(x).nan_to_num(7).tolist(), open(file, "w"))
    torch.compile(net)(x)
"""
TEMPLATES = {
    "TORCHINDUCTOR_FREEZING": "1",
    "TORCHINDUCTOR_MAX_AUTOTUNE": "1",
    "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS": "CPP",
}
PARALLEL = """
import torch

torch.set_num_threads(2)
compiled = torch.compile(lambda x, bias: torch.nn.functional.gelu(x) * bias)
with torch.no_grad():
    compiled(torch.arange(512 * 300.0).reshape(512, 300), torch.arange(300.0))
"""
MOST_THREADS = {"OMP_NUM_THREADS": "2"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return inductor.filled(tmp_path_factory.mktemp("templates"), products=PRODUCTS, parallel=PARALLEL)


@pytest.fixture(scope="module")
def run(folder):
    environment = inductor.environment(folder)
    return lambda *words, **variables: Command({**environment, **variables}, folder)(*words)


@pytest.fixture(scope="module")
def stops(run, folder):
    """The stops in the second product's kernel, and what eager mode computes."""
    inside = ("--into-native", "--print", "X", "--stack", "--element", "log[3, 17]", "--over", "--print", "log")
    words = ("--at", "fx:log", *inside, "--print", "x1", "--kill", "--json", "--raw", "--", "eager.json")
    result = run("step", "products.py", "--debug-kernels", *words, **TEMPLATES)
    assert result.returncode == 0, result.stderr + result.stdout
    return json.loads(result.stdout)["stops"], json.loads((folder / "eager.json").read_text())


def test_what_is_fused_behind_a_product_is_stepped_through(stops):
    (call, kernel, element, over), eager = stops
    assert call["fx"]["node"] == "log"
    assert kernel["function"] == "cpp_fused_addmm_log_relu_1"
    assert (kernel["fx"]["node"], kernel["fx"]["module"]) == ("_mkl_linear", "second")
    assert kernel["printed"]["X"].startswith("buf1: Tensor float32 [128, 96] cpu ")
    assert element["fx"]["node"] == "log"
    found = re.fullmatch(r"\[(.*)\]  log\[3, 16\] to \[3, 31\], along x1", over["printed"]["log"])
    assert found, over["printed"]
    numbers = [7 if "nan" in each else float(each) for each in found[1].split(", ")]
    assert numbers == pytest.approx(eager[3][16:32], rel=1e-4)
    assert over["printed"]["x1"].endswith("→ _mkl_linear[3, 16]: row 3, column 16")


def test_a_product_itself_is_of_its_node_as_a_whole(run):
    words = ("--at", "native:kernel_micro_gemm", "--stack", "--kill", "--json")
    result = run("step", "products.py", "--debug-kernels", *words, **TEMPLATES)
    assert result.returncode == 0, result.stderr + result.stdout
    (stop,) = json.loads(result.stdout)["stops"]
    assert stop["function"].startswith("kernel_micro_gemm<")
    assert (stop["fx"]["module"], stop["fx"]["node"]) == ("first", "_mkl_linear_1")
    kernel = next(each for each in stop["stack"] if each["function"] == "cpp_fused_addmm_relu_0")
    assert kernel["fx"]["module"] == "first"


def test_the_first_bad_value_behind_a_product_is_named(run):
    result = run("run", "--nan", "products.py", **TEMPLATES)
    assert result.returncode == 1
    assert "The first NaN was made by node log in the kernel cpp_fused_addmm_log_relu_1: " in result.stderr
    assert re.search(r"element +log\[\d+, \d+\] of _mkl_linear = -", result.stderr), result.stderr
    assert re.search(r"output +Y +float32\[128, 32\]  [\d,]+ NaN of 4,096", result.stderr), result.stderr


def test_a_kernel_computes_no_node_of_an_earlier_one(run):
    trace = json.loads(run("trace", "products.py", "--json", **TEMPLATES).stdout)
    nodes = [each["nodes"] for each in trace["events"] if each["nodes"]]
    assert nodes == [["_mkl_linear_1", "relu"], ["_mkl_linear", "log"]]


@pytest.fixture(scope="module")
def kernel_line(run):
    """A line of the loop that runs in parallel."""
    words = ("--at", "fx:erf", "--into-native", "--over", "--print", "in_ptr0[1, 2]", "--kill", "--json")
    result = run("step", "parallel.py", "--debug-kernels", *words, **MOST_THREADS)
    assert result.returncode == 0, result.stderr + result.stdout
    stop = json.loads(result.stdout)["stops"][-1]
    assert float(stop["printed"]["in_ptr0[1, 2]"]) == 302, "an element, and not what C++ makes of the comma"
    return f"{stop['file']}:{stop['line']}"


def test_buffers_are_tensors_in_threads_without_python(run, kernel_line):
    names = ("in_ptr0", "in_ptr1", "in_ptr0[400, 2]", "in_ptr0.shape")
    printed = [word for name in names for word in ("--print", name)]
    words = ("--at", f"native:{kernel_line} if x0 == 400", *printed, "--print", "in_ptr0[600, 0]", "--kill", "--json")
    result = run("step", "parallel.py", "--debug-kernels", *words, **MOST_THREADS)
    assert result.returncode == 0, result.stderr + result.stdout
    (stop,) = json.loads(result.stdout)["stops"]
    shown = [stop["printed"][name] for name in names]
    assert shown[0].startswith("Tensor float32 [512, 300] cpu [[0.0, 1.0, …")
    assert shown[1].startswith("Tensor float32 [300] cpu [0.0, 1.0, …")
    assert (float(shown[2]), shown[3]) == (120002, "[512, 300]")
    assert "in_ptr0[600, 0] is out of range: in_ptr0 has 512 elements." in stop["printed"]["in_ptr0[600, 0]"]
