"""What a gdb of pip's has in its environment for its own Python is not for the programs that it starts."""

import pytest

from pyharness.ingdb.process.own_environment import changed

HOME = "/e"
DATA = f"{HOME}/lib/python3.11/site-packages/gdb_for_pwndbg/_vendor/share/gdb"
STANDARD = "/usr/lib/python311.zip:/usr/lib/python3.11:/usr/lib/python3.11/lib-dynload"


@pytest.mark.parametrize("users", ["", "/x", "/x:/y/my.zip"])
def test_the_users_path_comes_back(users):
    path = ":".join(filter(None, [f"{HOME}/bin", users, STANDARD, f"{HOME}/lib/python3.11/site-packages"]))
    told = changed({"PYTHONHOME": f"{HOME}:{HOME}", "PYTHONPATH": path, "PYTHONNOUSERSITE": "1"}, DATA)
    assert told == {"PYTHONHOME": "", "PYTHONNOUSERSITE": "", "PYTHONPATH": users}


@pytest.mark.parametrize(
    ("environment", "data"),
    [
        ({}, DATA),
        ({"PYTHONHOME": "/usr", "PYTHONPATH": "/x"}, "/usr/share/gdb"),
        ({"PYTHONHOME": "/other", "PYTHONPATH": "/x"}, DATA),
    ],
)
def test_what_is_the_users_stays(environment, data):
    assert changed(environment, data) == {}
