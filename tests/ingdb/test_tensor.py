"""One tensor from memory: this process's own tensors, and tensors that are damaged in every way."""

import random
from dataclasses import replace

import pytest
import torch
from own_memory import LAYOUT, Made, info_of, read_own
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from pyharness.ingdb.tensors import format as tensor_format
from pyharness.ingdb.tensors import npy
from pyharness.ingdb.tensors import statistics as tensor_statistics
from pyharness.ingdb.tensors.elements import summary
from pyharness.ingdb.tensors.reading import read_tensor
from pyharness.reading.process.memory import Memory, UnreadableError


def line(tensor):
    return tensor_format.one_line(read_own, info_of(tensor))


def damaged(tensor, offset, data):
    """The tensor as it looks when some bytes of its TensorImpl are overwritten."""
    address = tensor._cdata

    def read(where, size):
        found = bytearray(read_own(where, size))
        start = address + offset - where
        if 0 <= start <= size - len(data):
            found[start : start + len(data)] = data
        return bytes(found)

    return read_tensor(read, address, LAYOUT)


def number(value):
    return value.to_bytes(8, "little", signed=value < 0)


TENSOR = torch.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("offset", "data", "problem"),
    [
        (LAYOUT.rank, number(1 << 40), "it would have 1099511627776 dimensions"),
        (LAYOUT.rank, number(65), "it would have 65 dimensions"),
        (LAYOUT.dims, number(-2), "it would have the sizes [-2, 3]"),
        (LAYOUT.dims, number(4), "it has the sizes [4, 3] but 6 elements"),
        (LAYOUT.numel, number(7), "it has the sizes [2, 3] but 7 elements"),
        (LAYOUT.dims + 8 * LAYOUT.inline_rank, number(-3), "it has the offset 0 and the strides [-3, 1]"),
        (LAYOUT.dims + 8 * LAYOUT.inline_rank, number(1 << 50), "its elements reach beyond its storage of 24 bytes"),
        (LAYOUT.storage_offset, number(1), "its elements reach beyond its storage of 24 bytes"),
        (LAYOUT.storage_offset, number(-1), "it has the offset -1 and the strides [3, 1]"),
        (LAYOUT.storage, number(8), "its TensorImpl cannot be read"),
        (LAYOUT.autograd_meta, number(1), "its TensorImpl cannot be read"),
    ],
)
def test_a_damaged_tensor_is_named_corrupt(offset, data, problem):
    found = damaged(TENSOR, offset, data)
    assert (found.state, found.problem) == ("corrupt", problem)
    assert tensor_format.headline(found) == f"<corrupt tensor at {TENSOR._cdata:#x}: {problem}>"


def test_an_unknown_dtype_is_named_by_its_number():
    found = damaged(TENSOR, LAYOUT.dtype, b"\x99\x00")
    assert (found.dtype, found.unreadable) == ("ScalarType(153)", "unknown dtype ScalarType(153)")


def test_other_devices_say_where_the_data_is():
    found = damaged(TENSOR, LAYOUT.device, b"\x01\x02\x01")
    assert (found.device, found.unreadable) == ("cuda:2", "data is on cuda:2")
    assert damaged(TENSOR, LAYOUT.device, b"\x77\xff\x01").device == "DeviceType(119)"


def test_another_object_is_no_tensor():
    result = torch.ones(1, requires_grad=True) * 2
    node = info_of(result).grad_fn
    assert read_tensor(read_own, node.address, LAYOUT).problem == "it is a torch::autograd::generated::MulBackward0"


def test_addresses_where_nothing_is():
    assert read_tensor(read_own, 0, LAYOUT).state == "null"
    for address in (8, 1, (1 << 64) - 8, 1 << 47):
        assert read_tensor(read_own, address, LAYOUT).state == "corrupt"


def test_no_damage_raises_or_reads_much():
    """Any bytes whatever: a tensor or a placeholder, within a bounded number of bytes read."""
    random_bytes = random.Random(0)  # noqa: S311  (the same damage every time)
    base = read_own(TENSOR._cdata, LAYOUT.impl_size)
    for _ in range(3000):
        raw = bytearray(base)
        for _ in range(random_bytes.randint(1, 40)):
            raw[random_bytes.randrange(len(raw))] = random_bytes.choice((0, 1, 0x41, 0x7F, 0xFF))
        made = Made({0x10000: raw + bytes(4096)})
        found = read_tensor(made, 0x10000, LAYOUT)
        "\n".join(tensor_format.describe(made, found))
        tensor_format.to_json(made, found)
        assert made.bytes_read < 1 << 20


