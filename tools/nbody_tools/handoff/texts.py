"""Makes the texts of files that both engines need, such as the job script."""

from __future__ import annotations

from nbody_tools.handoff.problem import Problem, Units


def origin(problem: Problem) -> str:
    return f"Written by ./nbody handoff from {problem.source}: {problem.bodies} bodies."


def units(problem: Problem, one: Units) -> str:
    if one.name:
        return f"Units in cgs: {one.name}, in which G = {problem.gravity!r}."
    return (f"The bodies have no physical units, so each unit is 1 in cgs, with G = "
            f"{problem.gravity!r}.")


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


def readme(engine: str, problem: Problem, one: Units, steps: str, notes: str) -> str:
    return f"""{origin(problem)}
From time {problem.begin!r} to {problem.end!r} with {engine}, softening {problem.softening!r}.
{units(problem, one)}

{steps}

Differences from nbody-steps:

{notes}
- Each body has its own time step, which adapts and is at most the file's dt, {problem.dt!r}.
"""
