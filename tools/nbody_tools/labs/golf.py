"""Checks that your own kernel is correct, counts its cost, and prints a row for the board.

  ./nbody golf 06 my.cu --name "Ada"      your kernel, with step 06's task and compiler options
  ./nbody golf --check                    counts every row of course/board.md again

FILE is a program like the step's nbody.cu. The tests of ./nbody grade run the program in the
sandbox and check its results, on new problems each time. Then this tool counts three numbers,
without a GPU: the issue slots per interaction in nvcc's machine code, and the sectors of global
memory and wavefronts of shared memory per 1000 interactions, for 2 systems of 2048 bodies. Times
are not measured. course/board.md explains the numbers.

Exit code: 0 the program is correct; 1 the program is wrong, or a row cannot be reproduced; 2 wrong
arguments; 77 nvcc, cuobjdump with nvdisasm, or clang++ is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Sequence

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, Failed, ToolError
from nbody_tools.inspection.ptx import find_nvcc
from nbody_tools.inspection.trace import ACCESSES, Inspection
from nbody_tools.labs.building import (COMMON, GPU_SECONDS, TRACED, DoesNotCompile, Workshop,
                                       read_tools)
from nbody_tools.labs.grade import COMPILER_LINES, grade_program
from nbody_tools.labs.lab import FOLDER, Lab, find_lab
from nbody_tools.labs.rules import broken_by_text
from nbody_tools.labs.running import Problem
from nbody_tools.labs.submission import Refused, read_submission, with_line_feeds
from nbody_tools.labs.tests import Tests, interactions_of
from nbody_tools.machine_code.loops import compiler, find_cuobjdump, inner_loops, machine_code
from nbody_tools.steps import find_step, number_of, step_folders

BOARD = ROOT / "course" / "board.md"
ENTRIES = ROOT / "course" / "board"
COLUMNS = ("step", "name", "slots", "sectors", "wavefronts", "CUDA", "file")
COUNTED = Problem(2, 2048, 1, seed=1)
FORCES = ("forces", "sizes", "systems", "run", "orders", "findings")
HOSTCUDA = ROOT / "hostcuda" / "bin" / "hostcuda"
SECONDS = 300.0  # time limit of a program that counts its own operations
# A kernel that computes each pair only once needs half a square root per interaction.
LEAST_ROOTS = 0.49


class Missing(ToolError):
    code = 77


class Task(Lab):
    """The tests of a lab, for any program that does a step's work, even the step's own program."""
    fingerprints: list[str] = []


@dataclass(frozen=True)
class Row:
    step: str
    name: str
    slots: float  # per interaction
    sectors: float  # per 1000 interactions
    wavefronts: float
    cuda: str
    file: str

    @property
    def cells(self) -> list[str]:
        counts = [f"{value:.2f}" for value in (self.slots, self.sectors, self.wavefronts)]
        return [self.step, self.name, *counts, self.cuda, f"[{self.file}]({self.link})"]

    @property
    def link(self) -> str:
        """Returns the path of the file as seen from the board's folder."""
        return os.path.relpath(ROOT / self.file, BOARD.parent)

    def __str__(self) -> str:
        return f"| {' | '.join(self.cells)} |"


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("step", metavar="NN", nargs="?", help="number or name of a step, 01 to 13")
    p.add_argument("file", metavar="FILE", nargs="?", type=arguments.existing_file,
                   help="your program, like the step's nbody.cu")
    p.add_argument("--name", default="anonymous", help="your name in the row [anonymous]")
    p.add_argument("--check", action="store_true", help="count the board's rows again")
    p.add_argument("--board", type=arguments.existing_file, default=BOARD, metavar="FILE",
                   help="the board to check [course/board.md]")
    p.add_argument("--build", type=Path, default=ROOT / "build" / "cpu", metavar="DIR",
                   help="build folder that contains the target grade_tools [build/cpu]")


def check(options: argparse.Namespace) -> None:
    if options.check == bool(options.step):
        raise ToolError("takes either NN FILE or --check")
    if options.step:
        task_of(options.step)
        if options.file is None:
            raise ToolError(f"step {options.step}: FILE is missing")
        if not re.fullmatch(r"[\w .'-]{1,40}", options.name):
            raise ToolError(f"--name '{options.name}': at most 40 letters, digits, spaces and "
                            ".'-_ are allowed")


def run(options: argparse.Namespace) -> int:
    programs = needed_programs()
    if options.check:
        return check_board(options.board, options.build, programs)
    row = counted_row(options.step, options.file, options.name, options.build, programs)
    print("\n".join(table_head()))
    print(row)
    return 0


