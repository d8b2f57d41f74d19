"""Places that a user's own kernel names with PYHARNESS_BREAKPOINT: found in any library, armed, tested, let alone."""

import ctypes
import shutil
import subprocess

import pytest

from kit import builds
from pyharness.model.errors import UsageError
from pyharness.native import breakpoint as native_breakpoint
from pyharness.native import include_dir

NAMES = ["site.bare", "site.inline", "site.lambda", "site.loop", "site.template"]


def loaded(path):
    library = ctypes.CDLL(str(path))
    library.sum_of.restype = library.others.restype = ctypes.c_double
    library.sum_of.argtypes = [ctypes.POINTER(ctypes.c_double), ctypes.c_long]
    library.others.argtypes = [ctypes.c_double]
    return library


@pytest.fixture(scope="module", params=["-O0", "-O2", "stripped"])
def kernel(request, tmp_path_factory):
    """Stripped of every symbol that can go, it has its places all the same."""
    if request.param != "stripped":
        return loaded(builds.site_kernel(request.param))
    target = tmp_path_factory.mktemp("stripped") / "kernel.so"
    shutil.copy(builds.site_kernel("-O2"), target)
    subprocess.run(["strip", "--strip-all", target], check=True)
    return loaded(target)


def total(kernel, *values):
    return kernel.sum_of((ctypes.c_double * len(values))(*values), len(values))


def test_a_condition_on_the_variables(kernel):
    hits = []
    with native_breakpoint(site="site.loop", when="i == 3 and v1 > 1e3", action=hits.append) as point:
        assert total(kernel, 1, 2, 3, 4) == 10
        assert point.hits == 0
        assert total(kernel, 1, 2, 3, 4000, 5) == 4011
        assert point.hits == 1
    assert total(kernel, 1, 2, 3, 4000) == 4006
    (hit,) = hits
    assert (hit.kind, hit.name, hit.variables) == ("site", "site.loop", {"i": 3.0, "v1": 4000.0})


def test_places_in_templates_lambdas_and_inline_functions(kernel):
    hits = []
    points = [native_breakpoint(site=name, action=hits.append) for name in NAMES]
    assert kernel.others(3.0) == 13.0
    for point in points:
        point.remove()
    assert kernel.others(3.0) == 13.0
    met = sorted((hit.name, tuple(hit.variables.values())) for hit in hits)
    assert met == [
        ("site.bare", ()),
        ("site.inline", (7.0, 3.0, 14.0)),
        ("site.lambda", (3.0,)),
        ("site.template", (3.0,)),
        ("site.template", (7.0,)),
    ]


def test_two_at_one_place_and_the_nth(kernel):
    hits, all_hits = [], []
    with (
        native_breakpoint(site="site.loop", nth=2, action=hits.append),
        native_breakpoint(site="site.loop", action=all_hits.append),
    ):
        total(kernel, 5, 6, 7)
    total(kernel, 5, 6, 7)
    assert [hit.variables["v1"] for hit in hits] == [6.0]
    assert [hit.variables["v1"] for hit in all_hits] == [5.0, 6.0, 7.0]


@pytest.mark.usefixtures("kernel")
def test_names_that_are_not_there():
    with pytest.raises(UsageError, match=r"Did you mean site\.loop"):
        native_breakpoint(site="site.lop")
    with pytest.raises(UsageError, match=r"This place has i, v1"):
        native_breakpoint(site="site.loop", when="x > 1")


def test_the_header_is_where_it_is_said_to_be_and_needs_nothing(tmp_path):
    source = tmp_path / "alone.cpp"
    source.write_text('#include <pyharness/breakpoint.h>\nint main() { PYHARNESS_BREAKPOINT("alone", 1); return 0; }\n')
    for standard in ("-std=c++11", "-std=c++17", "-std=c++20"):
        command = ["c++", standard, "-Wall", "-Wextra", "-Werror", f"-I{include_dir()}", str(source)]
        subprocess.run([*command, "-o", str(tmp_path / "alone")], check=True)
        subprocess.run([str(tmp_path / "alone")], check=True)
