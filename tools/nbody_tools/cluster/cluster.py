"""Runs a step on several ranks, predicts its speed, and measures it.

  ./nbody cluster run --ranks 4 14 --scenario plummer --bodies 1048576 --steps 5
  NBODY_LAUNCHER="srun --mpi=pmix" ./nbody cluster run --ranks 4 14 --input galaxy.bin
  ./nbody cluster predict --rate 3400e9 --gather gather.txt
  ./nbody cluster measure --ranks 1,2,4 --output cluster.jsonl

run      starts the program with one rank per GPU. NBODY_LAUNCHER is the launcher with its options
         [mpirun --bind-to none], and --ranks is the number of ranks; omit --ranks if a batch system
         sets the number. A launcher that would start independent runs of one rank each, such as
         srun without --mpi=pmix, is rejected.
predict  predicts how long a time step takes for several numbers of bodies and GPUs, and which share
         of this time is communication. The prediction uses the times of gathers that nbody-gather
         measured (docs/cluster.md).
measure  runs each problem of docs/cluster.md on each given number of ranks, and writes one result
         record per run.

Exit code: run returns the exit code of the program; the others return 1 if a measurement failed,
and 2 if an argument is wrong.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Sequence

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, Failed, ToolError
from nbody_tools.cluster import model
from nbody_tools.steps import choose_steps, default_build, find_steps
from nbody_tools.tables import aligned

STEP = "14"
WITH_RANKS = ("step14_cluster", "step16b_tree_ranks")
PROBLEMS = {  # listed in docs/cluster.md
    "256 x 8192": "--systems 256 --bodies 8192 --steps 20 --repeat 10",
    "262,144": "--scenario plummer --bodies 262144 --steps 5 --repeat 10",
    "1,048,576": "--scenario plummer --bodies 1048576 --steps 2 --repeat 10",
    "4,194,304": "--scenario plummer --bodies 4194304 --steps 1 --repeat 10",
}
BODIES = (
    65536,
    262144,
    1048576,
    4194304,
    10**7,
    5 * 10**7,
)  # more bodies would not fit into the memory of one GPU
RANKS = (1, 2, 4, 8, 16, 64, 256, model.MOST_RANKS)
GATHERS = ROOT / "docs" / "results" / "cluster"
RATES = (1e6, 1e16)  # interactions per second, from a slow CPU core to far beyond any GPU
ASSUMED = (
    "* assumed, not measured: a network of 40 GB/s per GPU, and gathers that take 40 us "
    "to start and 2 us per rank (--gather FILE uses measured gathers instead)"
)
MOST_RANKS = 100_000  # no machine has this many GPUs
FOR_A_CHECKPOINT = "5"  # seconds that mpirun gives ranks for a checkpoint before it kills them


def configure(p: argparse.ArgumentParser) -> None:
    commands = p.add_subparsers(dest="what", required=True, metavar="run|predict|measure")
    run_it = commands.add_parser("run", help="start a step on several ranks")
    run_it.add_argument("--ranks", type=number_of_ranks,
                        help="number of ranks [the launcher's default]")
    run_it.add_argument("--build", type=arguments.existing_folder, metavar="DIR",
                        help="build folder [build/cuda or build/cpu]")
    run_it.add_argument("step", help="14 or 16b, the steps that support ranks")
    run_it.add_argument("words", nargs=argparse.REMAINDER, metavar="ARGUMENT",
                        help="options of the step").required = False
    predict = commands.add_parser("predict", help="predict the time of a time step")
    predict.add_argument("--rate", type=rate, required=True,
                         help="rate of one GPU, in interactions per second")
    predict.add_argument("--gather", type=arguments.existing_file, metavar="FILE",
                         help="output of nbody-gather [docs/results/cluster/*_gather.txt]")
    measure = commands.add_parser("measure", help="measure the problems of docs/cluster.md")
    measure.add_argument(
        "--ranks",
        type=arguments.positive_integers,
        default=(1, 2, 4),
        metavar="P,P",
        help="numbers of ranks [1,2,4]",
    )
    measure.add_argument("--build", type=arguments.existing_folder, metavar="DIR",
                         help="build folder [build/cuda or build/cpu]")
    measure.add_argument("--output", type=Path, required=True, metavar="FILE",
                         help="file to append the records to")


def number_of_ranks(text: str) -> int:
    value = arguments.positive_integer(text)
    if value > MOST_RANKS:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 to {MOST_RANKS}")
    return value


def rate(text: str) -> float:
    value = arguments.positive_number(text)
    if not RATES[0] <= value <= RATES[1]:
        raise argparse.ArgumentTypeError(f"'{text}' is not from {RATES[0]:g} to {RATES[1]:g} per "
                                         "second")
    return value


def launcher(ranks: int | None) -> list[str]:
    """Returns the launcher's command. Without --bind-to none, Open MPI would bind each rank to one
    core if there are only one or two ranks, and the root would then validate on one core."""
    text = os.environ.get("NBODY_LAUNCHER", "mpirun --bind-to none")
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ToolError(
            f"NBODY_LAUNCHER: '{text}' cannot be parsed: {str(error).lower()}"
        ) from error
    if not words or shutil.which(words[0]) is None:
        raise ToolError(
            f"NBODY_LAUNCHER: '{words[0] if words else ''}' is not a program on this machine "
            "(Debian: apt install openmpi-bin)"
        )
    return [*words, *(["-n", str(ranks)] if ranks else [])]


def environment(ranks: int | None = None) -> dict[str, str]:
    """Returns the environment of mpirun. The environment lets mpirun run as root (in containers)
    and start more ranks than cores (in tests). It lengthens the delay between SIGTERM and SIGKILL
    (default: one second), because ranks may be writing a checkpoint. It sets NBODY_RANKS, and each
    rank compares this number with the number of ranks that MPI reports."""
    allowed = (
        {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        if os.geteuid() == 0
        else {}
    )
    oversubscribe = {"OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI 4; below: Open MPI 5
                     "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    patience = {
        f"{prefix}_MCA_odls_base_sigkill_timeout": FOR_A_CHECKPOINT for prefix in ("OMPI", "PRTE")
    }
    expected = {"NBODY_RANKS": str(ranks)} if ranks else {}
    quiet = {"HWLOC_HIDE_ERRORS": "2"}  # hides the warning that a container has no /sys
    return {**patience, **quiet, **os.environ, **allowed, **oversubscribe, **expected}


def program(build: Path | None, step: str) -> Path:
    chosen = choose_steps(find_steps(build or default_build()), [step])[0]
    if chosen.name not in WITH_RANKS:
        raise ToolError(f"'{step}' does not support ranks; use {' or '.join(WITH_RANKS)}")
    return chosen.program


def start(ranks: int | None, words: Sequence[str]) -> int:
    """Runs the command on the ranks; returns its exit code. Passes a SIGTERM on as SIGUSR1,
    because mpirun 5 kills its ranks half a second after a SIGTERM, before they have written their
    checkpoint. Step 14 handles both signals in the same way. Ignores Ctrl-C, because the terminal
    also sends it to mpirun."""
    with subprocess.Popen([*launcher(ranks), *words], env=environment(ranks)) as process:
        handlers = {
            signal.SIGTERM: lambda *_: process.send_signal(signal.SIGUSR1),
            signal.SIGINT: lambda *_: None,
        }
        before = {number: signal.signal(number, handlers[number]) for number in handlers}
        try:
            return process.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def require_writable(file: Path) -> None:
    there = file if file.exists() else file.parent
    if file.is_dir() or not os.access(there, os.W_OK):
        raise ToolError(f"--output: {file} cannot be written")


def measure(ranks: Sequence[int], build: Path | None, output: Path) -> None:
    step = program(build, STEP)
    require_writable(output)  # fails now rather than after minutes of measurement
    for count in ranks:
        for name, problem in PROBLEMS.items():
            with tempfile.TemporaryDirectory() as folder:
                record = Path(folder) / "record.json"
                code = start(
                    count,
                    [
                        str(step),
                        *problem.split(),
                        "--warmup",
                        "1",
                        "--validate",
                        "sampled",
                        "--quiet",
                        "--json",
                        str(record),
                    ],
                )
                if code != 0:
                    raise Failed(f"{name} on {count} ranks: exit code {code}")
                with output.open("a", encoding="utf-8") as lines:
                    lines.write(record.read_text("utf-8"))
            print(f"{name} on {count} ranks: written to {output}", flush=True)


def prediction(rate: float, gathers: model.Gathers) -> list[list[str]]:
    """Returns a table with a header. Marks the columns whose predictions are based on the assumed
    network."""
    measured = {1} | {ranks for transport, ranks in gathers if transport == "nccl"}
    columns = sorted({*RANKS, *measured})
    rows = [
        [
            "bodies",
            *(
                f"{ranks:,} GPU{'s' if ranks > 1 else ''}{'' if ranks in measured else ' *'}"
                for ranks in columns
            ),
        ]
    ]
    for bodies in BODIES:
        cells = [model.step(bodies, ranks, rate, gathers) for ranks in columns]
        rows.append(
            [f"{bodies:,}", *(f"{in_words(cell.seconds)}, {percent(cell.share)}" for cell in cells)]
        )
    return rows


def percent(share: float) -> str:
    """Formats a share in percent. Smaller shares get more decimals."""
    if share == 0:
        return "0"
    digits = 0 if share >= 0.1 else 1 if share >= 0.01 else 2 if share >= 0.001 else 3
    return f"{100 * share:.{digits}f} %"


def in_words(seconds: float) -> str:
    for limit, unit, name in ((1e-3, 1e-6, "us"), (1, 1e-3, "ms"), (120, 1, "s"), (7200, 60, "min"),
                              (172800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / 86400:.3g} days"


def run(options: argparse.Namespace) -> int:
    if options.what == "run":
        return start(options.ranks, [str(program(options.build, options.step)), *options.words])
    if options.what == "measure":
        measure(options.ranks, options.build, options.output)
        return 0
    gathers = model.read_gathers(
        [options.gather] if options.gather else sorted(GATHERS.glob("*_gather.txt"))
    )
    if options.gather and not gathers:
        raise ToolError(f"--gather: {options.gather} is not output of nbody-gather")
    print("\n".join(aligned(prediction(options.rate, gathers))))
    print(ASSUMED)
    return 0
