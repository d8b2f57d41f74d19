"""ph-bt at a thread of OpenMP's: the thread for which it works is behind it."""

from kit import builds
from kit.gdb import Gdb
from kit.marks import line_of
from kit.paths import PROGRAMS

SOURCE, PROGRAM = PROGRAMS / "parallel.cpp", PROGRAMS / "parallel_loop.py"


def test_the_line_of_python_that_has_called_is_shown(tmp_path):
    path = {"PYTHONPATH": str(builds.crossing("parallel", SOURCE, "-fopenmp"))}
    commands = ("ph-break native:parallel::part if number == 5", "ph-run", "ph-bt", "kill")
    gdb = Gdb(tmp_path, *commands, program=PROGRAM, environment=path)
    gdb.has(
        "works for thread ",
        f"parallel.cpp:{line_of('part', SOURCE)}",
        "  works for thread ",
        "parallel::total",
        f"parallel_loop.py:{line_of('call', PROGRAM)}",
    )
