"""A Slurm of one machine that a test starts: daemons, ports and a key of its own, nothing of the system's."""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kit import needs
from kit.paths import ROOT
from kit.ranked_job import free_port

UNPACKED = ROOT / ".setup" / "slurm" / "root"
"""Where scripts/slurm.sh puts the packages."""
_SECONDS = 60
"""Until the daemons are there."""
_CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
PluginDir={plugins}
StateSaveLocation={folder}
SlurmdSpoolDir={folder}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=16
PartitionName=all Nodes=ALL Default=YES
"""


class Slurm:
    """What tests ask of it."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        """For commands of Slurm's, and for all that runs them."""

    def said(self, *words: str) -> str:
        """What a command of Slurm's prints; empty where it fails."""
        done = subprocess.run(
            words, env={**os.environ, **self.environment}, capture_output=True, text=True, check=False
        )
        return "" if done.returncode else done.stdout.strip()

    def jobs(self) -> list[str]:
        """The numbers of the jobs that run or wait."""
        return self.said("squeue", "--noheader", "--format", "%i", "--states", "R,PD,CG,CF").split()

    def has_ended(self) -> bool:
        """Whether no job is left, as soon as it is so; a job's end takes Slurm some tenths of a second."""
        return _in_time(lambda: not self.jobs(), 10)

    @property
    def version(self) -> str:
        """As it says it."""
        return self.said("srun", "--version")


@contextmanager
def one_machine(folder: Path) -> Iterator[Slurm]:
    """A Slurm that has taken its node into use; it ends with the block, and so do its jobs."""
    root = _root()
    libraries = next(path for path in (root / "usr" / "lib").glob("*/slurm*") if (path / "auth_munge.so").exists())
    settings = {"host": socket.gethostname().partition(".")[0], "user": pwd.getpwuid(os.getuid()).pw_name}
    ports = {"controller": free_port(), "daemon": free_port()}
    conf = folder / "slurm.conf"
    conf.write_text(_CONF.format(folder=folder, plugins=libraries, **settings, **ports))
    path = f"{root / 'usr' / 'bin'}:{root / 'usr' / 'sbin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    slurm = Slurm({"SLURM_CONF": str(conf), "PATH": path})
    if root != Path("/"):
        slurm.environment["LD_LIBRARY_PATH"] = f"{libraries.parent}:{libraries}"
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
    run(_daemon("slurmctld"), "-D", "-i")
    run(_daemon("slurmd"), "-D", "-d", _daemon("slurmstepd"))
    assert _in_time(lambda: slurm.said("sinfo", "--noheader", "--format", "%t") == "idle"), (
        folder / "said"
    ).read_text()


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
    needs.a_program("slurmctld", "`scripts/slurm.sh .setup/slurm` brings Slurm beside the system")
    return Path("/")


def _daemon(name: str) -> str:
    """Its path; Debian's packages link the plain name when they are installed."""
    folder = _root() / "usr" / "sbin"
    found = shutil.which(f"{name}-wlm", path=folder) or shutil.which(name, path=folder)
    assert found, f"there is no {name} in {folder}"
    return found
