"""Values of Rust at a native stop, by the printers that come with rustc; and the objects of Python that PyO3 holds."""

import pytest

import pyharness
from kit import kinds, needs
from kit.marks import line_of
from kit.paths import search_path
from kit.survey import Survey
from pyharness.model.errors import HarnessError

pytestmark = pytest.mark.rotated_tests(turns=3)

RUST = needs.program("rustc", "apt-get install rustc", asked="--version")
PYO3 = needs.crate("pyo3", "apt-get install librust-pyo3-dev")
VALUES = {
    "numbers": "Vec(size=3) = {1, 2.5, -3}",
    "numbers[1]": "2.5",
    "numbers[-1]": "-3",
    "numbers[1:3]": "[2.5, -3]",
    "names": 'Vec(size=2) = {"low", "high"}',
    "names[1]": '"high"',
    "part": "&[f64](size=2) = {2.5, -3}",
    "part[0]": "2.5",
    "mode": 'rust_kind::Mode::Scaled{factor: 2, name: "fast"}',
    "mode.factor": "2",
    "pair": "rust_kind::Mode::Pair(3, 0.5)",
    "plain": "rust_kind::Mode::Plain",
    "modes": '[rust_kind::Mode::Pair(3, 0.5), rust_kind::Mode::Scaled{factor: 3, name: "s"}, rust_kind::Mode::Plain]',
    "modes[1]": 'rust_kind::Mode::Scaled{factor: 3, name: "s"}',
    "modes[0].1": "0.5",
    "rates": 'HashMap(size=1) = {["low"] = 0.5}',
    "limit": "core::option::Option<u32>::Some(3)",
    "absent": "core::option::Option<alloc::string::String>::None",
}


@pytest.fixture
def at_rust(request, tmp_path, monkeypatch):
    """A program that stands where a function of a kind has its values."""
    kind, call = request.param
    monkeypatch.setenv("PYTHONPATH", search_path(str(kinds.built(kind))))
    script = tmp_path / "looks.py"
    script.write_text(f"import {kind}_kind\n{kind}_kind.{call}\n")
    with pyharness.debug(str(script)) as program:
        program.run_to(f"native:{kind}_kind.rs:{line_of('looked', kinds.source(kind))}")
        yield program


@pytest.fixture
def scaling(tmp_path, monkeypatch):
    """Gives the script that calls ``scaled`` of a kind in its second line."""

    def written(kind):
        monkeypatch.setenv("PYTHONPATH", search_path(str(kinds.built(kind))))
        script = tmp_path / "scales.py"
        script.write_text("import rust_kind\nrust_kind.scaled(5, 2)\n")
        return str(script)

    return written


@RUST
@needs.rusts_printers()
@pytest.mark.parametrize("at_rust", [("rust", "looked()")], indirect=True)
def test_values(at_rust):
    assert {name: at_rust.evaluate(name) for name in VALUES} == VALUES
    with pytest.raises(HarnessError, match="numbers has 3 elements"):
        at_rust.evaluate("numbers[3]")


@RUST
@needs.rusts_printers()
@pytest.mark.parametrize("at_rust", [("rust", "looked()")], indirect=True)
def test_what_a_variable_is_called_can_be_computed(at_rust):
    survey = Survey(at_rust)
    survey.look()
    assert survey.computed > len(VALUES)
    assert survey.refused == []


@RUST
def test_the_newer_symbols(scaling):
    with pyharness.debug(scaling("rust-v0")) as program:
        assert program.run_to("native:rust_kind::scaled").frame.function == "rust_kind::scaled"


@PYO3
@pytest.mark.parametrize("at_rust", [("pyo3", "looked({'a': 1}, [1, 2])")], indirect=True)
def test_objects_of_pyo3(at_rust):
    assert at_rust.evaluate("thing") == "[1, 2]"
    assert at_rust.variables()["words"] == "{'a': 1}"


@RUST
def test_a_step_ends_where_parameters_can_be_read(scaling):
    script = scaling("rust")
    with pyharness.debug(script) as program:
        program.run_to(f"py:{script}:2")
        program.into()
        at_the_beginning = program.evaluate("arguments")
        program.over()
        assert program.evaluate("arguments") == at_the_beginning != "0x0"
