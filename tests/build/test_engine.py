"""The engine that a wheel builds for the torch that is there: once, at need, beside others, and with a remedy."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import site
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from kit import builds, needs
from kit import wheel as wheels
from kit.marks import line_of
from kit.paths import BUILT, PROGRAMS, ROOT

PROGRAM = PROGRAMS / "op_eager.py"
NAME = re.compile(r"torch-2\.\d+\.\d+\S*-cpython-\d+-[0-9a-f]{16}")
STOPS = """
import sys
import pyharness
from pyharness.model.errors import HarnessError
with pyharness.debug(*sys.argv[1:]) as program:
    for place in ("op:walk::weighted", "node:MulBackward0"):
        try:
            program.set_breakpoint(place)
        except HarnessError as error:
            print(error.message)
    stop = program.run_to(f"py:{sys.argv[1]}:%d")
    print(stop.frame.line, program.finish())
"""
RECORDS = """
import torch
import pyharness
x = torch.ones(4, requires_grad=True)
with pyharness.record() as recording:
    (x * x).sum().backward()
print([node.name for node in recording.trace.nodes if "Mul" in node.name])
import pyharness.native
print(pyharness.native.load("_engine").__file__)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """What the wheel has: no engine, but its sources."""
    return wheels.unpacked(tmp_path_factory.mktemp("wheel"))


class Installed:
    """Runs Python with that package and torch, and no other pyharness: -S leaves out the finder of an editable one."""

    def __init__(self, package: Path, home: Path) -> None:
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(package), *site.getsitepackages()])}
        self.environment["PYHARNESS_HOME"] = str(home)
        self.environment.pop("PYHARNESS_BUILD", None)
        self.folder = package

    def start(self, *words, **options):
        command = [sys.executable, "-S", *map(str, words)]
        settings = {"env": self.environment, "cwd": self.folder, "stdin": subprocess.DEVNULL, "text": True}
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **{**settings, **options})

    def __call__(self, *words, status=0, **options):
        process = self.start(*words, **options)
        stdout, stderr = process.communicate()
        assert status is None or process.returncode == status, stdout + stderr
        return stdout, stderr

    def pyharness(self, *words, **options):
        return self("-m", "pyharness", *words, **options)


@pytest.fixture
def empty(package, tmp_path):
    """No engine has been built."""
    return Installed(package, tmp_path / "home")


@pytest.fixture(scope="module")
def built(package, tmp_path_factory):
    """The engine is there. It is built once for each version of its sources, by two who need it at the same time.

    Programs use a copy: a state folder of theirs has links to / in it, and whoever looks through the project's folder,
    as setuptools does, follows them.
    """
    installed = Installed(package, BUILT / "engines")
    both = [installed.start("-m", "pyharness", "engine", "build", "--json") for _ in range(2)]
    said = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    told = [json.loads(stdout) for stdout, _ in said]
    assert told[0]["file"] == told[1]["file"]
    assert [each["built"] for each in told].count(True) <= 1
    for (_, stderr), each in zip(said, told, strict=True):
        assert ("[1/" in stderr) == each["built"], "who builds counts the parts"
    home = tmp_path_factory.mktemp("engines") / "home"
    shutil.copytree(installed.environment["PYHARNESS_HOME"], home)
    return Installed(package, home)


pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]


in_its_turn = pytest.mark.rotated_tests(turns=9, number=0)
"""The engine is compiled for these in two minutes."""


@in_its_turn
@needs.a_plain_build
def test_an_op_is_stopped_at(built):
    words = ("step", PROGRAM, "--at", "op:walk::weighted", "--json", "--", builds.op_kernel())
    stdout, _ = built.pyharness(*words)
    (stop,) = json.loads(stdout)["stops"]
    assert stop["reason"] == "breakpoint"


@in_its_turn
def test_a_program_records_itself(built):
    stdout, stderr = built("-c", RECORDS)
    nodes, file = stdout.splitlines()
    assert (nodes, "building" in stderr) == ("['MulBackward0']", False)
    assert Path(file).is_relative_to(Path(built.environment["PYHARNESS_HOME"]) / "engine")


@in_its_turn
def test_it_is_listed_and_shown(built):
    (kept,) = [
        each for each in json.loads(built.pyharness("engine", "list", "--json")[0])["engines"] if each["current"]
    ]
    assert NAME.fullmatch(kept["key"])
    assert kept["key"] in built.pyharness("engine", "list")[0]
    assert kept["file"] in built.pyharness("--version")[0]
    assert Path(kept["file"]).parent.stat().st_mode & 0o77 == 0
    assert sorted(path.name for path in Path(kept["file"]).parent.iterdir()) == [
        f"_engine{sysconfig.get_config_var('EXT_SUFFIX')}",
        "about.json",
    ]


@in_its_turn
def test_it_is_removed(built, tmp_path):
    shutil.copytree(built.environment["PYHARNESS_HOME"], tmp_path / "home", symlinks=True)  # it may have one to /root
    copy = Installed(built.folder, tmp_path / "home")
    current = [each["key"] for each in json.loads(copy.pyharness("engine", "list", "--json")[0])["engines"]]
    assert json.loads(copy.pyharness("engine", "remove", "--json", *current)[0]) == {"removed": current}
    assert "No engine has been built" in copy.pyharness("engine", "list")[0]
    _, stderr = copy.pyharness("engine", "remove", current[0], status=2)
    assert "There is no engine" in stderr


