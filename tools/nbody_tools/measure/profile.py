"""Counts the operations of a step's kernels with Nsight Compute (ncu), or in their machine code.

  ./nbody profile 06                                   the first launches of a step
  ./nbody profile 06 --launches 4 --skip 2 --json docs/results/profiles/h200.jsonl
  ./nbody profile 06 --from saved.csv --record record.json   saved output of `ncu --csv --page raw`
  ./nbody profile 06 --sass                            issue slots per interaction; needs no GPU

Without ncu, shows counts from another machine (docs/results/profiles) and that machine's name.
Does not lock the clocks. Counting takes several passes over each launch, so a profiled run's counts
are measurements, but its times are not.

Exit code: 0 success; 1 the run or the profiler failed; 2 wrong arguments; 77 ncu is missing and
there are no recorded counts, or cuobjdump is missing (--sass).
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Sequence

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.machine_code import loops
from nbody_tools.measure.ncu import (
    RAW,
    SOURCES,
    KernelProfile,
    ProfileError,
    aggregate,
    read_csv,
    read_file,
    table,
)
from nbody_tools.records.record import Record, read_records
from nbody_tools.steps import (
    STEP_NAME,
    choose_steps,
    find_step,
    find_steps,
    run_program,
    step_folders,
)

NO_PROFILER = 77
KEY = ("step", "kernel", "machine", "systems", "bodies", "architecture")  # identifies a JSON line
STEPS_OF_ONE_LAUNCH = ("01", "02", "03", "04", "13")  # one launch computes all time steps
STEPS_OF_ONE_SYSTEM = (
    "05",
    "06",
    "07",
    "08",
    "09",
)  # one launch computes one time step of one system


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("step", help="full name or number")
    p.add_argument("--build", type=arguments.existing_folder, metavar="DIR",
                   default=ROOT / "build" / "cuda", help="folder of the programs [build/cuda]")
    p.add_argument("--systems", type=arguments.positive_integer, default=32,
                   help="number of systems [32]")
    p.add_argument("--bodies", type=arguments.positive_integer, default=8192,
                   help="number of bodies per system [8192]")
    p.add_argument("--steps", type=arguments.positive_integer, default=2, help="time steps [2]")
    p.add_argument("--launches", type=arguments.positive_integer, default=4,
                   help="launches to count [4]")
    p.add_argument("--skip", type=arguments.integer_from_zero, default=0,
                   help="launches to skip before counting [0]")
    p.add_argument("--kernel", metavar="REGEX", help="profile only kernels whose names match")
    p.add_argument("--ncu", metavar="PROGRAM", default="ncu",
                   help="path of Nsight Compute's ncu [ncu]")
    p.add_argument("--sass", action="store_true",
                   help="count the instructions of the inner loops in the SASS, with cuobjdump")
    p.add_argument("--cuobjdump", metavar="PROGRAM", default="cuobjdump",
                   help="path of the CUDA toolkit's cuobjdump [cuobjdump]")
    p.add_argument("--timeout", type=arguments.positive_number, default=300.0, metavar="SECONDS")
    p.add_argument("--csv", type=Path, metavar="FILE", help="keep ncu's output")
    p.add_argument("--json", type=Path, metavar="FILE",
                   help="write one line per kernel; keeps the lines of other steps and kernels")
    p.add_argument("--from", dest="saved", type=arguments.existing_file, metavar="FILE",
                   help="read this saved output; do not run ncu or cuobjdump")
    p.add_argument("--recorded", type=arguments.existing_folder, metavar="DIR",
                   default=ROOT / "docs" / "results" / "profiles",
                   help="counts to show if ncu is missing [docs/results/profiles]")
    p.add_argument("--record", type=arguments.existing_file, metavar="FILE",
                   help="with --from: the result record of the saved run")


def profile_program(name: str, program: Path, profiler: str, problem: Sequence[object],
                    choice: Sequence[object], timeout: float) -> tuple[str, Record]:
    """Returns ncu's output and the result record of the run. `choice` contains further arguments
    for ncu."""
    with tempfile.TemporaryDirectory() as folder:
        record, csv, log = (
            Path(folder) / file for file in ("record.json", "ncu.csv", "output.txt")
        )
        words = [
            profiler,
            *RAW,
            "--metrics",
            ",".join(SOURCES),
            *choice,
            "--log-file",
            csv,
            program,
            *problem,
            "--repeat",
            1,
            "--warmup",
            0,
            "--validate",
            "off",
            "--quiet",
            "--json",
            record,
        ]
        status, message = run_program([str(word) for word in words], timeout, log)
        written = read_file(csv) if csv.exists() else ""
        if status != "done":
            error = next(
                (line for line in written.splitlines() if line.startswith("==ERROR==")), ""
            )
            raise ProfileError(f"{name}: ncu: {message} {error}".rstrip())
        if not record.exists():
            raise ProfileError(f"{name}: {profiler} ran, but the program wrote no record")
        return written, read_records(record)[-1]


def interactions_of_a_launch(record: Record) -> float:
    """Returns the number of interactions in a launch of a force kernel. Counts N^2 per time step
    and system, even if the kernel computes each pair only once."""
    problem = record.problem
    pairs = float(problem.bodies) ** 2
    if record.number in STEPS_OF_ONE_LAUNCH:
        return pairs * problem.systems * problem.steps
    return pairs if record.number in STEPS_OF_ONE_SYSTEM else pairs * problem.systems


def json_lines(step: str, record: Record, profiles: Sequence[KernelProfile]) -> list[dict]:
    return [{"step": step, "kernel": profile.kernel, "machine": record.machine,
             "date": record.date, "systems": record.problem.systems,
             "bodies": record.problem.bodies, "steps": record.problem.steps,
             "launches": profile.launches, "metrics": profile.metrics} for profile in profiles]


def write_json(path: Path, new: Sequence[dict]) -> None:
    """Adds lines to a file. A new line replaces an old line with the same step,
    kernel, problem and machine."""
    def key(line: dict) -> tuple:
        return tuple(line.get(name) for name in KEY)

    try:
        old = [json.loads(line) for line in read_file(path).splitlines()] if path.exists() else []
        replaced = {key(line) for line in new}
        kept = [line for line in old if key(line) not in replaced]
    except (ValueError, AttributeError) as error:
        raise ProfileError(f"{path}: not lines of JSON: {error}") from error
    arguments.write_json_lines(path, [*kept, *new])


def matching(kernel: str) -> re.Pattern[str]:
    try:
        return re.compile(kernel)
    except re.error as error:
        raise ToolError(f"--kernel '{kernel}': not a regular expression: {error}") from error


def record_of(step: str, path: Path) -> Record:
    """Returns the step's last record; a record of another step would give wrong ratios."""
    records = [record for record in read_records(path) if record.step == step]
    if not records:
        raise ToolError(f"--record: {path} holds no record of {step}")
    return records[-1]


