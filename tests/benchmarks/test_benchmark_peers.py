"""Peers that cannot be had are said to be missing; what needs no peer and no clock is checked here."""

import shutil

import pytest
import torch

from benchmarks import capture, peers
from benchmarks.differentiating import cases, ways
from benchmarks.differentiating.peak import peak_bytes


@pytest.mark.parametrize(
    ("name", "reason"), [("jacobian_regularizer", "there is no git here"), ("activations", "are not available")]
)
def test_a_peer_that_cannot_be_had_is_named(name, reason, tmp_path, monkeypatch):
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("bash", "mkdir", "cat", "rm", "tail"):
        (tools / tool).symlink_to(shutil.which(tool))
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setattr(peers, "WHERE", tmp_path / "peers")
    monkeypatch.setattr("sys.executable", "/bin/false")
    assert reason in peers.bring(name)


def test_more_is_found_in_awkward_models_than_by_bare_hooks():
    _, checks = capture._found(with_peers=False)
    assert [check.what for check in checks if not check.holds] == []


@pytest.fixture
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("make", [cases.attention, cases.convolution, lambda: cases.mlp(3, 8, 8, 4)])
def test_every_way_to_the_norm_gives_the_same(make):
    torch.manual_seed(0)
    case = make()
    values = [way(case) for way in ways.exact(with_peer=False).values()]
    assert values == [pytest.approx(values[0], rel=1e-4)] * len(values)


def test_the_peak_of_memory_is_that_of_the_call():
    found = peak_bytes(lambda: [torch.ones(16 << 20) for _ in range(2)])
    assert found == pytest.approx(2 * (64 << 20), rel=0.1)
