"""Permission to trace, where a seccomp filter takes it away, and what each reason is called."""

import errno
import subprocess
import sys

import pytest

from pyharness.doctor.system import permission
from pyharness.doctor.system.permission import judged
from pyharness.doctor.system.tracing_rules import TracingRules

# A filter as containers have it: ptrace(2) is number 101 on x86-64 and fails with EPERM, everything else is allowed.
FILTERED = """
import ctypes, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
code = [(0x20, 0, 0, 0), (0x15, 0, 1, 101), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
text = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *one) for one in code))
program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(code), ctypes.addressof(text)))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0, ctypes.get_errno()
from pyharness.doctor.system import permission
from pyharness.doctor.machine import Machine, Wanted
for one in permission.ptrace(Machine(Wanted())):
    print(one.state, one.check, one.seen, one.remedy)
"""
FREE = TracingRules(yama=0, capability=False, filtered=False, container=False, root=False)


def test_here_it_is_tried_for_real(examined):
    found = examined(permission.ptrace)
    assert found["ptrace"].state in {"ok", "problem"}
    assert found["ptrace"].remedy or found["ptrace"].state == "ok"


def test_a_seccomp_filter_is_found_out():
    answer = subprocess.run([sys.executable, "-c", FILTERED], capture_output=True, text=True, check=True).stdout
    assert answer.startswith("problem ptrace No process can be attached to, not even a child of one's own")
    assert "a seccomp filter is on" in answer
    assert "seccomp=unconfined" in answer


def findings(child, stranger, **rules):
    made = TracingRules(**{**vars(FREE), **rules})
    return [
        (one.state, f"{one.seen} {one.remedy}")
        for one in judged({"from_the_parent": child, "from_a_stranger": stranger}, made)
    ]


def test_all_is_allowed():
    assert [state for state, _ in findings(0, 0)] == ["ok", "ok"]


@pytest.mark.parametrize(
    ("child", "stranger", "rules", "state", "part"),
    [
        (0, errno.EPERM, {"yama": 1}, "warning", "`pyharness run`"),
        (errno.EPERM, errno.EPERM, {"yama": 2}, "problem", "ptrace_scope is 2"),
        (errno.EPERM, errno.EPERM, {"yama": 3, "root": True}, "problem", "until the next boot"),
        (errno.EPERM, errno.EPERM, {"container": True}, "problem", "--cap-add=SYS_PTRACE"),
        (0, errno.EPERM, {"container": True, "bounding": True}, "problem", "docker exec -u 0"),
        (0, errno.EPERM, {"yama": 1, "container": True}, "warning", "after starting it with `--cap-add"),
        (0, errno.EPERM, {"yama": 1, "container": True, "bounding": True}, "warning", "as root of the container."),
        (errno.EPERM, errno.EPERM, {"container": True, "filtered": True, "capability": True}, "problem", "seccomp"),
        (0, errno.EACCES, {}, "problem", "SELinux"),
    ],
)
def test_reasons(child, stranger, rules, state, part):
    last, text = findings(child, stranger, **rules)[-1]
    assert (last, part in text) == (state, True), text
