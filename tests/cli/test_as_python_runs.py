"""What ``python SCRIPT`` runs besides a file of source: a pipe, a folder, an archive."""

import os
import py_compile
import re
import subprocess
import sys
import zipfile

import pytest

from kit.command import PYHARNESS

pytestmark = pytest.mark.rotated_tests(turns=6)


_MAIN = """\
import os, sys
if sys.argv[1:] == ["/"]:
    os.chdir("/")
import beside
print(__name__, beside.NAME, sys.argv[1:], __package__)
"""


@pytest.fixture(params=["folder", "archive.pyz"])
def application(request, tmp_path):
    path = tmp_path / request.param
    files = {"__main__.py": _MAIN, "beside.py": "NAME = 'beside'\n"}
    if request.param == "folder":
        path.mkdir()
        for name, text in files.items():
            (path / name).write_text(text)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
    return path


@pytest.mark.rotated
@pytest.mark.parametrize("words", [("run",), ("step",), ("trace",)], ids=" ".join)
def test_a_folder_or_an_archive(pyharness, application, words):
    plain = subprocess.run([sys.executable, application, "a"], capture_output=True, text=True, check=True)
    done = pyharness(*words, application, *["--"] * (words != ("run",)), "a")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(plain.stdout)
    assert plain.stdout == "__main__ beside ['a'] \n"


def test_the_handle_has_its_name(pyharness, application):
    for name in (str(application), application.name):
        done = pyharness("run", name, cwd=application.parent)
        assert re.search(rf"handle {application.stem}-\d+ ", done.stderr)


@pytest.mark.parametrize("words", [("run",), ("step",)], ids=" ".join)
@pytest.mark.parametrize("module", [(), ("-m",)], ids=["script", "module"])
def test_a_program_starts_itself_again(pyharness, tmp_path, words, module):
    """By what Python says that it was started with, as those do that reload themselves."""
    (tmp_path / "again.py").write_text(
        "import os, sys\nif sys.argv[1] == 'first':\n"
        "    os.execv(sys.executable, [*sys.orig_argv[:-1], 'second'])\nprint(sys.argv[1:])\nsys.exit(5)\n"
    )
    script = "again" if module else "again.py"
    done = pyharness(*words, *module, script, *["--"] * (words != ("run",)), "first", cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[:1]) == (5, ["['second']"]), done.stderr


@pytest.mark.parametrize("words", [("run",), ("step",)], ids=" ".join)
def test_no_variable_of_ours_is_in_the_environment(pyharness, environment, tmp_path, words):
    script = tmp_path / "shows.py"
    script.write_text("import os\nprint(sorted(os.environ))\n")
    plain = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
    assert pyharness(*words, script).stdout.startswith(plain.stdout)


@pytest.mark.rotated
@pytest.mark.parametrize("words", [("run",), ("step",)], ids=" ".join)
def test_a_relative_path_and_another_folder(pyharness, application, words):
    """What the program imports later is found all the same."""
    plain = subprocess.run(
        [sys.executable, application.name, "/"], cwd=application.parent, capture_output=True, text=True, check=True
    )
    done = pyharness(*words, application.name, *["--"] * (words != ("run",)), "/", cwd=application.parent)
    assert done.stdout.startswith(plain.stdout)


@pytest.mark.rotated
@pytest.mark.parametrize("words", [("run",), ("step",), ("trace",), ("fx", "show")], ids=" ".join)
def test_a_file_that_the_shell_has_opened(pyharness, tmp_path, words):
    """As ``<(command)`` is, and ``7<file``."""
    (tmp_path / "reads.py").write_text("import sys\nprint(open(sys.argv[1]).read())\n")
    given, other = os.pipe()
    os.write(other, b"what was given")
    os.close(other)
    done = pyharness(
        *words, "reads.py", *["--"] * (words != ("run",)), f"/dev/fd/{given}", cwd=tmp_path, pass_fds=[given]
    )
    os.close(given)
    assert "what was given\n" in done.stdout, done.stderr


