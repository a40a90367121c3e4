#!/usr/bin/env python3
"""Does a galaxy stay what it is? Runs the disk-halo scenario for some rotations and measures it.

  tools/disk_halo.py PROGRAM                         60,000 bodies, three rotations
  tools/disk_halo.py PROGRAM --bodies 4000 --json FILE

PROGRAM is any step. Without a GPU take few bodies: the time goes with their square.
Exit code: 0 virial ratio within 3 % of 1 and half-mass radius of the disk within 10 % of the first
one, always; 1 not so, or PROGRAM failed; 2 wrong arguments.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Optional, Sequence

import numpy

import nbody_arguments as arguments
from nbody_arguments import ToolError
from nbody_diagnostics import read_diagnostics
from nbody_files import Bodies, read_snapshots

PERIOD = 13.51  # of the default galaxy at two scale lengths: 2 pi R / v_c
VIRIAL_BOUND = 0.03
RADIUS_BOUND = 0.10
COLUMNS = ("time", "rotations", "virial_ratio", "energy_change", "half_mass_radius",
           "radius_of_90_percent", "halo_half_mass_radius", "m2_amplitude", "thickness")


def measure(bodies: Bodies) -> dict[str, float]:
    x, m = bodies.positions[0], bodies.masses[0]
    stars = len(m) // 3  # the disk comes first
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


def run(options, folder: str) -> list[dict[str, float]]:
    steps = math.ceil(options.rotations * PERIOD / options.dt)
    diagnostics = Path(folder) / "diagnostics.csv"  # a row for every snapshot
    words = [options.program, "--scenario", options.scenario, "--bodies", options.bodies, "--seed",
             options.seed, "--integrator", "leapfrog", "--dt", options.dt, "--steps", steps,
             "--softening", options.softening, "--snapshot-every", math.ceil(steps / options.looks),
             "--snapshot-dir", folder, "--diagnostics", diagnostics, "--validate", options.validate]
    done = subprocess.run([str(word) for word in words], check=False)
    if done.returncode != 0:
        raise ToolError(f"{options.program} ended with exit code {done.returncode}")
    rows = [measure(bodies) for bodies in read_snapshots(Path(folder))]
    table = read_diagnostics(diagnostics)
    virial_ratios, energy_errors = table.of(0, "virial_ratio"), table.of(0, "energy_error")
    if len(rows) != len(virial_ratios):
        raise ToolError(f"{len(rows)} snapshots and {len(virial_ratios)} rows of diagnostics")
    for row, virial_ratio, energy_error in zip(rows, virial_ratios, energy_errors):
        row.update(virial_ratio=float(virial_ratio), energy_change=float(energy_error))
    return rows


def failures(rows: Sequence[dict[str, float]]) -> list[str]:
    """Written so that a NaN is one."""
    first = rows[0]["half_mass_radius"]
    found = []
    for row in rows:
        if not abs(row["virial_ratio"] - 1) <= VIRIAL_BOUND:
            found.append(f"time {row['time']:.2f}: virial ratio {row['virial_ratio']:.4f}")
        if not abs(row["half_mass_radius"] / first - 1) <= RADIUS_BOUND:
            found.append(f"time {row['time']:.2f}: half-mass radius {row['half_mass_radius']:.4f}, "
                         f"at first {first:.4f}")
    return found


def main(words: Optional[Sequence[str]] = None) -> int:
    parser = arguments.OneLineParser(prog="disk_halo.py", description=__doc__)
    parser.add_argument("program", type=arguments.existing_file, metavar="PROGRAM")
    parser.add_argument("--scenario", choices=("disk-halo", "spiral"), default="disk-halo")
    parser.add_argument("--bodies", type=arguments.positive_integer, default=60000)
    parser.add_argument("--seed", type=arguments.integer_from_zero, default=1)
    parser.add_argument("--rotations", type=arguments.positive_number, default=3.0)
    parser.add_argument("--dt", type=arguments.positive_number, default=0.03)
    parser.add_argument("--softening", type=arguments.positive_number, default=0.05)
    parser.add_argument("--looks", type=arguments.positive_integer, default=12,
                        help="times at which it is measured, besides the start [12]")
    parser.add_argument("--validate", choices=("sampled", "off"), default="sampled")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table here too")
    options = parser.parse_args(words)
    options.program = options.program.resolve()
    try:
        with tempfile.TemporaryDirectory() as folder:
            rows = run(options, folder)
    except ToolError as error:
        arguments.fail(f"{parser.prog}: {error}", code=1)
    print("  ".join(COLUMNS))
    for row in rows:
        print("  ".join(f"{row[column]:>{len(column)}.4g}" for column in COLUMNS))
    found = failures(rows)
    if options.json:
        record = {"program": options.program.name, "scenario": options.scenario,
                  "bodies": options.bodies, "seed": options.seed, "dt": options.dt,
                  "softening": options.softening, "rows": rows, "failures": found}
        arguments.write_whole_file(options.json, json.dumps(record, indent=1) + "\n")
    for line in found:
        print(line, file=sys.stderr)
    print("it does not stay what it is" if found else "it stays what it is")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
