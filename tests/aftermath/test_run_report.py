"""``pyharness run --report``: a crash, an exception, a hang are written into files, and the program ends as ever."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from kit import builds, needs
from kit.command import PYHARNESS
from kit.marks import line_of
from kit.names import qualified
from kit.paths import PROGRAMS
from kit.rotation import always
from pyharness.model.results.aftermath import aftermath_from_json
from pyharness.model.results.aftermath_text import report_lines

pytestmark = pytest.mark.rotated_tests(turns=6)


SCRIPT = PROGRAMS / "ends.py"
CRASHES = {
    "null": ("SIGSEGV (Segmentation fault) at 0x0: a null pointer", "null"),
    "in_thread": ("SIGSEGV (Segmentation fault) at 0x0: a null pointer", "null"),
    "backward": ("SIGSEGV (Segmentation fault) at 0x10: a null pointer and 16 bytes", qualified("Faulty.backward")),
    "aborts": ("SIGABRT (Aborted)", "aborts"),
    "sent": ("SIGFPE (Floating point exception)", "sent"),
    "in_a_removed_folder": ("SIGSEGV (Segmentation fault) at 0x0: a null pointer", "null"),
    "overflow": ("just beyond this thread's stack: it has overflowed", "overflow.<locals>.<lambda>"),
}
MARKS = {"in_thread": "null", "in_a_removed_folder": "null"}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")

    def finish(*words, options=(), before=(), **variables):
        command = [*before, *PYHARNESS, "run", "--report", str(tmp_path / "out"), *options, str(SCRIPT), *words]
        environment = {**os.environ, **variables}
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)

    return finish


@pytest.fixture
def reports(tmp_path):
    def read(kind):
        files = sorted((tmp_path / "out").glob(f"{kind}-*.json"))
        return [json.loads(file.read_text()) for file in files]

    return read


def plain(*words):
    return subprocess.run([sys.executable, str(SCRIPT), *words], capture_output=True, check=False, timeout=60)


def users_frame(report):
    """The innermost frame of the program's own file."""
    return next(frame for frame in report["threads"][0]["stack"] if frame["file"] == str(SCRIPT))


@pytest.mark.rotated_tests(turns=1, number=0)
@pytest.mark.rotated
@pytest.mark.parametrize("way", [pytest.param("backward", marks=always), *sorted({*CRASHES} - {"backward"})])
def test_a_crash_is_written_down_and_ends_as_without_us(run, reports, way):
    what, function = CRASHES[way]
    ended = run(way)
    assert ended.returncode == plain(way).returncode < 0
    (report,) = reports("crash")
    assert what in report["what"]
    frame = users_frame(report)
    assert (frame["function"], frame["line"]) == (function, line_of(MARKS.get(way, way), SCRIPT))
    assert report["note"] == ""
    assert not any("on_crash" in each["function"] for each in report["threads"][0]["stack"])
    assert f"crash-ends.py-{report['pid']}.txt" in ended.stderr
    assert what in ended.stderr


