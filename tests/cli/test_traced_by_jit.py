"""A stop within ``torch.jit.trace``: what is asked there does not come into the graph, and its check holds."""

import pytest

# torch warns of all that is traced on Python 3.14.
TRACED = """import torch, warnings
warnings.simplefilter("ignore", FutureWarning)
class Net(torch.nn.Module):
    def forward(self, x):
        y = x + 1
        return y * 2

net = torch.nn.Sequential(torch.nn.Linear(3, 3), Net())
print("nodes", len(list(torch.jit.trace(net, torch.ones(2, 3)).inlined_graph.nodes())))
"""
ASKED = ("--print", "y", "--print", "y.shape[0] + y.numel()", "--print", "float(y.sum())")


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (("--at", "py:traced.py:6", *ASKED), "y.shape[0] + y.numel() = 8"),
        (("--at", "py:traced.py:6 if y.shape[0] == 2", "--over"), "step · python"),
        (("--at", "op:aten::mul", "--stack"), "aten::mul.Tensor(float32[2, 3], "),
    ],
)
def test_the_graph_is_as_without_a_debugger(pyharness, tmp_path, where, said):
    (tmp_path / "traced.py").write_text(TRACED)
    done = pyharness("step", "traced.py", *where)
    assert said in done.stdout
    assert done.stdout.count("nodes 10") == 1, done.stdout + done.stderr
    assert (done.returncode, done.stderr) == (0, "")
