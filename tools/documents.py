#!/usr/bin/env python3
"""Keeps the generated parts of the READMEs: diffs between steps, and tables of what was measured.

  tools/documents.py           rewrites them
  tools/documents.py --check   changes nothing; names every part that is out of date, and exits 1

A generated part stands between two lines of its own and is replaced as a whole:

  <!-- begin NAME -->
  <!-- end NAME -->

NAME is diff, measured or inspect in the README of a step, measured alone in those of cpu_simd and
activity_map under experiments/, staircase in the one of the repository; docs/inspect.md has its own.
Both ways of calling also hold the steps to their budgets: the lines of a program, the lines that
change from one step to the next, and the headings of a step's README.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterator, Optional, Sequence

import nbody_activity
from nbody_arguments import ROOT, OneLineParser, ToolError, fail, write_whole_file
from nbody_facts import read_results
from nbody_inspect_blocks import document_blocks, step_block
from nbody_records import Record, read_records
from nbody_staircase import Staircase, staircases
from nbody_table import ABSENT, seconds, with_range

# Changed lines (added and removed) that a step may have against its parent. More is more than one
# idea, or needs a reason here.
DIFF_BUDGET = 60
DIFF_BUDGETS = {
    "step01_gpu_naive": 75,  # from an OpenMP loop to a kernel, transfers and events
    "step02_layout": 97,     # the arrays are split, so every line that names a body changes
    # One kernel over all systems and steps becomes two kernels a step, enqueued system by system:
    # simulate turns into a Pipeline, which steps 06 to 09 keep.
    "step05_streams": 160,
    "step09_soa": 120,       # another layout: every line that loads, stores, packs or copies
    # Another decomposition, and none of step 09's streams: a grid of two dimensions, partial sums,
    # a cuBLAS handle, and passes for the case that the partial sums do not fit.
    "step10_tiled2d_cublas": 267,
}
LINE_BUDGET = 200
SHORT_LINE_BUDGET = 150  # the first steps are read by people who have never seen a kernel
LAST_SHORT_STEP = 3

HEADINGS = ("## The idea", "## What changed", "## Predicted", "## Measured",
            "## What the profiler says", "## Accuracy", "## Try it yourself")
NOT_MEASURED = "Not measured yet."


class DocumentError(ToolError):
    pass


@dataclass(frozen=True)
class Step:
    folder: Path
    source: Path
    text: str
    parent: Optional[str]  # None: the first step

    name = property(lambda self: self.folder.name)
    number = property(lambda self: int(self.name[4:6]))
    readme = property(lambda self: self.folder / "README.md")
    lines = property(lambda self: self.text.splitlines())
    line_budget = property(
        lambda self: SHORT_LINE_BUDGET if self.number <= LAST_SHORT_STEP else LINE_BUDGET)
    diff_budget = property(lambda self: DIFF_BUDGETS.get(self.name, DIFF_BUDGET))

    @property
    def idea(self) -> str:
        """The first paragraph of the source, `// stepNN_name -- what it adds.`: said once, there."""
        words = []
        for line in self.lines:
            if line.strip() in ("", "//") or not line.startswith("//"):
                break
            words.append(line[2:].strip())
        return " ".join(words).partition(" -- ")[2].rstrip(".")

    @property
    def shown_path(self) -> str:
        return f"{self.name}/{self.source.name}"


@dataclass(frozen=True)
class Measurement:
    record: Record
    base: Optional[Record]  # step 00 on the same problem, from the same file: the same machine

    @property
    def speedup(self) -> str:
        return ABSENT if self.base is None else f"{self.record.speedup_over(self.base).median:.2f}"

    @property
    def throughput(self) -> str:
        return f"{self.record.giga_interactions_per_second('compute').median:.4g}"


def read_step(folder: Path) -> Optional[Step]:
    sources = [folder / name for name in ("nbody.cpp", "nbody.cu") if (folder / name).is_file()]
    if not sources:
        return None  # a folder somebody has just made
    text = sources[0].read_text(encoding="utf-8")
    parent = re.search(r'\.parent\s*=\s*"(\w+)"', text)
    return Step(folder, sources[0], text, parent.group(1) if parent else None)


def read_steps(root: Path) -> dict[str, Step]:
    found = (read_step(folder) for folder in sorted(root.glob("step[0-9][0-9]_*")))
    return {step.name: step for step in found if step is not None}


# Changes.

def diff_lines(step: Step, parent: Step) -> list[str]:
    """What the reader gets who types the command; difflib's diffs are longer than need be."""
    labels = ["--label", parent.shown_path, "--label", step.shown_path]
    result = subprocess.run(["diff", "-u", *labels, str(parent.source), str(step.source)],
                            text=True, stdout=subprocess.PIPE, check=False)
    if result.returncode > 1:
        raise DocumentError(f"diff failed on {parent.shown_path} and {step.shown_path}")
    return result.stdout.splitlines()


