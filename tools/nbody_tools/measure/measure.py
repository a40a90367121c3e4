"""Checks and times everything on a machine with a GPU, part by part.

  ./nbody measure                                   all parts, with the programs of build/cuda
  ./nbody measure staircase sizes --build DIR       some parts, with programs that were built
                                                    elsewhere

Needs only Python and the programs of the cuda preset (-D NBODY_VARIANTS=ON also builds variants).
Each part writes OUTPUT/PART.jsonl, logs and other files in OUTPUT/PART/ and, if the whole part
succeeded, OUTPUT/PART.done. If you run the command again, it resumes with the unfinished parts. It
reports a program that fails, and still measures the remaining programs. At the end it prints a
table of all records.

Exit code: 0 success, 1 a program or part failed, 2 invalid arguments.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, ToolError, write_whole_file
from nbody_tools.measure.bench import PEERS, Bench, row
from nbody_tools.measure.parts import PARTS
from nbody_tools.records.record import check_measurement, read_records
from nbody_tools.steps import find_steps
from nbody_tools.tables import aligned

COLUMNS = (
    "part",
    "program",
    "GPUs",
    "systems x bodies x steps",
    "compute (IQR)",
    "total (IQR)",
    "G inter./s",
    "RMS error",
    "verdict",
)


def configure(p: argparse.ArgumentParser) -> None:
    width = max(map(len, PARTS))
    p.epilog = "parts:\n" + "\n".join(
        f"  {name:<{width}}  {part.__doc__}" for name, part in PARTS.items()
    )
    p.add_argument("part", nargs="*", metavar="PART", help="parts to measure [all]")
    p.add_argument(
        "--build",
        type=arguments.existing_folder,
        metavar="DIR",
        default=ROOT / "build" / "cuda",
        help="folder of the programs [build/cuda]",
    )
    p.add_argument("--output", type=Path, metavar="DIR", default=ROOT / "report" / "measured",
                   help="folder for all output [report/measured]")
    p.add_argument("--again", action="store_true", help="also repeat finished parts")
    p.add_argument("--timeout", type=arguments.positive_number, default=600.0, metavar="SECONDS",
                   help="time limit per program [600]")
    for name, what in PEERS.items():
        p.add_argument(
            f"--{name}",
            type=arguments.existing_file,
            metavar="PROGRAM",
            help=f"for tree_peers: {what}",
        )


def measure(part: str, options: argparse.Namespace) -> list[str]:
    """Returns the failures of one part."""
    bench = Bench(part, options)
    done = options.output / f"{part}.done"
    if done.exists() and not options.again:
        print(f"{part}: already done", flush=True)
        return []
    print(f"{part}:", flush=True)
    bench.folder.mkdir(parents=True, exist_ok=True)
    for old in (done, bench.records):
        old.unlink(missing_ok=True)
    try:
        PARTS[part](bench)
    except (ToolError, OSError, subprocess.SubprocessError) as error:
        bench.fail(str(error))
    if not bench.failures:
        write_whole_file(done, "")
    return bench.failures


def run(options: argparse.Namespace) -> int:
    for part in options.part:
        if part not in PARTS:
            raise ToolError(f"'{part}' is not a part; choose from {', '.join(PARTS)}")
    arguments.check_output(options.output / "PART.jsonl")
    find_steps(options.build)
    os.environ["NBODY_REQUIRE_GPU"] = "1"
    parts = options.part or list(PARTS)
    failures = [failure for part in parts for failure in measure(part, options)]
    rows = [row(part, record) for part in parts if (options.output / f"{part}.jsonl").exists()
            for record in read_records(options.output / f"{part}.jsonl", check_measurement)]
    if rows:
        print("\n" + "\n".join(aligned([list(COLUMNS), *rows], left=(0, 1, -1))))
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    print(f"Records: {options.output}")
    return 1 if failures else 0
