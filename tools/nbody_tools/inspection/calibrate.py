"""Updates docs/results/patterns/: the predictions of ./nbody inspect, and a GPU's counts.

  ./nbody calibrate model --build build/cpu           runs the traced programs
  ./nbody calibrate model --build build/cpu --check   only compares with stored predictions
  ./nbody calibrate chip DIR                          reads the files that ./nbody measure patterns
                                                      wrote on a GPU machine

The traced programs are built with: cmake --build build/cpu --target inspect_steps
./nbody documents makes the tables of docs/inspect.md and of the steps' READMEs from these files.

Exit code: 0 success, 1 a program failed or a file is out of date, 2 wrong arguments.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Sequence

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.inspection.calibration import (
    FOLDER,
    PATTERNS,
    PROBLEM,
    STEPS,
    CalibrationError,
    chip_lines,
    model_lines,
    read_model,
    write_lines,
)
from nbody_tools.inspection.trace import inspect_program


def configure(p: argparse.ArgumentParser) -> None:
    commands = p.add_subparsers(dest="command", required=True, metavar="model|chip")
    model = commands.add_parser("model")
    model.add_argument("--build", type=arguments.existing_folder, required=True, metavar="DIR")
    model.add_argument("--check", action="store_true", help="write nothing, and list differences")
    model.add_argument("--only", metavar="PROGRAM", choices=(PATTERNS, *STEPS))
    chip = commands.add_parser("chip")
    chip.add_argument("folder", type=arguments.existing_folder, metavar="DIR")


def traced_program(build: Path, program: str) -> tuple[Path, list[str]]:
    if program == PATTERNS:
        return build / "hostcuda/trace/inspect_patterns", []
    size = [word for name, value in PROBLEM.items() for word in (f"--{name}", str(value))]
    return (build / program / f"inspect_{program}",
            ["--scenario", "galaxies", *size, "--validate", "off", "--quiet"])


def run_model(build: Path, programs: Sequence[str]) -> list[dict]:
    lines = []
    for program in programs:
        path, words = traced_program(build, program)
        lines += model_lines(program, inspect_program(path, words))
    return lines


def without_numbers(kernel: dict) -> dict:
    """Removes the line numbers, because edits above a line change its number. The line's text still
    identifies the line."""
    return {**kernel, "lines": [{**line, "line": None} for line in kernel["lines"]]}


def check_model(build: Path, programs: Sequence[str]) -> int:
    def by_kernel(lines: Sequence[dict]) -> dict:
        return {(line["program"], line["name"]): without_numbers(line) for line in lines
                if line["program"] in programs}

    there, now = by_kernel(read_model()), by_kernel(run_model(build, programs))
    stale = [key for key in {**there, **now} if there.get(key) != now.get(key)]
    for program, kernel in stale:
        print(f"{FOLDER}/model.jsonl: {program}, {kernel} is out of date; "
              "run ./nbody calibrate model")
    return 1 if stale else 0


def read_chip_folder(folder: Path) -> list[dict]:
    try:
        device, ncu, date = (folder / "device.txt").read_text(encoding="utf-8").splitlines()[:3]
        name, driver = device.split(", ")
        version = ncu.split()[1]
    except (OSError, ValueError, IndexError) as error:
        raise CalibrationError(
            f"{folder}/device.txt is not from ./nbody measure patterns: {error}"
        ) from error
    lines = [{"machine": name, "driver": driver, "ncu": version, "date": date}]
    for program in (PATTERNS, *STEPS):
        csv = folder / f"{program}.ncu.csv"
        if csv.exists():
            lines += chip_lines(program, csv)
    if len(lines) == 1:
        raise CalibrationError(f"{folder}: holds no *.ncu.csv")
    return lines


def run(options: argparse.Namespace) -> int:
    if options.command == "chip":
        write_lines(ROOT / FOLDER / "chip.jsonl", read_chip_folder(options.folder))
        return 0
    if options.only and not options.check:
        raise ToolError("--only needs --check")
    programs = [options.only] if options.only else [PATTERNS, *STEPS]
    if options.check:
        return check_model(options.build, programs)
    write_lines(ROOT / FOLDER / "model.jsonl", run_model(options.build, programs))
    return 0
