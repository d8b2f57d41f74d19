"""What maps of kernels are made with: marks in text, loops around a line, indices of merged loops, kept files."""

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest
import sympy

from pyharness.fx.inductor import marks
from pyharness.fx.inductor.loops import loops_around
from pyharness.fx.inductor.merging import unmerged
from pyharness.fx.inductor.private import LackingError, private
from pyharness.fx.inductor.wrappers import calls_in
from pyharness.model.kernel_files import Kernel, Wrapper, kernels_in, maps_of, remember, save
from pyharness.model.kernel_map import (
    GraphNode,
    Held,
    KernelLine,
    KernelMap,
    KernelMaps,
    KernelUse,
    WrapperCall,
    digest_of,
    load,
)
from pyharness.model.source_map import map_of, place_of
from pyharness.model.wrapper_map import write_map

SOURCE = "\n#include <cpp_prefix.h>\nvoid kernel() {\n    auto tmp0 = in_ptr0[x0];\n}\n"
LINE = KernelLine(4, "add", "load", "tmp0", (Held("add", ("x0", "0")),), (("x0", "16"),), "arg0_1", "tmp3")
MAPS = KernelMaps(
    "2.13.0",
    "forward",
    (GraphNode("add", "torch.ops.aten.add.Tensor", "blocks.0", "/model.py", 9, "x"),),
    (KernelMap("cpp_fused_add_0", digest_of(SOURCE), (KernelUse(("add",), (LINE,), 128),)),),
)


def test_a_mark_goes_through_what_torch_does_to_a_line():
    line = marks.marked("auto tmp0 = in_ptr0[x1];", 7)
    assert marks.marked(line, 8) == line, "who wrote a line first is whom it is for"
    assert marks.clean(line) == "auto tmp0 = in_ptr0[x1];"
    assert marks.read(f"{{\n    {line}\n}}") == {1: 7}
    assert marks.read(marks.marked("[&]\n{\n\n}", 3)) == {0: 3, 1: 3, 2: 3, 3: 3}
    assert not marks.marked("  ", 1).strip()


def test_the_loops_around_a_line_are_told_by_how_it_is_indented():
    text = """
for(int64_t x0=0; x0<4; x0+=1)
{
    a;
    for(int64_t x1=0; x1<4; x1+=16)
    {
        for (long x1_inner = 0; x1_inner < 16; x1_inner++)
        {
            b;
        }
    }
    c;
}
d;"""
    lines = text.split("\n")
    found = dict(zip((line.strip() for line in lines), loops_around(lines), strict=True))
    assert [found[name] for name in ("a;", "b;", "c;", "d;")] == [("x0",), ("x0", "x1", "x1_inner"), ("x0",), ()]


class Body:
    def __init__(self, ranges, *formulas):
        self.var_ranges = ranges
        self.indexing_exprs = dict(enumerate(formulas))


def values(found, outer, inner, whole):
    return {tuple(int(found[each].subs(whole[0], at)) for each in (outer, inner)) for at in range(whole[1])}


def test_indices_of_loops_that_became_one_are_taken_from_it():
    z0, z1, p0 = sympy.symbols("z0 z1 p0", integer=True, nonnegative=True)
    old = Body({z0: sympy.Integer(3), z1: sympy.Integer(5)}, 5 * z0 + z1)
    found = unmerged(Body({p0: sympy.Integer(15)}), old, [[0, p0], []])
    assert values(found, z0, z1, (p0, 15)) == {(row, column) for row in range(3) for column in range(5)}
    transposed = Body(old.var_ranges, z0 + 3 * z1)
    found = unmerged(Body({p0: sympy.Integer(15)}), transposed, [[p0, 0], []])
    assert found[z0].subs(p0, 4) == 1
    assert found[z1].subs(p0, 4) == 1


def test_where_it_cannot_be_told_which_loops_became_one_nothing_is_said():
    z0, z1, p0 = sympy.symbols("z0 z1 p0", integer=True, nonnegative=True)
    old = Body({z0: sympy.Integer(3), z1: sympy.Integer(5)}, 7 * z0 + z1)
    assert unmerged(Body({p0: sympy.Integer(15)}), old, [[0, p0], []]) is None


def test_maps_are_read_back_as_they_were_and_are_private(home):
    assert load(MAPS.dump()) == MAPS
    save("wrapper", MAPS)
    assert maps_of("wrapper") == MAPS
    assert maps_of("another") is None
    (file,) = (home / "kernels").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 99}', '{"version": 1}', '{"version": 1, "nodes": [{"a": 1}]}']
)
def test_a_map_that_is_no_map_is_none(text, home):
    save("wrapper", MAPS)
    (file,) = (home / "kernels").iterdir()
    file.write_text(text)
    assert maps_of("wrapper") is None


