"""What cannot be meant, verb by verb: one clear error with its remedy, a status that is not 0, and nothing started."""

import json
import os
import shlex
import subprocess
import sys

import pytest
import torch  # noqa: F401  (a verb for which that must be loaded goes on in a fork: here, of all of pytest)

from kit import needs
from kit.paths import PROGRAMS
from pyharness import cli

pytestmark = pytest.mark.rotated_tests(turns=2)

CASES = {
    "nope": "See pyharness --help",
    "stpe": "Did you mean step",
    "--nope": "There is no option --nope",
    "fx shwo x.py": "Did you mean show",
    "session rum x": "Did you mean run",
    "step": "Which script?",
    "step okay.py": "Did you mean ok.py",
    "step folder": "is a folder",
    "step binary.py": "does not compile",
    **{f"{verb} {'x' * 300}": "the name is too long" for verb in ("step", "debug", "run", "stack", "fx show")},
    "step ok.py --ovre": "Did you mean --over",
    "step ok.py --epochs 3": "behind --, as in SCRIPT -- --epochs",
    "step ok.py --at": "requires an argument",
    "step ok.py --at nix:x": "A place is",
    "step ok.py --at ph:ok.py:1": "Did you mean py",
    "step ok.py --at py:okay.py:1": "Did you mean ok.py",
    "step ok.py --at 'fx:a if ('": "Quote the whole place",
    "step ok.py --cwd nix": "does not exist",
    "step ok.py --python nix": "no Python interpreter",
    "step ok.py --print x": "Put --at WHERE",
    "run": "Which script?",
    "run okay.py": "Did you mean ok.py",
    "init ok.py": "ok.py is a file",
    "run folder": "is a folder",
    "run --python nix ok.py": "no Python interpreter",
    "run --name 7 ok.py": "cannot be a handle",
    "run --lst": "Did you mean --list",
    "stack ok.py": "ok.py is not a core file. No process of yours has 'ok.py'",
    "trace": "Which script?",
    "trace okay.py": "Did you mean ok.py",
    "trace ok.py --html folder": "is a folder",
    "trace ok.py --html nix/a.html": "There is no folder 'nix'",
    "trace ok.py --html ''": "--html '' names nothing",
    "trace ok.py -o -": "--perfetto does not write to standard output",
    "fx draw ok.py -o ''": "--output '' names nothing",
    "fx draw ok.py -o -": "does not write to standard output",
    "fx export ok.py -o ' '": "names nothing",
    "fx export ok.py -o -": "does not write to standard output",
    "trace ok.py --limit x": "no whole number",
    "trace ok.py --by x": "'module', 'op', 'kernel', 'node'",
    "trace ok.py --regions --shapes": "does not go with",
    "fx show okay.py": "Did you mean ok.py",
    "fx code folder": "is a folder",
    "fx graph binary.py": "does not compile",
    "fx diff": "Which script?",
    "fx draw ok.py -o folder": "is a folder",
    "fx draw ok.py -o nix/a.html": "There is no folder 'nix'",
    "fx export ok.py": "--output is missing",
    "fx export ok.py -o ok.py": "is a file",
    "fx export ok.py -o nix/a": "There is no folder 'nix'",
    "fx compiled okay.py": "Did you mean ok.py",
    "fx verify a.py:b": "Name a TRANSFORM, or --backend inductor",
    "fx verify okay.py:x ok.py:x": "Did you mean ok.py",
    "fx verify ok.py:nix ok.py:x": "ok.py has no 'nix'",
    "fx verify ok ok": "FILE.py:NAME",
    "fx verify binary.py:x ok.py:x": "cannot be imported",
    "fx bisect okay.py:x ok.py:x": "Did you mean ok.py",
    "fx determinism okay.py:x": "Did you mean ok.py",
    "fx determinism ok.py:x --seeds 1": "not in the range",
    "session run emty.toml": "Did you mean empty.toml",
    "session run folder": "is a folder",
    "session run binary.toml": "cannot be read",
    "session run empty.toml": "no [program] table",
    "session check emty.toml": "Did you mean empty.toml",
    "stack": "PID|NAME|CORE is missing",
    "stack 99999999": "There is no process",
    f"stack {'9' * 5000}": "There is no process with so long a number",
    "stack ' '": "names no process",
    "stack ²": "names no process",
    "stack 'e '": "'e ' names no process",
    "attach 'e '": "'e ' names no process",
    "step ok.py --at py::3": "'py::3' names no function",
    "step ok.py --at native:f::": "'f::' names no function",
    "step ok.py -m ''": "-m names no module",
    "run -m '' ok.py": "Which script?",
    "trace -m '' ok.py": "-m names no module",
    "stack surely-nothing-is-called-so": "No process of yours",
    "stack folder/": "is not a file",
    "stack nix/core": "cannot be read",
    "stack /proc/self/mem": "cannot be read",
    "stack pipe": "pipe is not a file",
    "stack nowhere": "nowhere cannot be read: No such file",
    **dict.fromkeys(
        (
            "step loop",
            "debug loop",
            "run loop",
            "trace loop/x.py",
            "trace ok.py -o loop",
            "vscode --script loop",
            "step ok.py --at py:loop:1",
            "fx verify loop.py:x ok.py:x",
            "init loop",
        ),
        "lead round in a loop",
    ),
    "step nowhere": "a symbolic link to 'gone', which is not there",
    "stack endless": "endless is not a file",
    "vscode --build it endless-project": "is not a file",
    "vscode --build it --overwrite piped-project": "is not a file",
    "init endless-project": "is not a project that builds",
    "init piped-project": "is not a project that builds",
    "stack ./empty.toml": "is not a core file",
    "debug --debug-kernels begun.core": "A core file compiles nothing",
    f"debug --debug-kernels {sys.executable}": "is a program, and no Python file: it takes no --debug-kernels",
    "stack ./binary.py": "No process of yours",
    "attach 99999999": "There is no process",
    "attach surely-nothing-is-called-so": "No process of yours",
    "doctor 99999999": "There is no process",
    "doctor surely-nothing-is-called-so": "No process of yours",
    "doctor --extension nix.so": "There is no extension",
    "doctor --project nix": "does not exist",
    "vscode nix": "does not exist",
    "vscode ok.py": "is a file",
    "vscode --script nix.py": "Name it relative",
    "dap --port 99999999": "not in the range",
    "gdb-script nix": "unexpected extra argument",
    "completion csh": "'bash', 'zsh', 'fish'",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with what is easily mistaken for something else."""
    (tmp_path / "ok.py").write_text("x = 1\n")
    (tmp_path / "empty.toml").touch()
    (tmp_path / "begun.core").write_bytes(b"\x7fELF")
    (tmp_path / "folder").mkdir()
    for name in ("binary.py", "binary.toml"):
        (tmp_path / name).write_bytes(bytes(range(256)) * 4)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "nowhere").symlink_to("gone")
    for name in ("loop", "loop.py"):
        (tmp_path / name).symlink_to(name)
    (tmp_path / "endless").symlink_to("/dev/zero")
    for what in ("pipe", "endless"):
        project = tmp_path / {"pipe": "piped-project", "endless": "endless-project"}[what]
        (project / ".vscode").mkdir(parents=True)
        for name in ("setup.py", "CMakeLists.txt", "pyproject.toml", ".vscode/launch.json", ".vscode/tasks.json"):
            (project / name).symlink_to(tmp_path / what)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "state"))
    return tmp_path


def is_one_clear_error(err):
    message, _, remedy = err.removeprefix("pyharness: ").partition("\n")
    assert err.startswith("pyharness: ")
    assert message
    assert remedy.strip(), f"no remedy: {err}"
    assert "Traceback" not in err
    assert "bug in pyharness" not in err
    return message


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("line", "expected"), CASES.items(), ids=CASES)
def test_one_clear_error_with_its_remedy(line, expected, capsys):
    assert cli.execute(shlex.split(line)) in {1, 2}
    out, err = capsys.readouterr()
    is_one_clear_error(err)
    assert expected in err
    assert out == ""


SCRIPTED = ["step okay.py", "step ok.py --ovre", "trace ok.py --limit x", "fx show okay.py", "fx verify a.py:b"]
SCRIPTED += ["session run emty.toml", "session check empty.toml", "stack 99999999", "doctor 99999999", "run --lst"]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("wanted", ["0x1030", "-1.577", "selv"])
def test_no_process_is_offered_that_is_a_little_alike(wanted, capsys):
    words = ["step", "0x300", "-15"]
    with subprocess.Popen(["sh", "-c", "read line", *words], stdin=subprocess.PIPE) as running:
        assert cli.execute(["stack", "--", wanted]) == 2
        running.stdin.close()
    assert "Did you mean" not in capsys.readouterr().err


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("line", SCRIPTED)
def test_with_json_the_error_is_an_object_too(line, capsys):
    first, *others = line.split()
    others.insert(first in {"fx", "session"}, "--json")
    assert cli.execute([first, *others]) == 2
    out, err = capsys.readouterr()
    error = json.loads(out)["error"]
    assert err == f"pyharness: {error['message']}\n{error['remedy']}\n"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("line", ["attach {}", "stack {}"])
def test_without_gdb(line, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    assert cli.execute(shlex.split(line.format(os.getpid()))) == 1
    assert "gdb was not found" in is_one_clear_error(capsys.readouterr().err)


def test_what_may_not_be_read_or_written(here, environment):
    """Root may: it gives that up, as ``powerless`` gives up tracing."""
    before = needs.powerless("dac_override,dac_read_search", "root may read everything")
    for name, mode in {"ok.py": 0, "empty.toml": 0, "folder": 0o500}.items():
        (here / name).chmod(mode)
    code = "import sys; from pyharness import cli; [print(cli.execute(line.split())) for line in sys.argv[1:]]"
    lines = [
        "step ok.py",
        "run ok.py",
        "session check empty.toml",
        "trace binary.py --html folder/x.html",
        "vscode folder",
    ]
    command = [*before, sys.executable, "-c", code, *lines]
    done = subprocess.run(command, env=environment, cwd=here, capture_output=True, text=True, check=True)
    (here / "folder").chmod(0o700)
    assert done.stdout.split() == ["2", "2", "2", "2", "1"], done.stderr
    for expected in (
        "ok.py cannot be read",
        "empty.toml cannot be read",
        "you may write",
        "launch.json cannot be written",
    ):
        assert expected in done.stderr
    assert "bug in pyharness" not in done.stderr


@pytest.mark.rotated
@pytest.mark.parametrize("version", ["2.7", "3.6", "3.8"])
def test_a_python_that_is_too_old(pyharness, tmp_path, version):
    old = tmp_path / "python"
    old.write_text(f"#!/bin/sh\nprintf 'pyharness asks: {version}'\n")
    old.chmod(0o755)
    for verb in (("step",), ("run",), ("run", "--nan"), ("trace",), ("fx", "graph"), ("fx", "code"), ("fx", "verify")):
        result = pyharness(*verb, "--python", old, PROGRAMS / "plain_lines.py", *["f.py:a"] * (verb[-1] == "verify"))
        assert result.returncode == 2, verb
        first, *_ = result.stderr.splitlines()
        assert first == f"pyharness: {old} is Python {version}: pyharness debugs programs of CPython 3.9 and newer.", (
            verb
        )
        assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("3.11 pypy", "is pypy, not CPython: pyharness debugs programs of CPython."),
        ("3.13t cpython", "is a free-threaded build: pyharness debugs programs of CPython with the GIL."),
        ("3.12 cpython without _ctypes", "cannot load _ctypes: pyharness calls C functions by it in the program."),
        ("3.14t cpython", "is a free-threaded build: pyharness debugs programs of CPython with the GIL."),
    ],
)
def test_a_python_in_which_no_debugger_works(pyharness, tmp_path, said, why):
    other = tmp_path / "python"
    other.write_text(f"#!/bin/sh\nprintf 'pyharness asks: {said}'\n")
    other.chmod(0o755)
    for verb in ("step", "run", "trace"):
        result = pyharness(verb, "--python", other, PROGRAMS / "plain_lines.py")
        assert result.returncode == 2, verb
        assert result.stderr.splitlines()[0] == f"pyharness: {other} {why}", verb


def test_a_python_that_cannot_load_ctypes(pyharness, tmp_path):
    """A Python has no ``_ctypes`` if it was built without libffi, or is linked statically."""
    (tmp_path / "without.py").write_text("import sys\nsys.modules['_ctypes'] = None\nexec(sys.argv[3])\n")
    other = tmp_path / "python"
    other.write_text(f'#!/bin/sh\nexec {sys.executable} {tmp_path}/without.py "$@"\n')
    other.chmod(0o755)
    result = pyharness("step", "--python", other, PROGRAMS / "plain_lines.py")
    assert result.returncode == 2
    assert result.stderr.startswith(f"pyharness: {other} cannot load _ctypes: ")


@pytest.mark.parametrize(
    ("content", "why"),
    [("#!/no/such/interpreter\n", "No such file or directory"), ("no program", "Exec format error")],
)
def test_a_python_that_does_not_start(pyharness, tmp_path, content, why):
    broken = tmp_path / "python"
    broken.write_text(content)
    broken.chmod(0o755)
    for verb in ("step", "run", "trace"):
        result = pyharness(verb, "--python", broken, PROGRAMS / "plain_lines.py")
        assert result.returncode == 2, verb
        assert result.stderr.splitlines()[0] == f"pyharness: {broken} cannot be started: {why}.", verb
