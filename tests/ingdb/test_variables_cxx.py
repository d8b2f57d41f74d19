"""Variables of plain C++: containers page by page, classes, pointers, registers, and what is corrupt."""

import pytest
from variables_session import Looking

from kit import marks
from kit.builds import compiled
from kit.paths import ROOT
from pyharness.gdbmi.client import GdbError

SOURCE = ROOT / "tests/programs/variables.cpp"
LOOK = "shop::look"


def line_of(mark):
    return marks.line_of(mark, SOURCE)


@pytest.fixture(scope="module")
def look():
    look = Looking(str(compiled(SOURCE, "", "-g", "-O0")))
    try:
        look.gdb.console(f"tbreak variables.cpp:{line_of('look')}")
        look.gdb.console("run")
        look.gdb.console("python import gdb; gdb.set_convenience_variable('lwp', gdb.selected_thread().ptid[1])")
        look.thread = int(look.gdb.command("-data-evaluate-expression $lwp")["value"])
        yield look
    finally:
        look.gdb.close()


@pytest.fixture(scope="module")
def local(look):
    return look.variables(LOOK, "Locals")


def values(look, variable, *page):
    return {child["name"]: child["value"] for child in look.children(variable["handle"], *page)}


def test_locals_and_arguments_are_apart(look, local):
    arguments = look.variables(LOOK, "Arguments")
    assert list(arguments) == ["argument", "text", "base"]
    assert arguments["text"]["value"] == '"some text"'
    assert local["shadowed"]["value"] == "10"
    assert local["calls"]["evaluate"] == "calls"


def test_a_reference_is_what_it_refers_to(look, local):
    assert local["rate"]["value"] == "2.5"
    assert local["moved"]["value"] == '"moved"'
    assert local["first"]["value"].startswith("{value = 1, next = 0x")
    assert values(look, local["first"])["value"] == "1"
    assert look.evaluate(LOOK, "rate")["value"] == "2.5"


def test_a_vector_in_pages(look, local):
    assert local["numbers"]["indexed"] == 100_000
    assert values(look, local["numbers"], 99_998, 5) == {"[99998]": "99998", "[99999]": "99999"}


def test_maps_are_named_by_their_keys(look, local):
    assert values(look, local["prices"]) == {'["apple"]': "1", '["pear"]': "2"}
    assert values(look, local["names"]) == {"[5]": '"five"'}


def test_other_containers(look, local):
    assert list(values(look, local["list"]).values()) == ["1", "2", "3"]
    assert list(values(look, local["deque"]).values()) == ["4", "5"]
    assert values(look, local["pair"]) == {"get<0>": "1", "get<1>": '"one"'}
    assert values(look, local["fixed"]) == {"[0]": "7", "[1]": "8", "[2]": "9"}


def test_arrays_of_arrays(look, local):
    row = look.inside(local["plain"], "[2]")
    assert values(look, row) == {"[0]": "5", "[1]": "6"}
    assert look.inside(row, "[1]")["evaluate"] == "plain[2][1]"
    assert look.evaluate(LOOK, "plain[2][1]")["value"] == "6"


def test_classes_show_bases_and_members(look, local):
    derived = look.named(local["derived"]["handle"])
    assert derived["price"]["value"] == "2.5"
    assert look.inside(derived["shop::Base"], "identity")["evaluate"] == "derived.identity"
    assert look.inside(derived["<anonymous>"], "inner")["value"] == "3"
    assert not any(name.startswith("_vptr") for name in derived)


def test_a_pointer_to_a_base_shows_what_it_points_to(look):
    base = look.variables(LOOK, "Arguments")["base"]
    assert look.inside(base, "price")["value"] == "2.5"


def test_pointers(look, local):
    assert local["pointer"]["memory"].startswith("0x")
    assert look.inside(local["twice"], "*twice")["evaluate"] == "*twice"
    assert look.inside(local["twice"], "*twice", "**twice")["value"] == "1"
    assert local["words"]["handle"] == 0
    assert '"hello"' in local["words"]["value"]
    assert local["anything"]["handle"] == 0


def test_a_ring_is_opened_step_by_step(look, local):
    assert look.inside(local["ring"], "next", "next", "next", "value")["evaluate"] == "ring.next->next->next->value"


def test_shared_pointers(look, local):
    assert "(1 owner)" in local["shared"]["value"]
    assert look.children(local["shared"]["handle"])
    assert local["nothing"]["value"] == "nullptr"


@pytest.mark.parametrize("name", ["broken_vector", "broken_map", "broken_string", "broken_list", "wild"])
def test_what_is_corrupt_is_shown_without_harm(look, local, name):
    shown = local[name]
    children = look.children(shown["handle"], 0, 50) if shown["handle"] else []
    assert len(children) <= 50
    unread = [part for part in [shown, *children] if part["note"] or "<cannot access" in part["value"].lower()]
    assert unread or any("error" in part["value"].lower() for part in [shown, *children]) or not children


def test_globals(look):
    found = look.variables(LOOK, "Globals")
    assert found["shop::counter"]["value"] == "41"


def test_setting(look, local):
    def put(variable, name, value):
        return look.ask("ph-set-variable", thread=look.thread, handle=variable["handle"], name=name, value=value)[
            "value"
        ]

    assert put(local["derived"], "price", "argument * 2") == "20"
    assert put(look.inside(local["plain"], "[0]"), "[1]", "22") == "22"
    assert put(local["twice"], "*twice", "pointer").startswith("0x")
    scope = look.scope(LOOK, "Registers")
    assert put(scope, "rax", "5") == "0x5"
    with pytest.raises(GdbError, match="cannot be set"):
        put(local["prices"], '["apple"]', "3")