def changed_lines(diff: Sequence[str]) -> int:
    return sum(line[:1] in ("+", "-") for line in diff[2:])  # behind the --- and +++ headers


def changes_of(step: Step, steps: dict[str, Step]) -> Optional[list[str]]:
    if step.parent is None:
        return None
    if step.parent not in steps:
        raise DocumentError(f"{step.shown_path}: its parent {step.parent} does not exist")
    return diff_lines(step, steps[step.parent])


def diff_block(step: Step, steps: dict[str, Step]) -> str:
    diff = changes_of(step, steps)
    if diff is None:
        return "The first step: it has no parent."
    return "\n".join([
        f"{changed_lines(diff)} changed lines, of {step.diff_budget} allowed "
        f"(`diff -u {diff[0][4:]} {diff[1][4:]}`):", "", "```diff", *diff, "```"])


# Measurements.

def measured_staircases(root: Path) -> list[Staircase]:
    """Emulated times are no times: they are left out before anything is chosen."""
    found = []
    for source in sorted((root / "docs" / "results").glob("*.jsonl")):
        records = [record for record in read_records(source) if not record.emulated]
        found += staircases(records)
    return found


def newest_measurements(step: Step, found: Sequence[Staircase]) -> list[Measurement]:
    """One for every problem size and number of devices. A file without step 00 (a sweep of one
    step's parameters, say) gives way to one that has it; among equals the newest wins. Dates come
    from the records: those of files say when they were checked out."""
    newest: dict[tuple[int, int, int, int], Measurement] = {}
    for staircase in found:
        for record in staircase.records:
            if record.step != step.name:
                continue
            problem = record.problem
            key = (problem.bodies, problem.systems, problem.steps, record.device_count)
            new = Measurement(record, staircase.base)
            if key not in newest or rank(new) >= rank(newest[key]):
                newest[key] = new
    return [newest[key] for key in sorted(newest)]


def rank(measurement: Measurement) -> tuple[bool, str]:
    return measurement.base is not None, measurement.record.date


def measured_block(step: Step, found: Sequence[Staircase]) -> str:
    return measured_table(newest_measurements(step, found))


def measured_table(measurements: Sequence[Measurement]) -> str:
    if not measurements:
        return NOT_MEASURED
    return markdown_table(
        ("machine", "systems x bodies x steps", "compute, median (IQR)", "total, median (IQR)",
         "G interactions/s", "speedup over step 00", "RMS error", "verdict"),
        [measured_row(measurement) for measurement in measurements])


def cpu_program_block(root: Path) -> str:
    """The newest of every machine and problem: this program is measured on more than one CPU."""
    newest: dict[tuple[str, str], Record] = {}
    for found in read_results(root / "docs" / "results")[0]:
        record, key = found.record, (found.record.machine, str(found.record.problem))
        if found.name == "cpu_simd" and (key not in newest or record.date >= newest[key].date):
            newest[key] = record
    return measured_table([Measurement(newest[key], None) for key in sorted(newest)])


def measured_row(measurement: Measurement) -> list[str]:
    record, problem = measurement.record, measurement.record.problem
    error = record.acceleration_error
    return [f"{record.machine}, {record.date[:10]}",
            f"{problem.systems} x {problem.bodies} x {problem.steps}",
            with_range(record.seconds("compute")), with_range(record.seconds("total")),
            measurement.throughput, measurement.speedup,
            ABSENT if error is None else f"{error:.1e}", record.verdict]


def staircase_to_show(found: Sequence[Staircase], steps: dict[str, Step]) -> Optional[Staircase]:
    """The newest of those that measured the most steps, with a GPU and with step 00 beside it."""
    def worth(staircase: Staircase) -> tuple[int, str]:
        known = [record for record in staircase.records if record.step in steps]
        return len({record.step for record in known}), max(r.date for r in staircase.records)

    return max((s for s in found if s.has_gpu and s.base is not None), key=worth, default=None)


def staircase_block(steps: dict[str, Step], found: Sequence[Staircase]) -> str:
    shown = staircase_to_show(found, steps)
    rows = [row for step in steps.values() for row in staircase_rows(step, steps, shown)]
    table = markdown_table(("step", "idea", "lines", "changed", "G interactions/s", "speedup"), rows)
    return f"{table}\n\n{staircase_note(shown)}"


def staircase_rows(step: Step, steps: dict[str, Step],
                   shown: Optional[Staircase]) -> Iterator[list[str]]:
    diff = changes_of(step, steps)
    said = [f"[{step.name}]({step.name}/)", step.idea, str(len(step.lines)),
            ABSENT if diff is None else str(changed_lines(diff))]
    records = [record for record in shown.records if record.step == step.name] if shown else []
    if not records:
        yield [*said, ABSENT, ABSENT]
    for record in records:
        measured = Measurement(record, shown.base)
        devices = f" ({record.device_count} GPUs)" if record.device_count > 1 else ""
        yield [said[0] + devices, *said[1:], measured.throughput, measured.speedup]


