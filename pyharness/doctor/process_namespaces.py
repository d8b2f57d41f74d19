"""Whether a process lives in another container than we do, and what to do then."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.doctor.live_process import process_checks
from pyharness.doctor.registry import Area

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.doctor.live_process import LiveProcess
    from pyharness.model.diagnosis import Diagnosis

AREA = Area("namespaces")
_KINDS = {"pid": "process ids", "mnt": "files", "user": "users"}
_CONTAINER = re.compile(r"(?:docker|libpod|cri-containerd|crio)[-/]([0-9a-f]{12})[0-9a-f]{52}")


@process_checks.add(AREA, "namespaces")
def namespaces(process: LiveProcess) -> Iterator[Diagnosis]:
    """Which of its namespaces are not ours."""
    try:
        other = [what for kind, what in _KINDS.items() if not process.same_namespace(kind)]
    except PermissionError:
        yield AREA.inapplicable("namespaces", "Its namespaces may not be looked at.")
        return
    if not other:
        yield AREA.ok("namespaces", "It sees the same processes, files and users as this command.")
        return
    inner = process.status.get("NSpid", "").split()[-1:] or [str(process.pid)]
    seen = f"It lives in a container of its own: it sees other {' and '.join(other)}"
    seen += f", and is process {inner[0]} there." if inner[0] != str(process.pid) else "."
    yield AREA.warning("namespaces", seen, _remedy(process, inner[0]))


def _remedy(process: LiveProcess, inner: str) -> str:
    limits = "From here `pyharness stack` works; attaching needs the files of both sides to be the same"
    text = (process.proc / "cgroup").read_text(encoding="utf-8", errors="replace")
    found = _CONTAINER.search(text)
    enter = f"docker exec -it {found[1]}" if found else f"sudo nsenter -t {process.pid} -a"
    return f"{limits}: run pyharness inside, by `{enter} pyharness attach {inner}`."
