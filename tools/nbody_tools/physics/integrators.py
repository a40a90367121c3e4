"""Measures the error and the cost of the four integrators of integrators/, and draws a figure.

  ./nbody integrators RECORD                    runs everything, appends to RECORD (2 min)
  ./nbody integrators RECORD --ias15 PYTHON     also REBOUND's IAS15; PYTHON can import REBOUND
  ./nbody integrators RECORD --figure FILE.svg  only draws what RECORD has

The problems are an ellipse of eccentricity 0.9, the figure-eight, the Pythagorean problem
(Szebehely & Peters 1967, AJ 72, 876) and ten years of the Solar System, all of point masses. Each
line of RECORD describes a run. Taylor series in extended precision (physics/taylor.py) give the
right position of each body. The error of a run is the largest distance of a body from its right
position.

Exit code: 0 success, 1 a program failed, 2 wrong arguments.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Optional

import numpy

from nbody_tools.arguments import ROOT, Failed, ToolError
from nbody_tools.files.bodies import Bodies, read_bodies
from nbody_tools.physics import taylor

BUILD = ROOT / "build" / "cpu"
IAS15 = Path(__file__).with_name("ias15.py")
YEAR = 6.283195  # 365.25 days; the unit is the Gaussian year / 2 pi
# The first value of --dt, --eta or epsilon. Each further value is smaller by the factor FINER.
COARSEST = {"leapfrog": 0.1, "yoshida4": 0.1, "hermite4": 0.1, "block_steps": 0.1, "ias15": 1e-3}
FINER = {"leapfrog": 3.0, "yoshida4": 2.0, "hermite4": 4.0, "block_steps": 4.0, "ias15": 10.0}
# The cost grows at most by this factor if --dt, --eta or epsilon shrinks by the factor FINER.
COSTLIER = {**FINER, "ias15": 1.5}
MOST_INTERACTIONS = 2e7  # of a run


@dataclass(frozen=True)
class Problem:
    name: str
    time: float
    file: Optional[str] = None  # in data/; if None, nbody-ic makes "two-body"
    coarsest: float = 1.0  # factor by which the COARSEST steps are multiplied


PROBLEMS = (
    Problem("eccentric", 50.0, coarsest=0.3),  # 9.7 orbits
    Problem("figure-eight", 20.0, "figure_eight.csv"),
    Problem("pythagorean", 70.0, "pythagorean.csv", coarsest=0.1),
    Problem("solar-system", 10 * YEAR, "solar_system_j2000.csv"),
)


def start_of(problem: Problem, folder: Path) -> Path:
    if problem.file:
        return ROOT / "data" / problem.file
    file = folder / "two-body.csv"
    call(BUILD / "tools" / "ic" / "nbody-ic", "two-body", file, "--eccentricity", 0.9,
         "--precision", "double")
    return file


def call(*words: object) -> str:
    try:
        done = subprocess.run([str(word) for word in words], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise Failed(f"{words[0]}: {error.strerror}; ./nbody build leapfrog yoshida4 hermite4 "
                     "block_steps nbody-ic") from None
    if done.returncode != 0:
        raise Failed(f"{words[0]} failed: {done.stderr.strip()}")
    return done.stdout


def reference(start: Bodies, time: float) -> numpy.ndarray:
    x, _ = taylor.integrate(start.positions[0], start.velocities[0], start.masses[0], time)
    return x.astype(float)


def ours(name: str, accuracy: float, problem: Problem, start: Path,
         folder: Path) -> tuple[dict[str, Any], numpy.ndarray]:
    """Returns the result of a program, and the positions at the end."""
    end, result = folder / "end.csv", folder / "result.jsonl"
    result.unlink(missing_ok=True)
    option = "--dt" if name in ("leapfrog", "yoshida4") else "--eta"
    call(BUILD / "integrators" / name, "--input", start, "--time", repr(problem.time), option,
         repr(accuracy), "--output", end, "--json", result)
    found = json.loads(result.read_text(encoding="utf-8"))
    return ({"interactions": found["interactions"],
             "energy_error": found["energy_error"]}, read_bodies(end).positions[0])


def ias15(python: str, epsilon: float, problem: Problem,
          start: Bodies) -> tuple[dict[str, Any], numpy.ndarray]:
    text = json.dumps({"masses": start.masses[0].tolist(), "epsilon": epsilon,
                       "positions": start.positions[0].tolist(), "time": problem.time,
                       "velocities": start.velocities[0].tolist()})
    try:
        done = subprocess.run([python, str(IAS15)], input=text, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise ToolError(f"--ias15: {python} cannot be run: {error.strerror}") from None
    if done.returncode != 0:
        raise Failed(f"{python} cannot run IAS15: {done.stderr.strip().splitlines()[-1]}")
    found = json.loads(done.stdout)
    bodies = len(start.masses[0])
    return ({"interactions": found["evaluations"] * bodies ** 2,
             "energy_error": found["energy_error"], "rebound": found["version"]},
            numpy.array(found["positions"]))


def measure(problem: Problem, python: Optional[str]) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = start_of(problem, folder)
        start = read_bodies(file)
        exact = reference(start, problem.time)
        programs = [name for name in COARSEST if python or name != "ias15"]
        for program in programs:
            accuracy = COARSEST[program]
            if program in ("leapfrog", "yoshida4"):
                accuracy *= problem.coarsest
            best = numpy.inf
            for _ in range(12):
                try:
                    if program == "ias15":
                        result, end = ias15(str(python), accuracy, problem, start)
                    else:
                        result, end = ours(program, accuracy, problem, file, folder)
                except Failed as failed:
                    if "as happens in a collision" not in str(failed):
                        raise
                    accuracy /= FINER[program]  # the step was too long for a close encounter
                    continue
                error = float(numpy.linalg.norm(end - exact, axis=1).max())
                yield {"problem": problem.name, "time": problem.time, "integrator": program,
                       "accuracy": accuracy, "position_error": error, **result}
                # Stops if another run would be too long, or would show only rounding errors.
                best = min(best, error)
                next_cost = result["interactions"] * COSTLIER[program]
                if next_cost > MOST_INTERACTIONS or error > 8 * best:
                    break
                accuracy /= FINER[program]


def machine() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("record", type=Path, metavar="RECORD")
    p.add_argument("--ias15", metavar="PYTHON", help="interpreter that has REBOUND")
    p.add_argument("--problem", choices=[problem.name for problem in PROBLEMS],
                   help="compute only this problem")
    p.add_argument("--figure", type=Path, metavar="FILE.svg", help="draw RECORD into this file")


def run(options: argparse.Namespace) -> int:
    # Drawing needs matplotlib.
    from nbody_tools.physics.integrators_figure import draw_integrators

    if options.figure:
        if options.figure.suffix != ".svg":
            raise ToolError(f"--figure: {options.figure} is not allowed; the name must end in "
                            ".svg")
        print(draw_integrators(options.record, options.figure))
        return 0
    try:
        options.record.open("a", encoding="utf-8").close()
    except OSError as error:
        raise ToolError(f"{options.record}: cannot be written: {error.strerror}") from None
    about = {"machine": machine(), "date": datetime.date.today().isoformat()}
    for problem in PROBLEMS:
        if options.problem not in (None, problem.name):
            continue
        for line in measure(problem, options.ias15):
            with options.record.open("a", encoding="utf-8") as record:
                record.write(json.dumps({**line, **about}) + "\n")
            print(f"{line['problem']:13} {line['integrator']:12} {line['accuracy']:8.1e}  "
                  f"{line['interactions']:11,} interactions  "
                  f"position error {line['position_error']:.1e}, "
                  f"energy error {line['energy_error']:.1e}",
                  flush=True)
    return 0
