"""Places as a person names them."""

from pathlib import Path

import pytest

from pyharness.model.errors import UsageError
from pyharness.model.where import Where, folders_of, parse

HERE = [Path(__file__).parent]
THIS = str(Path(__file__).resolve())


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("fx:relu_1", Where("fx", "relu_1")),
        ("fx:blocks.0.norm", Where("fx", "blocks.0.norm")),
        ("blocks.0.norm", Where("fx", "blocks.0.norm")),
        ("native:at::native::add", Where("native", "at::native::add")),
        ("ns::f", Where("native", "ns::f")),
        ("native:a.cpp:12", Where("native", file="a.cpp", line=12)),
        ("native:*0x401000", Where("native", "*0x401000")),
        ("src/a.cpp:12", Where("native", file="src/a.cpp", line=12)),
        ("py:test_where.py:3", Where("py", file=THIS, line=3)),
        ("test_where.py:3", Where("py", file=THIS, line=3)),
        ("fx:relu if x.dim() == 2", Where("fx", "relu", condition="x.dim() == 2")),
        ("native:f if n > 3 && m", Where("native", "f", condition="n > 3 && m")),
        ("fx:relu if 'x hits 3' and i", Where("fx", "relu", condition="'x hits 3' and i")),
        ("fx:relu if 'hits' == s hits>=8", Where("fx", "relu", condition="'hits' == s", hits=">=8")),
        ("fx:relu if hits>=3", Where("fx", "relu", condition="hits>=3")),
    ],
)
def test_a_place_is_what_it_says(text, where):
    assert parse(text, HERE) == where


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a place to stop at"),
        ("nativ:f", "Did you mean native"),
        ("native:*", "'native:*' names no address"),
        ("native:*$pc", "names no address"),
        ("native:*main", "Write native:FUNCTION, or native:*0xADDRESS"),
        ("native:*12 if n > 1", "names no address"),
        ("relu", "Write fx:relu or native:relu"),
        ("py:test_where.py", "names no line"),
        ("py:test_wheer.py:3", "Did you mean test_where.py"),
        (f"py:{'a' * 5000}.py:3", "There is no file"),
        ("fx:relu if x >", "is not a Python expression"),
    ],
)
def test_what_is_no_place_says_what_is_meant(text, message):
    with pytest.raises(UsageError) as caught:
        parse(text, HERE)
    assert message in str(caught.value)


def test_a_script_brings_its_folder_once():
    assert folders_of("", THIS, THIS) == [Path.cwd(), Path(THIS).parent]