def staircase_note(shown: Optional[Staircase]) -> str:
    if shown is None:
        return NOT_MEASURED
    gpus = [record for record in shown.records if record.backend == "cuda"]
    one = min(gpus, key=lambda record: record.device_count)
    newest = max(record.date for record in shown.records)
    return (f"Measured on {one.machine}, step 00 on {shown.base.machine}, {newest[:10]}: "
            f"{shown.problem}. G interactions/s from the median compute time, N^2 interactions a "
            "step and system; speedup of the median total time, transfers included.")


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    # A | in a device's name would open a column.
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |"
                     for line in lines)


# Documents.

def replaced(text: str, name: str, content: str, where: str) -> str:
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    lines = text.split("\n")
    if lines.count(begin) != 1 or lines.count(end) != 1 or lines.index(begin) > lines.index(end):
        raise DocumentError(f"{where}: needs one line '{begin}' and, below it, one '{end}'")
    return "\n".join([*lines[:lines.index(begin) + 1], content, *lines[lines.index(end):]])


def update(readme: Path, where: str, blocks: dict[str, Callable[[], str]], write: bool) -> list[str]:
    """Problems that are left: stale blocks when nothing is written, and what cannot be mended."""
    try:
        text = readme.read_text(encoding="utf-8")
    except FileNotFoundError:
        return [f"{where}: is missing"]
    problems, new = [], text
    for name, content in blocks.items():
        try:
            before, new = new, replaced(new, name, content(), where)
        except ToolError as error:
            problems.append(str(error))
            continue
        if new != before and not write:
            problems.append(f"{where}: block {name} is out of date; run tools/documents.py")
    if write and new != text:
        write_whole_file(readme, new)
    return problems


def has_block(readme: Path, name: str) -> bool:
    return readme.is_file() and f"<!-- begin {name} -->" in readme.read_text(encoding="utf-8")


def missing_headings(step: Step) -> list[str]:
    if not step.readme.is_file():
        return []  # already said
    lines = step.readme.read_text(encoding="utf-8").splitlines()
    return [f"{step.name}/README.md: heading '{heading}' is missing"
            for heading in HEADINGS if heading not in lines]


def broken_budgets(step: Step, steps: dict[str, Step]) -> list[str]:
    problems = []
    if len(step.lines) > step.line_budget:
        problems.append(f"{step.shown_path}: {len(step.lines)} lines, of {step.line_budget} allowed")
    try:
        changed = changed_lines(changes_of(step, steps) or [])
    except DocumentError:
        return problems  # said where the diff is made
    if changed > step.diff_budget:
        problems.append(f"{step.shown_path}: {changed} changed lines, of {step.diff_budget} allowed "
                        "(DIFF_BUDGETS in tools/documents.py)")
    return problems


def update_all(root: Path, write: bool) -> list[str]:
    steps = read_steps(root)
    found = measured_staircases(root)
    problems = update(root / "README.md", "README.md",
                      {"staircase": lambda: staircase_block(steps, found)}, write)
    for step in steps.values():
        blocks = {"diff": lambda: diff_block(step, steps),
                  "measured": lambda: measured_block(step, found)}
        if has_block(step.readme, "inspect"):
            blocks["inspect"] = lambda: step_block(step.name, step.parent, root)
        problems += update(step.readme, f"{step.name}/README.md", blocks, write)
        problems += missing_headings(step)
        problems += broken_budgets(step, steps)
    return (problems + update_cpu_program(root, write) + update_activity_map(root, write)
            + update_inspect(root, write))


def update_cpu_program(root: Path, write: bool) -> list[str]:
    where = "experiments/cpu_simd"
    if not (root / where).is_dir():
        return []
    return update(root / where / "README.md", f"{where}/README.md",
                  {"measured": lambda: cpu_program_block(root)}, write)


def update_activity_map(root: Path, write: bool) -> list[str]:
    where = "experiments/activity_map"
    if not (root / where).is_dir():
        return []
    return update(root / where / "README.md", f"{where}/README.md", {"measured": lambda:
                  nbody_activity.measured_block(root, markdown_table, NOT_MEASURED)}, write)


def update_inspect(root: Path, write: bool) -> list[str]:
    document = root / "docs" / "inspect.md"
    if not document.exists():
        return []
    return update(document, "docs/inspect.md", document_blocks(root), write)


def main(words: Optional[Sequence[str]] = None) -> int:
    parser = OneLineParser(prog="documents.py", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, name what is stale")
    parser.add_argument("--root", type=Path, default=ROOT, metavar="DIR", help="of the repository")
    options = parser.parse_args(words)
    try:
        problems = update_all(options.root, write=not options.check)
    except ToolError as error:
        fail(f"{parser.prog}: {error}", code=1)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
