"""clang-tidy over the native sources of the active build, in parallel; only what changed since it last passed.

Nine tenths of a run on one source go into parsing torch's headers. So sources with one compile command are checked in
batches, each as one translation unit that includes them; where a batch does not pass, its sources are checked one by
one, and what counts is what is said of each. Sources that declare a file-local name alike cannot be in one batch; and
because only of a run's main file is it said that a using declaration or an alias is unused, a source that seems to have
such a one is checked alone.

A batch passes again when a source of it, a header of ours, the checks or the compile command changed: a stamp in
build/tidy holds the digest of all four.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAMPS = ROOT / "build" / "tidy"
TIDY = Path(sys.executable).parent / "clang-tidy"
MOST = 13
"""The most sources in a batch: of a few long ones the last would run alone."""
UNNAMED = re.compile(r"^namespace \{$(.*?)^\} // namespace$", re.MULTILINE | re.DOTALL)
DECLARED = re.compile(r"^(?=\w).*?(\w+)(?=[({;\[]| =| \{| :|$)", re.MULTILINE)
"""What a line that is not indented declares: the word before its arguments, its value, its body or its end."""

SHORT = re.compile(r"^\s*(?:using [\w:]+::(\w+);|namespace (\w+) = )", re.MULTILINE)
"""A using declaration or an alias of a namespace."""


@dataclass(frozen=True)
class Batch:
    """Sources that one run checks."""

    sources: tuple[Path, ...]
    command: str
    """The compile command of each, up to the files' names."""
    digest: str

    @property
    def file(self) -> Path:
        """What clang-tidy is given: the source, or a file that includes the sources."""
        return self.sources[0] if len(self.sources) == 1 else STAMPS / f"{self.digest}.cpp"

    @property
    def stamp(self) -> Path:
        """There is such a file when the batch has passed."""
        return STAMPS / self.digest


def shared_digest() -> bytes:
    """What every source depends on: our headers and the checks."""
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    for header in sorted((ROOT / "csrc").rglob("*.h")):
        digest.update(header.read_bytes())
    return digest.digest()


def batch(sources: list[Path], command: str, shared: bytes) -> Batch:
    """A batch of sources, known by all that their result depends on."""
    digest = hashlib.sha256(shared + command.encode())
    for source in sources:
        digest.update(bytes(source) + hashlib.sha256(source.read_bytes()).digest())
    return Batch(tuple(sources), command, digest.hexdigest()[:24])


def by_command() -> dict[str, list[Path]]:
    """Our sources, by what the compiler is told about them."""
    alike = defaultdict(list)
    for entry in json.loads((ROOT / "compile_commands.json").read_text(encoding="utf-8")):
        if entry["file"].startswith(f"{ROOT}/csrc/"):
            alike[entry["command"].partition(" -o ")[0]].append(Path(entry["file"]))
    return alike


def file_local_names(source: Path) -> set[str]:
    """Names in the source's unnamed namespaces, and a few words more: they part sources that could be together."""
    return {name for inside in UNNAMED.findall(source.read_text(encoding="utf-8")) for name in DECLARED.findall(inside)}


def may_have_idle_names(source: Path) -> bool:
    """Whether a using declaration's or an alias's name is nowhere else in the source."""
    text = source.read_text(encoding="utf-8")
    names = [used or alias for used, alias in SHORT.findall(text)]
    return any(len(re.findall(rf"\b{name}\b", text)) == 1 for name in names)


def split(sources: list[Path]) -> list[list[Path]]:
    """The sources in as few lists as their names and ``MOST`` allow."""
    alone = [source for source in sources if may_have_idle_names(source)]
    lists: list[tuple[list[Path], set[str]]] = []
    for source in sources:
        if source in alone:
            continue
        names = file_local_names(source)
        for together, taken in lists:
            if len(together) < MOST and not names & taken:
                together.append(source)
                taken.update(names)
                break
        else:
            lists.append(([source], names))
    return [[source] for source in alone] + [together for together, _ in lists]


def prepare(batches: list[Batch]) -> None:
    """Write the files that include others, and the compile commands of all."""
    for one in batches:
        if len(one.sources) > 1:
            lines = [f'#include "{source}" // NOLINT(bugprone-suspicious-include)\n' for source in one.sources]
            one.file.write_text("".join(lines), encoding="utf-8")
    entries = [
        {"directory": str(ROOT), "file": str(one.file), "command": f"{one.command} -c {one.file}"} for one in batches
    ]
    (STAMPS / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")


def check(one: Batch) -> str:
    """What clang-tidy has to say; an empty text when nothing."""
    # GCC's precompiled header and its switches mean nothing to clang: the header is included as text.
    command = [str(TIDY), "--quiet", "-p", str(STAMPS), "--extra-arg=-Wno-unknown-warning-option", str(one.file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        one.stamp.touch()
        return ""
    return done.stdout + done.stderr or f"clang-tidy ended with {done.returncode}\n"


def check_all(batches: list[Batch]) -> dict[Batch, str]:
    """What clang-tidy has to say of each that has not passed before."""
    news = [one for one in batches if not one.stamp.exists()]
    prepare(news)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(news, pool.map(check, news), strict=True))


def main() -> int:
    """Check all sources; 1 when one does not pass."""
    STAMPS.mkdir(parents=True, exist_ok=True)
    shared = shared_digest()
    batches = [batch(some, command, shared) for command, alike in by_command().items() for some in split(alike)]
    doubtful = [one for one, complaint in check_all(batches).items() if complaint]
    alone = [batch([source], one.command, shared) for one in doubtful for source in one.sources]
    if alone:
        print(f"One by one, because something was said of them together: {len(alone)} of our sources")
    complaints = {one.file: complaint for one, complaint in check_all(alone).items() if complaint}
    for source, complaint in complaints.items():
        print(f"{source}\n{complaint}")
    if not complaints:
        for one in doubtful:
            one.stamp.touch()
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