def test_compiled_code(pyharness, tmp_path):
    (tmp_path / "source.py").write_text("import sys\nprint(__file__, type(__loader__).__name__)\nsys.exit(3)\n")
    py_compile.compile(str(tmp_path / "source.py"), str(tmp_path / "only.pyc"))
    plain = subprocess.run([sys.executable, "only.pyc"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert plain.returncode == 3
    done = pyharness("run", "only.pyc", cwd=tmp_path)
    assert (done.stdout, done.returncode) == (plain.stdout, 3)
    stepped = pyharness("step", "only.pyc", "--at", "py:source.py:3", cwd=tmp_path)
    assert (stepped.returncode, "→ 3 │ sys.exit(3)\n" in stepped.stdout) == (3, True)
    (tmp_path / "only.pyc").write_bytes(b"\0" * 40)
    spoiled = pyharness("run", "only.pyc", cwd=tmp_path)
    assert (spoiled.returncode, "bad magic number" in spoiled.stderr, "Traceback" in spoiled.stderr) == (1, True, False)


@pytest.mark.rotated
@pytest.mark.parametrize("words", [("run",), ("step",)], ids=" ".join)
@pytest.mark.parametrize("module", [False, True])
def test_main_has_the_names_that_python_gives_it(pyharness, tmp_path, words, module):
    shown = "{name: type(value).__name__ for name, value in sorted(vars().items())}"
    (tmp_path / "names.py").write_text(f"print({shown}, __cached__, __loader__.name)\n")
    script = ("-m", "names") if module else (str(tmp_path / "names.py"),)
    plain = subprocess.run([sys.executable, *script], cwd=tmp_path, capture_output=True, text=True, check=False)
    done = pyharness(*words, *script, cwd=tmp_path)
    assert done.stdout.startswith(plain.stdout)
    assert "'__builtins__': 'module'" in plain.stdout


@pytest.mark.rotated
@pytest.mark.parametrize("words", [("run",), ("step",)], ids=" ".join)
@pytest.mark.parametrize(
    "module",
    [
        "none",
        "none.below",
        "whole.none",
        "whole",
        "whole.simple.below",
        "sys",
        ".whole",
        "broken",
        "broken.below",
        "wrong",
    ],
)
def test_a_module_that_is_not_to_be_run(pyharness, tmp_path, words, module):
    (tmp_path / "whole").mkdir()
    (tmp_path / "whole/__init__.py").touch()
    (tmp_path / "whole/simple.py").touch()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/__init__.py").write_text("1 / 0\n")
    (tmp_path / "wrong.py").write_text("1 +\n")
    plain = subprocess.run([sys.executable, "-m", module], cwd=tmp_path, capture_output=True, text=True, check=False)
    done = pyharness(*words, "-m", module, cwd=tmp_path)
    assert done.returncode == plain.returncode == 1
    assert plain.stderr.splitlines()[-1] in done.stderr.splitlines()
    assert "pyharness/debuggee" not in done.stderr
    assert ("Traceback" in done.stderr) == ("Traceback" in plain.stderr)


def test_lines_are_counted_as_python_does(pyharness, tmp_path):
    (tmp_path / "feeds.py").write_text('x = 1\n\x0cy = 2\nprint("a\x0bb\u2028c")\nz = 3\n')
    done = pyharness("step", "feeds.py", "--at", "py:feeds.py:4", cwd=tmp_path)
    assert "→ 4 │ z = 3\n" in done.stdout


def test_a_line_that_torch_compiles(pyharness, tmp_path):
    source = "import torch\n\n@torch.compile(backend='eager')\ndef f(x):\n    return x.sin() + 1\n\nf(torch.ones(2))\n"
    (tmp_path / "compiled.py").write_text(source)
    done = pyharness("step", "compiled.py", "--at", "py:compiled.py:5", cwd=tmp_path)
    assert done.returncode == 1
    assert "torch.compile, which replaces the lines" in done.stderr
    assert "atexit" not in done.stderr


@pytest.mark.parametrize("application", ["folder"], indirect=True)
def test_it_stops_in_a_folders_main(pyharness, application):
    done = pyharness("step", application, "--at", "py:__main__.py:5", "--print", "beside.NAME")
    assert done.returncode == 0, done.stderr
    assert "beside.NAME = 'beside'" in done.stdout


def test_a_folder_without_a_main(pyharness, tmp_path):
    for verb in ("run", "step"):
        done = pyharness(verb, tmp_path)
        assert done.returncode == 2
        assert "is a folder without a __main__.py" in done.stderr


def test_a_hook_that_fails(pyharness, tmp_path):
    """For exceptions that nobody catches."""
    script = tmp_path / "hooked.py"
    script.write_text("import sys\ndef hook(*_):\n    raise ValueError('of the hook')\nsys.excepthook = hook\n1 / 0\n")
    alone = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    done = pyharness("run", script)
    said = [line for line in done.stderr.splitlines() if not line.startswith("pyharness: handle")]
    assert (done.returncode, said) == (1, alone.stderr.splitlines())


def test_run_reads_a_pipe(environment, tmp_path):
    command = [*PYHARNESS, "run", "/dev/stdin", "a"]
    source = "import sys; print(sys.argv)\n"
    pipes = {"input": source, "capture_output": True, "text": True}
    done = subprocess.run(command, env=environment, cwd=tmp_path, check=False, timeout=60, **pipes)
    assert (done.returncode, done.stdout) == (0, "['/dev/stdin', 'a']\n")


def test_run_reads_nothing(pyharness):
    done = pyharness("run", "/dev/null")
    assert (done.returncode, done.stdout) == (0, "")


def test_run_reads_no_end(pyharness):
    done = pyharness("run", "/dev/zero")
    assert done.returncode == 1
    assert "which no source has" in done.stderr


def test_step_says_that_it_is_a_pipe(pyharness, tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    done = pyharness("step", "pipe.py")
    assert done.returncode == 2
    assert "is a pipe or a device" in done.stderr
    (tmp_path / "plain.py").touch()
    done = pyharness("step", "plain.py", "--at", "py:pipe.py:1")
    assert done.returncode == 2
    assert "'pipe.py' is not a regular file" in done.stderr


EMPTIES = "import os, sys\nwrite, ends = os.write, sys.exit\nsys.modules.clear()\nx = 1\nwrite(1, b'goes on\\n')\n"


@pytest.mark.rotated
@pytest.mark.parametrize("end", ["y = 2\n", "ends(3)\n", "1 / 0\n"])
@pytest.mark.parametrize("places", [(), (4, 5), (4,)], ids=len)
def test_a_program_that_empties_sys_modules_stops_and_ends_as_ever(pyharness, tmp_path, end, places):
    script = tmp_path / "empties.py"
    script.write_text(EMPTIES + end)
    plain = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    done = pyharness("step", script, *(word for line in places for word in ("--at", f"py:{script}:{line}")))
    assert (done.returncode, done.stderr) == (plain.returncode, plain.stderr)
    assert "goes on" in done.stdout
    assert done.stdout.count("breakpoint · python") == len(places)


@pytest.mark.parametrize(("words", "terms"), [("run sums.py", 2990), ("run -m sums", 2975), ("step sums.py", 2990)])
def test_an_expression_as_long_as_python_takes(pyharness, tmp_path, words, terms):
    """Our own frames on the stack take nothing of how deeply the compiler goes."""
    (tmp_path / "sums.py").write_text(f"print({'+'.join(['1'] * terms)})\n")
    done = pyharness(*words.split(), cwd=tmp_path)
    assert (done.stdout.splitlines()[:1], done.returncode) == ([str(terms)], 0), done.stderr


def test_a_longer_one_is_refused_by_python_alone(pyharness, tmp_path):
    (tmp_path / "sums.py").write_text(f"print({'+'.join(['1'] * 300_000)})\n")
    done = pyharness("run", "sums.py", cwd=tmp_path)
    assert (done.returncode, "Error" in done.stderr, "Traceback" in done.stderr) == (1, True, False), done.stderr
