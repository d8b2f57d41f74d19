"""A program in a container that a test makes: namespaces of its own, other files, and another place for its Python."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kit import builds, needs
from kit.paths import PROGRAMS

APART = ("unshare", "--fork", "--kill-child", "--pid", "--mount", "--propagation", "private")
_ROOM = """
set -e
mount -t tmpfs -o mode=0755 none "$1" && cd "$1"
mkdir -p usr etc proc dev tmp app opt/python old
chmod 1777 tmp
for each in bin sbin lib lib64 lib32; do [ ! -L /$each ] || cp -P /$each .; done
cp /etc/ld.so.cache etc/
touch dev/null && mount --bind /dev/null dev/null
mount --rbind /usr usr
mount --rbind "$2" opt/python
cp -r "$3"/. app/
mount -t proc proc proc
pivot_root . old
cd /app
umount -l /old
rmdir /old
shift 3
exec env LD_LIBRARY_PATH=/opt/python/lib "$@"
"""
"""A shell's words: a root folder of its own at $1, Python's folder $2 and what lies in $3 in it; the rest is run."""
_MAY_MOUNT = 'mount -t tmpfs none "$1" && mount -t proc proc "$1" && exec "$2"'


class Container:
    """A script in ``folder`` that says ``ready``; both are at ``/app`` in there."""

    def __init__(
        self,
        room: Path,
        folder: Path,
        script: str,
        *more: str,
        before: Iterable[str] = (),
        python: str = sys.executable,
    ) -> None:
        """``more`` are options of unshare's, ``before`` are words that run the interpreter.

        ``python`` lies elsewhere in there, and without what is installed in its environment.
        """
        room.mkdir()
        asked = "import sys; print(sys.base_prefix, '%d.%d' % sys.version_info[:2])"
        said = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout
        prefix, version = said.split()
        self.python = f"/opt/python/bin/python{version}"
        apart = [*APART, *more]
        needs.surroundings([*apart, "sh", "-c", _MAY_MOUNT, "sh", str(room)], "namespaces, and file systems in them")
        command = [*apart, "sh", "-c", _ROOM, "sh", str(room), prefix, str(folder)]
        self._outer = subprocess.Popen(
            [*command, *before, self.python, script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
        )
        assert self._outer.stdout
        said = self._outer.stdout.readline()
        assert said == "ready\n", said + self._outer.communicate()[1]

    @property
    def pid(self) -> int:
        """The program's number out here."""
        children = Path(f"/proc/{self._outer.pid}/task/{self._outer.pid}/children")
        (inner,) = children.read_text().split()
        return int(inner)

    def beside(self, *before: str) -> list[str]:
        """Words that run a command in a debug container: its processes are this one's, its files are ours."""
        enter = ["nsenter", "--target", str(self.pid), "--pid", "--", "unshare", "--mount", "--propagation", "private"]
        return [*enter, "sh", "-c", 'mount -t proc proc /proc && exec "$@"', "sh", *before]

    @property
    def threads(self) -> list[int]:
        """The numbers of its threads, as we have them."""
        return [int(task.name) for task in Path(f"/proc/{self.pid}/task").iterdir()]

    @property
    def descriptors(self) -> int:
        """How many it has open."""
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))

    def files(self, folder: str) -> list[str]:
        """What lies in one of its folders."""
        return [file.name for file in Path(f"/proc/{self.pid}/root/{folder}").iterdir()]

    def say(self, text: str) -> None:
        """Write to its input."""
        assert self._outer.stdin
        self._outer.stdin.write(text)
        self._outer.stdin.flush()

    def hear(self) -> str:
        """A line of its output."""
        assert self._outer.stdout
        return self._outer.stdout.readline().rstrip("\n")

    def end(self) -> tuple[int, str, str]:
        """End its input; exit code, and what it wrote since."""
        output, errors = self._outer.communicate(timeout=60)
        return self._outer.returncode, output, errors

    def kill(self) -> None:
        """Take it away with all that was mounted in it."""
        self._outer.kill()
        self._outer.communicate()


@contextmanager
def ledgers(folder: Path) -> Iterator[Callable[..., Container]]:
    """Starts tests/programs/ledger.py in containers, where its files lie at /app; takes them away in the end."""
    started: list[Container] = []

    def start(*options: str, before: Iterable[str] = (), python: str = sys.executable) -> Container:
        room, files = folder / f"room{len(started)}", folder / f"app{len(started)}"
        shutil.copytree(builds.tally(python, "/app"), files, ignore=shutil.ignore_patterns("*.lock"))
        for name in ("ledger.py", "tally.c"):
            shutil.copy(PROGRAMS / name, files)
        started.append(Container(room, files, "ledger.py", *options, before=before, python=python))
        return started[-1]

    try:
        yield start
    finally:
        for each in started:
            each.kill()
