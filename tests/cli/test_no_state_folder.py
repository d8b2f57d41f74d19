"""No folder for our files: nowhere, not to be written, full. Programs run all the same, one line says what lacks."""

import os
import subprocess
import sys

import pytest

from kit import needs
from kit.command import PYHARNESS
from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=6)


TRACED = PROGRAMS / "fx_plain.py"
COMPILED = PROGRAMS / "compiled_plain.py"
PLAIN = "import os, sys\nprint(sys.argv[1:], os.environ.get('HOME'))\nsys.exit(7)\n"
PATIENCE = 120


def fill(disk):
    with (disk / "filling").open("wb", buffering=0) as file:
        while os.statvfs(disk).f_bavail:
            file.write(bytes(4096))


def nowhere(_folder):
    return {"XDG_CACHE_HOME": "/proc/nope"}, []


def a_file(folder):
    (folder / "file").touch()
    return {"PYHARNESS_HOME": str(folder / "file")}, []


def not_writable(folder):
    """Root may write anywhere: it gives that up."""
    before = needs.powerless("dac_override", "root may write anywhere")
    (folder / "cache").mkdir(mode=0o500)
    return {"XDG_CACHE_HOME": str(folder / "cache")}, before


def not_writable_any_more(folder):
    """It is there from earlier days, with all that is in it."""
    variables, before = not_writable(folder)
    for name in ("run", "generated", "graphs", "traces", "compiled", "symbols"):
        (folder / "state" / name).mkdir(parents=True, mode=0o500)
    (folder / "state").chmod(0o500)
    return {**variables, "PYHARNESS_HOME": str(folder / "state")}, before


def homeless(_folder):
    """A user of whom the machine knows nothing but the number, as in many containers."""
    before = ["unshare", "--user", "--map-user=54321", "env", "-u", "HOME"]
    needs.surroundings(before, "no user without a name can be made here (unshare --user)")
    return {}, before


def with_a_newline(folder):
    return {"PYHARNESS_HOME": f"{folder}/a\nb"}, []


FOLDERS = {
    each.__name__: each for each in (nowhere, a_file, not_writable, not_writable_any_more, homeless, with_a_newline)
}


@pytest.fixture(params=[*FOLDERS, "full"])
def folderless(request, tmp_path_factory, environment):
    """Run ``pyharness ...`` where it has no folder for its files."""
    folder = tmp_path_factory.mktemp("folder")
    if request.param == "full":
        disk = request.getfixturevalue("disk")
        fill(disk)
        variables, before = {"PYHARNESS_HOME": str(disk)}, []
    else:
        variables, before = FOLDERS[request.param](folder)
    known = {name: value for name, value in environment.items() if name != "PYHARNESS_HOME"}
    temporary = tmp_path_factory.mktemp("temporary")

    def run(*words, **more):
        command = [*before, *PYHARNESS, *map(str, words)]
        env = {**known, **variables, "TMPDIR": str(temporary), **more}
        return subprocess.run(command, env=env, cwd="/", capture_output=True, text=True, check=False, timeout=PATIENCE)

    run.temporary = temporary  # type: ignore[attr-defined]
    return run


@pytest.fixture
def disk(tmp_path_factory):
    """A small file system, with our folders on it."""
    disk = tmp_path_factory.mktemp("disk")
    needs.a_small_disk(disk, "64k")
    try:
        for name in ("run", "generated", "graphs", "traces", "compiled", "symbols"):
            (disk / name).mkdir()
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def is_one_warning(line):
    assert line.startswith("pyharness: no handle")
    assert "$PYHARNESS_HOME" in line
    assert "bug" not in line


@pytest.fixture
def plain(tmp_path):
    script = tmp_path / "plain.py"
    script.write_text(PLAIN)
    return script


@pytest.mark.always
def test_run_runs_the_program(folderless, plain):
    done = folderless("run", plain, "an argument")
    assert (done.returncode, done.stdout.split("]")[0]) == (7, "['an argument'")
    (line,) = done.stderr.splitlines()
    is_one_warning(line)


@pytest.mark.rotated
def test_what_the_program_generates_runs_and_leaves_nothing(folderless):
    done = folderless("run", "--nan", TRACED)
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr
    first, *others = done.stderr.splitlines()
    is_one_warning(first)
    assert [line.partition("(")[0] for line in others] == ["pyharness: no NaN or Inf was made "]
    assert not list(folderless.temporary.glob("pyharness-*"))


def test_a_name_that_is_taken_or_wrong_is_still_an_error(folderless, plain):
    done = folderless("run", "--name", "7", plain)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be a handle" in done.stderr


@pytest.mark.parametrize("folderless", ["nowhere", "a_file", "not_writable", "homeless"], indirect=True)
def test_the_list_of_handles_says_why_there_are_none(folderless):
    done = folderless("run", "--list")
    assert (done.returncode, done.stdout) == (1, "")
    assert "PYHARNESS_HOME" in done.stderr
    assert "bug" not in done.stderr