def test_without_a_compiler_one_sentence_names_the_remedy(empty, tmp_path):
    bare = {**empty.environment, "PATH": wheels.without_compiler(tmp_path / "bin")["PATH"]}
    for words in (("trace", PROGRAM), ("run", "--nan", PROGRAM), ("engine", "build")):
        stdout, stderr = empty.pyharness(*words, env=bare, status=1)
        assert not stdout
        assert "there is no C++ compiler" in stderr
        assert "apt-get install g++" in stderr
        assert "Traceback" not in stderr
    words = ("step", PROGRAM, "--at", "op:walk::weighted", "--json")
    error = json.loads(empty.pyharness(*words, env=bare, status=1)[0])["error"]
    assert "there is no C++ compiler" in error["message"]


def test_without_a_compiler_a_session_goes_on(empty, tmp_path):
    """With the places that need no engine."""
    bare = {**empty.environment, "PATH": wheels.without_compiler(tmp_path / "bin")["PATH"]}
    line = line_of("weighted", PROGRAM)
    stdout, _ = empty("-c", STOPS % line, PROGRAM, builds.op_kernel(), env=bare)
    *refused, done, ended = stdout.splitlines()
    assert ["there is no C++ compiler" in text for text in refused] == [True, True]
    assert (done, ended) == ("done", f"{line} 0")


def test_what_does_not_compile_names_the_compilers_first_error(empty):
    broken = {**empty.environment, "CXX": "g++ --no-such-option"}
    _, stderr = empty.pyharness("engine", "build", env=broken, status=1)
    assert "does not compile: g++: error: unrecognized" in stderr
    (log,) = re.findall(r"is in (\S+\.log)", stderr)
    assert "--no-such-option" in Path(log).read_text(encoding="utf-8")
    assert [path.name for path in Path(log).parent.iterdir() if path.is_dir()] == [], "nothing is left of the attempt"


class Waits:
    """An engine of sources without content, whose last folder's compiler waits for a pipe that nobody writes."""

    def __init__(self, package: Path, folder: Path) -> None:
        shutil.copytree(package, folder / "package")
        self.installed = Installed(folder / "package", folder / "home")
        sources = folder / "package" / "pyharness" / "csrc"
        (sources / "torch_headers.h").write_text("")
        found = [path for part in ("engine", "breakpoints") for path in sorted((sources / part).rglob("*.cpp"))]
        for path in found:
            path.write_text("")
        self.pipe = folder / "waits.h"
        os.mkfifo(self.pipe)
        max(found).write_text(f'#include "{self.pipe}"\n')

    def built_until_it_waits(self):
        """A build whose compiler waits, when all but that part and what comes behind it are done; their numbers."""
        build = self.installed.start("-m", "pyharness", "engine", "build", start_new_session=True)
        told = list(self._told(build))
        return build, told

    def goes_on(self):
        """Have nobody wait any more, also not a compiler whose builder was killed."""
        with contextlib.suppress(OSError):  # there is none
            os.close(os.open(self.pipe, os.O_WRONLY | os.O_NONBLOCK))
        self.pipe.unlink()
        self.pipe.write_text("")

    @staticmethod
    def _told(build):
        for line in build.stderr:
            if found := re.match(r"\S*\[(\d+)/(\d+)\]", line.removeprefix("pyharness: ")):
                number, count = map(int, found.groups())
                yield number
                if number == count - 2:
                    return


@pytest.mark.parametrize("ends", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_a_build_that_was_ended_goes_on_where_it_was(package, tmp_path, ends):
    waits = Waits(package, tmp_path)
    build, told = waits.built_until_it_waits()
    assert told == list(range(1, told[-1] + 1))
    os.killpg(build.pid, ends) if ends == signal.SIGKILL else build.send_signal(ends)
    build.communicate()
    assert not json.loads(waits.installed.pyharness("engine", "list", "--json")[0])["engines"]
    waits.goes_on()
    _, stderr = waits.installed.pyharness("engine", "build")
    again = [int(number) for number in re.findall(r"\[(\d+)/", stderr)]
    assert again == [told[-1] + 1, told[-1] + 2]
    (place,) = (path for path in (tmp_path / "home" / "engine").iterdir() if path.is_dir())
    assert sorted(path.suffix for path in place.iterdir()) == [".json", ".so"]


def test_what_is_left_of_a_build_is_removed_unless_another_goes_on_with_it(package, tmp_path):
    waits = Waits(package, tmp_path)
    build, _ = waits.built_until_it_waits()
    remove = ("engine", "remove", "--all", "--json")
    assert json.loads(waits.installed.pyharness(*remove)[0]) == {"removed": []}
    build.terminate()
    build.communicate()
    (name,) = json.loads(waits.installed.pyharness(*remove)[0])["removed"]
    assert NAME.fullmatch(name)
    assert not [path for path in (tmp_path / "home" / "engine").iterdir() if path.is_dir()]


def test_the_doctor_says_that_it_will_be_built(empty):
    report = json.loads(empty("-m", "pyharness", "doctor", "--json", status=None)[0])
    (found,) = [each for each in report["findings"] if each["check"] == "harness-extension"]
    assert (found["state"], "built" in found["seen"]) == ("ok", True)


def test_cmake_compiles_the_same_files():
    """A clone's own build lists them; what users build takes all that lie there."""
    listed = set()
    for folder in ("engine", "breakpoints"):
        text = (ROOT / "csrc" / folder / "CMakeLists.txt").read_text(encoding="utf-8")
        listed |= {f"csrc/{folder}/{name}" for name in re.findall(r"[\w/]+\.cpp", text)}
    from pyharness.engine import sources

    assert {path.relative_to(ROOT).as_posix() for path in sources.files()} - listed == set()
