"""A place that nothing has so far is noted while the program runs: it may run for days."""

import pytest

import pyharness
from pyharness.debugger import shell
from pyharness.model.errors import HarnessError

pytestmark = pytest.mark.rotated_tests(turns=5)


PLAIN = """
import sys, time
from pathlib import Path

while not Path(sys.argv[1]).exists():
    time.sleep(0.02)
"""
GRAPH = f"""
import torch

class Outer(torch.nn.Module):
    def forward(self, x):
        first = torch.relu(x)
        return first + 1

gm = torch.fx.symbolic_trace(Outer())
{PLAIN}
gm(torch.ones(2))
"""


@pytest.fixture
def waiting(tmp_path, monkeypatch):
    """Run to a place in a program that goes on once it was noted; the notes, and how it ended."""

    def run_to(script, where, enough):
        notes = []

        def note(text):
            notes.append(text)
            if enough in text:
                (tmp_path / "noted").touch()

        with pyharness.debug(str(script), str(tmp_path / "noted"), notes=note) as program:
            monkeypatch.setattr(shell, "_LATE_SECONDS", 0.5)
            with pytest.raises(HarnessError) as error:
                program.run_to(where)
            return notes, str(error.value)

    return run_to


def test_a_misspelt_node_is_noted_once_there_is_a_graph(waiting, tmp_path):
    script = tmp_path / "graph.py"
    script.write_text(GRAPH)
    notes, error = waiting(script, "fx:relv", "Did you mean")
    assert notes[-1] == "Still waiting for fx:relv. So far: No graph of the program has fx:relv. Did you mean relu?"
    assert len(set(notes)) == len(notes)
    assert "No graph of the program has fx:relv." in error


def test_native_code_that_is_not_there_is_noted(waiting, tmp_path):
    script = tmp_path / "plain.py"
    script.write_text(PLAIN)
    (note,), error = waiting(script, "native:held", "-g")
    assert note.startswith("Still waiting for native:held. So far: No loaded native code has native:held. Is it in")
    assert note.endswith("the program loads?")
    assert error.startswith("No loaded native code has native:held.")


def test_a_line_that_comes_late_is_no_news(debugged, monkeypatch):
    notes = []
    crossing = debugged("core_crossing.py")
    with crossing.start(notes=notes.append) as program:  # on a busy machine that takes its time, which is no news here
        monkeypatch.setattr(shell, "_LATE_SECONDS", 0.1)
        program.run_to(crossing.at("loop"))
    assert not notes


def test_before_the_first_graph_nothing_is_said_to_be_missing(waiting, tmp_path):
    script = tmp_path / "late.py"
    script.write_text(f"{PLAIN}\n{GRAPH}")
    notes, error = waiting(script, "fx:relv", "made no graph")
    assert notes[0].endswith("So far the program made no graph: it may still import torch, trace or compile.")
    assert not any("made no torch.fx" in note for note in notes)
    assert "No graph of the program has fx:relv." in error
