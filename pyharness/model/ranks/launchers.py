"""What launchers tell the ranks that they start: by variables of their environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

RANKS = (
    ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("PMIX_RANK", "", ""),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
)
"""The variables of torchrun, Open MPI, PMIx, MPICH and Slurm: rank, number of ranks, rank on this host."""
_OF_SLURM = "SLURM_PROCID"
_STEP, _TASKS = "SLURM_STEP_ID", "SLURM_NTASKS"
_RESTARTS = "TORCHELASTIC_RESTART_COUNT"
_OF_RUN = ("TORCHELASTIC_RUN_ID", _RESTARTS, "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE")


def told_rank(environment: Mapping[str, str]) -> tuple[int, int | None, int | None] | None:
    """The rank, how many there are, and the rank on this host; ``None`` where no launcher has said one."""
    for rank, world, local in RANKS:
        if rank == _OF_SLURM and not _is_one_of_several_tasks(environment):
            continue
        if (number := _number(environment.get(rank))) is not None:
            return number, _number(environment.get(world)), _number(environment.get(local))
    return None


def _is_one_of_several_tasks(environment: Mapping[str, str]) -> bool:
    """A batch script has a number of Slurm's, too, and a shell or torchrun that ``srun`` has started alone."""
    return _STEP in environment and environment.get(_TASKS) != "1"


def rank_of_several(environment: Mapping[str, str]) -> int | None:
    """The rank of a process that a launcher has started with others; ``None`` for one that is alone."""
    told = told_rank(environment)
    return told[0] if told and told[1] != 1 else None


def restarts_of(environment: Mapping[str, str]) -> int:
    """How often torchrun has begun the job anew."""
    return _number(environment.get(_RESTARTS)) or 0


def run_of(environment: Mapping[str, str]) -> str:
    """What tells one run of a job from others, as far as torchrun says; its ranks have it in common."""
    return " ".join(environment.get(name, "") for name in _OF_RUN).strip()


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() else None
