"""Measures which shapes are fastest for steps 11 to 13 on this device, and writes these shapes to
the table that the steps read.

  ./nbody tune                                       common sizes
  ./nbody tune 11 --systems 1,8 --bodies 5000,20000  sizes of your own problem
  build/cuda/step11_register_blocking/step11_register_blocking --bodies 5000 --tuned shapes.json

A step can cut its work into blocks in several ways: bodies per thread, warps per block, parts of
the sum. A rule (common/include/nbody/shape.h) predicts the fastest way. This command tries the
rule's best candidates: it checks each against float64, then times them round-robin. If a shape is
faster than the rule's choice by more than the spread of the times, it enters the table for this
device, step, and number of systems and bodies. All other runs use the rule. Each run reports, in
its output and its record, whether its shape came from the table or the rule.

Each measurement is stored in OUTPUT immediately, so an interrupted command resumes where it
stopped.

Exit code: 0 success, 1 a shape failed, 2 invalid arguments, 77 no GPU (emulated times mean
nothing).
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Iterator, Optional, Sequence

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, ToolError, write_json, write_json_lines, write_whole_file
from nbody_tools.records.record import Quartiles, Record, quartiles
from nbody_tools.steps import (
    NO_DEVICE,
    Step,
    choose_steps,
    find_steps,
    has_gpu,
    run_step,
    step_folders,
)
from nbody_tools.tables import aligned, seconds

STEPS = ("11", "12", "13")
SYSTEMS, BODIES = "1", "1024,2048,4096,8192,16384,65536,262144"
TIMED_INTERACTIONS = 5e10  # per run, so that the cost of launches does not dominate
MAX_STEPS = 1000


class NoGpu(ToolError):
    code = NO_DEVICE

    def __init__(self, why: str) -> None:
        super().__init__(f"skipped: tuning needs a GPU, as emulated times mean nothing; {why}")


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("step", nargs="*", help="11, 12 or 13 [all three steps]")
    p.add_argument(
        "--build",
        type=arguments.existing_folder,
        metavar="DIR",
        default=ROOT / "build" / "cuda",
        help="folder of the programs [build/cuda]",
    )
    p.add_argument("--systems", type=arguments.positive_integers, default=SYSTEMS, metavar="S,S",
                   help=f"numbers of systems [{SYSTEMS}]")
    p.add_argument("--bodies", type=arguments.positive_integers, default=BODIES, metavar="N,N",
                   help=f"numbers of bodies per system [{BODIES}]")
    p.add_argument("--shapes", type=arguments.positive_integer, default=12,
                   help="maximum number of shapes per problem [12]")
    p.add_argument("--rounds", type=arguments.positive_integer, default=3,
                   help="rounds per shape [3]")
    p.add_argument("--repeat", type=arguments.positive_integer, default=5,
                   help="timed runs per round [5]")
    p.add_argument("--timeout", type=arguments.positive_number, default=300.0, metavar="SECONDS",
                   help="time limit per run [300]")
    p.add_argument("--output", type=Path, metavar="FILE", default=ROOT / "report" / "tuning.jsonl",
                   help="measurements, one line per shape [report/tuning.jsonl]")
    p.add_argument("--table", type=Path, metavar="FILE", default=users_table(),
                   help="table that the steps read [nbody-steps/shapes.json in $XDG_CONFIG_HOME or "
                        "~/.config]")


def users_table() -> Path:
    """Returns the path of the user's table, the same as in common/io/shape_table.cpp."""
    config = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(config) / "nbody-steps" / "shapes.json"


