"""How values of the standard library look: docs/values.md says it, and a live stop and a core file show it."""

import re

import pytest
from variables_session import Looking

from kit import marks
from kit.builds import compiled
from kit.paths import ROOT

SOURCE = ROOT / "tests/programs/standard_values.cpp"
PAGE = ROOT / "docs/values.md"
LOOK = "zoo::look"
_ROW = re.compile(r"\| `(?P<name>\w+)` \| `(?P<type>.*)` \| `(?P<value>.*)` \|")
ROWS = [row for line in PAGE.read_text().splitlines() if (row := _ROW.fullmatch(line))]
STANDARD = {row["name"]: row["value"] for row in ROWS if row["type"].startswith("std::")}


def told(value):
    """The value as the page has it: addresses and the numbers of threads differ, and a core has no names of threads."""
    value = re.sub(r'LWP \d+(, "\w+")?', "LWP 4711", value)
    return re.sub(r"0x[0-9a-f]{4,}", "0x7fff1000", value)


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def program(request):
    return compiled(SOURCE, "", "-g", "-std=c++17", "-pthread", request.param)


@pytest.fixture(scope="module", params=["live", "core"])
def local(request, program, tmp_path_factory):
    live = Looking(str(program))
    sessions = [live]
    try:
        live.gdb.console(f"tbreak standard_values.cpp:{marks.line_of('look', SOURCE)}")
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
        found["children"] = lambda name: {
            child["name"]: child["value"] for child in looking.children(found[name]["handle"])
        }
        yield found
    finally:
        for each in sessions:
            each.gdb.close()


def test_the_page_has_every_variable_of_the_program():
    source = SOURCE.read_text()
    assert STANDARD
    assert all(re.search(rf"\b{name}\b", source) for name in STANDARD)


def test_values_look_as_the_page_says(local):
    assert {name: told(local[name]["value"]) for name in STANDARD} == STANDARD


def test_what_a_pointer_points_to_can_be_expanded(local):
    assert local["children"]("shape")["edge"] == "2.5"


def test_what_is_corrupt_says_so(local):
    assert "corrupt" in local["corrupt"]["value"] or "unreadable" in local["corrupt"]["value"]
    for name in ("corrupt_pointer", "corrupt_vector", "corrupt_function"):
        assert len(local[name]["value"]) <= 200
