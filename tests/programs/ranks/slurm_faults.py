"""``faults.py`` below ``srun``: as a script of a user of Slurm's does, it takes its rank from what Slurm says."""

import os

import faults

os.environ.update(RANK=os.environ["SLURM_PROCID"], WORLD_SIZE=os.environ["SLURM_NTASKS"])
faults.main()  # @main
