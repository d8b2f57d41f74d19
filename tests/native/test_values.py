"""The check of a tensor's values agrees with torch's own, over dtypes, layouts and sizes."""

import math

import pytest
import torch

from pyharness.native.chains import engine

NAN, INF, LARGE, DENORMAL = 1, 2, 4, 8
WIDE = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
COMPLEX = (torch.complex64, torch.complex128, torch.complex32)
BYTES = (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz)


@pytest.fixture(autouse=True)
def threads():
    """One, unless a test sets another number: OpenMP's wait for each other on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def kinds(tensor, wanted=NAN | INF, limit=math.inf):
    return engine().value_kinds(tensor, wanted, limit)


def reference(tensor, wanted=NAN | INF, limit=math.inf):
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    wide = tensor.double()
    tiny = {torch.float16: 2**-14, torch.float64: 2**-1022}.get(tensor.dtype, 2**-126)
    found = NAN * bool(wide.isnan().any()) | INF * bool(wide.isinf().any())
    found |= LARGE * bool((wide.abs() > limit).any())
    found |= DENORMAL * bool(((wide != 0) & (wide.abs() < tiny)).any())
    return found & wanted


def values(dtype, *shape):
    return torch.randn(*shape).to(dtype)


@pytest.mark.parametrize("dtype", [*WIDE, *COMPLEX])
@pytest.mark.parametrize("count", [1, 3, 63, 64, 65, 256, 4096, 16400])
def test_one_bad_value_is_seen_wherever_it_is(dtype, count):
    clean = values(dtype, count)
    assert kinds(clean) == 0
    for position in {0, count // 2, count - 1}:
        for bad, expected in ((math.nan, NAN), (math.inf, INF), (-math.inf, INF)):
            tensor = clean.clone()
            tensor[position] = bad
            assert kinds(tensor) == expected == reference(tensor)
    both = clean.clone()
    both[0], both[-1] = math.inf, math.nan
    assert kinds(both) == reference(both)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64])
@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.t(),
        lambda x: x[:, 1:],
        lambda x: x[:, ::3],
        lambda x: x[::2, 5],
        lambda x: x[0].expand(7, -1),
        lambda x: x.unfold(0, 4, 2),
        lambda x: x.view(10, 5, -1).permute(2, 0, 1)[1:],
        lambda x: x.as_strided((20, 30), (1, 2)),
        lambda x: x[:, :1],
        lambda x: x[3:3],
        lambda x: x[0, 0],
        lambda x: x.flip(0).conj(),
    ],
)
def test_views_see_what_is_theirs_and_nothing_else(dtype, view):
    base = values(dtype, 50, 60)
    assert kinds(view(base)) == 0
    for position in range(0, base.numel(), 97):
        tensor = base.clone()
        tensor.view(-1)[position] = math.nan
        assert kinds(view(tensor)) == reference(view(tensor)), position


@pytest.mark.parametrize("dtype", WIDE)
def test_limits_and_denormals(dtype):
    for limit in (1.0, 1.1, 1000.3, 65504.0, 1e-3):
        for value in (0.5, 1.0, -1.0, 1.1, -1.1, 1000.0, 1000.5, -1001.0, 65504.0, 0.001, 0.00099, math.inf):
            tensor = torch.full((300,), 0.0, dtype=dtype)
            tensor[77] = value
            assert kinds(tensor, LARGE, limit) == reference(tensor, LARGE, limit), (limit, value)
    for value in (torch.finfo(dtype).tiny, torch.finfo(dtype).smallest_normal / 2, -torch.finfo(dtype).tiny / 4, 0.0):
        tensor = torch.full((300,), 1.0, dtype=dtype)
        tensor[299] = value
        assert kinds(tensor, DENORMAL) == reference(tensor, DENORMAL), value


def test_only_what_is_wanted_is_said():
    tensor = torch.tensor([math.nan, 1.0, math.inf])
    assert kinds(tensor, NAN) == NAN
    assert kinds(tensor, INF) == INF
    assert kinds(tensor, LARGE, 5.0) == LARGE
    assert kinds(torch.tensor([math.nan]), INF) == 0
    assert kinds(torch.tensor([math.nan]), LARGE, 5.0) == 0


@pytest.mark.parametrize("dtype", BYTES)
def test_types_of_one_byte(dtype):
    for bits in range(256):
        tensor = torch.tensor([0, bits], dtype=torch.uint8).view(dtype)
        assert kinds(tensor, NAN | INF | LARGE, 100.0) == reference(tensor, NAN | INF | LARGE, 100.0), bits


@pytest.mark.parametrize("shape", [(3_000_000,), (3000, 1000)])
def test_large_ones_on_several_threads(shape):
    torch.set_num_threads(2)
    tensor = torch.zeros(*shape, dtype=torch.float64)
    assert kinds(tensor) == 0
    tensor.view(-1)[-1] = math.nan
    assert kinds(tensor) == NAN
    assert kinds(tensor.view(-1)[1:]) == NAN
    if len(shape) == 2:
        assert kinds(tensor[:, :-1]) == 0
        assert kinds(tensor[:, 1:]) == NAN
        assert kinds(tensor[:, ::999]) == NAN


def test_what_has_no_numbers_has_no_bad_ones():
    from torch._subclasses.fake_tensor import FakeTensorMode

    assert kinds(torch.tensor([1, 2])) == 0
    assert kinds(torch.tensor([True])) == 0
    assert kinds(torch.empty(0)) == 0
    assert kinds(torch.full((3,), math.nan, device="meta")) == 0
    with FakeTensorMode():
        assert kinds(torch.full((3,), math.nan)) == 0
    torch.func.vmap(lambda x: x + kinds(x))(torch.full((2, 2), math.nan))


def test_sparse_tensors():
    dense = torch.zeros(4, 4)
    dense[1, 2] = math.inf
    assert kinds(dense.to_sparse()) == INF
    assert kinds(torch.eye(4).to_sparse()) == 0


def test_statistics():
    tensor = torch.tensor([[1.0, math.nan, -2.0], [math.inf, 1e-42, 4.0]])
    found = engine().value_statistics(tensor, NAN | INF, math.inf)
    assert found == {
        "count": 6,
        "nan": 1,
        "positive_infinity": 1,
        "negative_infinity": 0,
        "large": 0,
        "denormal": 1,
        "minimum": -2.0,
        "maximum": 4.0,
        "mean": pytest.approx(0.75),
        "first": (0, 1),
    }
    assert engine().value_statistics(tensor.t(), INF, math.inf)["first"] == (0, 1)
    huge = torch.full((4,), 3e38)
    assert engine().value_statistics(huge.double() * 5e269, NAN, math.inf)["mean"] == pytest.approx(1.5e308)
    assert engine().value_statistics(torch.tensor(math.nan), NAN, math.inf)["first"] == ()
    assert engine().value_statistics(torch.full((2,), math.nan), NAN, math.inf)["mean"] is None
