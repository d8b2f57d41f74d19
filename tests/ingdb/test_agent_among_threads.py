"""gdb asks the program's Python side while another thread of it waits for the GIL."""

from kit import builds
from kit.gdb import Gdb, at
from kit.paths import ROOT

PROGRAM = ROOT / "tests/programs/wanted_gil.py"
HAS_ASKED = "call ((int (*)(unsigned)) usleep)(50000)"
"""Ten times as long as a thread waits for the GIL before it asks for it."""


def test_a_thread_that_has_asked_for_the_gil_does_not_hang_gdb(tmp_path):
    gdb = Gdb(
        tmp_path,
        "ph-break native:held",
        "ph-run",
        HAS_ASKED,
        "ph-print -python crossing.__name__",
        HAS_ASKED,
        "ph-out",
        "kill",
        program=PROGRAM,
        environment={"PYTHONPATH": str(builds.crossing())},
    )
    gdb.has("crossing::held (value=1)", "'crossing'", at("next", PROGRAM))
