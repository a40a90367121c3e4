"""Draws docs/figures/scenarios/: pictures of how clouds of bodies evolve, one for each scenario.

  ./nbody scenarios build/cpu/cpu/tree/cpu_tree docs/figures/scenarios
  ./nbody scenarios PROGRAM DIR spiral         draws only this one

Runs each scenario with the program, draws its start, middle and end side by side in
DIR/SCENARIO.webp, and prints the name of this file. Replaces files from an earlier call. The
program may be cpu_tree or any step that groups distant bodies, such as step 15; it must be built
already. On two CPU cores the runs take two minutes. `./nbody view --scenario NAME` shows any
scenario.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

from nbody_tools import arguments
from nbody_tools.arguments import Failed, ToolError
from nbody_tools.design.tokens import colour
from nbody_tools.design.units import length_of, time_text, units_of
from nbody_tools.figures import light
from nbody_tools.files.bodies import Bodies, read_snapshots

# cpu_tree: these forces change the energy of the collision by 4e-4.
TREE = ("--theta", "1", "--force-tolerance", "0.03")
COLUMNS, SIDE, GAP, TEXT = 3, 480, 8, 22  # pictures in a row, and sizes in pixels


@dataclass(frozen=True)
class Row:
    scenario: str
    bodies: int
    dt: float
    steps: int
    half_width: float  # of the view, in the scenario's units of length


ROWS = (Row("cold-sphere", 10000, 0.01, 220, 1.3),
        Row("kuzmin", 10000, 0.02, 400, 4),
        Row("disk-halo", 24000, 0.04, 340, 6),
        Row("spiral", 24000, 0.04, 340, 6),
        Row("collision", 30000, 0.1, 480, 27))


def command(program: str, row: Row) -> list[str]:
    return [program, "--scenario", row.scenario, "--bodies", str(row.bodies), "--dt",
            f"{row.dt:g}", "--steps", str(row.steps), *TREE]


def snapshots(program: Path, row: Row) -> list[Bodies]:
    with tempfile.TemporaryDirectory() as folder:
        words = [*command(str(program), row), "--validate", "off", "--quiet",
                 "--snapshot-every", str(row.steps // (COLUMNS - 1)), "--snapshot-dir", folder]
        done = subprocess.run(words, check=False)
        if done.returncode != 0:
            raise Failed(f"{program}: {row.scenario} exited with code {done.returncode}")
        if not any(Path(folder).iterdir()):
            raise Failed(f"{program}: wrote no snapshots of {row.scenario}; specify the path of "
                         "cpu_tree or of a step")
        return read_snapshots(Path(folder))


def draw(row: Row, states: list[Bodies]) -> Image.Image:
    """Draws the states side by side. Writes the time into each state, and the width of the view
    into the last one."""
    strip = Image.new("RGB", (COLUMNS * (SIDE + GAP) - GAP, SIDE), colour("space"))
    pen = ImageDraw.Draw(strip)
    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), TEXT)
    unit = length_of(states[0].units)
    for k, state in enumerate(states):
        half = numpy.array((row.half_width, row.half_width))
        seen = light.picture(light.galaxies_of(state), 0 * half, half, (SIDE, SIDE))
        strip.paste(seen, (k * (SIDE + GAP), 0))
        pen.text((k * (SIDE + GAP) + 12, 10), time_text(state), colour("star-ink"), font)
    right = COLUMNS * (SIDE + GAP) - GAP - 12
    name = unit.name if units_of(states[0].units) else "units"
    pen.text((right, SIDE - TEXT - 14), f"{2 * row.half_width * unit.size:g} {name} wide",
             colour("star-ink"), font, anchor="ra")
    return strip


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("program", type=arguments.existing_file, metavar="PROGRAM",
                   help="the built program that runs the scenarios")
    p.add_argument("output", type=Path, metavar="DIR",
                   help="folder for the pictures; it is made if it is missing")
    p.add_argument("scenario", nargs="*", default=[], metavar="SCENARIO",
                   help=f"scenarios to draw: {', '.join(row.scenario for row in ROWS)} [all]")


def check(options: argparse.Namespace) -> None:
    """Reports arguments that cannot work before any scenario runs."""
    known = [row.scenario for row in ROWS]
    for name in options.scenario:
        if name not in known:
            raise ToolError(f"'{name}' has no picture; choose from {', '.join(known)}")
    if not os.access(options.program, os.X_OK):
        raise ToolError(f"{options.program}: is not a program; specify the path of cpu_tree or of "
                        "a step")
    if options.output.exists() and not options.output.is_dir():
        raise ToolError(f"{options.output}: is not a folder")
    arguments.check_output(options.output / "SCENARIO.webp")


def run(options: argparse.Namespace) -> int:
    rows = {row.scenario: row for row in ROWS}
    for row in (rows[name] for name in dict.fromkeys(options.scenario) or rows):
        picture = draw(row, snapshots(options.program.resolve(), row))
        path = options.output / f"{row.scenario}.webp"
        print(light.save_picture(picture, path, quality=88, method=6))
    return 0