def recorded_profiles(step: str, folder: Path, kernel: str) -> list[dict]:
    """Returns the newest line of each of the step's kernels whose names match `kernel`."""
    pattern = matching(kernel)
    newest: dict[str, dict] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in map(json.loads, read_file(path).splitlines()):
            known = newest.get(line["kernel"])
            if line["step"] == step and pattern.search(line["kernel"]) and (
                    known is None or known["date"] <= line["date"]):
                newest[line["kernel"]] = line
    return list(newest.values())


def show_recorded(step: str, options: argparse.Namespace) -> int:
    """Prints counts from another machine. Rejects options that would need a run with ncu."""
    missing = f"no {options.ncu} (Nsight Compute) here"
    lines = recorded_profiles(step, options.recorded, options.kernel or "")
    if options.csv or options.json or not lines:
        why = (
            ", which --csv and --json need"
            if lines
            else f", and {options.recorded} has no counts of {step}"
        )
        arguments.fail(f"nbody profile: skipped: {missing}{why}", NO_PROFILER)
    print(f"{step}: {missing}; counted elsewhere:")
    for line in lines:
        print(f"\non {line['machine']}, {line['date'][:10]}: {line['systems']} x {line['bodies']} "
              "bodies")
        print(table(KernelProfile(line["kernel"], line["launches"], line["metrics"])))
    return 0


def check(options: argparse.Namespace) -> None:
    arguments.check_problem(options.systems, options.bodies)
    arguments.check_output(options.csv, options.json)
    matching(options.kernel or "")


def run(options: argparse.Namespace) -> int:
    if options.record and not options.saved:
        raise ToolError("--record needs --from: a run writes its own record")
    if options.saved and options.json and not options.record and not options.sass:
        raise ToolError("--json needs --record with --from: the CSV has neither machine nor date")
    # --from must also work if nothing is built, so the names of the steps come from the
    # source folders.
    name = (options.step if STEP_NAME.fullmatch(options.step)
            else find_step(options.step, step_folders(ROOT)))
    if options.sass:
        lines = loops.counted(name, options)
        if options.json:
            write_json(options.json, lines)
        return 0
    if options.saved:
        csv = read_file(options.saved)
        record = record_of(name, options.record) if options.record else None
    else:
        ncu = shutil.which(options.ncu)
        if ncu is None:
            return show_recorded(name, options)
        step = choose_steps(find_steps(options.build), [name])[0]
        problem = [
            "--systems",
            options.systems,
            "--bodies",
            options.bodies,
            "--steps",
            options.steps,
        ]
        choice = ["--launch-count", options.launches, "--launch-skip", options.skip]
        choice += ["--kernel-name", f"regex:{options.kernel}"] if options.kernel else []
        csv, record = profile_program(
            step.name, step.program, ncu, problem, choice, options.timeout
        )
    if options.csv:
        arguments.write_whole_file(options.csv, csv)
    launches = read_csv(csv, str(options.saved or name))
    if options.saved and options.kernel:  # ncu itself selects the kernels of a run
        launches = [one for one in launches if matching(options.kernel).search(one.kernel)]
        if not launches:
            raise ToolError(f"--kernel '{options.kernel}' matches no kernel of {options.saved}")
    profiles = aggregate(launches, interactions_of_a_launch(record) if record else None)
    if options.json and record is not None:
        write_json(options.json, json_lines(name, record, profiles))
    if record is not None:
        print(f"{name} on {record.machine}, {record.date[:10]}: {record.problem}\n")
    print("\n\n".join(table(profile) for profile in profiles))
    return 0
