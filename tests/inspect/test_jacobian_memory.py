"""jacobian_norm takes what memory it is given, none that it need not, and leaves none behind."""

import gc
import subprocess
import sys
import weakref

import pytest
import torch
from jacobians import seeded, truth
from torch import nn

from pyharness.inspect import jacobian_norm
from pyharness.inspect.norms.gradient_memory import measured_bytes
from pyharness.model.errors import UsageError


def test_memory_bounds_how_many_go_at_once():
    torch.manual_seed(0)
    deep = nn.Sequential(*[layer for _ in range(6) for layer in (nn.Linear(32, 32), nn.Tanh())])
    x = torch.randn(4, 32)
    limit = 20_000
    found = jacobian_norm(deep, x, memory=limit)
    assert 1 < found.chunk < 64
    assert float(found) == pytest.approx(float(jacobian_norm(deep, x)), rel=1e-4)
    assert measured_bytes(lambda: jacobian_norm(deep, x, memory=limit, probes=20)) < 4 * limit + 25 * x.nbytes
    with pytest.raises(UsageError, match=r"memory=\d+ is the least"):
        jacobian_norm(deep, x, memory=1000)


def test_wide_convolutions_are_run_one_by_one():
    torch.manual_seed(0)
    layers = (nn.Conv2d(1, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 4))
    module, x = nn.Sequential(*layers).double(), torch.randn(2, 1, 64, 64, dtype=torch.float64)
    found = jacobian_norm(module, x, per_sample=True)
    assert (found.chunk, found.vjps, found.notes) == (1, 4, ())
    assert float(found) == pytest.approx(truth(module, x))


def test_wide_attention_is_run_one_by_one():
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    x = torch.randn(8, 16, 32, generator=seeded(0))
    found = jacobian_norm(lambda x: layer(x).mean((1,)), x, per_sample=True)
    assert (found.vjps, found.chunk) == (32, 1), "and its graph shows that samples are apart"
    assert float(found) == pytest.approx(truth(lambda x: layer(x).mean((1,)), x), rel=1e-4)


@pytest.mark.parametrize("options", [{}, {"per_sample": True}, {"probes": 2}])
def test_the_graph_is_gone_with_the_call(options):
    outputs = []

    def f(x):
        outputs.append(weakref.ref(y := nn.functional.linear(x, torch.ones(3, 4)).tanh()))
        return y

    gc.disable()  # what stands in a circle would wait for it, with all that the graph saved
    try:
        jacobian_norm(f, torch.ones(5, 4), **options)
        assert outputs[0]() is None
    finally:
        gc.enable()


FAULTS = """
import resource

import torch
from torch import nn

from pyharness.inspect import jacobian_norm

torch.set_num_threads(1)
module = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
x = torch.randn(16, 3, 64, 64)
float(jacobian_norm(module, x, per_sample=True))
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
found = jacobian_norm(module, x, per_sample=True)
faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
print(faults / found.vjps)
"""


def test_gradients_reuse_the_memory_of_those_before():
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    faults = float(done.stdout)
    assert faults < 100, "of 4 MB of gradients every page is cleared anew for every row"