@pytest.mark.rotated
@pytest.mark.parametrize("folderless", ["nowhere", "not_writable_any_more", "full", "homeless"], indirect=True)
def test_step_stops_in_python_and_in_generated_code(folderless):
    done = folderless("step", TRACED, "--at", "fx:linear", "--over")
    assert done.returncode == 0, done.stderr
    assert "fx: linear ← linear" in done.stdout
    assert "no file" not in done.stderr
    assert not list(folderless.temporary.glob("pyharness-*"))


@pytest.mark.parametrize("folderless", ["nowhere"], indirect=True)
def test_a_program_that_is_killed_leaves_nothing(folderless, tmp_path):
    script = tmp_path / "killed.py"
    script.write_text("import os\nimport fx_plain\n\nfx_plain.main()\nos.kill(os.getpid(), 9)\n")
    done = folderless("step", script, "--at", "fx:linear", PYTHONPATH=str(PROGRAMS))
    assert "ended by SIGKILL" in done.stdout, done.stderr
    assert not list(folderless.temporary.glob("pyharness-*"))


@pytest.mark.rotated(by="words", turns=5)  # with both folders: they fail in other places
@pytest.mark.parametrize("folderless", ["nowhere", "full"], indirect=True)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("fx", "show", TRACED), "linear"),
        (("trace", TRACED), "linear"),
        (("fx", "compiled", COMPILED), "captured"),
    ],
    ids=["fx show", "trace", "fx compiled"],
)
def test_what_runs_a_program_shows_what_it_made(folderless, words, said):
    done = folderless(*words)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith("pyharness: The folder for pyharness's files cannot be used: ")
    assert not list(folderless.temporary.glob("pyharness-*"))


@pytest.fixture
def sleeping():
    """A process that any user may look at."""
    with subprocess.Popen([sys.executable, "-c", "print('on', flush=True); input()"], **PIPES) as process:
        assert process.stdout.readline() == "on\n"
        yield process
        process.kill()


PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}


@pytest.mark.rotated
@pytest.mark.parametrize("folderless", ["nowhere", "a_file", "not_writable_any_more", "full"], indirect=True)
def test_a_process_is_found_without_handles(folderless, sleeping):
    done = folderless("stack", sleeping.pid)
    assert done.returncode == 0, done.stderr
    assert "<module>" in done.stdout
    done = folderless("attach", sleeping.pid)
    assert "bug" not in done.stderr
    assert done.returncode == 0, done.stderr


@pytest.mark.rotated
def test_doctor_says_what_is_wrong_with_it(folderless, sleeping):
    done = folderless("doctor")
    assert "bug" not in done.stderr
    assert "PYHARNESS_HOME" in done.stdout
    done = folderless("doctor", sleeping.pid)
    assert "bug" not in done.stderr
    assert str(sleeping.pid) in done.stdout


FILLING = PROGRAMS / "fills_disk.py"


def test_a_disk_that_fills_while_the_program_runs(pyharness, disk):
    """What is generated later lies elsewhere."""
    done = pyharness("run", FILLING, disk, env={**os.environ, "PYHARNESS_HOME": str(disk)})
    assert (done.returncode, done.stdout) == (0, "ran\nran\n")
    assert [line.rpartition("-")[0] for line in done.stderr.splitlines()] == ["pyharness: handle fills_disk"]


@pytest.mark.rotated
@pytest.mark.parametrize("verb", [("fx", "show"), ("trace",), ("fx", "compiled")], ids=" ".join)
def test_what_is_lost_on_a_disk_that_fills_is_said_as_it_is(pyharness, disk, verb):
    done = pyharness(*verb, FILLING, "--", disk, env={**os.environ, "PYHARNESS_HOME": str(disk)})
    assert (done.returncode, done.stdout) == (1, "ran\nran\n")
    assert "No space left" in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_without_any_folder_the_program_runs_from_memory():
    """Not even a temporary one: there is nothing to write to on the whole machine."""
    hide = needs.READ_ONLY_TEMPORARY
    alone = ["unshare", "--mount", "--", "sh", "-c", hide]
    needs.surroundings(alone, "no folder can be hidden here (unshare --mount)")
    command = [*alone, *PYHARNESS, "run", str(TRACED)]
    env = {**os.environ, "PYHARNESS_HOME": "/proc/nope"}
    done = subprocess.run(command, env=env, cwd="/proc", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr
    first, second = done.stderr.splitlines()
    is_one_warning(first)
    assert second.startswith("pyharness: the generated code of Net has no file: ")


def test_a_relative_cache_folder_does_not_count(pyharness, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "plain.py").write_text(PLAIN)
    unset = {name: value for name, value in pyharness.environment.items() if name != "PYHARNESS_HOME"}
    settings = {**unset, "XDG_CACHE_HOME": "relative", "HOME": str(tmp_path / "home")}
    done = pyharness("run", "plain.py", cwd=tmp_path, env=settings)
    assert (done.returncode, (tmp_path / "relative").exists()) == (7, False)
    assert (tmp_path / "home/.cache/pyharness").is_dir()
