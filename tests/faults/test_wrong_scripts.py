"""Scripts that cannot be run, and scripts that fail by themselves: under the harness as without it."""

import re
import signal

import pytest


def run(pyharness, tmp_path, text, *words):
    script = tmp_path / "it.py"
    script.write_text(text)
    harness = pyharness("step", script, *words)
    status, errors = harness.end()
    assert not re.search(r"/pyharness/\w+/\w+\.py", errors)
    return status, errors, harness.said


def test_a_syntax_error_is_shown_before_anything_starts(pyharness, tmp_path):
    status, errors, _ = run(pyharness, tmp_path, "a = 1\nif a\n    b\n", "--at", "native:held")
    assert status == 2
    assert "does not compile" in errors
    assert "line 2" in errors


@pytest.mark.parametrize(("name", "said"), [("nothing.py", "There is no script"), ("folder", "is a folder")])
def test_no_script(pyharness, tmp_path, name, said):
    (tmp_path / "folder").mkdir()
    status, errors = pyharness("step", tmp_path / name, "--at", "native:held").end()
    assert status == 2
    assert said in errors


def test_an_exception_has_the_programs_own_traceback(pyharness, tmp_path):
    text = "def fail():\n    raise ValueError('mine')\n\n\nfail()\n"
    status, errors, said = run(pyharness, tmp_path, text, "--at", f"py:{tmp_path / 'it.py'}:2")
    assert status == 1
    assert errors.splitlines()[0] == "Traceback (most recent call last):"
    assert [line.split(",")[1] for line in errors.splitlines() if "File" in line] == [" line 5", " line 2"]
    assert "ValueError: mine" in errors
    assert "the program ended with exit code 1" in said


@pytest.mark.rotated
@pytest.mark.parametrize(("line", "wanted"), [("sys.exit(3)", 3), ("sys.exit('no')", 1), ("os._exit(4)", 4), ("", 0)])
def test_the_exit_code_is_the_programs(pyharness, tmp_path, line, wanted):
    status, errors, _ = run(
        pyharness, tmp_path, f"import os, sys\nx = 1\n{line}\n", "--at", f"py:{tmp_path / 'it.py'}:2"
    )
    assert status == wanted
    assert errors == ("no\n" if "no" in line else "")


@pytest.mark.rotated
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGABRT])
def test_a_signal_ends_it(pyharness, tmp_path, number):
    text = f"import os\nx = 1\nos.kill(os.getpid(), {int(number)})\n"
    status, _, said = run(pyharness, tmp_path, text, "--at", f"py:{tmp_path / 'it.py'}:2")
    assert status == 128 + number
    assert f"ended by {number.name}" in said


def test_the_program_sees_its_own_name_and_arguments(pyharness, tmp_path):
    text = "import sys\nprint(sys.argv, __name__, __file__, sys.path[0])\n"
    _, _, said = run(pyharness, tmp_path, text, "--at", f"py:{tmp_path / 'it.py'}:2", "--", "a", "--at", "b c")
    script = str(tmp_path / "it.py")
    assert f"{[script, 'a', '--at', 'b c']} __main__ {script} {tmp_path}\n" in said


def test_a_program_that_closes_every_file_ends_quietly(pyharness, tmp_path):
    """Daemons do; the debugger's sockets are among them."""
    text = "import os, sys\nx = 1\nos.closerange(3, 1000)\nprint('end', flush=True)\nsys.exit(4)\n"
    status, errors, said = run(pyharness, tmp_path, text, "--at", f"py:{tmp_path / 'it.py'}:2")
    assert (status, errors) == (4, "")
    assert "end\n" in said


def test_a_program_that_closes_every_file_loads_and_opens_others_meanwhile(pyharness, tmp_path):
    """Nobody waits for the answer to what could not be said, and its new files are not taken for the debugger's."""
    text = (
        "import os, sys\nx = 1\nos.closerange(3, 1000)\nfiles = [os.open('/dev/null', os.O_RDWR) for _ in range(20)]\n"
        "import crossing\nprint(sum(os.write(file, b'x') for file in files), flush=True)\nsys.exit(4)\n"
    )
    status, errors, said = run(pyharness, tmp_path, text, "--at", f"py:{tmp_path / 'it.py'}:2")
    assert (status, errors) == (4, "")
    assert "20\n" in said


def test_what_is_loaded_as_python_ends_is_waited_for_by_nobody(pyharness, tmp_path):
    """Here Python collects at its end what programs of tests leave alone otherwise (tests/kit/site)."""
    text = (
        "import atexit, ctypes, gc, sys\nimport crossing\natexit.unregister(gc.freeze)\nclass Last:\n"
        "    def __del__(self, load=ctypes.CDLL, path=crossing.__file__, say=print):\n"
        "        load(path)\n        say('loaded', flush=True)\n\nlast = Last()\n"
        "if sys.argv[1:]:\n    never = 1\nsys.exit(4)\n"
    )
    _, errors, said = run(pyharness, tmp_path, text, "--at", f"py:{tmp_path / 'it.py'}:11")
    assert errors.startswith("pyharness: The program ended without reaching"), errors
    assert said.startswith("loaded\n")