def test_a_crash_in_code_that_threads_share_has_the_line_of_python(tmp_path, monkeypatch):
    """The thread itself has no Python: the one for which it works has."""
    program, source = PROGRAMS / "parallel_loop.py", PROGRAMS / "parallel.cpp"
    monkeypatch.setenv("PYTHONPATH", str(builds.crossing("parallel", source, "-fopenmp")))
    command = [*PYHARNESS, "run", "--report", str(tmp_path), str(program), "fault"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == -signal.SIGSEGV
    about, _, owner = ended.stderr.partition("works for thread")
    assert f"parallel.cpp:{line_of('fault', source)}" in about
    assert f"parallel_loop.py:{line_of('fault', program)}" in owner
    (report,) = (json.loads(file.read_text()) for file in tmp_path.glob("crash-*.json"))
    assert report["threads"][0]["works_for"] == report["pid"]


def test_a_hang_in_code_that_threads_share_says_what_they_do(tmp_path, monkeypatch):
    program, source = PROGRAMS / "parallel_loop.py", PROGRAMS / "parallel.cpp"
    monkeypatch.setenv("PYTHONPATH", str(builds.crossing("parallel", source, "-fopenmp")))
    command = [*PYHARNESS, "run", "--report", str(tmp_path), "--hang", "1", str(program), "nap"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 0
    naps = rf"thread \d+ sleeps in parallel::nap \(\S*parallel\.cpp:{line_of('naps', source)}\)"
    waits = rf"it waits for threads that work for it \({naps}\) in parallel::nap .*parallel_loop\.py:"
    assert re.search(f"{waits}{line_of('nap', program)}\\)", ended.stderr)


@pytest.mark.always
def test_values_are_in_it(run, reports, tmp_path):
    run("backward")
    (report,) = reports("crash")
    assert dict(users_frame(report)["variables"])["scale"] == "Tensor float32 [3] cpu [3.0, 3.0, 3.0]"
    text = next((tmp_path / "out").glob("*.txt")).read_text()
    assert "scale = Tensor float32 [3] cpu [3.0, 3.0, 3.0]" in text
    assert "[autograd: " in text


def test_a_container_without_the_right_to_trace_others(run, reports):
    """A process lets another one of its user read it all the same; Docker starts containers so."""
    before = needs.surroundings(["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"], "no setpriv here")
    run("backward", before=before)
    (report,) = reports("crash")
    assert dict(users_frame(report)["variables"])["scale"] == "Tensor float32 [3] cpu [3.0, 3.0, 3.0]"


def test_where_nobody_can_read_it_that_is_said(run, reports):
    ended = run("without_files")
    assert (ended.returncode, reports("crash")) == (-signal.SIGSEGV, [])
    assert "pyharness: no report of this crash: the process that writes it could not be started" in ended.stderr


@pytest.mark.rotated_tests(turns=6)
def test_another_namespace_of_processes(run, reports):
    """Nobody is read who only has the same number: the report has the signal, and comes at once."""
    needs.root("only root may make a namespace of processes")
    assert run("in_another_namespace").returncode == -signal.SIGSEGV & 0xFF
    (report,) = reports("crash")
    assert (report["pid"], report["threads"]) == (1, [])
    assert report["what"] == "SIGSEGV (Segmentation fault) at 0x0"
    assert "mount -t proc proc /proc" in report["note"]


def test_faulthandler_says_its_own_once(run, reports):
    for variables in ({"PYTHONFAULTHANDLER": "1"}, {}):
        ended = run("null", **variables)
        assert ended.stderr.count("Fatal Python error: Segmentation fault") == len(variables)
    assert len(reports("crash")) == 2


def test_a_faulthandler_that_was_disabled_says_nothing_and_the_program_still_dies(run, reports):
    """One from the start, and one that came behind us: there is nobody left whom the signal could be handed back to."""
    for variables in ({"PYTHONFAULTHANDLER": "1"}, {}):
        ended = run("disabled", **variables)
        assert (ended.returncode, ended.stderr.count("Fatal Python error")) == (-signal.SIGSEGV, 0)
    assert len(reports("crash")) == 2


def test_a_worker_of_a_data_loader(run, reports):
    """torch's own handler in it is told behind us; the main process raises."""
    ended = run("worker")
    assert ended.returncode == 1
    (report,) = reports("crash")
    assert users_frame(report)["line"] == line_of("worker", SCRIPT)
    assert "Unexpected segmentation fault encountered in worker" in ended.stderr
    (raised,) = reports("exception")
    assert "DataLoader worker" in raised["what"]


def test_an_exception_has_its_variables(run, reports):
    ended = run("raises")
    assert ended.returncode == 1
    assert ended.stderr.endswith("ValueError: 2 names of 2, 1\n")
    (report,) = reports("exception")
    assert report["what"] == "ValueError: 2 names of 2, 1"
    frame = users_frame(report)
    assert (frame["function"], frame["line"]) == ("raises", line_of("raises", SCRIPT))
    assert dict(frame["variables"]) == {
        "weight": "Tensor float32 [2, 3] cpu [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]",
        "names": "['a', Tensor float32 [1] cpu [0.0]]",
        "kinds": "{<__main__.Rows object>: {1}}",
    }
    assert report["traceback"].endswith("ValueError: 2 names of 2, 1\n")


def test_the_headline_is_no_note_and_no_book(run, reports):
    run("noted")
    (report,) = reports("exception")
    assert report["what"].startswith("ValueError: yyyy")
    assert "… 8012 more characters …" in report["what"]


def test_what_python_does_not_print_is_not_asked_for_its_text(run, reports):
    ended = run("hides")
    (report,) = reports("exception")
    assert (report["what"], ended.stdout) == ("ValueError: on its own", "")


def test_a_program_that_stands_is_a_hang_and_runs_on(run, reports):
    ended = run("waits", "3", options=["--hang", "1"])
    assert (ended.returncode, ended.stdout) == (0, "the end\n")
    (report,) = reports("hang")
    assert re.match(r"its main thread has stood at one place for \d s: it waits for an event", report["what"])
    assert users_frame(report)["line"] == line_of("waits", SCRIPT)


def test_a_loop_of_python_on_one_line_stands(run, reports):
    ended = run("spins", "4", options=["--hang", "1.5"])
    assert (ended.returncode, ended.stdout) == (0, "the end\n")
    (report,) = reports("hang")
    assert re.match(r"its main thread has stood at one place for \d s: it computes", report["what"])
    assert users_frame(report)["line"] == line_of("spins", SCRIPT)


def test_a_library_that_waits_by_asking_again_and_again_stands(run, reports):
    ended = run("waits_for_its_loader", "4", options=["--hang", "1.5"])
    assert (ended.returncode, ended.stdout, ended.stderr.count(" hangs\n")) == (0, "the end\n", 1), ended.stderr
    (report,) = reports("hang")
    assert "it waits for its data loader in waits_for_its_loader (" in report["what"]
    (worker,) = report["workers"]
    assert f"; process {worker['pid']} sleeps in {qualified('Slow.__getitem__')} (" in report["what"]
    assert f"Child process {worker['pid']} (ends.py)" in [
        line.text for line in report_lines(aftermath_from_json(report))
    ]


@pytest.mark.parametrize("way", ["works", "works_in_short_waits", "module"])
def test_one_that_goes_on_is_none_and_leaves_no_folder(run, tmp_path, way):
    ended = run(way, options=["--hang", "1"])
    assert (ended.returncode, ended.stdout) == (0, "the end\n")
    assert not (tmp_path / "out").exists()


def test_nobody_of_ours_is_a_child(run):
    ended = run("waits_for_all", options=["--hang", "60"])
    assert (ended.returncode, ended.stdout) == (0, "no child is left\nthe end\n")
    ended = run("closes_all", options=["--hang", "60"])
    assert (ended.returncode, ended.stdout) == (0, "the end\n")
    assert "Traceback" not in ended.stderr


def test_without_gdb_it_has_no_variables_and_says_so(run, reports, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(shutil.which("python3"))
    run("null", PATH=str(tmp_path / "bin"), PYHARNESS_GDB="")
    (report,) = reports("crash")
    assert report["what"].startswith("SIGSEGV (Segmentation fault) at 0x0: a null pointer")
    assert report["note"].startswith("without variables: ")
    assert users_frame(report)["line"] == line_of("null", SCRIPT)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--hang", "5", str(SCRIPT)], "--hang writes a report, and no folder is named for it."),
        (["--report", str(SCRIPT), str(SCRIPT)], "is a file."),
        (["--report", "out", "--nan", str(SCRIPT)], "--nan has a report of its own."),
        (["--report", "/nosuch/folder/out", str(SCRIPT)], "/nosuch/folder"),
    ],
)
def test_what_cannot_be_written_is_said_before_it_runs(words, says):
    ended = subprocess.run([*PYHARNESS, "run", *words], capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 2
    assert says in ended.stderr
