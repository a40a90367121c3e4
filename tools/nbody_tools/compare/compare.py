"""Times our steps and other programs that compute the same forces. All programs run on the same
bodies and on the same machine, round-robin.

  ./nbody compare --sample cuda-samples/Samples/5_Domain_Specific/nbody --ktt KTT/Examples/Nbody
  ./nbody compare step12 sample --bodies 4096,262144     names or prefixes

Compares the steps from 10 on with the kernel of NVIDIA's CUDA sample (as shipped and with
-ftz=true), the kernel of the autotuner KTT, and PyTorch, JAX, CuPy, Numba, Warp, NumPy and
pytreegrav.
This repository contains no code of these programs, so pass the folders of the sample and of KTT;
nvcc compiles the kernels in them. Missing programs are listed and skipped.

Each program first takes one step from bodies at rest, and its velocities are compared with sums in
float64. Then it takes two steps with moving bodies, and their motion is checked. A program that
fails is not timed. All others are then timed round-robin, so that a clock change affects all of
them. A time is the median over all rounds and repeats, per time step. It covers only the kernels
or, for Python packages, the whole time loop.

Without a GPU our steps are emulated, so only their results are checked, by default for 1024 bodies.

Exit code: 0 success; 1 a wrong result, a failed program, or no available program; 2 invalid
arguments.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Iterator, Optional, Sequence

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, Failed, ToolError, write_json_lines
from nbody_tools.compare import bodies as made
from nbody_tools.compare.contenders import Contender, Driver, build_all, ktt, ours, packages, sample
from nbody_tools.records.record import check_measurement, quartiles, read_records
from nbody_tools.steps import backend_of, default_build, find_steps, run_program
from nbody_tools.tables import ABSENT, aligned, plain

MAX_STEPS = 1000
OUTSIDE = ("sample", "ktt")  # programs that are compiled from folders outside this repository
SIZES = "1024,4096,16384,65536,262144"
SIZES_WITHOUT_A_GPU = (1024,)
MAX_EMULATED = 4096  # with more bodies, emulation takes minutes per step


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("contender", nargs="*", help="names or prefixes of programs [all]")
    p.add_argument("--build", type=arguments.existing_folder, metavar="DIR",
                   help="folder of our programs [build/cuda if a device is found, else build/cpu]")
    p.add_argument("--bodies", type=arguments.positive_integers, metavar="N,N",
                   help=f"numbers of bodies [{SIZES}; without a GPU 1024]")
    p.add_argument("--masses", choices=made.MASSES, default=made.MASSES[0],
                   help="masses of the bodies; step 12 is faster if all are equal [different]")
    p.add_argument("--sample", type=arguments.existing_folder, metavar="DIR",
                   help="folder of NVIDIA's sample: cuda-samples/Samples/5_Domain_Specific/nbody")
    p.add_argument("--ktt", type=arguments.existing_folder, metavar="DIR",
                   help="folder of KTT's example: KTT/Examples/Nbody")
    p.add_argument("--nvcc", default="nvcc", metavar="PROGRAM",
                   help="compiler of the --sample and --ktt kernels [nvcc]")
    p.add_argument("--arch", default="native", help="GPU architecture, for nvcc [native]")
    p.add_argument("--rounds", type=arguments.positive_integer, default=5,
                   help="number of rounds; each round runs every program [5]")
    p.add_argument("--repeat", type=arguments.positive_integer, default=3,
                   help="timed runs per round [3]")
    p.add_argument("--seconds", type=arguments.positive_number, default=0.2,
                   help="approximate seconds of a timed run, which has 1 to 1000 time steps [0.2]")
    p.add_argument("--timeout", type=arguments.positive_number, default=300.0, metavar="SECONDS",
                   help="time limit of one round [300]")
    p.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        default=ROOT / "report" / "comparison.jsonl",
        help="records, one per line [report/comparison.jsonl]",
    )


@dataclass
class Entry:
    """The results of a contender on one problem."""

    contender: Contender
    error: float
    steps: int
    repeat: int
    machine: dict[str, Any]  # backend, device and version that the contender reports
    seconds: list[float] = field(default_factory=list)  # per time step


class Field:
    """Runs the contenders of a comparison and checks their results."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.failures: list[str] = []
        self.absent: set[str] = set()
        self.moved: set[str] = set()  # contenders whose motion has been checked
        self.references: dict[tuple[int, str], made.Reference] = {}

    def reference(self, bodies: made.Bodies, law: str) -> made.Reference:
        """Returns the accelerations summed in float64. Computes them only once per problem, because
        that takes seconds."""
        key = bodies.count, law
        if key not in self.references:
            self.references[key] = made.reference(bodies, law)
        return self.references[key]

    def run(
        self, contender: Contender, bodies: made.Bodies, steps: int, repeat: int
    ) -> dict[str, Any]:
        """Runs a contender. Returns the duration of each repeat in seconds, and the machine that
        the contender reports. Raises Failed if the run fails."""
        output, record = self.folder / "after.bin", self.folder / "record.json"
        for old in (output, record):
            old.unlink(missing_ok=True)
        words = [
            *contender.words,
            "--input",
            bodies.path,
            "--steps",
            steps,
            "--dt",
            made.DT,
            "--softening",
            made.SOFTENING,
            "--repeat",
            repeat,
            "--warmup",
            1,
            "--output",
            output,
            "--json",
            record,
        ]
        path = os.pathsep.join(
            filter(None, [str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")])
        )
        status, message = run_program([str(word) for word in words], self.options.timeout,
                                      environment={"PYTHONPATH": path})
        if status == "no device":
            self.absent.add(contender.name)
            raise NotHere(message)
        if not contender.ours and message.startswith("exit code 2"):
            raise NotHere(message.partition(": ")[2])
        if status != "done":
            raise Failed(f"{status}: {message}")
        if not record.is_file():
            raise Failed("wrote no record; a program in Python must end with main(Peer, versions)")
        if not contender.ours:
            return json.loads(record.read_text(encoding="utf-8"))
        data = read_records(record, check_measurement)[-1].data
        return {
            "backend": data["backend"],
            "device": data["device"]["name"],
            "version": f"CUDA {data['device']['cuda']}",
            "seconds": [one["compute"] for one in data["repeats"]],
        }

    def verified(self, contender: Contender, bodies: made.Bodies) -> Optional[Entry]:
        """Checks a contender's forces and motion. Returns None if they are wrong or the contender
        is not available."""
        try:
            first = self.run(contender, bodies, 1, 1)
            after = made.read_state(self.folder / "after.bin", bodies.count)
            error = self.reference(bodies, contender.law).error(after)
            if error <= made.MAX_ERROR:
                self.check_motion(contender, bodies)
        except NotHere as missing:
            say(f"{contender.name}: skipped: {missing}")
            return None
        except (ToolError, OSError, ValueError, KeyError) as problem:
            self.fail(f"{contender.name}, {bodies.count} bodies: {problem}")
            return None
        if not error <= made.MAX_ERROR:
            self.fail(f"{contender.name}, {bodies.count} bodies: its forces are wrong: RMS error "
                      f"{error:.1e}")
            return None
        of_a_step = max(first.pop("seconds")[0], 1e-7)
        steps = max(1, min(MAX_STEPS, math.ceil(self.options.seconds / of_a_step)))
        # A run that takes several seconds is not repeated within a round.
        repeat = max(
            1, min(self.options.repeat, math.ceil(10 * self.options.seconds / (steps * of_a_step)))
        )
        return Entry(contender, error, steps, repeat, first)

    def check_motion(self, contender: Contender, bodies: made.Bodies) -> None:
        """Checks a contender's motion in a run of several steps, once per contender. Raises Failed
        if the motion is wrong."""
        if contender.name in self.moved:
            return
        moving = made.moving(bodies, self.folder / "moving.bin")
        self.run(contender, moving, made.STEPS, 1)
        after = made.read_state(self.folder / "after.bin", bodies.count)
        kick, drift = self.reference(bodies, contender.law).motion_errors(after)
        for error, what in ((kick, "the velocities change"), (drift, "the positions move")):
            if not error <= made.MAX_MOTION_ERROR:
                raise Failed(f"after {made.STEPS} steps, {what} by the wrong amount: RMS error "
                             f"{error:.1e}")
        self.moved.add(contender.name)

    def time(self, entries: Sequence[Entry], bodies: made.Bodies) -> None:
        for _ in range(self.options.rounds):
            for entry in entries:
                try:
                    found = self.run(entry.contender, bodies, entry.steps, entry.repeat)["seconds"]
                    entry.seconds += [seconds / entry.steps for seconds in found]
                except (ToolError, OSError, ValueError, KeyError) as problem:
                    self.fail(f"{entry.contender.name}, {bodies.count} bodies: {problem}")

    def fail(self, text: str) -> None:
        self.failures.append(text)
        say(f"FAILED: {text}")


class NotHere(Exception):
    """A package or device is missing, or a kernel does not support this number of bodies."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def record_of(entry: Entry, bodies: made.Bodies, options: argparse.Namespace) -> dict[str, Any]:
    times = quartiles(entry.seconds)
    return {
        "contender": entry.contender.name,
        "what": entry.contender.what,
        "ours": entry.contender.ours,
        **entry.machine,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "bodies": bodies.count,
        "masses": options.masses,
        "dt": made.DT,
        "softening": made.SOFTENING if entry.contender.law == made.PLUMMER else 0.0,
        "steps": entry.steps,
        "rounds": options.rounds,
        "repeats": entry.seconds,
        "median": times.median,
        "iqr": times.range,
        "interactions_per_second": bodies.count**2 / times.median if times.median > 0 else 0.0,
        "acceleration_rms": entry.error,
    }


def field_of(options: argparse.Namespace, build: Path, on_a_gpu: bool, programs: Path,
             failures: list[str]) -> Iterator[Contender]:
    """Yields the requested contenders that are available; first builds third-party kernels."""
    yield from (one for one in ours(build) if wanted(options, one.name))
    drivers: list[Driver] = []
    for folder, name, adapter in zip((options.sample, options.ktt), OUTSIDE, (sample, ktt)):
        if folder is not None:
            drivers += [
                one for one in adapter(folder, programs) if wanted(options, one.contender.name)
            ]
        elif not options.contender or any(word.startswith(name) for word in options.contender):
            say(f"{name}: skipped: --{name} needs a path")
    architecture = (f"-arch={options.arch}",) if on_a_gpu else ()
    drivers = [replace(one, words=(*one.words, *architecture)) for one in drivers]
    for driver, complaint in zip(drivers, build_all(drivers, options.nvcc)):
        if complaint is None:
            yield driver.contender
        else:
            failures.append(f"{driver.contender.name}: {complaint}")
            say(f"FAILED: {failures[-1]}")
    yield from (one for one in packages("cuda" if on_a_gpu else "cpu") if wanted(options, one.name))


def check(options: argparse.Namespace) -> None:
    arguments.check_output(options.output)
    if options.bodies and min(options.bodies) < 2:
        raise ToolError("--bodies: a single body feels no force that could be compared; at least 2")


def sizes_for(options: argparse.Namespace, on_a_gpu: bool, emulated: bool) -> Sequence[int]:
    """Returns the numbers of bodies to compare. Without a GPU, the default is a single small
    number. Emulated runs must be small, and are never measurements."""
    sizes = tuple(dict.fromkeys(options.bodies or ()))
    if on_a_gpu:
        return sizes or arguments.positive_integers(SIZES)
    found = sizes or SIZES_WITHOUT_A_GPU
    if not emulated:
        return found
    if max(found) > MAX_EMULATED:
        raise ToolError(f"--bodies: \"{max(found)}\" is not allowed without a GPU, where our steps "
                        f"are emulated; at most {MAX_EMULATED}")
    say(f"no GPU here: our steps are emulated with {', '.join(map(str, found))} bodies, and "
        "their times are not measurements")
    return found


def wanted(options: argparse.Namespace, name: str) -> bool:
    return not options.contender or any(name.startswith(word) for word in options.contender)


def table(records: Sequence[dict[str, Any]]) -> str:
    """Returns a table of rates in G interactions/s, each with the interquartile range of the times
    in percent."""
    sizes_ = sorted({record["bodies"] for record in records})
    names = list(dict.fromkeys(record["contender"] for record in records))
    cells = {(r["contender"], r["bodies"]): r for r in records}
    rows = [["G interactions/s, N =", *map(str, sizes_)]]
    for name in names:
        found = [cells.get((name, size)) for size in sizes_]
        rows.append(
            [
                name,
                *(
                    ABSENT
                    if r is None
                    else f"emulated; RMS error {r['acceleration_rms']:.1e}"
                    if r["backend"] == "hostcuda"
                    else f"{plain(1e-9 * r['interactions_per_second'])} "
                         f"({100 * r['iqr'] / r['median']:.1f} %)"
                    for r in found
                ),
            ]
        )
    return "\n".join(aligned(rows))


def run(options: argparse.Namespace) -> int:
    records: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arena = Field(options, folder)
        build = options.build or default_build()
        backend = backend_of(find_steps(build))
        contenders = list(field_of(options, build, backend == "cuda", folder, arena.failures))
        if not contenders:
            raise ToolError(f"none of {', '.join(options.contender)} is available")
        names = [*OUTSIDE, *(one.name for one in contenders)]
        for word in options.contender:
            if not any(name.startswith(word) for name in names):
                say(f"{word}: skipped: no program here has a name that begins with it")
        emulated = backend == "hostcuda" and any(one.ours for one in contenders)
        for count in sizes_for(options, backend == "cuda", emulated):
            say(f"{count} bodies ...")
            bodies = made.plummer_sphere(folder / "bodies.bin", count, options.masses)
            entries = [entry for one in contenders if one.name not in arena.absent
                       and (entry := arena.verified(one, bodies)) is not None]
            arena.time(entries, bodies)
            records += [record_of(entry, bodies, options) for entry in entries if entry.seconds]
            if records:  # without records, does not overwrite an earlier file
                write_json_lines(options.output, records)
    if not records and not arena.failures:
        raise Failed(f"none of {', '.join(one.name for one in contenders)} is available")
    if records:
        print(table(records))
        print(f"Records: {options.output}")
    return 1 if arena.failures else 0