def test_a_map_says_nothing_of_another_text():
    wrapper = Wrapper("/wrapper.py", (), MAPS)
    assert wrapper.map_of(Kernel("cpp_fused_add_0", None, SOURCE)) is MAPS.kernels[0]
    assert wrapper.map_of(Kernel("cpp_fused_add_0", None, SOURCE + "\n")) is None
    assert Wrapper("/wrapper.py", (), None).map_of(Kernel("cpp_fused_add_0", None, SOURCE)) is None


def test_a_kernels_file_knows_the_graphs_that_call_it(tmp_path):
    file = tmp_path / "kernel.main.cpp"
    file.write_text(f"{SOURCE}\n// Python bindings to call kernel():\n#include <Python.h>\n")
    assert list(kernels_in(str(file))) == []
    for wrapper in ("one", "two", "one"):
        save(wrapper, KernelMaps(wrapper, "forward", MAPS.nodes, MAPS.kernels))
        remember(str(file), wrapper)
    assert [(maps.torch, kernel) for _, maps, kernel in kernels_in(str(file))] == [
        ("one", MAPS.kernels[0]),
        ("two", MAPS.kernels[0]),
    ]
    file.write_text(file.read_text().replace("tmp0", "tmp1"))
    assert list(kernels_in(str(file))) == [], "another text"
    assert list(kernels_in(str(tmp_path / "gone.cpp"))) == []


def test_callers_that_are_no_list_are_none(tmp_path, home):
    file = tmp_path / "kernel.main.cpp"
    file.write_text(SOURCE)
    save("one", MAPS)
    remember(str(file), "one")
    (callers,) = (home / "kernels").glob("*.callers.json")
    for text in ("", "{}", json.dumps({"wrappers": {"a": 1}}), json.dumps({"wrappers": [1]})):
        callers.write_text(text)
        assert list(kernels_in(str(file))) == []


WRAPPER = """
async_compile = AsyncCompile()
cpp_fused_add_0 = async_compile.cpp_pybinding(['float*'], r'''
void kernel() {}
''')
def call(args):
    extern_kernels.addmm(arg0)
    buf1 = empty_strided_cpu()
    buf2 = torch.ops.aten.sort.default(buf1)
    cpp_fused_add_0(buf1)
    cpp_fused_add_0(buf2)
    cpp_fused_add_0(buf3)
    aten.index_put_(buf2, [buf3], buf1)
"""


def test_the_lines_of_a_wrapper_that_compute_nodes_are_its_calls():
    kernel = KernelMap("cpp_fused_add_0", "", (KernelUse(("erf", "add"), ()), KernelUse(("add_1",), ())))
    found = list(calls_in(WRAPPER, [kernel], [(7, "addmm"), (9, "add"), (9, "sort"), (13, "index_put")]))
    assert [(call.line, call.nodes) for call in found] == [
        (7, ("addmm",)),
        (9, ("sort",)),
        (10, ("erf", "add")),
        (11, ("add_1",)),
        (13, ("index_put",)),
    ]


def test_a_wrapper_has_a_source_map_in_our_folder_and_nothing_in_torchs(tmp_path, home):
    file = tmp_path / f"c{'a2' * 25}z.py"
    file.write_text(WRAPPER)
    maps = replace(MAPS, calls=(WrapperCall(10, ("add", "gone")),))
    assert map_of(str(file)) is None
    assert write_map(Wrapper(str(file), (), maps))
    assert not write_map(Wrapper(str(file), (), None))
    assert [each.name for each in tmp_path.iterdir() if each != home] == [file.name]
    place = place_of(str(file), 10)
    assert (place.node, place.module, place.origin) == ("add", "blocks.0", "/model.py:9")
    assert place_of(str(file), 11) is None


def test_a_torch_that_lacks_a_part_is_said_to(monkeypatch):
    from torch._inductor import loop_body

    monkeypatch.delattr(loop_body, "InterpreterShim")
    with pytest.raises(LackingError, match=r"torch\._inductor\.loop_body\.InterpreterShim"):
        private()


def test_the_page_names_each_private_part():
    from pyharness.fx.inductor.private import PARTS

    page = (Path(__file__).parents[2] / "docs" / "inductor.md").read_text()
    names = {name for parts in PARTS.values() for part in parts for name in part.split(".")}
    assert not sorted(name for name in names if name not in page)
