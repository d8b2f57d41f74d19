"""What torch.compile did, as the report has it: graph breaks, guards, recompilations, what was given up."""

import json
from pathlib import Path

import backend_models
import pytest
import torch
from backend_models import points

from kit.marks import line_of
from pyharness.fx import compile_report, materialize
from pyharness.fx.backend.guards import read_failure, read_part
from pyharness.fx.backend.inputs import plain_source
from pyharness.fx.backend.naming import function_of
from pyharness.fx.backend.options import OptionError
from pyharness.model.codec import decode
from pyharness.model.results.compiled import CompileReport, Place
from pyharness.model.results.compiled_text import plain, report_lines

pytestmark = pytest.mark.rotated_tests(turns=2)

FILE = backend_models.__file__


@pytest.fixture(autouse=True)
def afresh():
    """Compile as in a new process; what was reported before is left out."""
    torch._dynamo.reset()
    torch._dynamo.utils.clear_compilation_metrics()
    before = len(compile_report().compilations)

    def report():
        whole = compile_report()
        return CompileReport(whole.compilations[before:], whole.not_compiled, whole.notes)

    yield report
    torch._dynamo.reset()


def at(name):
    return FILE, line_of(name, FILE)


def place(found):
    return found.file, found.line


def test_breaks_guards_and_what_failed_have_the_users_lines(afresh):
    model = backend_models.Broken()
    compiled = torch.compile(model, backend="pyharness")
    compiled(points(4).abs())
    model.factor = 3
    compiled(points(4).abs())
    report = afresh()
    by_id = {each.id: each for each in report.compilations}
    assert [(each.id, each.name, len(each.graphs) > 0) for each in report.compilations] == [
        ("0/0", "Broken.forward", False),
        ("1/0", "Printing.forward", True),
        ("2/0", f"Printing.forward:{line_of('print', FILE)}", True),
        ("3/0", f"Broken.forward:{line_of('factor', FILE)}", True),
        ("4/0", f"Broken.forward:{line_of('branch', FILE)}", True),
        ("3/1", f"Broken.forward:{line_of('factor', FILE)}", True),
    ]
    assert [place(each.place) for each in report.breaks] == [at("print"), at("branch")]
    assert report.breaks[0].place.source == 'print(end="")  # @print'
    assert "print" in report.breaks[0].detail
    assert "depends on the value of a tensor" in report.breaks[1].reason
    assert by_id["2/0"].ended_by is None
    (failed,) = by_id["3/1"].failed_guards
    assert (failed.compilation, place(failed.place)) == ("3/0", at("factor"))
    assert plain(failed.text) == "self.factor == 2"
    assert "self.factor == 2" in [plain(guard.text) for guard in by_id["3/0"].guards]
    kinds = {guard.kind for each in report.compilations for guard in each.guards}
    assert {"TENSOR_MATCH", "EQUALS_MATCH", "GLOBAL_STATE"} <= kinds
    lines = {place(guard.place) for guard in by_id["4/0"].guards if guard.place}
    assert any(file == FILE for file, _ in lines)
    assert decode(CompileReport, json.loads(json.dumps(report.to_json())), "the report") == report
    text = [line.text for line in report_lines(report, guards=True)]
    assert text[-1] == "5 graphs, 2 graph breaks, 1 recompilation"
    assert any("again     self.factor == 2  (guard of 3/0)" in line for line in text)
    assert str(report).count("\n  guards  ") == len(report.compilations)


def test_a_size_that_changes_is_told_with_its_sizes(afresh):
    compiled = torch.compile(backend_models.Counting(), backend="pyharness")
    for rows in (3, 5):
        compiled(points(rows))
    again = afresh().compilations[1]
    assert (again.id, again.failed_guards[0].text) == (
        "0/1",
        "tensor 'x' size mismatch at index 0. expected 3, actual 5",
    )


def test_what_dynamo_gives_up_on_is_told(afresh):
    torch.compile(backend_models.looping, backend="pyharness")(points(2))
    report = afresh()
    assert report.compilations == ()
    (failed,) = report.not_compiled
    assert (failed.function, place(failed.at)) == ("looping", at("loop"))
    assert failed.reason.startswith("Failed to trace builtin")
    assert "not compiled" in str(report)


def test_a_mistake_of_the_users_stays_theirs(afresh):
    compiled = torch.compile(torch.nn.Linear(7, 2), backend="pyharness")
    with pytest.raises(torch._dynamo.exc.TorchRuntimeError, match="same reduction dim"):
        compiled(points(2))
    (failed,) = afresh().not_compiled
    assert "fake tensor" in failed.reason

    compiled = torch.compile(lambda x, y: x[y] * 2, backend="pyharness")
    with pytest.raises(IndexError, match="out of bounds") as raised:
        compiled(points(2), torch.tensor([5]))
    names = [str(entry.path) for entry in raised.traceback]
    assert any("inference" in name for name in names), names  # the generated line is in the traceback


