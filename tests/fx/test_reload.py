"""Running an edited file of generated code."""

import pytest
import torch
from torch import fx, nn

from pyharness.fx import EditError, materialize, reload
from pyharness.model.source_map import map_of

X = torch.ones(2, 4)


@pytest.fixture
def module():
    return fx.symbolic_trace(nn.Sequential(nn.Tanh(), nn.Sigmoid()))


@pytest.fixture
def made(module):
    return materialize(module)


def edit(made, old, new):
    text = made.file.read_text()
    assert old in text
    made.file.write_text(text.replace(old, new))


def test_the_edited_code_runs(module, made):
    edit(made, "return _1", "return _1 * 0 + 7")
    reload(module)
    assert module(X).unique().tolist() == [7]
    assert "return _1 * 0 + 7" in module.code


def test_an_editor_may_put_a_mark_of_the_byte_order_first(module, made):
    made.file.write_text("\ufeff" + made.file.read_text().replace("return _1", "return _1 * 0 + 7"))
    reload(module)
    assert module(X).unique().tolist() == [7]


def test_moved_lines_are_found_by_their_names(module, made):
    edit(made, "    _1 = ", "    # a comment\n    extra = 3\n    if extra:\n        pass\n    _1 = ")
    reload(module)
    lines = made.file.read_text().split("\n")
    entries = {entry.node: entry for entry in map_of(str(made.file)).lines}
    assert lines[entries["_1"].line - 1].startswith("    _1 = ")
    assert lines[entries["output"].line - 1].startswith("    return")
    assert lines[entries["input_1"].line - 1] == "    input_1 = input"


def test_a_syntax_error_names_its_line_and_the_old_code_still_runs(module, made):
    before = module(X)
    edit(made, "    _1 = ", "    _1 = = ")
    with pytest.raises(EditError, match=rf"{made.file}:7: invalid syntax") as caught:
        reload(module)
    assert "still runs" in caught.value.remedy
    assert torch.equal(module(X), before)


def test_a_file_without_forward(module, made):
    made.file.write_text("x = 1\n")
    with pytest.raises(EditError, match="defines no forward"):
        reload(module)


def test_an_error_at_the_top_of_the_file(module, made):
    made.file.write_text("import torch\nnot_there\n" + made.file.read_text())
    with pytest.raises(EditError, match=r":2: NameError"):
        reload(module)


def test_a_deleted_file(module, made):
    made.file.unlink()
    with pytest.raises(EditError, match="No such file"):
        reload(module)


def test_a_module_without_a_file(module):
    with pytest.raises(EditError, match="has no file to reload"):
        reload(module)


@pytest.mark.usefixtures("made")
def test_nothing_edited_changes_nothing(module):
    forward = type(module).forward
    reload(module)
    assert type(module).forward is forward


def test_recompile_returns_to_the_graph(module, made):
    expected = module(X)
    edit(made, "return _1", "return 0")
    reload(module)
    module.recompile()
    assert torch.equal(module(X), expected)
    assert made.file.with_suffix(".edited.py").exists()


class Leaves(fx.Tracer):
    def is_leaf_module(self, *_):
        return True


def test_all_or_none(module):

    root = nn.Sequential(module)
    outer = fx.GraphModule(root, Leaves().trace(root), "Outer")
    both = materialize(outer)
    edit(both, "return _0", "return _0 * 0")
    edit(both.nested["0"], "return _1", "return (")
    with pytest.raises(EditError):
        reload(outer)
    assert outer(X).sum() > 0
    edit(both.nested["0"], "return (", "return _1 + 1")
    reload(outer)
    assert outer(X).unique().tolist() == [0]