def table_head() -> list[str]:
    return [f"| {' | '.join(COLUMNS)} |", f"|{' --- |' * len(COLUMNS)}"]


def needed_programs() -> dict[str, str]:
    nvcc = find_nvcc()
    if nvcc is None:
        raise Missing("skipped: no nvcc here (CUDA toolkit, or pip install nvidia-cuda-nvcc)")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.cu"
        source.write_text("__global__ void empty() {}\n", "utf-8")
        cuobjdump = find_cuobjdump("cuobjdump")
        try:
            machine_code(cubin_of(source, [], nvcc), cuobjdump)
        except Failed as error:  # nvdisasm is missing
            raise Missing(f"skipped: {error}") from error
    return {"nvcc": nvcc, "cuobjdump": cuobjdump}


def task_of(step: str) -> Task:
    """Returns the tests for programs that do a step's work. If the step has a lab, uses the lab's
    tests, but not the lab's limits."""
    name = find_step(step, [one for one in step_folders(ROOT) if number_of(one)[:2] <= "13"
                            and (ROOT / one / "nbody.cu").is_file()])
    labs = [find_lab(file.parent.name.partition("_")[0]) for file in FOLDER.glob("*/lab.toml")]
    lab = next((one for one in labs if one.step == name and not one.starter_step), None)
    found = lab or Lab(FOLDER / f"{number_of(name)}_golf", name, 0, boundaries=(128, 256, 512))
    return Task(found.folder, name, 0, name, FORCES, found.boundaries, found.devices,
                environment=found.environment, megabytes=found.megabytes, extra=found.extra,
                inspected=found.inspected)


def counted_row(step: str, file: Path, name: str, build: Path, programs: dict[str, str]) -> Row:
    task = task_of(step)
    try:
        text = with_line_feeds(read_submission(file))
    except Refused as error:
        raise Failed(f"{file}: {error}") from error
    if broken := broken_by_text(task, text):
        raise Failed(f"{file}: {broken}")
    with tempfile.TemporaryDirectory(prefix="nbody-golf-") as folder:
        workshop = Workshop(Path(folder), read_tools(build), task.headers)
        inspection = proved(task, text, workshop, file)
        cuda, slots = slots_per_root(task, text, Path(folder), programs, file)
    sectors = cost(inspection, "global")
    wavefronts = cost(inspection, "shared")
    shown = os.path.relpath(file.absolute(), ROOT)
    return Row(number_of(task.step), name, slots * roots_per_interaction(task, text, file), sectors,
               wavefronts, cuda, shown)


def proved(task: Task, text: str, workshop: Workshop, file: Path) -> Inspection:
    """Runs the grader's tests; returns the inspection of the run whose accesses are counted."""
    refused, results = grade_program(task, text, secrets.randbelow(1 << 31), workshop)
    if refused:
        raise Failed(f"{file}: {refused}")
    for result in results:
        if not result.passed:
            raise Failed(f"{file}: failed the test {result.name}: {result.why}")
    tests = Tests(task, workshop, {TRACED: workshop.run / TRACED}, COUNTED.seed)
    found = tests.inspected(COUNTED)
    if found is None:
        raise Failed(f"{file}: the run that counts accesses ({COUNTED}) did not end correctly")
    return found


def cost(inspection: Inspection, memory: str) -> float:
    """Returns the sectors or wavefronts of all kernels per 1000 interactions."""
    total = sum(kernel.sum("cost", memory, access) for kernel in inspection.kernels
                for access in ACCESSES)
    return 1000 * total / interactions_of(COUNTED)


def slots_per_root(task: Task, text: str, folder: Path, programs: dict[str, str],
                   file: Path) -> tuple[str, float]:
    """Returns nvcc's release number and the issue slots per square root in the costliest inner
    loop."""
    source = folder / "golf.cu"
    source.write_text(text, encoding="utf-8")
    recipe = (ROOT / task.step / "CMakeLists.txt").read_text(encoding="utf-8")
    flags = re.search(r"CUDA_FLAGS((?: -[^\s)]+)+)", recipe)
    cubin = cubin_of(source, flags[1].split() if flags else [], programs["nvcc"])
    loops = inner_loops(machine_code(cubin, programs["cuobjdump"]), str(file))
    return compiler(cubin) or "?", max(loop.slots / loop.roots for loop in loops)


