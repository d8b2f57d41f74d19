"""Extensions: stripped, optimized, asserts off, moved sources, built for another Python or another torch."""

import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from kit import needs
from pyharness.doctor.binaries import extension, library, torch_symbols
from pyharness.reading.binaries import compile_units
from pyharness.reading.binaries.elf import Elf

pytestmark = pytest.mark.rotated_tests(turns=6)


TAG = "cpython-311-x86_64-linux-gnu"
PYTHON, TORCH = {"installed": [], "version": "3.11.7"}, {"cuda": None}


@pytest.fixture
def looked_at(examined, tmp_path):
    """The findings about one library."""
    return lambda path: examined(extension.found, extensions=(str(path),), project=tmp_path)


def copied(path, folder, name=""):
    """A copy that a test may change."""
    return shutil.copy(path, folder / (name or path.name))


def test_one_that_can_be_debugged(looked_at, compiled):
    found = looked_at(compiled("op.so", "-g", "-O0"))
    assert {one.state for one in found.values()} == {"ok"}
    assert set(found) == {"file", "debug-info", "symbols", "optimized", "asserts", "sources", "index", "linked-torch"}
    assert "op.cpp" in found["sources"].seen


def test_without_debug_information(looked_at, compiled):
    found = looked_at(compiled("op.so", "-O0"))["debug-info"]
    assert (found.state, "compiled without -g" in found.seen) == ("problem", True)
    assert "-O0 -g" in found.remedy


def test_stripped(looked_at, compiled, tmp_path):
    path = copied(compiled("op.so", "-g"), tmp_path)
    subprocess.run(["strip", path], check=True)
    found = looked_at(path)["debug-info"]
    assert (found.state, "is stripped" in found.seen) == ("problem", True)


@pytest.mark.parametrize("keeps", [100, 3000, -1])
def test_cut_short(looked_at, compiled, tmp_path, keeps):
    path = copied(compiled("op.so", "-g"), tmp_path)
    whole = path.stat().st_size
    os.truncate(path, keeps % whole)
    found = looked_at(path)
    assert found.keys() == {"file"}
    assert (found["file"].state, "cut short" in found["file"].seen) == ("problem", True)


