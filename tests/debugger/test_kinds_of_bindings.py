"""Steps into functions and out of them, through every kind of bindings: what a generator wrote is passed and folded."""

import pytest

import pyharness
from kit import kinds, needs
from kit.marks import line_of
from kit.paths import search_path

pytestmark = pytest.mark.rotated_tests(turns=5)


RUST = needs.program("rustc", "apt-get install rustc", asked="--version")
PYO3 = needs.crate("pyo3", "apt-get install librust-pyo3-dev")
OF_RUST = [pytest.param("rust", marks=RUST), pytest.param("pyo3", marks=PYO3)]
KINDS = ["cffi", "cffi-abi", "ctypes", "cython", "nanobind", "swig", *OF_RUST]
CALL_BACK = [kind for kind in KINDS if kind != "swig"]


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def program(kind, monkeypatch, tmp_path):
    folder = kinds.built(kind)
    monkeypatch.setenv("PYTHONPATH", search_path(str(folder)))
    with (
        (tmp_path / "output").open("w") as output,
        pyharness.debug(str(kinds.PROGRAM), kind, str(folder / "libown.so"), stdout=output) as started,
    ):
        yield started


def python(mark):
    return "python", kinds.PROGRAM.name, line_of(mark, kinds.PROGRAM)


def native(mark, kind):
    source = kinds.source(kind)
    return "native", source.name, line_of(mark, source)


def at(stop):
    return stop.frame.language, stop.frame.file.rpartition("/")[2], stop.frame.line


def run_to(program, mark):
    return program.run_to(f"py:{kinds.PROGRAM}:{line_of(mark, kinds.PROGRAM)}")


def run_to_native(program, kind, mark):
    """By the end of the path: cffi and Cython compile a copy in a folder of theirs."""
    _, name, line = native(mark, kind)
    return program.run_to(f"native:{name}:{line}")


def begins(stop, kind, mark):
    """Whether a step has ended in the function whose first line is ``mark``: rustc's and Cython's are the signature."""
    language, file, line = native(mark, kind)
    return at(stop)[:2] == (language, file) and line - 1 <= stop.frame.line <= line


@pytest.mark.rotated
def test_into_and_out(program, kind):
    run_to(program, "scales")
    stop = program.into()
    assert begins(stop, kind, "scaled"), stop
    assert stop.frame.function.replace("::", ".").rpartition(".")[2].partition("(")[0] == "scaled"
    assert at(program.out()) == python("after")
    assert program.finish() == 0


@pytest.mark.rotated
def test_glue_is_folded(program):
    run_to(program, "scales")
    program.into()
    shown = [frame.function for frame in program.stack() if not frame.plumbing]
    assert len(shown) == 2, shown
    assert shown[1] == "<module>"


@pytest.mark.rotated
def test_over_walks_off_the_end_to_the_next_line_of_python(program, kind):
    run_to_native(program, kind, "returns")
    for _ in range(4):
        stop = program.over()
        if stop.frame.language == "python":
            break
        assert stop.frame.file.endswith(kinds.source(kind).name)
    assert at(stop) == python("after")
    assert program.finish() == 0


@pytest.mark.rotated
@pytest.mark.parametrize("kind", CALL_BACK, indirect=True)
def test_into_python_that_native_code_calls(program, kind):
    run_to_native(program, kind, "again")
    assert at(program.into()) == python("doubled")
    stop = program.out()
    assert at(stop)[:2] == native("again", kind)[:2]
    assert program.finish() == 0


@pytest.mark.parametrize("kind", ["cython"], indirect=True)
def test_a_method_of_a_class_of_cython(program):
    run_to(program, "methods")
    assert program.into().frame.function == "cython_kind.Plain.method"
    assert program.out().frame.language == "python"
    assert program.finish() == 0


@pytest.mark.parametrize("kind", [OF_RUST[1]], indirect=True)
def test_a_method_of_a_class_of_rust(program, kind):
    run_to(program, "methods")
    assert at(program.into())[:2] == native("step", kind)[:2]
    stop = program.into()
    assert (stop.frame.function, stop.frame.line) == ("pyo3_kind::Counter::step", native("step", kind)[2])
    assert program.out().frame.language == "python"
    assert program.finish() == 0


@pytest.mark.parametrize("kind", OF_RUST, indirect=True)
def test_a_function_of_rust_by_its_name(program, kind):
    stop = program.run_to(f"native:{kind}_kind::scaled")
    assert (stop.frame.function, stop.frame.line) == (f"{kind}_kind::scaled", native("scaled", kind)[2])
    assert program.finish() == 0


@pytest.mark.parametrize("kind", ["cython"], indirect=True)
def test_a_cdef_function_by_its_name(program):
    stop = program.run_to("native:product")
    assert (stop.frame.function, stop.frame.file.rpartition("/")[2]) == ("cython_kind.product", "cython_kind.pyx")
    assert program.finish() == 0
