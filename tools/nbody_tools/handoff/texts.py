"""Makes the texts that both engines' files contain."""

from __future__ import annotations

from nbody_tools.handoff.problem import Problem, Units


def origin(problem: Problem) -> str:
    return f"Written by ./nbody handoff from {problem.source}: {problem.bodies} bodies."


def units(problem: Problem, one: Units) -> str:
    if one.name:
        return f"Units in cgs: {one.name}, in which G = {problem.gravity!r}."
    return (f"The bodies have no physical units, so each unit is 1 in cgs, with G = "
            f"{problem.gravity!r}.")


def readme(engine: str, problem: Problem, one: Units, steps: str, notes: str) -> str:
    return f"""{origin(problem)}
From time {problem.begin!r} to {problem.end!r} with {engine}, softening {problem.softening!r}.
{units(problem, one)}

{steps}

Differences from nbody-steps:

{notes}
- Each body has its own time step, which adapts and is at most the file's dt, {problem.dt!r}.
"""
