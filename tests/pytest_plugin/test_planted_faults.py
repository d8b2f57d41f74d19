"""Native crashes and hangs are failed tests with the right C++ line, and all tests behind them run."""

import json

import pytest

from kit.marks import line_of
from kit.paths import PROGRAMS

SUITE, TORCH, SOURCE = "suite_of_faults.py", "suite_with_torch.py", PROGRAMS / "faults.cpp"
FAULTS = {
    "test_fault[null_pointer]": ("null_pointer", "SIGSEGV (Segmentation fault) at 0x0: a null pointer"),
    "test_fault[wild_pointer]": ("wild_pointer", "SIGSEGV (Segmentation fault) at 0x123456789000"),
    "test_fault[calls_nothing]": ("calls_nothing", "the program called it: a null pointer"),
    "test_fault[divides]": ("divides", "SIGFPE"),
    "test_fault[traps]": ("traps", "SIGILL"),
    "test_fault[aborts]": ("aborts", "SIGABRT"),
    "test_fault[double_free]": ("double_free", "double free detected"),
    "test_fault[terminates]": ("terminates", "nothing caught std::out_of_range: index 7 of 3"),
    "test_fault[overflow]": ("overflow", "it has overflowed"),
    "test_fault[in_native_thread]": ("null_pointer", "a null pointer and 24 bytes"),
    "test_fault[overflow_in_native_thread]": ("overflow", "it has overflowed"),
    "test_in_thread[wild_pointer]": ("wild_pointer", "SIGSEGV (Segmentation fault) at 0x123456789000"),
    "test_in_thread[overflow]": ("overflow", "it has overflowed"),
    "test_hang[locks_twice]": ("locks_twice", "it has taken too long"),
    "test_hang[spins]": ("spins", "it has taken too long"),
}
"""The mark of the C++ line, and what is said, for each test that fails."""
PYTHON = {"test_python_lock": "it waits for a Python lock in test_python_lock"}
CHILDREN = ("test_child[spawn]", "test_child[forkserver]")
BEHIND = ("test_behind_faults", "test_behind_thread", "test_behind_hangs")


@pytest.mark.rotated_tests(turns=3, number=0)
@pytest.mark.rotated
@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "workers"])
def test_each_fault_is_a_failed_test(suite, options):
    ran = suite(SUITE, *options)
    assert ran.code == 1
    assert ran.outcomes == {**dict.fromkeys((*FAULTS, *PYTHON, *CHILDREN), "failed"), **dict.fromkeys(BEHIND, "passed")}
    for name, (mark, said) in FAULTS.items():
        message, text = ran.case(name)
        assert said in message, name
        assert f"faults.cpp:{line_of(mark, SOURCE)}" in text, name
    for name, said in PYTHON.items():
        assert said in ran.case(name)[0]
    for name in CHILDREN:
        assert f"::{name} (process " in ran.output
    assert ran.output.count(f"faults.cpp:{line_of('wild_pointer', SOURCE)} ") >= len(CHILDREN)
    assert "calls wild_pointer" in ran.case("test_fault[wild_pointer]")[1]  # its captured output
    assert "Fatal Python error" not in ran.output


def test_what_tests_ask_for(suite):
    ran = suite("suite_of_checks.py")
    assert {name for name, outcome in ran.outcomes.items() if outcome == "passed"} == {"test_records", "test_verifies"}
    for name in ("test_marked", "test_with_fixture"):
        message, text = ran.case(name)
        assert "aten::log" in message
        assert f"test_theirs.py:{line_of('makes', PROGRAMS / 'suite_of_checks.py')}" in text
    assert "mul" in ran.case("test_finds_the_wrong_pass")[0]
    message = ran.case("test_asks_for_what_is_not_there")[0]
    assert "has no 'nann'" in message
    assert "Did you mean nan?" in message


@pytest.mark.rotated_tests(turns=3, number=1)
@pytest.mark.rotated
@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["one process", "workers"])
def test_backward_and_a_worker_of_a_data_loader(suite, options, tmp_path):
    ran = suite(TORCH, *options, f"--pyharness-report={tmp_path / 'out'}")
    assert ran.outcomes == {"test_backward": "failed", "test_worker": "failed", "test_behind": "passed"}
    message, text = ran.case("test_backward")
    assert "a null pointer and 24 bytes" in message
    assert "scale = Tensor float32 [3] cpu [3.0, 3.0, 3.0]" in text
    assert "[autograd: " in text
    assert "DataLoader worker" in ran.case("test_worker")[0]
    assert f"faults.cpp:{line_of('divides', SOURCE)}" in ran.output
    reports = [json.loads(file.read_text()) for file in (tmp_path / "out").glob("*.json")]
    assert {report["name"].partition("::")[2] for report in reports} == {"test_backward", "test_worker"}
    assert len(list((tmp_path / "out").glob("*.html"))) == len(reports)
