"""An editor shows the lines of code that is in no file, such as a notebook's cell: it asks the adapter for the text."""

import pytest
from debugging import Debugging

FILE, TYPED = "/nowhere/ipykernel_77/12.py", "<ipython-input-3-abc>"
TEXT = """import crossing

def cell(number):
    seen = crossing.held(number)
    return seen

cell(7)
"""


def source_of_cell(program, stood, name):
    """What the client is told of the cell's source, which it can ask for by its number alone."""
    (cell,) = (frame["source"] for frame in program.stack(stood.thread) if frame["name"] == "cell")
    assert cell["path"] == name
    for source in (cell, {"path": "/elsewhere"}):
        answer = program.client.request("source", sourceReference=cell["sourceReference"], source=source)
        assert answer["content"] == TEXT
    return cell


@pytest.mark.rotated
@pytest.mark.parametrize("name", [FILE, TYPED])
def test_a_native_stop_shows_the_cell_that_called(dap, name):
    program = Debugging(dap.stdio(), "notebook_cells.py")
    stood = program.launch(functions=("crossing::held",), args=["stop", name]).stood()
    cell = source_of_cell(program, stood, name)
    stood = program.out(stood)
    assert (stood.file, stood.line) == (name, 5)
    assert source_of_cell(program, stood, name) == cell
    program.leave()


@pytest.mark.rotated
@pytest.mark.parametrize("name", [FILE, TYPED])
def test_a_breakpoint_in_the_text_of_a_cell(dap, name):
    program = Debugging(dap.stdio(), "notebook_cells.py")
    stood = program.launch(functions=("crossing::held",), args=["stop", name]).stood()
    (answer,) = program.set_lines(name, [5])
    assert answer["verified"]
    stood = program.run_on(stood)
    assert (stood.file, stood.line, stood.reason) == (name, 5, "breakpoint")
    program.leave()


def test_a_file_has_none(dap):
    program = Debugging(dap.stdio(), "core_crossing.py").launch("held")
    assert all("sourceReference" not in frame.get("source", {}) for frame in program.stack(program.stood().thread))
    program.leave()
