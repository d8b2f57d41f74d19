"""Whether a process lives in another container than we do, and what to do then."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.doctor.process.live_process import process_checks
from pyharness.doctor.registry import Area
from pyharness.host.surroundings import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyharness.doctor.process.live_process import LiveProcess
    from pyharness.model.results.diagnosis import Diagnosis

AREA = Area("namespaces")
_CONTAINER = re.compile(r"(?:docker|libpod|cri-containerd|crio)[-/]([0-9a-f]{12})[0-9a-f]{52}")


@process_checks.add(AREA, "namespaces")
def namespaces(process: LiveProcess) -> Iterator[Diagnosis]:
    """What it sees that we do not, and what cannot be done from here then."""
    sees = process.surroundings.sees
    try:
        other = [kind for kind in KINDS if not sees(kind)]
    except PermissionError:
        yield AREA.inapplicable("namespaces", "Its namespaces may not be looked at.")
        return
    if not other:
        yield AREA.ok("namespaces", f"It sees the same {_listed(KINDS)} as this command.")
        return
    inner = (process.status.get("NSpid", "").split() or [str(process.pid)])[-1]
    number = f", and is process {inner} there" if "processes" in other else ""
    seen = f"It lives in a container, or in a part of one: it sees other {_listed(other)}{number}"
    if "files" not in other:
        yield AREA.ok("namespaces", f"{seen}; it can be debugged from here.")
        return
    seen += "; it can be debugged from here, but for places at ops, autograd nodes and FX nodes."
    yield AREA.warning("namespaces", seen, _remedy(process, inner))


def _listed(kinds: Sequence[str]) -> str:
    *first, last = kinds
    return f"{', '.join(first)} and {last}" if first else last


def _remedy(process: LiveProcess, inner: str) -> str:
    text = (process.proc / "cgroup").read_text(encoding="utf-8", errors="replace")
    found = _CONTAINER.search(text)
    enter = f"docker exec -it {found[1]}" if found else f"sudo nsenter -t {process.pid} -a"
    return f"For those run pyharness inside: `{enter} pyharness attach {inner}`."
