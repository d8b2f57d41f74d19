"""Places as a person names them."""

import zipfile
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
        ("fx:gelu[2, -1]", Where("fx", "gelu", element=(2, -1))),
        ("gelu[2,7] if x0 > 1 hits 2", Where("fx", "gelu", condition="x0 > 1", hits="2", element=(2, 7))),
        ("blocks.0.norm", Where("fx", "blocks.0.norm")),
        ("native:at::native::add", Where("native", "at::native::add")),
        ("native::add", Where("native", "native::add")),
        ("native:::over", Where("native", "over")),
        ("::over", Where("native", "over")),
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
        ("fx:gelu[]", "names no element"),
        ("fx:blocks.0[1]", "is no element"),
        ("fx:gelu[x]", "is no element"),
        ("py:test_where.py", "names no line"),
        ("py:test_wheer.py:3", "Did you mean test_where.py"),
        ("py:parse", "py:FILE:FUNCTION, e.g. py:train.py:parse"),
        ("py:test_where.py:test_a_place_is_what", "Did you mean test_a_place_is_what_it_says"),
        ("py:test_where.py:test a", "names no line"),
        (f"py:{'a' * 5000}.py:3", "There is no file"),
        ("fx:relu if x >", "is not a Python expression"),
    ],
)
def test_what_is_no_place_says_what_is_meant(text, message):
    with pytest.raises(UsageError) as caught:
        parse(text, HERE)
    assert message in str(caught.value)


FUNCTIONS = """class Net:
    @staticmethod
    def forward(x):
        def inner():
            return x
        return inner()

class Other:
    def forward(self): return 1

def main():
    pass
"""


@pytest.mark.parametrize(("name", "line"), [("main", 12), ("Net.forward", 4), ("inner", 5), ("Other.forward", 9)])
def test_a_function_of_a_file_is_its_first_line(tmp_path, name, line):
    (tmp_path / "net.py").write_text(FUNCTIONS)
    for text in (f"py:net.py:{name}", f"net.py:{name}"):
        assert parse(f"{text} if x hits 2", [tmp_path]).written == f"py:{tmp_path / 'net.py'}:{line} if x hits 2"


def test_a_name_of_several_functions_means_none(tmp_path):
    (tmp_path / "net.py").write_text(FUNCTIONS)
    with pytest.raises(UsageError, match=r"Several functions of .*\n  4  Net.forward\n  9  Other.forward"):
        parse("py:net.py:forward", [tmp_path])


@pytest.mark.parametrize("path", ["a if b/x.py", "a when b/x.py", "a hits 5/x.py", "x if y.py", "a if b hits 3/x.py"])
@pytest.mark.parametrize("behind", ["", " if n > 1", " hits >= 3", " if n if m else 0 hits 5"])
def test_a_word_in_a_path_begins_no_condition(tmp_path, path, behind):
    file = tmp_path / path
    file.parent.mkdir(exist_ok=True)
    file.write_text("n = 1\nn = 2\n")
    for kind in ("py:", ""):
        assert parse(f"{kind}{path}:2{behind}", [tmp_path]).written == f"py:{file}:2{behind}"
    native = f"native:{file.with_suffix('.cpp')}:2{behind}"
    assert parse(native, [tmp_path]).written == native


def test_a_line_within_an_archive_says_what_to_do(tmp_path):
    archive = tmp_path / "app.pyz"
    with zipfile.ZipFile(archive, "w") as stream:
        stream.writestr("inner/beside.py", "n = 1\n")
    for name, where in (
        ("app.pyz/inner/beside.py", f"lies in an archive, {archive}"),
        (str(archive / "inner" / "beside.py"), f"lies in an archive, {archive}"),
        ("app.pyz", "'app.pyz' is an archive: nothing stops"),
    ):
        with pytest.raises(UsageError, match=where) as caught:
            parse(f"py:{name}:1", [tmp_path])
        assert "python -m zipfile -e app.pyz FOLDER" in caught.value.remedy


def test_a_script_brings_its_folder_once():
    assert folders_of("", THIS, THIS) == [Path.cwd(), Path(THIS).parent]