class Tuner:
    """Tries shapes of a step on one problem, and remembers earlier trials."""

    def __init__(self, step: Step, systems: int, bodies: int, options: argparse.Namespace,
                 known: list[dict[str, Any]], folder: Path) -> None:
        self.step, self.systems, self.bodies, self.options = step, systems, bodies, options
        self.known, self.folder = known, folder
        steps = round(TIMED_INTERACTIONS / (systems * bodies ** 2))
        self.steps = max(1, min(MAX_STEPS, steps))
        self.failures: list[str] = []

    @property
    def problem(self) -> dict[str, Any]:
        return {"step": self.step.name, "systems": self.systems, "bodies": self.bodies}

    def run(self, device: str, rank: int, *words: object) -> Record:
        """Runs the step with the shape that has this rank among the rule's candidates. Raises
        ToolError if the run fails."""
        table = self.folder / "shapes.json"
        write_whole_file(table, json.dumps(table_of(device, [{**self.problem, "rank": rank}])))
        outcome = run_step(
            self.step,
            [
                "--scenario",
                "plummer",
                "--systems",
                str(self.systems),
                "--bodies",
                str(self.bodies),
                "--tuned",
                str(table),
                *map(str, words),
            ],
            self.options.timeout,
        )
        if outcome.status == "no device":
            raise NoGpu(f"{self.step.name} finds no device")
        if not outcome.good or outcome.record is None:
            raise ToolError(f"{outcome.status} {outcome.message}")
        return outcome.record

    def first(self) -> Record:
        """Runs the step without a table, so that it uses the rule's choice. The record contains
        the device and the number of shapes (`shape` is null if the step has only one)."""
        record = self.run("", 0, "--steps", 1, "--validate", "off")
        if record.emulated:
            raise NoGpu(f"{self.step.program.parent.parent} has CPU programs, not GPU programs")
        if "shape" not in record.data:
            raise ToolError(f"{self.step.name} reports no shape: it was built from another version")
        return record

    def tune(self, first: Record) -> list[dict[str, Any]]:
        """Returns one line per correct shape, by rank."""
        device, count = first.data["device"]["name"], first.data["shape"]["of"]
        entries = [entry for rank in range(min(count, self.options.shapes))
                   if (entry := self.entry(device, rank)) is not None]
        for _ in range(self.options.rounds):
            for entry in entries:
                if len(entry["seconds"]) < self.options.rounds * self.options.repeat:
                    self.time(entry)
        done = [entry for entry in entries if entry["seconds"]]
        say_table(self.step.name, self.systems, self.bodies, done)
        return done

    def entry(self, device: str, rank: int) -> Optional[dict[str, Any]]:
        """Returns the earlier result for a shape if there is one. Otherwise checks the shape and
        times it."""
        try:
            record = self.run(device, rank, "--steps", 2, "--validate", "sampled")
        except ToolError as problem:
            self.fail(rank, str(problem))
            return None
        shape = record.data["shape"]
        if shape["rank"] != rank:
            self.fail(rank, f"the step used shape {shape['rank']} instead")
            return None
        key = {
            **self.problem,
            "device": device,
            "rank": rank,
            "blocks": shape["blocks"],
            "slots": shape["slots"],
            "revision": record.data["revision"],
            "steps": self.steps,
        }
        before = next(
            (
                one
                for one in self.known
                if all(one.get(name) == value for name, value in key.items())
            ),
            None,
        )
        if before is None:
            before = {**key, "date": record.date, "seconds": []}
            self.known.append(before)
        return before

    def time(self, entry: dict[str, Any]) -> None:
        try:
            record = self.run(
                entry["device"],
                entry["rank"],
                "--steps",
                self.steps,
                "--validate",
                "off",
                "--warmup",
                1,
                "--repeat",
                self.options.repeat,
            )
        except ToolError as problem:
            self.fail(entry["rank"], str(problem))
            return
        entry["seconds"] += [repeat["compute"] for repeat in record.data["repeats"]]
        entry["date"] = record.date
        write_json_lines(self.options.output, self.known)

    def fail(self, rank: int, text: str) -> None:
        self.failures.append(
            f"{self.step.name}, {self.systems} x {self.bodies}, shape {rank}: {text}"
        )


