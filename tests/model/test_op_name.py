"""The dispatcher's name of an op, from how Python and its graphs spell it."""

import pytest

from pyharness.model.text.op_name import op_name


@pytest.mark.parametrize(
    ("spelled", "name"),
    [
        ("relu", "aten::relu"),
        ("torch.relu", "aten::relu"),
        ("F.gelu", "aten::gelu"),
        ("torch.nn.functional.gelu", "aten::gelu"),
        ("aten.relu", "aten::relu"),
        ("aten.add.Tensor", "aten::add"),
        ("ops.aten.add", "aten::add"),
        ("torch.ops.mine.scan.default", "mine::scan"),
        ("mine::scan", "mine::scan"),
    ],
)
def test_names_the_op(spelled, name):
    assert op_name(spelled) == name