def test_debug_information_in_a_file_of_its_own(looked_at, compiled, tmp_path):
    path = copied(compiled("op.so", "-g", "-Wl,--build-id"), tmp_path)
    subprocess.run(["objcopy", "--only-keep-debug", path, f"{path}.debug"], check=True)
    subprocess.run(["strip", path], check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={path}.debug", path], check=True)
    found = looked_at(path)
    assert (found["debug-info"].state, f"{path}.debug" in found["debug-info"].seen) == ("ok", True)
    assert found["symbols"].state == "ok"


@pytest.mark.parametrize("level", ["-O2", "-Os", "-O"])
def test_optimized(looked_at, compiled, level):
    found = looked_at(compiled("op.so", "-g", level))["optimized"]
    assert (found.state, f"with {level}" in found.seen) == ("warning", True)


def test_optimized_by_a_compiler_that_does_not_say_so(looked_at, compiled):
    found = looked_at(compiled("op.so", "-g", "-O2", "-gno-record-gcc-switches", "-DQUIET"))["optimized"]
    assert found.state == "warning"
    assert "seems to be" in found.seen


@pytest.mark.parametrize("level", ["-Og", "-O0"])
def test_optimized_for_debugging(looked_at, compiled, level):
    assert looked_at(compiled("op.so", "-g", level))["optimized"].state == "ok"


def test_asserts(looked_at, compiled):
    assert looked_at(compiled("op.so", "-g", "-O0"))["asserts"].state == "ok"
    off = looked_at(compiled("op.so", "-g3", "-DNDEBUG"))["asserts"]
    assert (off.state, "-UNDEBUG" in off.remedy) == ("warning", True)
    unknown = looked_at(compiled("op.so", "-g", "-DNDEBUG"))["asserts"]
    assert (unknown.state, "cannot be told" in unknown.seen) == ("not applicable", True)
    quiet = looked_at(compiled("op.so", "-g3", "-DQUIET"))["asserts"]
    assert quiet.state == "not applicable"


def test_sources_that_are_gone(looked_at, compiled):
    path = compiled("op.so", "-g", "-DMOVED")
    (path.parent / "op.cpp").rename(path.parent / "moved.cpp")
    found = looked_at(path)["sources"]
    assert (found.state, "op.cpp" in found.seen) == ("warning", True)
    assert "substitute-path" in found.remedy


def test_an_index(looked_at, compiled, tmp_path, monkeypatch):
    monkeypatch.setattr(library, "_LARGE", 1)
    path = copied(compiled("op.so", "-g"), tmp_path)
    found = looked_at(path)["index"]
    assert (found.state, "gdb-add-index" in found.remedy) == ("warning", True)
    subprocess.run([needs.a_program("gdb-add-index"), path], check=True)
    assert looked_at(path)["index"].state == "ok"


def test_one_for_another_python(looked_at, compiled):
    found = looked_at(compiled("op.cpython-399-x86_64-linux-gnu.so", "-g"))["file"]
    assert (found.state, "another Python" in found.seen) == ("problem", True)


def test_tags():
    for name, state in (
        (f"op.{TAG}.so", "ok"),
        ("op.abi3.so", "ok"),
        ("op.so", "ok"),
        (f"op.{TAG[:-3]}musl.so", "problem"),
    ):
        one = extension._tag(
            extension.AREA, extension.Extension(f"/{name}", "named"), {"suffix": f".{TAG}.so", "version": "3.11"}
        )
        assert one.state == state, name


def test_one_with_the_old_abi(looked_at, compiled):
    found = looked_at(compiled("op.so", "-g", "-D_GLIBCXX_USE_CXX11_ABI=0"))["linked-torch"]
    assert (found.state, "c10::detail::torchCheckFail" in found.seen) == ("problem", True)
    assert "_GLIBCXX_USE_CXX11_ABI=1" in found.remedy


def test_one_for_another_torch(looked_at, compiled):
    found = looked_at(compiled("op.so", "-g", "-DtorchCheckFail=checkThatNoTorchHas"))["linked-torch"]
    assert (found.state, "checkThatNoTorchHas" in found.seen) == ("problem", True)
    assert "another torch" in found.remedy


def test_one_that_needs_torch_where_there_is_none(examined, compiled, executable, tmp_path):
    bare = str(executable("python", f'exec {sys.executable} -S "$@"'))
    options = {"extensions": (str(compiled("op.so", "-g")),), "python": bare, "project": tmp_path}
    found = examined(extension.found, **options)["linked-torch"]
    assert (found.state, f"not installed in {bare}" in found.seen) == ("problem", True)


def test_one_for_a_torch_with_cuda(looked_at, compiled):
    found = looked_at(compiled("op.so", "-g", "-Ddetail=cuda"))["linked-torch"]
    assert (found.state, "c10::cuda::torchCheckFail" in found.seen) == ("problem", True)
    assert "with CUDA" in found.remedy


def test_one_with_another_standard_library():
    name = b"_ZN3c106detail14torchCheckFailERKNSt3__112basic_stringIcNS1_11char_traitsIcEENS1_9allocatorIcEEEE"
    assert "libstdc++" in torch_symbols.cause([name])
    assert "c10::detail::torchCheckFail(std::__1::basic_string" in torch_symbols.readable(name)
    assert "another torch" in torch_symbols.cause([b"_ZN5torch8autograd13SavedVariableD1Ev"])


def test_what_is_no_library(looked_at, tmp_path):
    (tmp_path / "text.so").write_text("no library")
    assert looked_at(tmp_path / "text.so")["file"].state == "problem"


def test_one_for_another_processor(looked_at, compiled, tmp_path):
    code = bytearray(compiled("op.so", "-g", "-O0").read_bytes())
    code[18:20] = (183).to_bytes(2, "little")  # its ELF machine: AArch64
    other = tmp_path / "other.so"
    other.write_bytes(code)
    assert "is for another processor: its ELF machine is 183" in looked_at(other)["file"].seen


def test_damaged_debug_information(looked_at, compiled, tmp_path):
    path = copied(compiled("op.so", "-g"), tmp_path)
    info = Elf(path).sections[".debug_info"]
    data = bytearray(path.read_bytes())
    data[info.offset : info.offset + info.size] = b"\xff" * info.size
    path.write_bytes(data)
    assert looked_at(path)["sources"].state == "warning"


@pytest.mark.parametrize(
    "options", [("-gdwarf-3",), ("-gdwarf-4",), ("-gdwarf-5",), ("-gdwarf-5", "-gdwarf64"), ("-gz=zlib",), ("-flto",)]
)
def test_units_of_every_form(compiled, options):
    path = compiled("op.so", "-g", "-O1", *options)
    found = [unit for unit in compile_units.compile_units(Elf(str(path))) if unit.file.endswith("/op.cpp")]
    assert [unit.file for unit in found] == [str(path.parent / "op.cpp")] * len(found)
    assert found
    assert any("-O1" in unit.producer for unit in found)


def test_split_debug_information(looked_at, compiled):
    found = looked_at(compiled("op.so", "-g", "-gsplit-dwarf"))["debug-info"]
    assert (found.state, ".dwo" in found.seen) == ("warning", True)


def test_modules(examined, compiled, tmp_path):
    package = tmp_path / "mine"
    package.mkdir()
    (package / "__init__.py").write_text("")
    found = examined(extension.found, extensions=("mine",), project=tmp_path)["file"]
    assert (found.state, "no extension that uses torch" in found.seen) == ("problem", True)
    copied(compiled("op.so", "-g"), package)
    assert examined(extension.found, extensions=("mine",), project=tmp_path)["debug-info"].subject == str(
        package / "op.so"
    )
    missing = examined(extension.found, extensions=("mine.not_there",), project=tmp_path)["file"]
    assert (missing.state, "not_there" in missing.seen) == ("problem", True)


def test_those_of_a_project(examined, compiled, tmp_path):
    assert examined(extension.found, project=tmp_path)["extensions"].state == "not applicable"
    good = compiled("op.so", "-g")
    for folder in ("package", "build/lib", "environment/lib", ".hidden", "other"):
        (tmp_path / folder).mkdir(parents=True)
        copied(good, tmp_path / folder)
    (tmp_path / "environment/pyvenv.cfg").write_text("")
    (tmp_path / "other/op.so").rename(tmp_path / "other/plain.so")
    subprocess.run(["strip", tmp_path / "other/plain.so"], check=True)
    found = extension.extensions(
        SimpleNamespace(wanted=SimpleNamespace(extensions=(), project=tmp_path), python=PYTHON, torch=TORCH)
    )
    assert sorted(one.path for one in found) == [str(tmp_path / "other/plain.so"), str(tmp_path / "package/op.so")]


def test_those_that_torch_built_at_run_time(compiled, tmp_path, monkeypatch):
    built = tmp_path / "cache/py311_cpu/op"
    built.mkdir(parents=True)
    project = tmp_path / "project"
    project.mkdir()
    copied(compiled("op.so", "-g"), built)
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / "cache"))
    (built / "build.ninja").write_text(f"build op.o: compile {project}/op.cpp\n")
    (tmp_path / "cache/py311_cpu/piped").mkdir()
    os.mkfifo(tmp_path / "cache/py311_cpu/piped/build.ninja")
    machine = SimpleNamespace(wanted=SimpleNamespace(extensions=(), project=project), python=PYTHON, torch=TORCH)
    others = tmp_path / "cache/py312_cu128/op"  # newer, and for another Python and torch
    shutil.copytree(built, others)
    os.utime(others / "op.so")
    assert [one.path for one in extension.extensions(machine)] == [str(built / "op.so")]
    machine.python, machine.torch = {**PYTHON, "version": "3.12.1"}, {"cuda": "12.8"}
    assert [one.path for one in extension.extensions(machine)] == [str(others / "op.so")]
