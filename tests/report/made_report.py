"""A report of a program that nobody has run."""

from pyharness.model.frames import Frame
from pyharness.model.results.aftermath import Aftermath
from pyharness.model.threads import ThreadStack


def a_report(name: str = "table") -> Aftermath:
    """A crash with two threads; ``name`` is a variable's, a function's and the program's, but for the default."""
    program, function = ("train.py", "kernel") if name == "table" else (name, name)
    frames = (
        Frame("native", function, "/none/kernel.cpp", 82, variables=((name, "0x0"),)),
        Frame("native", "dispatch", library="/lib/libtorch_cpu.so", plumbing=True),
        Frame("python", "forward", __file__, 5, variables=(("x", "Tensor float32 [2]"),)),
    )
    threads = (ThreadStack(11, "python", frames), ThreadStack(12, "loader", frames[2:]))
    what = "SIGSEGV (Segmentation fault) at 0x0: a null pointer"
    return Aftermath("crash", program, (program, "--fast"), 11, "here", "2026-01-01T00:00:00+00:00", 3, what, threads)
