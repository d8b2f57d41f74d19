"""Files that NumPy reads, of every kind of tensor."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from own_memory import info_of, read_own

from pyharness.ingdb.tensors.npy import header, save
from pyharness.model.errors import HarnessError
from pyharness.model.tensors.dtypes import DTYPES

RAW = torch.arange(240, dtype=torch.uint8)


def saved(tensor, path):
    return save(read_own, info_of(tensor), str(path))


# torch has no views of other types as quantized ones: test_quantized makes one.
NAMES = [one.name for one in DTYPES if hasattr(torch, one.name) and "quint" not in one.name and "qint" not in one.name]


@pytest.mark.parametrize("name", NAMES)
def test_every_dtype(name, tmp_path):
    dtype = getattr(torch, name)
    tensor = (RAW % 2 if name == "bool" else RAW).view(dtype)
    said = saved(tensor, tmp_path / "file.npy")
    found = np.load(tmp_path / "file.npy")
    assert said.startswith(f"Saved {name} [{len(tensor)}] as ")
    kind = next(one.kind for one in DTYPES if one.name == name)
    if kind == "raw":
        assert found.tobytes() == RAW.numpy().tobytes()
    else:
        wide = {"float": torch.float64, "complex": torch.complex128}.get(kind, dtype)
        wanted = tensor.to(wide).numpy()
        np.testing.assert_array_equal(found.astype(wanted.dtype), wanted)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.rand(3, 4).t(),
        torch.rand(5)[1:4],
        torch.tensor(2.5),
        torch.zeros(0, 3),
        torch.ones(2).expand(3, 2),
        torch.randn(3, dtype=torch.complex64).conj(),
        torch.randn(3, dtype=torch.complex128).conj().imag,
        torch.rand(2, 3, dtype=torch.float16).t(),
    ],
    ids=lambda tensor: f"{tensor.dtype}-{list(tensor.shape)}",
)
def test_views(tensor, tmp_path):
    saved(tensor, tmp_path / "view.npy")
    found = np.load(tmp_path / "view.npy")
    assert found.dtype.name == str(tensor.dtype).removeprefix("torch.")
    np.testing.assert_array_equal(found, tensor.resolve_conj().resolve_neg().numpy())


@pytest.mark.filterwarnings("ignore:.*quantized tensor creation")
def test_quantized(tmp_path):
    tensor = torch.quantize_per_tensor(torch.tensor([-1.0, 0.0, 1.0]), 0.25, 3, torch.quint8)
    assert saved(tensor, tmp_path / "q").endswith("q.npy, as stored: value = (stored - 3) * 0.25.")
    assert np.load(tmp_path / "q.npy").tolist() == tensor.int_repr().tolist()


def test_what_was_widened_is_said(tmp_path):
    assert "widened without loss" in saved(torch.rand(3).bfloat16(), tmp_path / "wide.npy")
    assert np.load(tmp_path / "wide.npy").dtype == np.float32


def test_the_header_is_aligned():
    for sizes in ((), (3,), tuple(range(30))):
        head = header("<f4", sizes)
        assert len(head) % 64 == 0
        assert head.endswith(b"\n")


def test_a_file_is_whole_or_not_there(tmp_path):
    info = info_of(torch.rand(100))
    with pytest.raises(HarnessError, match="not in this process"):
        save(read_own, replace(info, data=0x1000), str(tmp_path / "gone.npy"))
    (tmp_path / "folder.npy").mkdir()
    tensor = torch.rand(3)
    with pytest.raises(HarnessError, match="Cannot save"):
        saved(tensor, tmp_path / "folder.npy")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.npy"]
