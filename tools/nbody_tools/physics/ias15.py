"""Runs REBOUND's IAS15 (Rein & Spiegel 2015, MNRAS 446, 1424) on point masses.

  python3 ias15.py < PROBLEM.json > RESULT.json

PROBLEM has "masses" (n), "positions" and "velocities" (n x 3), "time", and "epsilon", the
integrator's accuracy; G is 1. RESULT has "version", "positions", "evaluations" (how often all
forces were computed), and "energy_error", relative to the energy at the start. This file needs only
REBOUND, so any interpreter that has REBOUND can run it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import rebound


def simulation(problem: dict[str, Any]) -> rebound.Simulation:
    sim = rebound.Simulation()
    sim.integrator = "ias15"
    # REBOUND 5 keeps the settings of IAS15 in sim.integrator, earlier versions in sim.ri_ias15.
    settings = sim.ri_ias15 if hasattr(sim, "ri_ias15") else sim.integrator
    settings.epsilon = problem["epsilon"]
    for m, x, v in zip(problem["masses"], problem["positions"], problem["velocities"]):
        sim.add(m=m, x=x[0], y=x[1], z=x[2], vx=v[0], vy=v[1], vz=v[2])
    return sim


def solve(problem: dict[str, Any]) -> dict[str, Any]:
    sim, evaluations = simulation(problem), [0]

    def evaluated(_: Any) -> None:
        evaluations[0] += 1

    sim.additional_forces = evaluated
    before = sim.energy()
    sim.integrate(problem["time"])
    return {"version": rebound.__version__,
            "positions": [[p.x, p.y, p.z] for p in sim.particles],
            "evaluations": evaluations[0],
            "energy_error": abs(sim.energy() / before - 1)}


if __name__ == "__main__":
    json.dump(solve(json.load(sys.stdin)), sys.stdout)
