"""Simulates the Solar System for one and for ten years, and prints how far the bodies end from the
ephemeris.

  ./nbody solar-system                    step 00 in float64 and in float32 against JPL DE405
  ./nbody solar-system --json FILE        the same, with the distances as JSON

Exit code: 0 if every planet is within 1e-5 AU of the ephemeris after a year in float64; 1
otherwise; 2 wrong arguments.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Sequence

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, Failed
from nbody_tools.files.bodies import read_bodies
from nbody_tools.tables import aligned

TARGETS = ROOT / "data" / "solar_system_de405_later.csv"
DAY = 0.01720209895  # a day, in units of a year / (2 pi): the Gaussian gravitational constant
STEPS_A_DAY = 128  # Mercury's error from leapfrog is then 1.1e-6 AU after a year in float64
CONVERGED = 1024  # makes leapfrog's error 64 times smaller, so most of the error is the model's
YEARS = {1: 365.25, 10: 3652.5}  # years -> days; each run begins at JD 2451545.0
START = 2451545.0
FEWER = 8  # time steps per day; the scenario's default
BOUND = 1e-5  # AU, after one year
PLANETS = ("Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune")
OTHERS = ("Pluto", "Moon")

Distances = dict[str, float]


def targets(days: float) -> dict[str, list[float]]:
    rows = csv.DictReader(line for line in TARGETS.read_text(encoding="utf-8").splitlines()
                          if not line.startswith("#"))
    by_name = {row["name"]: [float(row[axis]) for axis in "xyz"]
             for row in rows if float(row["jd_tdb"]) == START + days}
    if not by_name:
        raise Failed(f"{TARGETS}: has no row for JD {START + days}")
    return by_name


def distances(program: Path, days: float, precision: str, steps_a_day: float = STEPS_A_DAY,
              softening: float = 1e-6) -> Distances:
    """Returns the distance of every body from its position in the ephemeris, in AU."""
    with tempfile.TemporaryDirectory() as folder:
        end = Path(folder) / "end.csv"
        words = ["--scenario", "solar-system", "--integrator", "leapfrog", "--precision", precision,
                 "--steps", round(days * steps_a_day), "--dt", repr(DAY / steps_a_day),
                 "--softening", softening, "--validate", "off", "--quiet", "--output", end]
        # Uses one thread, because with eleven bodies a second thread would only wait.
        done = subprocess.run([str(program), *map(str, words)], text=True, check=False,
                              stderr=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"})
        if done.returncode != 0:
            raise Failed(f"{program.name} failed: {done.stderr.strip()}")
        bodies = read_bodies(end)
    later = targets(days)
    return {name: math.dist(bodies.positions[0, i], later[name])
            for i, name in enumerate(bodies.names)}


def table(columns: Sequence[str], rows: dict[str, Sequence[float]]) -> str:
    cells = [[name, *(f"{value:.1e}" for value in values)] for name, values in rows.items()]
    return "\n".join(aligned([["", *columns], *cells]))


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("--build", type=arguments.existing_folder, default=ROOT / "build" / "cpu",
                   metavar="DIR", help="build folder with step 00 [build/cpu]")
    p.add_argument("--json", type=Path, metavar="FILE",
                   help="also write the distances to this file")


def check(options: argparse.Namespace) -> None:
    arguments.check_output(options.json)


def run(options: argparse.Namespace) -> int:
    program = options.build / "step00_cpu_omp" / "step00_cpu_omp"
    after = {f"{precision}, {years} yr": distances(program, days, precision)
             for years, days in YEARS.items() for precision in ("double", "single")}
    # Float32 is most accurate with fewer steps, because it then rounds less often.
    after[f"single, {FEWER} a day"] = distances(program, YEARS[1], "single", FEWER)
    # This run has only the error of the model (Newton's law). In the other runs, the error of the
    # time step might cancel part of the model's error.
    newton = f"double, 10 yr, {CONVERGED} a day"
    after[newton] = distances(program, YEARS[10], "double", CONVERGED)
    # These two runs show how much error the chosen time step and softening add.
    finer = distances(program, YEARS[1], "double", 2 * STEPS_A_DAY)
    harder = distances(program, YEARS[1], "double", softening=1e-8)
    print(f"Distance from DE405 in AU; leapfrog, {STEPS_A_DAY} steps a day, softening 1e-6 AU")
    print(table(list(after), {name: [column[name] for column in after.values()]
                              for name in (*PLANETS, *OTHERS)}))
    year = after["double, 1 yr"]
    for what, other in (("Half the time step", finer), ("Softening 1e-8", harder)):
        most = max(abs(other[name] - year[name]) for name in PLANETS)
        print(f"{what} changes a planet's distance after a year by at most {most:.1e} AU")
    if options.json:
        arguments.write_json(options.json, after)
    far = [name for name in PLANETS if not year[name] <= BOUND]
    if far:
        print(f"over {BOUND:.0e} AU from DE405 after a year: {', '.join(far)}", file=sys.stderr)
    return 1 if far else 0
