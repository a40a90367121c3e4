"""Draws the errors of integrators and precisions on a Kepler ellipse, for ten values of dt.

  ./nbody orders STEP00 FOLDER

STEP00 is step00_cpu_omp, because only this step also computes in float64. Writes three figures to
FOLDER: convergence.svg (the errors of Euler and leapfrog against the time step), precision.svg
(leapfrog in float32 and float64) and energies.svg (the energies of Euler and leapfrog over ten
orbits).

Exit code: 0 success, 1 STEP00 failed, 2 wrong arguments.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from nbody_tools import arguments
from nbody_tools.arguments import Failed
from nbody_tools.figures.convergence import draw_convergence
from nbody_tools.figures.diagnostics import draw_energies
from nbody_tools.files.bodies import Bodies, read_bodies
from nbody_tools.files.diagnostics import read_diagnostics

END = 1.9  # 0.37 periods, because Euler's errors cancel after a whole period
STEPS = [50 * 2 ** k for k in range(10)]
REFERENCE_STEPS = 819_200  # makes leapfrog's error a thousandth of the smallest drawn error
INTEGRATORS = ("euler", "leapfrog")
ORBITS, STEPS_PER_ORBIT = 10, 2000


def simulate(program: Path, *words: object) -> None:
    done = subprocess.run(
        [str(program), "--scenario", "two-body", "--validate", "off", "--quiet", *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise Failed(f"{program.name} failed: {done.stderr.strip()}")


def end_of(program: Path, integrator: str, precision: str, steps: int) -> Bodies:
    with tempfile.TemporaryDirectory() as folder:
        end = Path(folder) / "end.bin"
        simulate(program, "--integrator", integrator, "--precision", precision, "--steps", steps,
                 "--dt", repr(END / steps), "--output", end)
        return read_bodies(end)


def draw_orders(program: Path, folder: Path, note: str = "") -> list[Path]:
    reference = end_of(program, "leapfrog", "double", REFERENCE_STEPS)
    double = {integrator: [end_of(program, integrator, "double", steps) for steps in STEPS]
              for integrator in INTEGRATORS}
    single = [end_of(program, "leapfrog", "single", steps) for steps in STEPS]
    with tempfile.TemporaryDirectory() as temporary:
        tables = {}
        for integrator in INTEGRATORS:
            rows = Path(temporary) / f"{integrator}.csv"
            simulate(
                program,
                "--integrator",
                integrator,
                "--precision",
                "double",
                "--steps",
                ORBITS * STEPS_PER_ORBIT,
                "--diagnostics",
                rows,
                "--diagnostics-every",
                20,
            )
            tables[integrator] = read_diagnostics(rows)
    return [
        draw_convergence(
            reference,
            [*double["euler"], *double["leapfrog"]],
            folder / "convergence.svg",
            note,
        ),
        draw_convergence(
            reference, [*single, *double["leapfrog"]], folder / "precision.svg", note
        ),
        draw_energies(
            tables,
            folder / "energies.svg",
            note=f"An ellipse of two bodies, {STEPS_PER_ORBIT} time "
            f"steps per orbit, float64. {note}",
        ),
    ]


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("program", type=arguments.existing_file, metavar="STEP00")
    p.add_argument("folder", type=Path, metavar="FOLDER")


def check(options: argparse.Namespace) -> None:
    arguments.check_program(options.program)
    arguments.check_output(options.folder / "convergence.svg")


def run(options: argparse.Namespace) -> int:
    for path in draw_orders(options.program.resolve(), options.folder):
        print(path)
    return 0