def test_guards_that_torch_dropped_are_said_to_be_lost(afresh):
    def nothing(x):
        print(end="")
        return x

    torch.compile(nothing, backend="pyharness")(points(2))
    torch._dynamo.reset()
    report = afresh()
    assert report.compilations[0].guards is None
    assert "nothing 0/0" in report.notes[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"aott": True}, "has no option 'aott'.\nDid you mean aot?"),
        ({"triton.cudagraphs": True}, "Its options are aot, decompositions, partition, folder"),
        ({"aot": 1}, "'aot' of the backend pyharness cannot be 1.\nIt takes True or False."),
        ({"decompositions": "core"}, "It takes 'none', 'core_aten', 'inductor' or a table."),
        ({"partition": ["min_cut"]}, "cannot be list.\nIt takes 'default', 'min_cut'."),
    ],
)
def test_an_option_that_cannot_be_meant_is_one_error_without_the_compilers_frames(options, message):
    with pytest.raises(OptionError, match="pyharness") as raised:
        torch.compile(lambda x: x + 1, backend="pyharness", options=options)(points(2))
    assert message in str(raised.value)
    assert not [entry for entry in raised.traceback if "convert_frame" in str(entry.path)]


def test_a_table_of_decompositions_and_a_folder(afresh, tmp_path):
    table = {torch.ops.aten.silu.default: lambda x: x * torch.sigmoid(x)}
    options = {"decompositions": table, "folder": str(tmp_path / "code")}
    compiled = torch.compile(torch.nn.SiLU(), backend="pyharness", options=options)
    torch.testing.assert_close(compiled(points(2)), torch.nn.functional.silu(points(2)))
    graph = afresh().compilations[0].graphs[-1]
    assert graph.file.startswith(str(tmp_path / "code"))
    assert "aten.sigmoid" in Path(graph.file).read_text()


PART = (
    "L['self'].factor == 2                  # x = self.inner(x) * self.factor  # @factor  # ep/models.py:12 in forward"
)


def test_what_torch_writes_is_read():
    files = ("/home/me/deep/models.py", "/home/me/other.py")
    wanted = Place("/home/me/deep/models.py", 12, "x = self.inner(x) * self.factor  # @factor")
    assert read_part(PART, files) == ("L['self'].factor == 2", wanted)
    assert read_part(f"{PART} (HINT: make it dynamic)", files)[1] == wanted
    assert read_part("___check_global_state()", files) == ("___check_global_state()", None)
    assert read_part("x == 1  # <unknown>", files)[1] is None
    failed = read_failure(f"12/3: {PART}\nUser stack trace:\n  File ...", files)
    assert (failed.compilation, failed.text, failed.place) == ("12/3", "L['self'].factor == 2", wanted)
    assert read_failure("something else", files) is None


@pytest.mark.parametrize(
    ("guard", "said"),
    [
        (
            "check_tensor(L['x'], Tensor, DispatchKeySet(CPU, AutogradCPU), torch.float32)",
            "check_tensor(x, Tensor, torch.float32)",
        ),
        ("L['self']._modules['a']._modules['0']._parameters['w'] is None", "self.a.0.w is None"),
        ("___check_obj_id(G['__import_torch_dot_nn'].F, 1234), type=<class 'module'>", "torch.nn.F is the same module"),
        ("___check_type_id(G['f'](1), 99), type=<class 'a.B'>", "type(f(1)) is a.B"),
    ],
)
def test_guards_are_said_plainly(guard, said):
    assert plain(guard) == said


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("L['self']._modules['blocks']._modules['0']._parameters['weight']", "blocks.0.weight"),
        ("L['self']._buffers['calls']", "calls"),
        ("L['x'].size()[0]", "x.size()[0]"),
        ("G['table']['key']", "table['key']"),
        ("L['___stack0']", "___stack0"),
    ],
)
def test_inputs_are_said_plainly(source, said):
    assert plain_source(source) == said


def test_names_of_resumed_functions():
    class Net:
        def torch_dynamo_resume_in_forward_at_12(self):
            pass

    function = function_of(Net.torch_dynamo_resume_in_forward_at_12.__code__)
    assert function.short == "Net.forward:12"
    assert function.resumed_at == 12


def test_what_is_compiled_of_a_library_or_generated_is_named_after_its_module(afresh):
    traced = torch.fx.symbolic_trace(backend_models.Counting().eval())
    materialize(traced)
    for module in (torch.nn.Sequential(torch.nn.ReLU()), traced):
        torch.compile(module, backend="pyharness")(points(2))
    assert [each.function for each in afresh().compilations] == ["Sequential.forward", "Counting.forward"]
