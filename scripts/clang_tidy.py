"""clang-tidy over the native sources of the active build, in parallel; only what changed since they last passed.

A source passes again when it, a header of ours, the checks or the compile command changed: a stamp in build/tidy holds
the digest of all four.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAMPS = ROOT / "build" / "tidy"
TIDY = Path(sys.executable).parent / "clang-tidy"


def shared_digest() -> bytes:
    """What every source depends on: our headers and the checks."""
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    for header in sorted((ROOT / "csrc").rglob("*.h")):
        digest.update(header.read_bytes())
    return digest.digest()


def check(entry: dict[str, str], shared: bytes) -> tuple[str, str]:
    """A source's path and what clang-tidy has to say; an empty text when nothing."""
    source = Path(entry["file"])
    digest = hashlib.sha256(shared + source.read_bytes() + entry["command"].encode()).hexdigest()
    stamp = STAMPS / f"{source.stem}.{digest[:24]}"
    if stamp.exists():
        return str(source), ""
    # GCC's precompiled header and its switches mean nothing to clang: the header is included as text.
    command = [str(TIDY), "--quiet", "-p", str(ROOT), "--extra-arg=-Wno-unknown-warning-option", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        stamp.touch()
        return str(source), ""
    return str(source), done.stdout + done.stderr


def main() -> int:
    """Check all sources; 1 when one does not pass."""
    STAMPS.mkdir(parents=True, exist_ok=True)
    commands = json.loads((ROOT / "compile_commands.json").read_text(encoding="utf-8"))
    entries = [entry for entry in commands if entry["file"].startswith(f"{ROOT}/csrc/")]
    shared = shared_digest()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda entry: check(entry, shared), entries))
    for source, complaint in results:
        if complaint:
            print(f"{source}\n{complaint}")
    return int(any(complaint for _, complaint in results))


if __name__ == "__main__":
    sys.exit(main())
