"""A kernel of torch.compile's that crashes: the stop is at its line, with the node, the module, and the buffers."""

import json
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kit import inductor, marks
from kit.command import Command, environment_of
from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=11)

PROGRAM = PROGRAMS / "compiled_crash.py"
_GDB = ("gdb", "-nx", "-batch", "-iex", "set auto-solib-add off", "-iex", "set debuginfod enabled off")

BUFFERS = [word for number in range(4) for word in ("--print", f"in_ptr{number}")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("crashed")


@pytest.fixture(scope="module")
def environment(folder):
    cache = inductor.cache(folder / "torch")
    return {**environment_of(folder / "home"), "TORCHINDUCTOR_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def core(folder, environment):
    """What the program leaves that dies without us; torch's cache then has its code, and there is no map."""
    command = [sys.executable, str(PROGRAM)]

    def allow():
        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))

    died = subprocess.run(command, cwd=folder, env=environment, preexec_fn=allow, capture_output=True, check=False)
    assert died.returncode == -11, died.stderr
    made = list(folder.glob("core*"))
    if not made:
        made = [folder / "core"]
        words = (*_GDB, "-ex", "run", "-ex", f"generate-core-file {made[0]}", "--args", *command)
        subprocess.run(words, cwd=folder, env=environment, capture_output=True, check=False)
    assert made[0].exists()
    assert not (folder / "home" / "kernels").exists()
    return made[0]


@pytest.fixture(scope="module")
def of_the_cache(environment, folder, core):
    """The crash of the code that torch's cache has, and what was said of it; from then on there is a map."""
    before = compiled(folder)
    found = crash_of(environment, folder, "--continue", *BUFFERS)
    assert compiled(folder) == before, f"the kernel itself is that of the cache, as in {core}"
    return found


def compiled(folder):
    return set((folder / "torch").rglob("*.so"))


def crash_of(environment, folder, *words):
    """The stop of ``pyharness step``, and what it says of itself."""
    result = Command(environment, folder)("step", PROGRAM, *words, "--json", "--raw")
    stops = json.loads(result.stdout)["stops"]
    assert stops[-1]["reason"] == "signal", result.stderr
    return stops[-1], result.stderr


def is_at_rows(frame):
    """Whether the frame is that of the node that is computed of the table's rows, as the program has it."""
    origin = f"{PROGRAM}:{marks.line_of('rows', PROGRAM)}"
    return (frame["fx"]["module"], frame["fx"]["origin"]) == ("scale", origin)


def text_of(frame):
    return Path(frame["file"]).read_text().splitlines()[frame["line"] - 1]


def buffers(printed):
    return {name: text for name, text in printed.items() if name.startswith("in_ptr")}


@pytest.mark.rotated_tests(turns=3, number=0)
def test_a_crash_is_at_the_line_that_loads_with_its_node_and_values(environment, folder):
    words = ("--debug-kernels", "--continue", *BUFFERS, "--print", "sigmoid", "--print", "sin", "--stack")
    (folder / "debugged").mkdir(mode=0o700)
    inductor.cache(folder / "debugged" / "debug-kernels")
    stop, _ = crash_of({**environment, **environment_of(folder / "debugged")}, folder, *words)
    assert stop["function"].startswith("cpp_fused_"), stop
    assert stop["fx"]["node"] == "index"
    assert is_at_rows(stop)
    lost = [name for name, text in buffers(stop["printed"]).items() if "unreadable" in text]
    assert len(lost) == 1, stop["printed"]
    assert f"loadu({lost[0]} + " in text_of(stop)
    assert any(": Tensor int64 [16] cpu [0, 1, " in text for text in stop["printed"].values())
    numbers = re.match(r"\[(.*?)\]  sigmoid\[0, 0\] to ", stop["printed"]["sigmoid"])[1].split(", ")
    assert float(numbers[0]) == pytest.approx(0.26894142)  # sigmoid(-1)
    assert stop["printed"]["sin"].startswith("<not computed yet")
    assert [each["language"] for each in stop["stack"] if each.get("fx")] == ["native", "python"]


def test_a_crash_in_code_of_torchs_own_cache_has_its_node_though_nobody_made_a_map(of_the_cache):
    stop, said = of_the_cache
    assert stop["function"].startswith("cpp_fused_"), stop
    assert is_at_rows(stop)
    assert sum("unreadable" in text for text in buffers(stop["printed"]).values()) == 1
    assert "--debug-kernels" in said


@pytest.mark.usefixtures("of_the_cache")
def test_a_core_file_of_it_has_its_node_since_then(environment, folder, core):
    result = Command(environment, folder)("debug", core, "-c", "p in_ptr1", "-c", "stack")
    assert re.search(r"1  signal · native · cpp_fused_\w+ · ", result.stdout), result.stdout + result.stderr
    assert re.search(rf"fx: \w+ ← scale, .*:{marks.line_of('rows', PROGRAM)}\n", result.stdout), result.stdout
    assert "SIGSEGV" in result.stdout


def test_a_core_file_of_code_without_a_map_has_the_kernels_name_and_its_buffers(environment, folder, core):
    home = folder / "another"
    result = Command({**environment, **environment_of(home)}, folder)("debug", core, "-c", "p in_ptr0")
    assert re.search(r"1  signal · native · cpp_fused_\w+ · ", result.stdout), result.stdout + result.stderr
    assert "fx:" not in result.stdout
    assert re.search(r"^\w+: Tensor \w+ \[", result.stdout, re.MULTILINE), result.stdout
    assert "`pyharness fx compiled SCRIPT`" in result.stderr
    shutil.rmtree(home, ignore_errors=True)
