"""Hosts that a test makes of namespaces, on one network: names, processes and addresses of their own, and our files."""

import subprocess
import sys
from pathlib import Path
from types import TracebackType

from typing_extensions import Self

from kit import needs
from pyharness.ranks.processes import Table

_APART = ("unshare", "--fork", "--kill-child", "--pid", "--mount-proc", "--net", "--uts")
_BEGINS = 'hostname "$1" && mount --bind "$2" /etc/hosts && ip link set lo up && echo up && exec cat'
CARD = "v0"
"""The network interface of each."""


class Hosts:
    """Two of them, which know each other by name; all that runs there ends with the ``with`` block."""

    def __init__(self, folder: Path, first: str, second: str) -> None:
        needs.a_program("ip", "iproute2 makes networks")
        needs.surroundings(
            [*_APART, "sh", "-c", 'ip link add v0 type veth && hostname x && exec "$@"', "sh"], "networks"
        )
        self.names = (first, second)
        known = folder / "hosts"
        known.write_text("127.0.0.1 localhost\n" + "".join(f"{self.address(at)} {self.names[at]}\n" for at in range(2)))
        self._holders = [_started(name, known) for name in self.names]
        pids = [str(self._pid(index)) for index in range(2)]
        _run("ip", "link", "add", CARD, "netns", pids[0], "type", "veth", "peer", "name", CARD, "netns", pids[1])
        for index in range(2):
            for words in (["addr", "add", f"{self.address(index)}/24", "dev", CARD], ["link", "set", CARD, "up"]):
                _run(*self.words(index), "ip", *words)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for holder in self._holders:
            holder.kill()  # with it the first process in there, and with that one all others
            holder.communicate()

    @staticmethod
    def address(index: int) -> str:
        """The address of a host."""
        return f"10.77.0.{index + 1}"

    def words(self, index: int) -> list[str]:
        """Words that run a command on a host."""
        return ["nsenter", "--target", str(self._pid(index)), "--mount", "--pid", "--net", "--uts", "--"]

    def words_beside(self, index: int) -> list[str]:
        """Words that run a command elsewhere, where the host can be reached."""
        return ["nsenter", "--target", str(self._pid(index)), "--net", "--"]

    def running(self, index: int, word: str) -> list[int]:
        """The processes of a host that have this word in their command line."""
        here = _place(self._pid(index))
        return [one.pid for one in Table().processes.values() if word in one.words and _place(one.pid) == here]

    def _pid(self, index: int) -> int:
        holder = self._holders[index].pid
        (inner,) = Path(f"/proc/{holder}/task/{holder}/children").read_text().split()
        return int(inner)


def _place(pid: int) -> str:
    return str(Path(f"/proc/{pid}/ns/pid").readlink())


def _started(name: str, known: Path) -> subprocess.Popen[str]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    holder = subprocess.Popen([*_APART, "sh", "-c", _BEGINS, "sh", name, str(known)], text=True, **pipes)  # type: ignore[call-overload]
    assert holder.stdout.readline() == "up\n"
    return holder  # type: ignore[no-any-return]


def _run(*words: str) -> None:
    subprocess.run(words, check=True, stdout=sys.stderr)
