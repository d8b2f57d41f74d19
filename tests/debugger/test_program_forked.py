"""A process that debugs and forks: the session stays the parent's, whatever its child does with the copy."""

import subprocess
import sys

import pytest

import pyharness
from kit.paths import PROGRAMS, ROOT, before_others
from kit.processes import ends_within
from kit.running_program import wait_for_end

FORKS = """
import os, signal, sys, warnings, pyharness
from pyharness.model.errors import HarnessError
script, place = {script!r}, {place!r}
warnings.simplefilter("ignore")
program = pyharness.debug(script, stdout=-3)
program.run_to(place)

def refused(use):
    try:
        return use()
    except HarnessError as error:
        said = f"This session belongs to process {{os.getppid()}}: a forked child cannot use it."
        assert error.message == said, error
        return "refused"

def child():
    signal.alarm(20)
    {child}

pid = os.fork()
if not pid:
    child()
    print("child", flush=True)
    sys.exit(0)
print("ended", os.waitpid(pid, 0)[1], flush=True)
print(program.stop.frame.line, program.evaluate("1 + 1"), program.over().frame.function, flush=True)
program.close()
print("closed", program.exit_code, flush=True)
"""
CHILDREN = {
    "ends": "pass",
    "closes": "program.close()",
    "drops": "global program; del program",
    "leaves its block": "program.__exit__(None, None, None)",
    "uses": """
    uses = ["evaluate('1')", "stack()", "over()", "resume()", "run_to(place)", "set_breakpoint(place)", "detach()"]
    uses += ["kill()", "finish()", "__enter__()", "clear_breakpoint(None)"]
    for text in uses:
        assert refused(lambda: eval("program." + text)) == "refused", text
    """.strip(),
}
PLACES = {"python": ("plain_lines.py", "py:{}:3"), "native": ("core_crossing.py", "native:held")}


@pytest.mark.rotated(turns=8)
@pytest.mark.parametrize("child", CHILDREN)
@pytest.mark.parametrize("language", PLACES)
def test_a_child_of_the_controller_leaves_the_program_alone(language, child, crossing, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", before_others(crossing))
    name, place = PLACES[language]
    script = str(PROGRAMS / name)
    code = FORKS.format(script=script, place=place.format(script), child=CHILDREN[child])
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    said = done.stdout.splitlines()
    assert said[:2] == ["child", "ended 0"], done.stdout + done.stderr
    assert said[-1].startswith("closed -"), done.stdout + done.stderr
    assert (len(said), done.returncode, done.stderr) == (4, 0, "")


LIVES_ON = """
import os, signal, sys, pyharness
program = pyharness.attach({target!r})
program.run_to({place!r})
if not (child := os.fork()):
    signal.pause()
print(child, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_child_that_lives_on_does_not_keep_the_next_debugger_out(running):
    """The program hears that its debugger is gone when the parent is killed."""
    walker = running("attach_loop.py", "native")
    code = LIVES_ON.format(target=walker.pid, place="native:repeat")
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        try:
            parent.wait()
            with pyharness.attach(walker.pid) as program:
                program.run_to(walker.at("released"))
            walker.ends_free()
        finally:
            subprocess.run(["kill", "-9", str(child)], check=False)
    assert ends_within(child, 10)
    wait_for_end(child)
