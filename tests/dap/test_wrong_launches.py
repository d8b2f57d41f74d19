"""A launch that cannot be is refused in one sentence, before anything is started."""

import math

import pytest
from debugging import Debugging


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"cwd": "/nowhere"}, "There is no folder '/nowhere' for the program to work in"),
        ({"cwd": __file__}, "is not a folder"),
        ({"env": {"A=B": "c"}}, "'A=B' cannot be the name of an environment variable"),
        ({"env": {"N": "a\0b"}}, "NUL"),
        ({"evalTimeout": math.nan}, "NaN is not a number"),
        ({"evalTimeout": -math.inf}, "-Infinity is not a number"),
        ({"evalTimeout": 10**200}, "cannot be 1e+200 s"),
        ({"evalTimeout": -1}, "cannot be -1 s"),
        ({"evalTimeout": True}, "'evalTimeout' must be a number"),
        ({"args": 5}, "'args' must be an array"),
        ({"args": "--epochs 1"}, "'args' must be an array"),
        ({"gdbScripts": ["none.py"], "cwd": "/"}, "/none.py, which `gdbScripts` names, is no file."),
        ({"gdbScripts": "none.py"}, "'gdbScripts' must be an array"),
        ({"args": [1, math.nan]}, "NaN is not a number"),
    ],
)
def test_it_is_refused(dap, more, said):
    program = Debugging(dap.stdio(), "core_crossing.py")
    program.initialize()
    refused = program.client.refused("launch", program=program.script, **more)
    assert said in refused
    assert "a bug in pyharness" not in refused
