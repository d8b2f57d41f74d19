"""A process goes on behind one that a test has ended, as if that had been a test like others."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.rotated_tests(turns=6)


CRASH = "import ctypes, os\nfrom pathlib import Path\n\ndef crash():\n    ctypes.string_at(0)\n\n"
CLASSES = """
import unittest
class TestIt(unittest.TestCase):
    def test_a(self): pass
    def test_b(self): crash()
    def test_c(self): pass

def documented():
    '''
    >>> crash()
    '''
"""
FIXTURES = """
import pytest
@pytest.fixture(scope="module")
def made():
    with open("made", "a") as file: file.write("made ")
    yield
    with open("made", "a") as file: file.write("gone ")
@pytest.fixture
def broken(): crash()
@pytest.fixture
def breaks():
    yield
    crash()
def test_a(made): pass
def test_b(made): crash()
def test_c(made): pass
def test_setup(broken): pass
def test_teardown(breaks): pass
"""


def written(*bodies):
    return CRASH + "".join(f"def test_{name}():\n    {body}\n\n" for name, body in bodies)


@pytest.mark.always
def test_the_next_process_begins_as_the_first(suite):
    spoils = "import resource; os.chdir('/'); os.environ['SPOILT'] = '1'; resource.setrlimit(7, (100, 100)); crash()"
    checks = "import resource; assert Path('test_theirs.py').exists() and 'SPOILT' not in os.environ"
    ran = suite(written(("spoils", spoils), ("finds_it_whole", f"{checks}; assert resource.getrlimit(7)[1] != 100")))
    assert ran.outcomes == {"test_spoils": "failed", "test_finds_it_whole": "passed"}


def test_names_of_all_lengths(suite):
    names = ["a_test_with_a_name_that_is_longer_than_others", "short", "one_that_is_between", "b"]
    ran = suite(written(*((name, "crash()") for name in names)))
    assert ran.outcomes == {f"test_{name}": "failed" for name in names}


def test_tests_that_are_collected_several_times(suite, tmp_path):
    (tmp_path / "conftest.py").write_text("def pytest_collection_modifyitems(items): items[:] = items * 2\n")
    ran = suite(written(("a", "pass"), ("b", "crash()"), ("c", "pass")))
    assert "2 failed, 4 passed" in ran.output


def test_ways_to_end_without_a_crash(suite):
    ran = suite(
        written(
            ("passes", "pass"), ("exits", "os._exit(0)"), ("is_killed", "os.kill(os.getpid(), 9)"), ("behind", "pass")
        )
    )
    assert ran.code == 1
    assert ran.outcomes == {"test_passes": "passed", "test_exits": "failed", "test_is_killed": "failed"} | {
        "test_behind": "passed"
    }
    assert "exit code 0, by os._exit or from native code" in ran.case("test_exits")[0]
    assert "killed by SIGKILL: out of memory?" in ran.case("test_is_killed")[0]
    assert re.search(r"2 failed, 2 passed in", ran.output)
    assert "[100%]" in ran.output


def test_fixtures_are_made_again_and_theirs_are_errors(suite, tmp_path):
    ran = suite(CRASH + FIXTURES)
    assert (tmp_path / "made").read_text() == "made made "  # of the third, nothing asks for it
    assert "2 failed" not in ran.output
    assert "1 failed, 3 passed, 2 errors" in ran.output
    assert ran.outcomes["test_setup"] == "error"
    assert "ERROR at teardown of test_teardown" in ran.output


def test_classes_and_doctests(suite):
    ran = suite(CRASH + CLASSES, "--doctest-modules")
    assert ran.outcomes == {
        "test_theirs.documented": "failed",
        "test_a": "passed",
        "test_b": "failed",
        "test_c": "passed",
    }


def test_stops_at_the_first_and_runs_the_last_failed(suite):
    source = written(("a", "pass"), ("b", "crash()"), ("c", "pass"), ("d", "assert False"))
    assert "1 failed, 1 passed in" in suite(source, "-x").output
    assert suite(source).outcomes["test_c"] == "passed"
    again = suite(source, "--lf")
    assert again.outcomes == {"test_b": "failed", "test_d": "failed"}
    assert suite(source, "-k", "b or c").outcomes == {"test_b": "failed", "test_c": "passed"}


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["one process", "workers"])
def test_a_file_that_crashes_when_it_is_imported(suite, tmp_path, options):
    (tmp_path / "test_other.py").write_text("def test_other(): pass\n")
    ran = suite(CRASH + "crash()\n", "test_other.py", "--continue-on-collection-errors", *options)
    assert ran.code == 1
    assert ran.outcomes["test_other"] == "passed"
    assert "SIGSEGV (Segmentation fault) at 0x0: a null pointer" in ran.output
    assert "1 passed, 1 error" in ran.output


def test_a_file_whose_import_ends_the_process_does_not_go_round_for_ever(suite):
    ran = suite("import os\nos._exit(0)\n", "-n", "1")
    assert ran.code != 0
    assert "ended a worker of pytest-xdist" in ran.output


def test_annotations_of_github(suite, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    ran = suite(written(("a", "assert False"), ("b", "crash()")), "--tb=no")
    (line,) = re.findall("^::error.*", ran.output, re.MULTILINE)
    assert line.startswith("::error file=test_theirs.py,line=5,title=test_theirs.py%3A%3Atest_b::crashed: SIGSEGV")


def test_a_pytest_that_a_test_in_a_worker_starts(suite, tmp_path):
    (tmp_path / "test_inner.py").write_text(written(("in", "crash()"), ("behind", "pass")))
    words = "[sys.executable, '-m', 'pytest', '--pyharness', 'test_inner.py']"
    starts = f"import subprocess, sys; ended = subprocess.run({words})"
    assert suite(written(("it", f"{starts}; assert ended.returncode == 1")), "-n", "1").outcomes == {
        "test_it": "passed"
    }


def test_without_an_option_nothing_is_different(suite):
    ran = suite(written(("a", "pass"), ("b", "crash()"), ("c", "pass")), plugin=("-p", "no:faulthandler"))
    assert ran.code == -signal.SIGSEGV
    assert "pyharness" not in ran.output.replace("pyharness-debugger", "")


def test_keys_of_the_configuration(suite, tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\npyharness = true\npyharness_timeout = 1\n")
    ran = suite(written(("a", "crash()"), ("b", "import time; time.sleep(60)"), ("c", "pass")), plugin=())
    assert ran.outcomes == {"test_a": "failed", "test_b": "failed", "test_c": "passed"}
    assert "it has taken too long" in ran.case("test_b")[0]
    (tmp_path / "pytest.ini").write_text("[pytest]\npyharness = true\npyharness_timeout = soon\n")
    assert "pyharness_timeout is no number of seconds: 'soon'" in suite(written(("a", "pass")), plugin=()).output


def test_a_program_with_threads_is_not_forked(suite, tmp_path):
    program = tmp_path / "runs.py"
    program.write_text(
        "import sys, threading, pytest\n"
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "sys.exit(pytest.main(['--pyharness', 'test_theirs.py']))\n"
    )
    suite(written(("a", "crash()")), "--collect-only")
    with (tmp_path / "all.log").open("w") as log:  # as a shell's redirection, for both streams
        ended = subprocess.run([sys.executable, program], cwd=tmp_path, stdout=log, stderr=log, check=False, timeout=60)
    assert ended.returncode == -signal.SIGSEGV
    said = (tmp_path / "all.log").read_text()
    assert "crashes are reported and end the tests: this process had threads before pytest began" in said
    assert "pyharness: pytest (process " in said
    assert "in crash  test_theirs.py:5" in said


def test_numpys_threads_are_no_hindrance(suite, tmp_path, monkeypatch):
    """OpenBLAS starts threads as soon as a plugin imports numpy, ends them before a fork, and starts others."""
    (tmp_path / "imports_numpy.py").write_text("import numpy\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    works = "import numpy; assert (numpy.ones((500, 500)) @ numpy.ones(500)).sum() == 250_000"
    ran = suite(written(("a", "crash()"), ("b", works)), "-p", "imports_numpy")
    assert ran.outcomes == {"test_a": "failed", "test_b": "passed"}, ran.output


def test_a_test_that_ends_its_process_has_a_last_report(suite, tmp_path):
    """By which other plugins know that it is over."""
    (tmp_path / "conftest.py").write_text(
        "def pytest_runtest_logreport(report):\n    with open('seen', 'a') as file:\n"
        "        print(report.nodeid.partition('::')[2], report.when, report.outcome, file=file)\n"
    )
    suite(written(("a", "crash()"), ("b", "pass")))
    seen = (tmp_path / "seen").read_text().splitlines()
    assert [each for each in seen if each.startswith("test_a call") or "teardown" in each][-3:] == [
        "test_a call failed",
        "test_a teardown passed",
        "test_b teardown passed",
    ]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 2), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_signal_to_pytest_ends_the_tests(suite, tmp_path, number, code):
    source = written(("a", "Path('begun').write_text(str(os.getpid())); import time; time.sleep(60)"), ("b", "pass"))
    suite(source, "--collect-only")
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", "--pyharness", "test_theirs.py"],
        cwd=tmp_path,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
    ) as process:
        while not (tmp_path / "begun").exists() or not (tmp_path / "begun").read_text():
            time.sleep(0.02)
        os.killpg(process.pid, number)  # as a terminal does
        assert process.wait(30) == code
    assert not os.path.exists(f"/proc/{(tmp_path / 'begun').read_text()}")  # noqa: PTH110
