"""What an agent needs in a project: a client's configuration, and a skill of one page that says when to use what."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyharness.model.errors import HarnessError
from pyharness.project.changes import Change, current, own_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CLIENT = ".mcp.json"
SKILL = ".claude/skills/pyharness/SKILL.md"
_SERVERS = "mcpServers"
_NAME = "pyharness"
_SKILL = """---
name: pyharness
description: Debug PyTorch programs that are half Python and half C++ with the tools of the MCP server pyharness. Use
  it for a crash in native code (SIGSEGV, abort), a hang or deadlock, a distributed job that hangs, NaN or Inf, a wrong
  gradient, a wrong FX pass, a wrong or slow torch.compile kernel, recompilations, or whenever values at a line of
  Python or C++ are needed.
---

# Debugging with pyharness

One session has both languages: `into` goes from Python into C++, `out` comes back to the next line of Python. Do not
add prints, and do not start gdb or pdb beside it.

| what is wrong | first call |
|---|---|
| it crashes, or raises | `check` what=crash script=... : stack of both languages, values, also of threads and workers |
| it hangs | `check` what=crash hang_s=20; `stack` process=PID of one that runs: which lock, who holds it |
| a distributed job hangs | `stack` ranks=PID of a rank or of the launcher: which rank is to blame, and why |
| NaN or Inf | `check` what=nan script=... : the op, the line, its inputs |
| a wrong gradient or result | `check` what=verify names=[model, transform to plain torch] gradients=true |
| a wrong pass among many | `check` what=bisect names=[model, passes] |
| torch.compile is wrong | `check` what=inductor names=[model] : kernel, line, node, element |
| it compiles again and again | `graph` what=compiled script=... : the guard that failed |
| what is slow | `check` what=trace script=... |
| debugging itself fails | `doctor` |

To look closer: `start` with `breakpoints`, then `look` (expressions, locals), `go` (into, over, out, until), `stack`.

- WHERE: `py:FILE:LINE`, `py:FILE:FUNCTION`, `native:FUNCTION`, `native:FILE:LINE`, `fx:NODE`, `fx:MODULE.PATH`,
  `fx:NODE[2, 7]` (in a kernel), `op:aten::mm`, `node:MulBackward0`;
  then ` if CONDITION` in its language (`op:`: ` when nan(out)`), ` hits N`.
- At a C++ stop expressions are C++; `py:` before one makes it Python. Tensors show dtype, shape and elements.
- `go` answers `running` when `timeout_s` is over: `how="wait"` waits on, `how="pause"` stops it wherever it is.
- Answers are short. `cursor` in one means that there is more: `look` cursor=...
- `end` each session. Its program ends with it, unless how="detach".
- C++ lines need `-g`: `pyharness init` writes a debug build; `doctor` says which extension has no debug information.
"""


def changes(root: Path, command: Sequence[str], *, replace: bool) -> list[Change]:
    """The files to write; ``command`` starts the server."""
    skill = own_file(root, SKILL, _SKILL, "a skill: what to call when", replace=replace)
    return [_client(root, command), skill]


def _client(root: Path, command: Sequence[str]) -> Change:
    """The client's configuration; what is there for other servers stays."""
    before = current(root / CLIENT)
    data = _read(before, root)
    servers = data.setdefault(_SERVERS, {})
    if not isinstance(servers, dict):
        raise HarnessError(f"{root / CLIENT}: {_SERVERS} is no object.", "Mend it or move it out of the way.")
    if _NAME in servers:
        return Change(root / CLIENT, CLIENT, before, before or "", "unchanged", "the agent's client")
    servers[_NAME] = {"command": command[0], "args": [*command[1:]]}
    after = f"{json.dumps(data, indent=2, ensure_ascii=False)}\n"
    return Change(root / CLIENT, CLIENT, before, after, "written" if before is None else "merged", "the agent's client")


def _read(text: str | None, root: Path) -> dict[str, Any]:
    try:
        data = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise HarnessError(f"{root / CLIENT} is no JSON: {error}.", "Mend it or move it out of the way.") from error
    if not isinstance(data, dict):
        raise HarnessError(f"{root / CLIENT} is no JSON object.", "Mend it or move it out of the way.")
    return data
