#!/usr/bin/env python3
"""Keeps docs/results/patterns/: what ./nbody inspect predicts, and what a GPU counted.

  tools/calibrate_inspect.py model --build build/cpu           runs the traced programs
  tools/calibrate_inspect.py model --build build/cpu --check   only compares with what is there
  tools/calibrate_inspect.py chip DIR    reads what tools/calibrate_inspect.sh left on a GPU machine

The traced programs are built with: cmake --build build/cpu --target inspect_calibrated
The tables of docs/inspect.md and of the steps' READMEs are made from both by tools/documents.py.

Exit code: 0 done, 1 something failed or is out of date, 2 wrong arguments.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Optional, Sequence

import nbody_arguments as arguments
from nbody_arguments import ROOT, ToolError
from nbody_calibration import (FOLDER, PATTERNS, PROBLEM, STEPS, CalibrationError, chip_lines,
                               model_lines, read_model, write_lines)
from nbody_inspect import inspect_program


def parser() -> arguments.OneLineParser:
    p = arguments.OneLineParser(prog="calibrate_inspect.py", description=__doc__)
    commands = p.add_subparsers(dest="command", required=True, metavar="model|chip")
    model = commands.add_parser("model")
    model.add_argument("--build", type=arguments.existing_folder, required=True, metavar="DIR")
    model.add_argument("--check", action="store_true", help="write nothing, name what differs")
    model.add_argument("--only", metavar="PROGRAM", choices=(PATTERNS, *STEPS))
    chip = commands.add_parser("chip")
    chip.add_argument("folder", type=arguments.existing_folder, metavar="DIR")
    return p


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
    """Lines are known by their text: an edit above only moves them."""
    return {**kernel, "lines": [{**line, "line": None} for line in kernel["lines"]]}


def check_model(build: Path, programs: Sequence[str]) -> int:
    def by_kernel(lines: Sequence[dict]) -> dict:
        return {(line["program"], line["name"]): without_numbers(line) for line in lines
                if line["program"] in programs}

    there, now = by_kernel(read_model()), by_kernel(run_model(build, programs))
    stale = [key for key in {**there, **now} if there.get(key) != now.get(key)]
    for program, kernel in stale:
        print(f"{FOLDER}/model.jsonl: {program}, {kernel} is out of date; "
              "run tools/calibrate_inspect.py model")
    return 1 if stale else 0


def read_chip_folder(folder: Path) -> list[dict]:
    device, ncu, date = (folder / "device.txt").read_text(encoding="utf-8").splitlines()[:3]
    name, driver = device.split(", ")
    lines = [{"machine": name, "driver": driver, "ncu": ncu.split()[1], "date": date}]
    for program in (PATTERNS, *STEPS):
        csv = folder / f"{program}.ncu.csv"
        if csv.exists():
            lines += chip_lines(program, csv)
    if len(lines) == 1:
        raise CalibrationError(f"{folder}: holds no *.ncu.csv")
    return lines


def main(words: Optional[Sequence[str]] = None) -> int:
    options = parser().parse_args(words)
    try:
        if options.command == "chip":
            write_lines(ROOT / FOLDER / "chip.jsonl", read_chip_folder(options.folder))
            return 0
        programs = [options.only] if options.only else [PATTERNS, *STEPS]
        if options.check:
            return check_model(options.build, programs)
        if options.only:
            raise CalibrationError("--only belongs to --check")
        write_lines(ROOT / FOLDER / "model.jsonl", run_model(options.build, programs))
    except (ToolError, OSError, ValueError) as error:
        arguments.fail(f"calibrate_inspect.py: {error}", code=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
