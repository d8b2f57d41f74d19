"""Passes that iterate over sets are found by what they give and by where they do it; others are not."""

import builtins
import json
import math
import sys
from importlib import import_module
from importlib.machinery import SourceFileLoader

import pytest

from kit.marks import line_of
from kit.paths import PROGRAMS
from pyharness import cli
from pyharness.fx import determinism
from pyharness.fx.hashseeds import child, uses
from pyharness.fx.hashseeds.references import resolve
from pyharness.model.errors import HarnessError, UsageError

pytestmark = pytest.mark.rotated_tests(turns=5)


FILE = PROGRAMS / "passes_of_sets.py"


@pytest.fixture
def here(monkeypatch):
    """What a process finds is found in this one, which has torch: for uses of sets, whose order is no matter."""
    monkeypatch.setattr(child, "_shake", lambda _seed: None)
    monkeypatch.setattr(SourceFileLoader, "get_code", SourceFileLoader.get_code)
    monkeypatch.setattr(builtins, uses._NOTED, None, raising=False)
    run = import_module(determinism.__module__)
    monkeypatch.setattr(run, "_run", lambda names, seed, repeats, **_others: child._found(seed, repeats, *names))
    modules = dict(sys.modules)
    for name in [name for name, module in modules.items() if getattr(module, "__file__", None) == str(FILE)]:
        del sys.modules[name]
    yield
    for name in sys.modules.keys() - modules.keys():
        del sys.modules[name]


def test_a_pass_that_iterates_a_set_is_found_twice():
    found = determinism(f"{FILE}:by_names", seeds=(0, 1))
    assert not found
    assert found.difference.first != found.difference.second
    assert "mul" in found.difference.first
    assert [(each.file, each.line) for each in found.sets] == [(str(FILE), line_of("names", FILE))]
    assert "sorted(" in found.sets[0].remedy
    text = str(found)
    assert f"from line {found.difference.line} on" in text
    assert f"passes_of_sets.py:{found.sets[0].line}" in text


def test_the_command_line(capsys):
    """Nodes hash by address: the hash seed alone would leave their order as it is."""
    words = ["fx", "determinism", f"{FILE}:by_nodes", f"{FILE}:Model", "--seeds", "2", "--json"]
    assert cli.execute(words) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["difference"]["first"] != found["difference"]["second"]
    assert [each["line"] for each in found["sets"]] == [line_of("nodes", FILE)]


def test_a_pass_that_sorts_first_is_not_nor_what_it_counts_from_run_to_run():
    found = determinism(f"{FILE}:sorted_first", f"{FILE}:Model", seeds=(0, 1))
    assert found.strict
    assert found.runs == 8
    assert str(found).endswith("gives the same code in 8 runs under 2 hash seeds.")


@pytest.mark.usefixtures("here")
def test_attributes_and_sets_in_mappings_are_followed_through_methods():
    found = determinism(f"{FILE}:by_object", f"{FILE}:Model", seeds=(0, 1)).sets
    assert [each.line for each in found] == [line_of("attribute", FILE), line_of("held", FILE)]
    assert [each.how for each in found] == ["a comprehension", "iter()"]


USES = """
from nowhere_in_particular import twice

def outer(module):
    here = set(range(3)) | {1}
    a = [x for x in here]  # found
    b = tuple(twice(here))  # found
    c = sorted(x for x in here)
    d = len(here), max(here), 3 in here, sorted(list(here)), {x for x in here}
    e = [*here]  # found
    ordered = dict.fromkeys(here)  # found
    f = ordered.keys() - {2}
    for x in f: pass  # found
    here = sorted(here)
    for x in here: pass
    first, *rest = here
    for x in ordered: pass
    g = set(here)
    g.pop()  # found
    h, i = made()  # found
    j = ",".join(made())  # found
    for group in inner(ordered): pass
    l = any(x for x in g)
    print(*map(str, made()))  # found
    return module

def inner(ordered):
    k = {n: frozenset() for n in ordered}
    for n, group in k.items():
        yield from group  # found
    print(list(*[k]))

def made():
    result = set()
    result.update("ab")
    return result

def never_called():
    for x in made(): pass
"""


@pytest.mark.usefixtures("here")
def test_uses_of_a_sets_order(tmp_path):
    """A set is one by its type: another module makes it, and a name stands for a set in one line and a list below."""
    file = tmp_path / "uses_of_sets.py"
    file.write_text(USES)
    (tmp_path / "nowhere_in_particular.py").write_text("def twice(numbers):\n    return {2 * n for n in numbers}\n")
    found = determinism(f"{file}:outer", f"{FILE}:Model", seeds=(0, 1)).sets
    wanted = [number for number, line in enumerate(USES.split("\n"), 1) if line.endswith("# found")]
    assert [each.line for each in found] == wanted
    assert len(wanted) == 10
    assert {each.function for each in found} == {"outer", "inner"}
    assert not list(tmp_path.glob("__pycache__/uses_of_sets*")), "no other process takes these files from a cache"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("terms", "lines"), [(500, [4]), (2500, [])])
def test_a_long_sum_is_no_matter(tmp_path, terms, lines):
    """Where the file is too deep for a tree, it runs all the same; its sets are not seen."""
    file = tmp_path / "long_sum.py"
    file.write_text(
        f"TERMS = {'+'.join(['1'] * terms)}\ndef it(module):\n    seen = {{1, 2}}\n    return [*seen] and module\n"
    )
    found = [each.line for each in determinism(f"{file}:it", f"{FILE}:Model", seeds=(0, 1)).sets]
    assert found in (lines, [4])  # on 3.13 no such sum is too deep


def test_an_error_of_the_transform_is_told_with_its_line():
    with pytest.raises(HarnessError, match=r"raises RuntimeError: not today \(.*passes_of_sets.py:\d+\)"):
        determinism(f"{FILE}:raises", f"{FILE}:Model")


def test_what_cannot_be_named_is_refused():
    with pytest.raises(UsageError, match="cannot be imported in another process"):
        determinism(lambda module: module, f"{FILE}:Model")
    with pytest.raises(UsageError, match="two hash seeds"):
        determinism(f"{FILE}:by_nodes", f"{FILE}:Model", seeds=(1,))


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"timeout": math.nan}, "timeout cannot be nan s"),
        ({"timeout": 0}, "timeout cannot be 0 s"),
        ({"repeats": 0}, "repeats cannot be 0"),
        ({"seeds": (0, -1)}, "A hash seed cannot be -1"),
    ],
)
def test_numbers_that_cannot_be_meant_are_refused(option, said):
    with pytest.raises(UsageError, match=said):
        determinism(f"{FILE}:by_nodes", f"{FILE}:Model", **option)


@pytest.mark.parametrize("reference", ["nowhere", "no.such.module:name", "no/file.py:name", ":name"])
def test_references_that_name_nothing(reference):
    with pytest.raises(UsageError):
        resolve(reference)


def test_a_name_that_is_mistyped():
    with pytest.raises(UsageError, match="Did you mean by_nodes"):
        resolve(f"{FILE}:by_node")
