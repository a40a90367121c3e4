"""Writes a problem as input for SWIFT or GADGET-4, for runs that need more than this project.

  ./nbody handoff swift galaxy.bin                       folder galaxy_swift/
  ./nbody handoff gadget4 end.csv --time 20 --to run1    20 units of time from the file's state
  ./nbody handoff swift --scenario plummer --bodies 1000000 --seed 2

FILE may have any format of docs/formats.md. The folder gets the bodies as HDF5, the parameters with
the units, a job script for Slurm, and README.txt, which says how to build and start the engine.
Both engines use the file's G, so their numbers have the file's units. They simulate only gravity.
docs/handoff.md explains how their results differ from this project's.

Exit code: 0; 2 for invalid arguments or bodies that an engine would reject; 77 if Python's h5py is
missing.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path
from types import ModuleType

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.files.bodies import Bodies, read_bodies
from nbody_tools.handoff import gadget4, hdf5, swift
from nbody_tools.handoff.problem import Problem, problem_of

ENGINES: dict[str, ModuleType] = {"swift": swift, "gadget4": gadget4}
BODIES = "bodies.hdf5"


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("engine", choices=ENGINES, metavar="swift|gadget4")
    p.add_argument("file", nargs="?", type=arguments.existing_file, metavar="FILE",
                   help="bodies in any format of docs/formats.md")
    p.add_argument("--scenario", metavar="NAME", help="make the bodies with nbody-ic instead")
    p.add_argument("--bodies", type=arguments.positive_integer, help="bodies of the scenario")
    p.add_argument("--seed", type=arguments.integer_from_zero, help="seed of the scenario")
    p.add_argument("--system", type=arguments.integer_from_zero, metavar="K",
                   help="index of the system to write, from 0, if the file holds several")
    p.add_argument("--time", type=arguments.positive_number, metavar="T",
                   help="time to simulate, in the file's units [1000 dt]")
    p.add_argument("--softening", type=arguments.positive_number, metavar="EPS",
                   help="softening length [the file's]")
    p.add_argument("--dt", type=arguments.positive_number,
                   help="longest time step [the file's, else 0.01]")
    p.add_argument("--snapshots", type=arguments.positive_integer, default=10, metavar="K",
                   help="snapshots to write [10]")
    p.add_argument("--to", type=Path, metavar="FOLDER", help="folder to write [NAME_ENGINE]")


def check(options: argparse.Namespace) -> None:
    if (options.file is None) == (options.scenario is None):
        raise ToolError("needs either FILE or --scenario")
    for name in ("bodies", "seed"):
        if options.file is not None and getattr(options, name) is not None:
            raise ToolError(f"--{name} needs --scenario")
    hdf5.require_h5py()


def make_scenario(options: argparse.Namespace) -> Bodies:
    programs = sorted(ROOT.glob("build/*/tools/ic/nbody-ic"))
    if not programs:
        raise ToolError("nbody-ic, which makes scenarios, is not built: ./nbody build nbody-ic")
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "scenario.bin"
        words = [str(programs[0]), options.scenario, str(made)]
        for name in ("bodies", "seed", "softening"):
            if getattr(options, name) is not None:
                words += [f"--{name}", str(getattr(options, name))]
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise ToolError(" ".join(done.stderr.split()))
        return read_bodies(made)


def read_problem(options: argparse.Namespace) -> Problem:
    bodies = make_scenario(options) if options.file is None else read_bodies(options.file)
    source = f"scenario {options.scenario}" if options.file is None else options.file.name
    return problem_of(bodies, source, options.system, options.time, options.softening, options.dt,
                      options.snapshots)


def run(options: argparse.Namespace) -> int:
    engine, problem = ENGINES[options.engine], read_problem(options)
    name = options.scenario if options.file is None else options.file.stem
    folder = options.to or Path(f"{name}_{options.engine}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ToolError(f"{folder}: exists and is not an empty folder; choose another with --to")
    files = engine.files(problem)
    for file, text in files.items():
        arguments.write_whole_file(folder / file, text)
    engine.write_bodies(folder / BODIES, problem)
    (folder / "job.sh").chmod(0o755)
    print(f"{folder}: {problem.bodies} bodies from {problem.source} for {engine.NAME}: "
          f"{BODIES}, {', '.join(files)}. README.txt says what to do next.")
    return 0
