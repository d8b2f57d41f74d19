"""Whether a process lives in another container than we do, and what to do then."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.doctor.process.live_process import process_checks
from pyharness.doctor.registry import Area
from pyharness.host.state import StateError, state_dir

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.doctor.process.live_process import LiveProcess
    from pyharness.model.results.diagnosis import Diagnosis

AREA = Area("namespaces")
_PACKAGE = Path(__file__).resolve().parents[2]
_CONTAINER = re.compile(r"(?:docker|libpod|cri-containerd|crio)[-/]([0-9a-f]{12})[0-9a-f]{52}")


@process_checks.add(AREA, "namespaces")
def namespaces(process: LiveProcess) -> Iterator[Diagnosis]:
    """What it sees that we do not, and whether both halves of a debugger can meet all the same."""
    try:
        other = [what for what in ("processes", "files", "users") if not process.sees(what)]
    except PermissionError:
        yield AREA.inapplicable("namespaces", "Its namespaces may not be looked at.")
        return
    if not other:
        yield AREA.ok("namespaces", "It sees the same processes, files and users as this command.")
        return
    inner = (process.status.get("NSpid", "").split() or [str(process.pid)])[-1]
    number = f", and is process {inner} there" if "processes" in other else ""
    seen = f"It lives in a container, or in a part of one: it sees other {' and '.join(other)}{number}"
    if process.same_file(_PACKAGE) and _same_state(process):
        yield AREA.ok("namespaces", f"{seen}; but pyharness and its state folder are the same there, so all works.")
    else:
        yield AREA.warning("namespaces", f"{seen}; pyharness's files are not the same there.", _remedy(process, inner))


def _same_state(process: LiveProcess) -> bool:
    try:
        return process.same_file(state_dir())
    except StateError:
        return False


def _remedy(process: LiveProcess, inner: str) -> str:
    text = (process.proc / "cgroup").read_text(encoding="utf-8", errors="replace")
    found = _CONTAINER.search(text)
    enter = f"docker exec -it {found[1]}" if found else f"sudo nsenter -t {process.pid} -a"
    return (
        "From here `pyharness stack` and `pyharness attach` show it. To step between both languages run pyharness"
        f" inside: `{enter} pyharness attach {inner}`."
    )