def best_of(entries: Sequence[dict[str, Any]]) -> Optional[dict[str, Any]]:
    """Returns the fastest shape if the upper quartile of its times is below the lower quartile of
    the times of the rule's choice; otherwise returns the rule's choice."""
    rule = next((entry for entry in entries if entry["rank"] == 0), None)
    if rule is None:
        return None
    fastest = min(entries, key=lambda entry: times(entry).median)
    return fastest if times(fastest).high < times(rule).low else rule


def times(entry: dict[str, Any]) -> Quartiles:
    return quartiles(entry["seconds"])


def say_table(step: str, systems: int, bodies: int, entries: Sequence[dict[str, Any]]) -> None:
    best = best_of(entries)
    rows = [["shape", "blocks", "time of a step", "IQR", ""]]
    for entry in entries:
        found = times(entry)
        what = " ".join(
            filter(None, ["rule" if entry["rank"] == 0 else "", "taken" if entry is best else ""])
        )
        rows.append(
            [
                str(entry["rank"]),
                f"{entry['blocks']:g}",
                seconds(found.median / entry["steps"]),
                seconds(found.range / entry["steps"]),
                what,
            ]
        )
    print(
        f"{step}, {systems} x {bodies}:\n"
        + "\n".join(f"  {line}" for line in aligned(rows, left=(0, -1))),
        flush=True,
    )


def table_of(
    device: str, shapes: Sequence[dict[str, Any]], date: str = "a trial"
) -> dict[str, Any]:
    return {"devices": {device: {"date": date, "shapes": list(shapes)}}}


def read_lines(path: Path) -> list[dict[str, Any]]:
    try:
        lines = (
            [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            if path.exists()
            else []
        )
        if not all(
            isinstance(line, dict) and isinstance(line.get("seconds"), list) for line in lines
        ):
            raise ValueError("a line has no shape")
    except (OSError, ValueError) as error:
        raise ToolError(f"{path}: not measurements of ./nbody tune: {error}") from error
    return lines


def updated(table: Path, best: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Returns the table with the new shapes, which replace older ones for the same device, step and
    problem."""
    try:
        data = json.loads(table.read_text(encoding="utf-8")) if table.exists() else {"devices": {}}
        devices = data["devices"]
        for entry in best:
            device = devices.setdefault(entry["device"], {"date": "", "shapes": []})
            same = ("step", "systems", "bodies")
            device["shapes"] = [
                old for old in device["shapes"] if any(old[key] != entry[key] for key in same)
            ]
            device["shapes"].append({key: entry[key] for key in (*same, "rank", "blocks", "slots")})
            device["date"] = max(device["date"], entry["date"][:10])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ToolError(f"{table}: not a table of ./nbody tune: {error}") from error
    return data


def problems(options: argparse.Namespace) -> Iterator[tuple[Step, int, int]]:
    if not step_folders(options.build) and not has_gpu():
        raise NoGpu("nvidia-smi finds no GPU here")
    steps = choose_steps(find_steps(options.build), options.step)
    for step in steps:
        if options.step and step.number not in STEPS:
            raise ToolError(
                f"{step.name} has no shapes to choose from; tune one of {', '.join(STEPS)}"
            )
    for step in steps:
        if step.number in STEPS:
            for systems in options.systems:
                for bodies in options.bodies:
                    yield step, systems, bodies


def check(options: argparse.Namespace) -> None:
    arguments.check_problem(max(options.systems), max(options.bodies))
    arguments.check_output(options.output, options.table)


def run(options: argparse.Namespace) -> int:
    known = read_lines(options.output)
    updated(options.table, [])  # rejects an invalid table before measuring
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for step, systems, bodies in problems(options):
            tuner = Tuner(step, systems, bodies, options, known, Path(folder))
            first = tuner.first()
            if first.data["shape"] is None:
                print(f"{step.name}, {systems} x {bodies}: nothing to choose", flush=True)
                continue
            best = best_of(tuner.tune(first))
            if best is not None:
                write_json(options.table, updated(options.table, [best]))
            failures += tuner.failures
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"Table: {options.table}")
    return 1 if failures else 0
