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
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Callable, Optional, Sequence

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, ToolError, write_whole_file
from nbody_tools.measure.parts import PARTS
from nbody_tools.records.record import Record, check_measurement, read_records
from nbody_tools.steps import Step, find_steps, run_program, run_step
from nbody_tools.tables import ABSENT, aligned, plain, with_range

PEERS = {
    "ecl-bh": "ECL-BH, built with -DDEBUG to compare its forces",
    "ryoanji": "Ryoanji's ryoanji_demo",
}
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


class Bench:
    """The context of a part: the programs, the output folder, and the failures so far."""

    def __init__(self, part: str, options: argparse.Namespace) -> None:
        self.part, self.build, self.timeout = part, options.build.resolve(), options.timeout
        given = {name: getattr(options, name.replace("-", "_")) for name in PEERS}
        self.peers = {name: path and path.resolve() for name, path in given.items()}
        self.folder = options.output / part
        self.records = options.output / f"{part}.jsonl"
        self.failures: list[str] = []
        self.lines: list[str] = []

    @property
    def steps(self) -> list[str]:
        return [step.name for step in find_steps(self.build)]

    @property
    def gpu_steps(self) -> list[str]:
        return [name for name in self.steps if not name.startswith("step00_")]

    def program(self, name: str) -> Optional[Path]:
        """Returns the path of a step, a variant or another program; None if it was not built."""
        places = (
            self.build / folder / name / name
            for folder in ("", "experiments/variants", "experiments")
        )
        return next((place for place in places if os.access(place, os.X_OK)), None)

    def built_program(self, name: str) -> Path:
        found = self.program(name)
        if found is None:
            raise ToolError(f"{name}: not built")
        return found

    def built(self, *names: str) -> list[str]:
        """Returns the names of the programs that exist. Reports missing programs, which are often
        variants."""
        for name in names:
            if self.program(name) is None:
                self.say(f"{name}: not built")
        return [name for name in names if self.program(name) is not None]

    def fail(self, text: str) -> None:
        self.failures.append(f"{self.part}: {text}")
        self.say(f"FAILED: {text}")

    @staticmethod
    def say(text: str) -> None:
        print(f"  {text}", flush=True)

    def record(self, name: str, *words: object,
               environment: Optional[dict[str, str]] = None,
               more: Optional[Callable[[], dict]] = None) -> Optional[Record]:
        """Runs a program and stores its record, with additional data."""
        program = self.program(name)
        if program is None:
            self.fail(f"{name} is not in {self.build}")
            return None
        outcome = run_step(
            Step(name, program),
            [str(word) for word in words],
            self.timeout,
            environment,
            check_measurement,
        )
        if outcome.record is not None:
            self.keep({**outcome.record.data, **(more() if more else {})})
            self.say("  ".join(row(self.part, outcome.record)[1:]))
        if not outcome.good:
            self.fail(f"{name} {' '.join(map(str, words))}: {outcome.status} {outcome.message}")
        return outcome.record

    def keep(self, data: dict) -> None:
        """Stores a record at once, so that it survives if a later program crashes the machine."""
        self.lines.append(json.dumps(data) + "\n")
        write_whole_file(self.records, "".join(self.lines))

    def run(
        self, log: str, words: Sequence[object], environment: Optional[dict[str, str]] = None
    ) -> str:
        """Runs a command, writes its output to a log, and returns the output. Reports a failure."""
        path = self.folder / log
        status, message = run_program(
            [str(word) for word in words], self.timeout, path, environment
        )
        if status != "done":
            self.fail(f"{log}: {status} {message}; see {path}")
        return path.read_text(encoding="utf-8", errors="replace")

    def run_experiment(self, name: str) -> None:
        """Runs an experiment's tests, then writes all its measurements to NAME.jsonl."""
        program = self.build / "experiments" / name / name
        self.run("test.log", [f"{program}_test"])
        for line in self.run(
            f"{name}.log", [program, "--json", self.folder / f"{name}.jsonl"]
        ).splitlines():
            self.say(line)


def row(part: str, record: Record) -> list[str]:
    data = record.data
    error = record.acceleration_error
    if error is None and data.get("force_error"):
        error = data["force_error"]["rms"]
    rate = (
        ABSENT
        if data.get("approximation")
        else plain(record.giga_interactions_per_second("compute").median)
    )
    return [
        part,
        record.step,
        str(record.device_count),
        f"{data['systems']} x {data['bodies']} x {data['steps']}",
        with_range(record.seconds("compute")),
        with_range(record.seconds("total")),
        rate,
        ABSENT if error is None else f"{error:.1e}",
        record.judgement,
    ]


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
