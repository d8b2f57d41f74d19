"""Variables in a kernel that torch.compile's default backend made, through a client."""

from debugging import Debugging

from kit import inductor

PROGRAM = "compiled_loop.py"


def test_a_kernels_nodes_and_buffers_are_scopes_and_expressions(dap, tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", inductor.cache(tmp_path / "torch"))
    program = Debugging(dap.stdio(), PROGRAM).launch(functions=["fx:erf"], debugKernels=True, crashes=False)
    wrapper = program.stood()
    kernel = program.into(wrapper)
    assert kernel.function.startswith("cpp_fused_"), kernel.function
    assert "not computed yet" in program.evaluate("gelu", kernel.frame)
    while not (gelu := program.evaluate("gelu", kernel.frame)).startswith("["):
        kernel = program.over(kernel)
        assert kernel.function.startswith("cpp_fused_"), gelu
    assert gelu.endswith("[0, 0] to [0, 15], along x0")
    assert gelu.startswith("[0, 0.84134")
    scopes = program.scopes(kernel.frame)
    assert {"Nodes", "Buffers", "Locals"} <= set(scopes)
    program.leave()