def test_elements_that_are_gone_are_placeholders():
    gone = replace(info_of(TENSOR), data=0x10)
    assert summary(read_own, gone) == [["<unreadable>"] * 3] * 2
    with pytest.raises(UnreadableError):
        tensor_statistics.statistics(read_own, gone)


def test_a_huge_storage_is_not_read_to_show_a_tensor():
    read = []

    def counting(address, size):
        read.append(size)
        return read_own(address, size)

    large = torch.zeros(1 << 22)
    tensor_format.one_line(counting, read_tensor(counting, large._cdata, LAYOUT))
    assert sum(read) < 1 << 17


LINES = {
    "Tensor float32 [2, 3] cpu [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]": TENSOR,
    "Tensor int64 [3] cpu [1, -2, 3]": torch.tensor([1, -2, 3]),
    "Tensor float64 [] cpu 3.142": torch.tensor(3.14159, dtype=torch.float64),
    "Tensor float32 [0, 3] cpu []": torch.zeros(0, 3),
    "Tensor bool [2] cpu [True, False]": torch.tensor([True, False]),
    "Tensor float32 [3] cpu [1e-20, 1e+10, nan]": torch.tensor([1e-20, 1e10, float("nan")]),
    "Tensor complex64 [2] cpu [1.0+2.0j, -1.5-0.5j]": torch.tensor([1 + 2j, -1.5 - 0.5j]),
    "Tensor float32 [20] cpu [0.0, 1.0, …, 18.0, 19.0]": torch.arange(20.0),
    "Tensor float32 [2] meta <meta tensors have no data>": torch.empty(2, device="meta"),
}


@pytest.mark.parametrize("wanted", LINES)
def test_one_line(wanted):
    assert line(LINES[wanted]) == wanted


@pytest.mark.filterwarnings("ignore:.*quantized tensor creation")
def test_a_quantized_tensor():
    tensor = torch.quantize_per_tensor(torch.tensor([0.5, -1.0]), 0.5, 2, torch.quint8)
    assert line(tensor) == "Tensor quint8 [2] cpu scale=0.5 zero_point=2 [0.5, -1.0]"


def test_an_undefined_tensor():
    # The gradient of a tensor that has none is the undefined tensor.
    leaf = torch.ones(1, requires_grad=True)
    memory = Memory(read_own)
    gradient = memory.pointer(memory.pointer(leaf._cdata + LAYOUT.autograd_meta) + LAYOUT.grad)
    found = read_tensor(read_own, gradient, LAYOUT)
    assert (found.state, found.kind) == ("undefined", "c10::UndefinedTensorImpl")
    assert tensor_format.one_line(read_own, found) == "Tensor undefined"


def test_a_nested_tensor_and_tensors_of_transforms():
    with pytest.warns(UserWarning, match="nested"):
        nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    assert line(nested) == "Tensor float32 cpu nested <nested>"
    lines = []
    torch.func.vmap(lambda one: (lines.append(line(one)), one)[1])(torch.ones(2, 3))
    assert lines == ["Tensor float32 [3] cpu <a at::functorch::BatchedTensorImpl has no storage>"]


def test_a_tensor_of_symbolic_sizes():
    context = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC, DimDynamic.STATIC])
    mode = FakeTensorMode(shape_env=ShapeEnv())
    fake = mode.from_tensor(torch.ones(5, 3), symbolic_context=context)
    assert line(fake) == "Tensor float32 [symbolic] meta <its sizes are symbolic>"


def test_several_lines_are_laid_out_as_torch_does():
    cube, row = torch.arange(8).reshape(2, 2, 2), torch.arange(100)
    described = list(tensor_format.describe(read_own, info_of(cube)))
    assert described[-4:] == ["  [[[0, 1],", "    [2, 3]],", "   [[4, 5],", "    [6, 7]]]"]
    wide = list(tensor_format.describe(read_own, info_of(row)))
    assert all(len(one) <= 122 for one in wide)
    assert " ".join(part.strip() for part in wide[3:]).strip("[]").split(", ") == [str(one) for one in range(100)]


def test_memory_is_read_once_for_small_things():
    memory = Memory(read_own)
    assert memory.read(TENSOR.data_ptr(), 24) == TENSOR.numpy().tobytes()


def test_numpy_cannot_have_what_is_not_there(tmp_path):
    for tensor in (torch.empty(2, device="meta"), torch.eye(2).to_sparse()):
        with pytest.raises(npy.HarnessError, match="cannot be saved"):
            npy.save(read_own, info_of(tensor), str(tmp_path / "x"))
    with pytest.raises(npy.HarnessError, match="4398046511104 bytes"):
        npy.save(read_own, info_of(torch.ones(1).expand(1 << 40)), str(tmp_path / "x"))
    assert not list(tmp_path.iterdir())
