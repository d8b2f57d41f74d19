"""A program that waits for its signals, or becomes another program, is as it is without a debugger."""

import pytest

BECOMES = {
    "by Python": "import os\nos.execl('/bin/echo', 'echo', 'it is another')\n",
    # libc, which is loaded as a library of the user's, brings gdb
    "by native code, beside gdb": (
        "import ctypes\nlibc = ctypes.CDLL('libc.so.6')\n"
        "libc.execv(b'/bin/echo', (ctypes.c_char_p * 3)(b'echo', b'it is another'))\n"
    ),
    "by native code": (
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "libc.execv(b'/bin/echo', (ctypes.c_char_p * 3)(b'echo', b'it is another'))\n"
    ),
}


@pytest.mark.parametrize("text", BECOMES.values(), ids=BECOMES)
def test_it_is_left_alone(pyharness, tmp_path, text):
    script = tmp_path / "becomes.py"
    script.write_text(text)
    done = pyharness("debug", script, "--at", f"py:{script}:2", "-c", "c")
    assert done.returncode == 0, done.stderr
    assert "it is another\n" in done.stdout
    assert done.stdout.endswith("the program ended with exit code 0\n")
    assert "unexpectedly" not in done.stderr


@pytest.mark.parametrize("before", ["", "import ctypes\nctypes.CDLL('libc.so.6')\n"], ids=["debugpy", "gdb"])
def test_a_signal_that_the_program_waits_for_comes_to_it(pyharness, tmp_path, before):
    """The program blocks the signal in its own threads, as sigwait needs: debugpy's must not get it."""
    script = tmp_path / "waits.py"
    script.write_text(
        f"import os, signal\n{before}signal.pthread_sigmask(signal.SIG_BLOCK, {{signal.SIGUSR1}})\n"
        "os.kill(os.getpid(), signal.SIGUSR1)\nprint('got', signal.sigwait({signal.SIGUSR1}) == signal.SIGUSR1)\n"
    )
    done = pyharness("step", script, "--at", f"py:{script}:{5 if before else 3}")
    assert done.returncode == 0, done.stdout
    assert "got True\n" in done.stdout
