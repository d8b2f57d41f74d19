"""A Slurm that a test starts, on this machine or on hosts of namespaces: nothing of the system's."""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from kit import needs
from kit.hosts import Hosts
from kit.paths import ROOT
from kit.ranked_job import free_port

UNPACKED = ROOT / ".setup" / "slurm" / "root"
"""Where scripts/slurm.sh puts the packages."""
_SECONDS = 60
"""Until the daemons are there."""
_CONF = """\
ClusterName=test
SlurmctldHost={first.name}({first.address})
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
PluginDir={plugins}
StateSaveLocation={folder}
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
PartitionName=all Nodes=ALL Default=YES
"""


class Node(NamedTuple):
    """A machine of it: its name, its address, and words that run a command there."""

    name: str
    address: str
    words: Sequence[str] = ()


def this_machine() -> list[Node]:
    """A Slurm of one node."""
    return [Node(socket.gethostname().partition(".")[0], "127.0.0.1")]


def nodes_of(hosts: Hosts) -> list[Node]:
    """A Slurm of two."""
    return [Node(name, hosts.address(index), hosts.words(index)) for index, name in enumerate(hosts.names)]


class Slurm:
    """What tests ask of it."""

    def __init__(self, environment: dict[str, str], nodes: Sequence[Node]) -> None:
        self.environment = environment
        """For commands of Slurm's, and for all that runs them."""
        self.nodes = nodes

    def said(self, *words: str) -> str:
        """What a command of Slurm's prints; empty where it fails."""
        command, env = [*self.nodes[0].words, *words], {**os.environ, **self.environment}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        return "" if done.returncode else done.stdout.strip()

    def jobs(self) -> list[str]:
        """The numbers of the jobs that run, wait, or come to their end."""
        return self.said("squeue", "--noheader", "--format", "%i").split()

    def has_ended(self) -> bool:
        """Whether no job is left, as soon as it is so; a job's end takes Slurm some tenths of a second."""
        return _in_time(lambda: not self.jobs(), 10)

    @property
    def is_idle(self) -> bool:
        """Whether all nodes wait for work."""
        return self.said("sinfo", "--noheader", "--format", "%t %D") == f"idle {len(self.nodes)}"


@contextmanager
def slurm_of(folder: Path, nodes: Sequence[Node]) -> Iterator[Slurm]:
    """A Slurm that has taken its nodes into use; it ends with the block, and so do its jobs."""
    root = _root()
    plugins = next(path for path in (root / "usr" / "lib").glob("*/slurm*") if (path / "auth_munge.so").exists())
    ports = {"controller": free_port(), "daemon": free_port()}
    of_nodes = "".join(f"NodeName={node.name} NodeAddr={node.address} CPUs=16\n" for node in nodes)
    user = pwd.getpwuid(os.getuid()).pw_name
    conf = folder / "slurm.conf"
    conf.write_text(of_nodes + _CONF.format(first=nodes[0], user=user, folder=folder, plugins=plugins, **ports))
    path = f"{root / 'usr' / 'bin'}:{root / 'usr' / 'sbin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    slurm = Slurm({"SLURM_CONF": str(conf), "PATH": path}, nodes)
    if root != Path("/"):
        slurm.environment["LD_LIBRARY_PATH"] = f"{plugins.parent}:{plugins}"
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        _start(folder, slurm, daemons)
        yield slurm
    finally:
        slurm.said("scancel", "--me")
        slurm.has_ended()
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait(30)


def _start(folder: Path, slurm: Slurm, daemons: list[subprocess.Popen[bytes]]) -> None:
    env = {**os.environ, **slurm.environment}

    def run(*words: str) -> None:
        with (folder / "said").open("ab") as said:
            daemons.append(subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said))

    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    files = {"key-file": key, "socket": folder / "munge.socket", "pid-file": folder / "munged.pid"}
    files |= {"log-file": folder / "munged.log", "seed-file": folder / "munged.seed"}
    # A folder of tests is closed to others, which munged warns of.
    run(_daemon("munged"), "--foreground", "--force", *(f"--{name}={path}" for name, path in files.items()))
    assert _in_time(files["socket"].exists), (folder / "said").read_text()
    run(*slurm.nodes[0].words, _daemon("slurmctld"), "-D", "-i")
    for node in slurm.nodes:
        run(*node.words, _daemon("slurmd"), "-D", "-N", node.name, "-d", _daemon("slurmstepd"))
    assert _in_time(lambda: slurm.is_idle), (folder / "said").read_text()


def _in_time(wanted: Callable[[], bool], seconds: float = _SECONDS) -> bool:
    until = time.monotonic() + seconds
    while not wanted():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def _root() -> Path:
    """Where Slurm's files are; the test is skipped where they are nowhere."""
    if UNPACKED.exists():
        return UNPACKED
    if not Path("/usr/sbin/slurmctld").exists():
        needs.a_program("slurmctld", "`scripts/slurm.sh .setup/slurm` brings Slurm beside the system")
    return Path("/")


def _daemon(name: str) -> str:
    """The path of a program of Slurm's; Debian's packages link the plain name when they are installed."""
    folder = _root() / "usr" / "sbin"
    found = shutil.which(f"{name}-wlm", path=folder) or shutil.which(name, path=folder)
    assert found, f"there is no {name} in {folder}"
    return found
