"""Variables in a kernel that torch.compile's default backend made, through a client."""

import re

import pytest
from debugging import Debugging

from kit import inductor

PROGRAM = "compiled_loop.py"


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """torch's cache folder and ours, which know what the C++ compiler can."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    inductor.cache(home / "debug-kernels")
    monkeypatch.setenv("PYHARNESS_HOME", str(home))
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", inductor.cache(tmp_path / "torch"))


@pytest.mark.rotated_tests(turns=6, number=0)
def test_a_kernels_nodes_and_buffers_are_scopes_and_expressions(dap):
    program = Debugging(dap.stdio(), PROGRAM).launch(functions=["fx:gelu"], debugKernels=True, crashes=False)
    wrapper = program.stood()
    kernel = program.into(wrapper)
    assert kernel.function.startswith("cpp_fused_"), kernel.function
    assert "not computed yet" in program.evaluate("gelu", kernel.frame)
    while not (gelu := program.evaluate("gelu", kernel.frame)).startswith("["):
        kernel = program.over(kernel)
        assert kernel.function.startswith("cpp_fused_"), gelu
    assert gelu.endswith(("[0, 0] to [0, 7], along x0", "[0, 0] to [0, 15], along x0")), gelu  # AVX2, AVX-512
    assert gelu.startswith("[0, 0.84134")
    scopes = program.scopes(kernel.frame)
    assert {"Nodes", "Buffers", "Locals"} <= set(scopes)
    program.leave()


@pytest.mark.rotated_tests(turns=6, number=2)
def test_a_crash_in_a_kernel_stops_at_its_line_with_its_buffers(dap):
    program = Debugging(dap.stdio(), "compiled_crash.py").launch(debugKernels=True)
    crash = program.stood()
    assert crash.reason == "exception"
    assert crash.function.startswith("cpp_fused_"), crash.function
    scopes = program.scopes(crash.frame)
    shown = [{each["name"]: each["value"] for each in program.children(scopes[name])} for name in ("Nodes", "Buffers")]
    nodes, buffers = shown
    assert nodes["element"].startswith("index[0, 0]")
    assert nodes["sigmoid"].startswith("[0.268941")
    assert sum("unreadable" in text for text in buffers.values()) == 1, buffers
    assert program.evaluate("x0", crash.frame).startswith("0 ")
    program.leave()


@pytest.mark.rotated_tests(turns=6, number=4)
def test_an_element_is_a_function_breakpoint(dap):
    program = Debugging(dap.stdio(), PROGRAM)
    program.launch(functions=["fx:gelu[1, 3]", "fx:gelu[3, 0]"], debugKernels=True, crashes=False)
    there = program.stood()
    right, _ = program.breakpoints
    assert there.body["hitBreakpointIds"] == [right["id"]]
    assert there.function.startswith("cpp_fused_"), there.function
    there = program.over(there)
    assert re.match(r"\[.*\]  \w+\[0, 16\] to \[1, \d+\], along x0$", program.evaluate("gelu", there.frame))
    changed = program.client.events("breakpoint")
    assert [each["breakpoint"]["verified"] for each in changed if each["breakpoint"]["id"] == right["id"]] == [True]
    assert program.run_out(there) == 0
    assert "Nothing can stop at fx:gelu[3, 0]." in program.output("console"), program.output("console")
    program.leave()
