"""Counts what the kernels of a step do, with Nsight Compute (ncu), and prints a table a kernel.

  ./nbody profile 06                                   the first launches of a step
  ./nbody profile 06 --launches 4 --skip 2 --json docs/results/profiles/h200.jsonl
  ./nbody profile 06 --from saved.csv --record record.json   a saved `ncu --csv --page raw`

Clocks are left as they are. The counters need several passes over each launch, so the times of a
profiled run are no measurement; its counts are.

Exit code: 0 done, 1 the run or the profiler failed, 2 wrong arguments, 77 no ncu here.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Sequence

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.measure.ncu import (SOURCES, KernelProfile, ProfileError, aggregate, read_csv, read_file,
                           table)
from nbody_tools.records.record import Record, read_records
from nbody_tools.steps import STEP_NAME, Step, choose_steps, find_step, find_steps, step_folders

NO_PROFILER = 77
LAST_STEP_OF_ONE_LAUNCH = "04"  # up to here the time loop runs inside the kernel
STEPS_OF_ALL_SYSTEMS = ("04b", "10")  # where a launch computes a time step of all systems


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("step", help="full name or number")
    p.add_argument("--build", type=arguments.existing_folder, metavar="DIR",
                   default=ROOT / "build" / "cuda", help="where the programs are [build/cuda]")
    p.add_argument("--systems", type=arguments.positive_integer, default=32, help="[32]")
    p.add_argument("--bodies", type=arguments.positive_integer, default=8192, help="[8192]")
    p.add_argument("--steps", type=arguments.positive_integer, default=2, help="time steps [2]")
    p.add_argument("--launches", type=arguments.positive_integer, default=4, help="to count [4]")
    p.add_argument("--skip", type=arguments.integer_from_zero, default=0,
                   help="launches before those [0]")
    p.add_argument("--kernel", metavar="REGEX", help="only kernels with such a name")
    p.add_argument("--ncu", metavar="PROGRAM", default="ncu", help="[ncu]")
    p.add_argument("--timeout", type=arguments.positive_number, default=300.0, metavar="SECONDS")
    p.add_argument("--csv", type=Path, metavar="FILE", help="keep what ncu wrote")
    p.add_argument("--json", type=Path, metavar="FILE",
                   help="write one line a kernel; lines of other steps and kernels in it stay")
    p.add_argument("--from", dest="saved", type=arguments.existing_file, metavar="FILE",
                   help="read this instead of running ncu")
    p.add_argument("--record", type=arguments.existing_file, metavar="FILE",
                   help="with --from: the result record of that run")


def ncu_command(ncu: str, program: Path, record: Path, log: Path,
                options: argparse.Namespace) -> list[str]:
    words = [ncu, "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base",
             "--metrics", ",".join(SOURCES), "--launch-count", str(options.launches),
             "--launch-skip", str(options.skip), "--log-file", str(log)]
    if options.kernel:
        words += ["--kernel-name", f"regex:{options.kernel}"]
    return [*words, str(program), "--systems", str(options.systems), "--bodies",
            str(options.bodies), "--steps", str(options.steps), "--repeat", "1", "--warmup", "0",
            "--validate", "off", "--quiet", "--json", str(record)]


def profile_step(step: Step, ncu: str, options: argparse.Namespace) -> tuple[str, Record]:
    """What ncu wrote, and the result record of the run."""
    with tempfile.TemporaryDirectory() as folder:
        record, log = Path(folder) / "record.json", Path(folder) / "ncu.csv"
        command = ncu_command(ncu, step.program, record, log, options)
        # A session of its own, so that a time limit also ends the program under the profiler.
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            said, _ = process.communicate(timeout=options.timeout)
        except subprocess.TimeoutExpired as error:
            raise ProfileError(f"{step.name}: not done after {options.timeout:g} s") from error
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        written = log.read_text(encoding="utf-8") if log.exists() else ""
        if process.returncode != 0:
            lines = [*written.splitlines(), *said.decode("utf-8", "replace").splitlines()]
            last = next((line for line in lines if line.startswith("==ERROR==")),
                        lines[-1] if lines else "")
            raise ProfileError(f"{step.name}: ncu ended with exit code {process.returncode}: {last}")
        return written, read_records(record)[-1]


def interactions_of_a_launch(record: Record) -> float:
    """Of a kernel that computes forces. N^2 a step and system, however the kernel counts."""
    problem = record.problem
    pairs = float(problem.bodies) ** 2
    if record.number <= LAST_STEP_OF_ONE_LAUNCH:
        return pairs * problem.systems * problem.steps
    return pairs * problem.systems if record.number in STEPS_OF_ALL_SYSTEMS else pairs


def json_lines(step: str, record: Record, profiles: Sequence[KernelProfile]) -> list[dict]:
    return [{"step": step, "kernel": profile.kernel, "machine": record.machine,
             "date": record.date, "systems": record.problem.systems,
             "bodies": record.problem.bodies, "steps": record.problem.steps,
             "launches": profile.launches, "metrics": profile.metrics} for profile in profiles]


def write_json(path: Path, new: Sequence[dict]) -> None:
    """New lines replace those of the same step, kernel, problem and machine."""
    def key(line: dict) -> tuple:
        return tuple(line.get(name) for name in ("step", "kernel", "machine", "systems", "bodies"))

    try:
        old = [json.loads(line) for line in read_file(path).splitlines()] if path.exists() else []
        replaced = {key(line) for line in new}
        kept = [line for line in old if key(line) not in replaced]
    except (ValueError, AttributeError) as error:
        raise ProfileError(f"{path}: not lines of JSON: {error}") from error
    arguments.write_whole_file(path, "".join(json.dumps(line) + "\n" for line in [*kept, *new]))


def run(options: argparse.Namespace) -> int:
    if options.record and not options.saved:
        raise ToolError("--record belongs to --from: a run writes its own")
    if options.saved and options.json and not options.record:
        raise ToolError("--json needs --record with --from: the CSV does not say machine and date")
    # With --from nothing need be built: a number becomes a name with the folders of the sources.
    name = (options.step if STEP_NAME.fullmatch(options.step)
            else find_step(options.step, step_folders(ROOT)))
    if options.saved:
        csv = read_file(options.saved)
        record = read_records(options.record)[-1] if options.record else None
    else:
        ncu = shutil.which(options.ncu)
        if ncu is None:
            arguments.fail(f"nbody profile: skipped: no {options.ncu} (Nsight Compute) here", NO_PROFILER)
        step = choose_steps(find_steps(options.build), [name])[0]
        csv, record = profile_step(step, ncu, options)
    if options.csv:
        arguments.write_whole_file(options.csv, csv)
    launches = read_csv(csv, str(options.saved or name))
    profiles = aggregate(launches, interactions_of_a_launch(record) if record else None)
    if options.json:
        write_json(options.json, json_lines(name, record, profiles))
    if record is not None:
        print(f"{name} on {record.machine}, {record.date[:10]}: {record.problem}\n")
    print("\n\n".join(table(profile) for profile in profiles))
    return 0
