"""A folder for our files into which others could put something is not used: gdb runs code that is kept there."""

import os
import subprocess
import sys

import pytest

from kit import needs

pytestmark = pytest.mark.rotated_tests(turns=5)


PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
NOBODY = 65534


@pytest.fixture
def plain(tmp_path):
    script = tmp_path / "plain.py"
    script.write_text("print('ran')\n")
    return script


@pytest.fixture
def sleeping():
    with subprocess.Popen([sys.executable, "-c", "print('on', flush=True); input()"], **PIPES) as process:
        assert process.stdout.readline() == "on\n"
        yield process
        process.kill()


def writable(folder):
    state = folder / "state"
    state.mkdir()
    state.chmod(0o777)
    return {"PYHARNESS_HOME": str(state)}, f"other users may write in {state} (mode 0777)"


def writable_by_a_group(folder):
    variables, why = writable(folder)
    (folder / "state").chmod(0o775)
    if os.geteuid() == 0:
        os.chown(folder / "state", 0, 54321)
    return variables, why.replace("0777", "0775")


def in_a_writable_one(folder):
    cache = folder / "cache"
    cache.mkdir()
    (cache / "pyharness").mkdir(mode=0o700)
    cache.chmod(0o777)
    return {"XDG_CACHE_HOME": str(cache)}, f"other users may write in {cache} (mode 0777)"


def through_a_link(folder):
    """The link is private, and so is what it leads to; not so the folder in which a second link lies."""
    open_to_all = folder / "open"
    open_to_all.mkdir()
    (folder / "true").mkdir(mode=0o700)
    (open_to_all / "link").symlink_to(folder / "true")
    open_to_all.chmod(0o777)
    (folder / "state").symlink_to(open_to_all / "link")
    return {"PYHARNESS_HOME": str(folder / "state")}, f"other users may write in {open_to_all} (mode 0777)"


def with_a_part_of_anothers(folder):
    state = folder / "state"
    for part in ("run", "bytecode", "symbols", "generated"):
        (state / part).mkdir(parents=True, mode=0o755)
        chown(state / part)
    return {"PYHARNESS_HOME": str(state)}, f"{state / 'run'} belongs to user {NOBODY}, not to user {os.geteuid()}"


def of_another(folder):
    state = folder / "state"
    state.mkdir(mode=0o755)
    chown(state)
    return {"PYHARNESS_HOME": str(state)}, f"{state} belongs to user {NOBODY}, not to user {os.geteuid()}"


def chown(path):
    try:
        os.chown(path, NOBODY, NOBODY)
    except PermissionError:
        needs.skip("only root can give a folder away")


FOLDERS = (writable, writable_by_a_group, in_a_writable_one, through_a_link, with_a_part_of_anothers, of_another)


@pytest.fixture(params=FOLDERS, ids=lambda one: one.__name__)
def weak(request, tmp_path, pyharness):
    variables, why = request.param(tmp_path)
    without = {name: value for name, value in pyharness.environment.items() if name != "PYHARNESS_HOME"}
    pyharness.environment = {**without, **variables, "TMPDIR": "/tmp"}  # noqa: S108  (it has the sticky bit)
    pyharness.why = why
    pyharness.home = tmp_path
    return pyharness


def test_run_warns_in_one_line_and_goes_on(weak, plain):
    done = weak("run", plain)
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"pyharness: no handle: The folder for pyharness's files cannot be used: {weak.why}. ")
    assert "$PYHARNESS_HOME" in line
    assert ("chmod go-w" in line) == ("may write" in line)


def test_the_list_of_handles_is_refused(weak):
    done = weak("run", "--list")
    assert (done.returncode, done.stdout) == (1, "")
    assert weak.why in done.stderr
    assert "$PYHARNESS_HOME" in done.stderr


def test_gdb_keeps_nothing_there_and_runs_nothing_from_there(weak, sleeping):
    done = weak("stack", sleeping.pid)
    assert done.returncode == 0, done.stderr
    assert "<module>" in done.stdout
    assert not [file for file in weak.home.rglob("*") if file.is_file()]


@pytest.mark.rotated
def test_doctor_says_so(weak):
    said = " ".join(weak("doctor", "--json").stdout.split())
    assert "PYHARNESS_HOME" in said
    if "run belongs" not in weak.why:
        assert weak.why in said


def test_root_makes_nothing_where_another_users_link_leads(pyharness, plain, tmp_path):
    needs.root("a folder of another user's is made")
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    (home / ".cache").symlink_to(elsewhere)
    for path in (home, home / ".cache"):
        os.chown(path, 1000, 1000, follow_symlinks=False)
    without = {name: value for name, value in pyharness.environment.items() if name != "PYHARNESS_HOME"}
    for words in (("run", plain), ("run", "--list"), ("step", plain, "--at", f"py:{plain}:1")):
        done = pyharness(*words, env={**without, "HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")})
        assert words[0] == "step" or "belongs to user 1000" in done.stderr
        assert not list(elsewhere.iterdir())


def test_a_folder_that_is_made_is_private_and_so_are_those_above_it(pyharness, plain, tmp_path):
    before = os.umask(0)
    try:
        cache = tmp_path / "new" / "cache"
        done = pyharness("run", plain, env={**pyharness.environment, "PYHARNESS_HOME": str(cache / "pyharness")})
    finally:
        os.umask(before)
    assert done.stderr.startswith("pyharness: handle plain-")
    assert [path.stat().st_mode & 0o777 for path in (cache.parent, cache, cache / "pyharness")] == [0o700] * 3
