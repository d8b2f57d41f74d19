"""A person's own gdb scripts, such as pretty-printers, in the gdb of a session."""

import json
import re

import pytest

from kit import builds
from kit.mcp_client import served
from kit.paths import PROGRAMS
from pyharness.debugger.native.scripts import VARIABLE

PRINTER = """import os
import runpy

import gdb
import gdb.printing

word = runpy.run_path(os.path.join(os.path.dirname(__file__), "words.py"))["word"]


class Item:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return f"{word} that costs {int(self.value['price'])}"


known = gdb.printing.RegexpCollectionPrettyPrinter("shop")
known.add_printer("Item", "^shop::Item$", Item)
gdb.printing.register_pretty_printer(None, known)
"""
CALLS = "import ctypes, sys\nctypes.CDLL(sys.argv[1]).plain_entry(3)\n"

pytestmark = pytest.mark.rotated_tests(turns=3)


@pytest.fixture
def scripts(tmp_path):
    """Writes scripts, and says where."""
    (tmp_path / "words.py").write_text("word = 'a thing'\n")

    def written(**texts):
        for name, text in texts.items():
            (tmp_path / name.replace("_", ".")).write_text(text)
        return ":".join(name.replace("_", ".") for name in texts)

    return written


@pytest.fixture
def played(pyharness):
    """What ``step`` prints of an object of the user's class, with these scripts."""
    (pyharness.folder / "calls.py").write_text(CALLS)
    library = builds.library(PROGRAMS / "native_functions.cpp", "-O0")

    def run(named):
        words = ("--at", "native:shop::Item::cost", "--print", "*this", "--print", "price", "--kill", "--json")
        environment = {**pyharness.environment, VARIABLE: named}
        done = pyharness("step", "calls.py", *words, "--", library, env=environment)
        return json.loads(done.stdout), done

    return run


def test_a_printer_of_the_persons_own_shows_values(scripts, played):
    """One that finds a module beside it; settings of a script give way to those of the debugger."""
    plain, _ = played("")
    assert plain["stops"][0]["printed"]["*this"].startswith("{")
    told, _ = played(
        scripts(settings_gdb="set pagination on\nset confirm on\nset print frame-arguments all\n", own_py=PRINTER)
    )
    assert told["stops"][0]["printed"] == {"*this": "a thing that costs 3", "price": "3"}


def test_an_agent_has_them_too(scripts, pyharness):
    (pyharness.folder / "calls.py").write_text(CALLS)
    library = builds.library(PROGRAMS / "native_functions.cpp", "-O0")
    with served(pyharness.folder, environment={VARIABLE: scripts(own_py=PRINTER)}) as client:
        place = "native:shop::Item::cost"
        started = client.call("start", script="calls.py", args=[str(library)], breakpoints=[place])
        assert not started.is_error, started.text
        looked = client.call("look", expressions=["*this"])
        assert looked.told["values"] == {"*this": "a thing that costs 3"}
        client.call("end")


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"own_py": "x = 1\n\nraise KeyError('shop')\n"}, r"own\.py: KeyError: 'shop' \(line 3\)"),
        ({"own_py": "def ("}, r"own\.py: SyntaxError: "),
        ({"own_gdb": "print 1\nprnt 2\n"}, r'own\.gdb: line 2: Undefined command: "prnt"'),
    ],
    ids=["raises", "no Python", "gdb"],
)
def test_what_fails_in_one_is_said(scripts, played, texts, said):
    told, done = played(scripts(**texts))
    assert done.returncode == 1
    assert re.search(rf"gdb cannot read \S*{said}", told["error"]["message"])
    assert "Mend it (`gdb -nx -x " in told["error"]["remedy"]


def test_one_that_is_not_there_is_named(played):
    told, done = played("~/of_nobody.py")
    assert done.returncode == 1
    assert re.fullmatch(
        r"/\S*/of_nobody\.py, which \$PYHARNESS_GDB_SCRIPTS names, is no file\.", told["error"]["message"]
    )
