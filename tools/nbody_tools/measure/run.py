"""Runs the steps on the same input, collects their result records and prints one table.

  ./nbody run                                   all steps that are built, default problem
  ./nbody run 01 03 step10_tiled2d_cublas       some of them
  ./nbody run --systems 32 --bodies 8192 --steps 20 --repeat 5 --warmup 1
  ./nbody run memory00 memory02 --bodies 100000        programs of memory/ instead

Exit code: 0 every step passed, 1 a step failed or found no device, 2 invalid arguments.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Callable, Optional, Sequence

from nbody_tools import arguments
from nbody_tools.arguments import ROOT
from nbody_tools.measure import memory
from nbody_tools.steps import (Outcome, Step, choose_steps, default_build, find_steps, has_gpu,
                               run_step)
from nbody_tools.measure.outcomes import text_table

SCENARIOS = ("plummer", "galaxies", "uniform", "star-cluster", "cold-sphere", "kuzmin", "disk-halo",
             "spiral", "collision", "two-body", "figure-eight", "solar-system", "sun-earth-moon",
             "test-particles")
VALIDATION = ("auto", "full", "sampled", "off")
# Options that are passed on unchanged. The programs have defaults for them.
PASSED_ON = ("systems", "bodies", "steps", "scenario", "input", "dt", "softening", "repeat",
             "warmup", "validate")


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("step", nargs="*", help="full name or number of a step [all steps], "
                   "or programs of memory/, such as memory00")
    p.add_argument("--build", type=arguments.existing_folder, metavar="DIR",
                   help="folder of the programs [build/cuda if a device is found, else build/cpu]")
    for name in ("systems", "bodies", "steps"):
        p.add_argument(f"--{name}", type=arguments.positive_integer)
    for name in ("dt", "softening"):
        p.add_argument(f"--{name}", type=arguments.positive_number)
    source = p.add_mutually_exclusive_group()
    source.add_argument("--scenario", choices=SCENARIOS)
    source.add_argument("--input", type=arguments.existing_file, metavar="FILE")
    p.add_argument("--repeat", type=arguments.positive_integer, default=5, help="timed runs [5]")
    p.add_argument("--warmup", type=arguments.integer_from_zero, default=1,
                   help="runs before the timed ones [1]")
    p.add_argument("--validate", choices=VALIDATION)
    p.add_argument(
        "--step-timeout",
        type=arguments.positive_number,
        default=600.0,
        metavar="SECONDS",
        help="time limit per program, including repeats and validation [600]",
    )
    p.add_argument("--output", type=Path, default=ROOT / "report" / "records.jsonl",
                   help="file for the records of steps, one per line [report/records.jsonl]")


def program_arguments(options: argparse.Namespace) -> list[str]:
    words = [word for name in PASSED_ON if getattr(options, name) is not None
             for word in (f"--{name}", str(getattr(options, name)))]
    return words if options.input else [*words, "--integrator", "euler"]  # as in the reports


def run_steps(steps: Sequence[Step], words: Sequence[str], timeout: float,
              say: Optional[Callable[[str], None]] = None) -> list[Outcome]:
    outcomes = []
    for step in steps:
        if say is not None:
            say(f"{step.name} ...")
        outcomes.append(run_step(step, words, timeout))
    return outcomes


def write_records(path: Path, outcomes: Sequence[Outcome]) -> None:
    arguments.write_json_lines(
        path, (outcome.record.data for outcome in outcomes if outcome.record)
    )


def check(options: argparse.Namespace) -> None:
    if any(map(memory.is_memory, options.step)):
        memory.check(options)
    arguments.check_output(options.output)
    if options.systems and options.bodies and not options.input:
        arguments.check_problem(options.systems, options.bodies)


def memory_build() -> Path:
    """Returns the build folder with the GPU programs if there is a GPU and the programs are built,
    otherwise the folder with the CPU programs."""
    cuda = ROOT / "build" / "cuda"
    return cuda if has_gpu() and (cuda / "memory").is_dir() else ROOT / "build" / "cpu"


def is_old(step: Step) -> bool:
    """Tests whether a file of the step's folder has changed since its program was built."""
    built = step.program.stat().st_mtime
    return any(file.stat().st_mtime > built for file in (ROOT / step.name).glob("*")
               if file.suffix in (".cu", ".cpp", ".h"))


def run(options: argparse.Namespace) -> int:
    if any(map(memory.is_memory, options.step)):
        return memory.run(options, options.build or memory_build())
    steps = choose_steps(find_steps(options.build or default_build()), options.step)
    for step in steps:
        if is_old(step):
            print(f"{step.name}: the source is newer than the program: ./nbody build {step.number}",
                  file=sys.stderr)
    outcomes = run_steps(steps, program_arguments(options), options.step_timeout,
                         say=lambda line: print(line, file=sys.stderr, flush=True))
    print(text_table(outcomes))
    if any(outcome.record for outcome in outcomes):  # otherwise keeps the records of an earlier run
        write_records(options.output, outcomes)
        print(f"Records: {options.output}")
    return 0 if all(outcome.good for outcome in outcomes) else 1