def cubin_of(source: Path, flags: Sequence[str], nvcc: str) -> Path:
    cubin = source.with_suffix(".cubin")
    words = [nvcc, *COMMON, "-O3", *flags, "-arch=sm_90", f"-I{ROOT}",
             f"-I{ROOT / 'common' / 'include'}", "-cubin", str(source), "-o", str(cubin)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=GPU_SECONDS, check=False)
    if done.returncode != 0:
        lines = done.stdout.replace(f"{source.parent}/", "").strip().splitlines()
        raise Failed("\n".join(["nvcc does not compile it:", *lines[:COMPILER_LINES]]))
    return cubin


def roots_per_interaction(task: Task, text: str, file: Path) -> float:
    """Returns the number of square roots that the source computes per interaction: the difference
    between the counts of a run with three time steps and of a run with two. Without this number, a
    loop with superfluous roots would seem to compute more interactions."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "golf.cu", Path(folder) / "counted"
        source.write_text(text, encoding="utf-8")
        words = [sys.executable, HOSTCUDA, "cc", "--counted", *COMMON, "-O1", f"-I{ROOT}",
                 f"-I{ROOT / 'common' / 'include'}",
                 f"-I{ROOT / 'hostcuda' / 'cublas' / 'include'}", source,
                 ROOT / "common" / "alone" / "main.cpp", "-o", program]
        if "cublas" in (ROOT / task.step / "CMakeLists.txt").read_text(encoding="utf-8"):
            words.append("-lcublas")
        done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if done.returncode != 0:
            raise Missing(f"{file}: its operations cannot be counted: {last_line(done.stdout)}")
        two, three = (roots_of_run(program, steps, Path(folder)) for steps in (2, 3))
    roots = (three - two) / interactions_of(COUNTED)
    if roots < LEAST_ROOTS:
        raise Failed(f"{file}: {roots:.3g} square roots per interaction; the slots of a kernel are "
                     f"counted only if it computes at least {LEAST_ROOTS}")
    return roots


def roots_of_run(program: Path, steps: int, folder: Path) -> int:
    record = folder / f"{steps}.json"
    words = ["--systems", COUNTED.systems, "--bodies", COUNTED.bodies, "--steps", steps]
    try:
        subprocess.run([str(program), *map(str, words)], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=SECONDS,
                       env={**os.environ, "HOSTCUDA_COUNT": str(record)}, check=False)
        counted = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise Failed(f"its square roots cannot be counted: {error}") from error
    return sum(one["count"] for kernel in counted["kernels"] for one in kernel["operations"]
               if one["operation"] in ("sqrt", "rsqrt"))


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]


def rows_of(board: Path) -> Iterator[tuple[int, list[str]]]:
    """Yields the line number and the cells of each row below the heading of the table."""
    lines = board.read_text(encoding="utf-8").splitlines()
    head = table_head()[0]
    if head not in lines:
        raise Failed(f"{board}: has no table '{head}'")
    for number, line in enumerate(lines[lines.index(head) + 2:], lines.index(head) + 3):
        if not line.startswith("|"):
            return
        yield number, [cell.strip() for cell in line.strip("|").split("|")]


def check_board(board: Path, build: Path, programs: dict[str, str]) -> int:
    problems = []
    used = set()
    for number, cells in rows_of(board):
        where = f"{board.name}:{number}"
        found = re.fullmatch(r"\[(.+)\]\((.+)\)", cells[-1])
        if len(cells) != len(COLUMNS) or found is None:
            problems.append(f"{where}: a row must have the cells {', '.join(COLUMNS)}, and link to "
                            "a file")
            continue
        file = (ROOT / found[1]).resolve()
        used.add(file)
        if not file.is_relative_to(ROOT) or not file.is_file():
            problems.append(f"{where}: {found[1]} is not a file of this repository")
            continue
        try:
            row = counted_row(cells[0], file, cells[1], build, programs)
        except (ToolError, DoesNotCompile) as error:
            if isinstance(error, Missing):
                raise
            problems.append(f"{where}: cannot be reproduced: {error}")
            continue
        if row.cells != cells:
            problems.append(f"{where}: cannot be reproduced: the row is | {' | '.join(cells)} |, "
                            f"counted: {row}")
        else:
            print(f"{where}: reproduced: {row}", flush=True)
    problems += [f"{file.relative_to(ROOT)}: has no row in {board.name}"
                 for file in sorted(ENTRIES.glob("*.cu")) if file not in used]
    for line in problems:
        print(line)
    return 1 if problems else 0
