"""An element of a node's tensor, as it is written."""

import pytest

from pyharness.model.element import Element, parse, read
from pyharness.model.errors import UsageError


@pytest.mark.parametrize(
    ("text", "element"),
    [
        ("gelu[2, 7]", Element("gelu", (2, 7))),
        (" gelu [ 2,-7 ] ", Element("gelu", (2, -7))),
        ("[0]", Element("", (0,))),
        ("mean[]", Element("mean", ())),
        ("sum_1[3,]", Element("sum_1", (3,))),
    ],
)
def test_what_is_written_is_an_element(text, element):
    assert parse(text) == element
    assert parse(str(element)) == element


@pytest.mark.parametrize(
    "text",
    ["", "gelu", "gelu[", "gelu[a]", "gelu[1.5]", "gelu[1 2]", "gelu[,]", "a b[1]", "gelu[1]x", "[1" + "0" * 19 + "]"],
)
def test_all_else_is_none(text):
    assert read(text) is None
    with pytest.raises(UsageError, match="is no element"):
        parse(text)
