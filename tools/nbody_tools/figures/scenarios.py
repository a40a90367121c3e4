"""Draws docs/figures/scenarios.png: how the scenarios that are clouds of bodies evolve.

  ./nbody scenarios build/cpu/experiments/cpu_simd/cpu_simd docs/figures/scenarios.png

The program may be any step. On two CPU cores the runs take a minute or two.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nbody_tools import arguments
from nbody_tools.arguments import Failed
from nbody_tools.figures.style import BLUE, VERMILION, pyplot, save
from nbody_tools.files.bodies import Bodies, read_snapshots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 3
CAPTION = (
    "The scenarios over time, seen along z. For galaxies only the disks are shown, 1,500 to "
    "3,000 bodies each, without their haloes."
)


@dataclass(frozen=True)
class Row:
    scenario: str
    bodies: int
    dt: float
    steps: int
    half_width: float


ROWS = (Row("cold-sphere", 3000, 0.01, 220, 1.3),
        Row("kuzmin", 3000, 0.02, 400, 4),
        Row("disk-halo", 9000, 0.04, 340, 6),
        Row("spiral", 9000, 0.04, 340, 6),
        Row("collision", 9000, 0.05, 960, 24))


def snapshots(program: Path, row: Row) -> list[Bodies]:
    with tempfile.TemporaryDirectory() as folder:
        words = [program, "--scenario", row.scenario, "--bodies", row.bodies, "--dt", row.dt,
                 "--steps", row.steps, "--integrator", "leapfrog", "--validate", "off", "--quiet",
                 "--snapshot-every", row.steps // (COLUMNS - 1), "--snapshot-dir", folder]
        done = subprocess.run([str(word) for word in words], check=False)
        if done.returncode != 0:
            raise Failed(f"{program}: {row.scenario} exited with code {done.returncode}")
        return read_snapshots(Path(folder))


def parts(row: Row, count: int) -> list[tuple[slice, str]]:
    """Returns the parts to draw. In a galaxy this is only the disk, the first third of its bodies,
    because the halo would hide it."""
    if row.scenario == "collision":
        half = count // 2
        return [(slice(0, half // 3), BLUE), (slice(half, half + (count - half) // 3), VERMILION)]
    if row.scenario in ("disk-halo", "spiral"):
        return [(slice(0, count // 3), BLUE)]
    return [(slice(None), BLUE)]


def draw(axes: Axes, row: Row, bodies: Bodies) -> None:
    x = bodies.positions[0]
    for part, colour in parts(row, len(x)):
        axes.plot(x[part, 0], x[part, 1], ".", markersize=2.5, markeredgewidth=0, color=colour,
                  rasterized=True)
    axes.set(xlim=(-row.half_width, row.half_width), ylim=(-row.half_width, row.half_width),
             aspect="equal")
    axes.set_title(f"{row.scenario}, t = {bodies.time:.3g}")


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("program", type=arguments.existing_file, metavar="PROGRAM")
    p.add_argument("output", type=Path, metavar="PNG")


def run(options: argparse.Namespace) -> int:
    figure, grid = pyplot.subplots(len(ROWS), COLUMNS, figsize=(10, 3.4 * len(ROWS)),
                                   layout="constrained")
    for row, line in zip(ROWS, grid):
        for axes, bodies in zip(line, snapshots(options.program.resolve(), row)):
            draw(axes, row, bodies)
        line[0].set_ylabel("y (units of the scenario)")
    for axes in grid[-1]:
        axes.set_xlabel("x (units of the scenario)")
    save(figure, options.output, CAPTION)
    return 0
