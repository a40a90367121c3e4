"""Makes the job script of a run, for Slurm or for bash."""

from __future__ import annotations


def job(name: str, tasks_per_node: str, commands: str) -> str:
    cores = "1" if tasks_per_node != "1" else "32"
    return f"""#!/bin/bash
# Runs the simulation of this folder: sbatch job.sh, or bash job.sh without Slurm.
# Set the account, the nodes, the cores and the time for your machine.
#SBATCH --job-name={name}
#SBATCH --nodes=1
#SBATCH --ntasks-per-node={tasks_per_node}
#SBATCH --cpus-per-task={cores}
#SBATCH --time=24:00:00
#SBATCH --output={name}-%j.out
set -euo pipefail
cd "${{SLURM_SUBMIT_DIR:-$(dirname "$0")}}"
{commands}"""
