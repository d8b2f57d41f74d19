"""Permission to trace: tried for real on processes of our own, with the reason from the kernel's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.doctor.machine import machine_checks
from pyharness.doctor.registry import Area
from pyharness.doctor.system.tracing_rules import TracingRules, tracing_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.doctor.machine import Machine
    from pyharness.model.results.diagnosis import Diagnosis

AREA = Area("permission to trace")


@machine_checks.add(AREA, "ptrace")
def ptrace(machine: Machine) -> Iterator[Diagnosis]:
    """What came of attaching."""
    yield from judged(machine.ptrace, tracing_rules())


def judged(answer: dict[str, int], rules: TracingRules) -> Iterator[Diagnosis]:
    """The findings for the two errnos that ``ptrace_attempt`` gives."""
    own, others = answer["from_the_parent"], answer["from_a_stranger"]
    if own:
        reason, remedy = rules.reason(own)
        yield AREA.problem("ptrace", f"No process can be attached to, not even a child of one's own: {reason}.", remedy)
        return
    yield AREA.ok("ptrace", "A process that was started from here can be attached to.")
    if not others:
        yield AREA.ok("ptrace-others", f"So can other processes {_whose(rules)}.")
    elif rules.yama == 1:
        seen = "Programs that pyharness did not start cannot be attached to (kernel.yama.ptrace_scope is 1)."
        start = "`pyharness run` and `pyharness step` start such as can."
        yield AREA.warning("ptrace-others", seen, f"{start} For those, {rules.loosened()}")
    else:
        reason, remedy = rules.reason(others)
        yield AREA.problem("ptrace-others", f"gdb may not attach to a program beside it: {reason}.", remedy)


def _whose(rules: TracingRules) -> str:
    return "of every user" if rules.capability else "of this user"
