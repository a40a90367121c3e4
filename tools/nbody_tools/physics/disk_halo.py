"""Tests whether a galaxy is stable: runs the disk-halo scenario for several rotations of the disk,
and measures the disk's radius and the virial ratio.

  ./nbody disk-halo PROGRAM                         60,000 bodies, three rotations
  ./nbody disk-halo PROGRAM --bodies 4000 --json FILE

PROGRAM is any step. Without a GPU use few bodies, because the time grows with their square.

Exit code: 0 if the virial ratio always stayed within 3 % of 1, and the disk's half-mass radius
within 10 % of its initial value; 1 if not, or if PROGRAM failed; 2 for invalid arguments.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Sequence

import numpy

from nbody_tools import arguments
from nbody_tools.arguments import Failed, ToolError
from nbody_tools.files.diagnostics import read_diagnostics
from nbody_tools.files.bodies import Bodies, read_snapshots

PERIOD = 13.51  # 2 pi R / v_c for the default galaxy at R = 2 scale lengths
VIRIAL_BOUND = 0.03
RADIUS_BOUND = 0.10
LEAST_BODIES = 30  # a third of them are the disk's
COLUMNS = ("time", "rotations", "virial_ratio", "energy_change", "half_mass_radius",
           "radius_of_90_percent", "halo_half_mass_radius", "m2_amplitude", "thickness")


def measure(bodies: Bodies) -> dict[str, float]:
    x, m = bodies.positions[0], bodies.masses[0]
    stars = len(m) // 3  # the disk's bodies come first
    disk = x[:stars] - numpy.median(x[:stars], axis=0)
    halo = x[stars:] - numpy.median(x[stars:], axis=0)
    radius = numpy.hypot(disk[:, 0], disk[:, 1])
    inner = disk[radius < 5]
    angle = numpy.arctan2(inner[:, 1], inner[:, 0])
    return {"time": bodies.time, "rotations": bodies.time / PERIOD,
            "half_mass_radius": float(numpy.median(radius)),
            "radius_of_90_percent": float(numpy.quantile(radius, 0.9)),
            "halo_half_mass_radius": float(numpy.median(numpy.linalg.norm(halo, axis=1))),
            "m2_amplitude": float(abs(numpy.exp(2j * angle).mean())),
            "thickness": float(disk[:, 2].std())}


def steps_of(options: argparse.Namespace) -> int:
    return math.ceil(min(options.rotations * PERIOD / options.dt, 2.0 * arguments.MOST))


def simulate(options: argparse.Namespace, folder: str) -> list[dict[str, float]]:
    steps = steps_of(options)
    diagnostics = Path(folder) / "diagnostics.csv"  # has a row for every snapshot
    words = [options.program, "--scenario", options.scenario, "--bodies", options.bodies, "--seed",
             options.seed, "--integrator", "leapfrog", "--dt", options.dt, "--steps", steps,
             "--softening", options.softening, "--snapshot-every", math.ceil(steps / options.looks),
             "--snapshot-dir", folder, "--diagnostics", diagnostics, "--validate", options.validate]
    done = subprocess.run([str(word) for word in words], check=False)
    if done.returncode != 0:
        raise Failed(f"{options.program} exited with code {done.returncode}")
    rows = [measure(bodies) for bodies in read_snapshots(Path(folder))]
    table = read_diagnostics(diagnostics)
    virial_ratios, energy_errors = table.of(0, "virial_ratio"), table.of(0, "energy_error")
    if len(rows) != len(virial_ratios):
        raise Failed(f"{len(rows)} snapshots, but {len(virial_ratios)} rows of diagnostics")
    for row, virial_ratio, energy_error in zip(rows, virial_ratios, energy_errors):
        row.update(virial_ratio=float(virial_ratio), energy_change=float(energy_error))
    return rows


def failures(rows: Sequence[dict[str, float]]) -> list[str]:
    """Returns the failed checks. A NaN fails, too."""
    first = rows[0]["half_mass_radius"]
    problems = []
    for row in rows:
        if not abs(row["virial_ratio"] - 1) <= VIRIAL_BOUND:
            problems.append(f"time {row['time']:.2f}: virial ratio {row['virial_ratio']:.4f}")
        if not abs(row["half_mass_radius"] / first - 1) <= RADIUS_BOUND:
            problems.append(
                f"time {row['time']:.2f}: half-mass radius {row['half_mass_radius']:.4f}, "
                f"initially {first:.4f}"
            )
    return problems


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("program", type=arguments.existing_file, metavar="PROGRAM")
    p.add_argument("--scenario", choices=("disk-halo", "spiral"), default="disk-halo")
    p.add_argument("--bodies", type=arguments.positive_integer, default=60000,
                   help=f"at least {LEAST_BODIES} [60000]")
    p.add_argument("--seed", type=arguments.integer_from_zero, default=1)
    p.add_argument("--rotations", type=arguments.positive_number, default=3.0)
    p.add_argument("--dt", type=arguments.positive_number, default=0.03)
    p.add_argument("--softening", type=arguments.positive_number, default=0.05)
    p.add_argument("--looks", type=arguments.positive_integer, default=12,
                   help="number of measurements after the start [12]")
    p.add_argument("--validate", choices=("sampled", "off"), default="sampled")
    p.add_argument("--json", type=Path, metavar="FILE", help="also write the table to this file")


def check(options: argparse.Namespace) -> None:
    arguments.check_program(options.program)
    arguments.check_output(options.json)
    if options.bodies < LEAST_BODIES:
        raise ToolError(f"--bodies: {options.bodies} bodies are no galaxy; at least {LEAST_BODIES}")
    if steps_of(options) > arguments.MOST:
        raise ToolError(f"--rotations {options.rotations:g} and --dt {options.dt:g} make more than "
                        f"{arguments.MOST} time steps")


def run(options: argparse.Namespace) -> int:
    options.program = options.program.resolve()
    with tempfile.TemporaryDirectory() as folder:
        rows = simulate(options, folder)
    print("  ".join(COLUMNS))
    for row in rows:
        print("  ".join(f"{row[column]:>{len(column)}.4g}" for column in COLUMNS))
    failed = failures(rows)
    if options.json:
        record = {"program": options.program.name, "scenario": options.scenario,
                  "bodies": options.bodies, "seed": options.seed, "dt": options.dt,
                  "softening": options.softening, "rows": rows, "failures": failed}
        arguments.write_json(options.json, record)
    for line in failed:
        print(line, file=sys.stderr)
    print("the galaxy is not stable" if failed else "the galaxy is stable")
    return 1 if failed else 0
