"""How values of the standard library look: docs/values.md says it, and a live stop and a core file show it."""

import re
from pathlib import Path

import pytest
from variables_session import Looking

from kit import needs
from kit.builds import compiled
from kit.paths import ROOT
from pyharness.gdbmi.client import GdbError

SOURCE = ROOT / "tests/programs/standard_values.cpp"
PAGE = ROOT / "docs/values.md"
LOOK = "zoo::look"
_ROW = re.compile(r"\| `(?P<name>\w+)` \| `(?P<type>.*)` \| `(?P<value>.*)` \|")
ROWS = [row for line in PAGE.read_text().splitlines() if (row := _ROW.fullmatch(line))]
STANDARD = {row["name"]: row["value"] for row in ROWS if row["type"].startswith("std::")}


def told(value):
    """The value as the page has it: addresses and the numbers of threads differ, and a core has no names of threads.

    GCC 16's printers leave the types of a variant out.
    """
    value = value.replace("std::variant [index", "std::variant<int, std::string> [index")
    value = re.sub(r'LWP \d+(, "\w+")?', "LWP 4711", value)
    return re.sub(r"0x[0-9a-f]{4,}", "0x7fff1000", value)


LIBCXX = next(iter(sorted(Path("/usr/lib").glob("llvm-*/include/c++/v1"))), Path("/usr/include/c++/v1"))
_USE_LIBCXX = ("-nostdinc++", f"-isystem{LIBCXX}", "-nodefaultlibs")
_LINK_LIBCXX = (f"-L{LIBCXX.parents[2]}/lib", "-lc++", "-lm", "-lc", "-lgcc_s", "-lgcc")
WITH_LIBCXX = {"libc++ -O0": "-O0", "libc++ -O2": "-O2"}
_HAS_LIBCXX = needs.file(LIBCXX, "there is no libc++: apt-get install libc++-dev libc++abi-dev")


@pytest.fixture(scope="module", params=["-O0", "-O2", *(pytest.param(each, marks=_HAS_LIBCXX) for each in WITH_LIBCXX)])
def program(request):
    level = WITH_LIBCXX.get(request.param)
    flags = (*_USE_LIBCXX, level, *_LINK_LIBCXX) if level else (request.param,)
    return compiled(SOURCE, "", "-g", "-std=c++17", "-pthread", *flags)


@pytest.fixture
def standard(request):
    """What the page says; of libc++ without what GCC's printers say of themselves."""
    if request.node.callspec.params["program"] not in WITH_LIBCXX:
        return STANDARD
    page = {name: value.replace("std::__cxx11::", "std::") for name, value in STANDARD.items()}
    return page | {name: re.sub(r"\[\d\] = ", "", page[name]) for name in ("chain", "some")}


@pytest.fixture(scope="module", params=["live", "core"])
def local(request, program, tmp_path_factory):
    live = Looking(str(program))
    sessions = [live]
    try:
        live.gdb.console("tbreak zoo::pause")
        live.gdb.console("run")
        live.gdb.console("python import gdb; gdb.set_convenience_variable('lwp', gdb.selected_thread().ptid[1])")
        live.thread = int(live.gdb.command("-data-evaluate-expression $lwp")["value"])
        looking = live
        if request.param == "core":
            core = tmp_path_factory.mktemp("values") / "core"
            live.gdb.console(f"gcore {core}")
            looking = Looking(str(program))
            sessions.append(looking)
            looking.gdb.console(f"core-file {core}")
            looking.thread = live.thread
        found = looking.variables(LOOK, "Locals")
        level = looking.level(LOOK)
        found["whole"] = lambda name: looking.ask(
            "ph-evaluate-variable", thread=looking.thread, level=level, expression=name, whole=True
        )["value"]
        found["children"] = lambda name: {
            child["name"]: child["value"] for child in looking.children(found[name]["handle"])
        }
        found["computed"] = lambda expression: looking.ask(
            "ph-evaluate", thread=looking.thread, level=level, expression=expression
        )
        yield found
    finally:
        for each in sessions:
            each.gdb.close()


def test_the_page_has_every_variable_of_the_program():
    source = SOURCE.read_text()
    assert STANDARD
    assert all(re.search(rf"\b{name}\b", source) for name in STANDARD)


def test_values_look_as_the_page_says(local, standard):
    assert {name: told(local[name]["value"]) for name in STANDARD} == standard


def test_containers_can_be_expanded(local):
    assert local["children"]("ages") == {'["ann"]': "1", '["bob"]': "2"}
    assert local["children"]("rates") == {"[1]": "0.5"}
    assert local["children"]("numbers") == {"[0]": "1", "[1]": "2", "[2]": "3"}
    assert local["children"]("chain") == {"[0]": "4", "[1]": "5"}
    assert local["children"]("waiting") == {"[0]": "1", "[1]": "2"}
    assert local["children"]("flags") == {"[0]": "true", "[1]": "false"}
    assert list(local["children"]("triple").values()) == ["1", "2.5", '"three"']
    assert local["children"]("fixed") == {"[0]": "1", "[1]": "2", "[2]": "3"}


COMPUTED = {
    "numbers[1] + numbers.size()": "5",
    "flags[1]": "false",
    "words[1]": '"two"',
    "fixed[2]": "3",
    "waiting[1]": "2",
    "chain.front()": "4",
    "some.size()": "2",
    "ages.empty()": "false",
    'ages["bob"] + ages.at("ann")': "3",
    'ages.count("eve")': "0",
    "rates[1]": "0.5",
    "some.count(3) + some.count(2)": "1",
    "some.contains(1)": "true",
    "*shared": "7",
    "shape->sides": "0",
    "view[1]": "101 'e'",
    "text.size() + view.size()": "10",
    "wide[1]": "105 L'i'",
    "*maybe + maybe.value()": "10",
    "nothing.has_value()": "false",
    "words[1][0]": "116 't'",
    "numbers[0] == 1 && *shared == 7": "true",
}
"""What GCC's own file says of its containers, and ours: no library has these functions, or they are inlined."""


def test_elements_and_what_a_pointer_has_can_be_computed_with(local, request):
    if request.node.callspec.params["program"] in WITH_LIBCXX:
        needs.skip("libc++ brings nothing that says how")
    assert {expression: local["computed"](expression) for expression in COMPUTED} == COMPUTED


MISSING = {
    "ages[words[1]]": 'There is no key "two". It has "ann", "bob".',
    "rates.at(numbers[1])": "There is no key 2. It has 1.",
    "words[0].at(7)": "There is no element 7 of 3.",
    "nothing.value()": "The optional holds nothing.",
}


def test_what_is_not_there_is_said(local, request):
    if request.node.callspec.params["program"] in WITH_LIBCXX:
        needs.skip("libc++ brings nothing that says how")
    for expression, said in MISSING.items():
        with pytest.raises(GdbError, match=re.escape(said)):
            local["computed"](expression)


def test_the_whole_of_a_text_that_a_line_cuts(local):
    assert local["long_text"]["value"].endswith("… (1000)")
    assert local["whole"]("long_text") == f'"{"x" * 1000}"'


def test_what_a_pointer_points_to_can_be_expanded(local):
    assert local["children"]("shape")["edge"] == "2.5"


def test_what_is_corrupt_says_so(local):
    assert "corrupt" in local["corrupt"]["value"] or "unreadable" in local["corrupt"]["value"]
    for name in ("corrupt_pointer", "corrupt_vector", "corrupt_function"):
        assert len(local[name]["value"]) <= 200
