"""Grades what a student made of a lab (./nbody lab list).

  ./nbody grade 03 nbody.cu
  ./nbody grade 03 nbody.cu --seed 7 --json result.json --junit result.xml
  ./nbody grade 03 nbody.cu --inspect

A program is built in a folder of its own, which goes again, and run in a sandbox on input that is new each
time; a process that holds no line of it compares with float64. Points are on the tests that the starter
fails; to break another one costs points. On a machine with a GPU and nvcc, its time counts, too.
course/labs/README.md says what is tested and what is not guarded.

Exit code: 0 all points, 1 not all, 2 wrong arguments.
"""

from __future__ import annotations

import argparse
import secrets
import tempfile
from pathlib import Path
from typing import Optional

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.inspection.as_text import text_of
from nbody_tools.labs.answers import NotAnswers, grade_answers
from nbody_tools.labs.building import (DoesNotCompile, Tools, compile_both, gpu_tools, link_both, read_tools)
from nbody_tools.labs.lab import TESTS, Lab, find_lab
from nbody_tools.labs.report import FORMS, Line, Report, as_text, divided
from nbody_tools.labs.rules import broken_by_symbols, broken_by_text
from nbody_tools.labs.running import protections
from nbody_tools.labs.step_names import names_of_step
from nbody_tools.labs.submission import Refused, read_submission, with_line_feeds
from nbody_tools.labs.tests import Result, Tests, time_beside_step

COMPILER_LINES = 20
UNGUARDED = {"user": "it ran with the rights of the user who graded it (root would give them up)",
             "files": "it could read and write files (this kernel has no Landlock)",
             "calls": "it could start processes and open connections (seccomp is not allowed here)"}


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("lab", metavar="LAB", help="number or name; ./nbody lab list")
    p.add_argument("file", metavar="FILE", type=arguments.existing_file, help="the submission")
    p.add_argument("--seed", type=arguments.integer_from_zero, metavar="K",
                   help="of the sizes and states [a new one, which is printed]")
    for form in FORMS:
        p.add_argument(f"--{form}", type=Path, metavar="FILE", help=f"write the result for {form}" if form != "json"
                       else "write the result")
    p.add_argument("--inspect", action="store_true", help="print the tables of ./nbody inspect for it, too")
    p.add_argument("--build", type=Path, default=ROOT / "build" / "cpu", metavar="DIR",
                   help="where grade_tools were built [build/cpu]")
    p.add_argument("--cuda-build", type=Path, metavar="DIR", help="likewise with nvcc, for the time on a GPU")


def run(options: argparse.Namespace) -> int:
    lab = find_lab(options.lab)
    seed = secrets.randbelow(1 << 31) if options.seed is None else options.seed
    for form in FORMS:
        check_writable(getattr(options, form))
    try:
        text = read_submission(options.file)
    except Refused as error:
        report, results = refused_report(lab, options.file.name, seed, str(error)), []
    else:
        report, results = grade(lab, text, options.file.name, seed, options)
    for form, write in FORMS.items():
        if file := getattr(options, form):
            arguments.write_whole_file(file, write(report))
    if options.inspect and (found := next((one.inspection for one in results if one.inspection), None)):
        print(text_of(found) + "\n")
    print(as_text(report))
    return 0 if report.full else 1


def check_writable(file: Optional[Path]) -> None:
    if file and not file.absolute().parent.is_dir():
        raise ToolError(f"{file}: there is no folder {file.absolute().parent}")


def grade(lab: Lab, text: str, name: str, seed: int, options: argparse.Namespace) -> tuple[Report, list[Result]]:
    try:
        text = with_line_feeds(text)
        if not lab.is_program:
            return Report(lab.number, lab.title, name, seed, grade_answers(lab, text)), []
    except (Refused, NotAnswers) as error:
        return refused_report(lab, name, seed, str(error)), []
    tools = read_tools(options.build)
    for_gpu = gpu_tools(options.cuda_build)
    with tempfile.TemporaryDirectory(prefix="nbody-grade-") as folder:
        Path(folder).chmod(0o755)  # another user runs it
        refused, results = grade_program(lab, text, seed, tools, for_gpu, Path(folder))
    notes = [f"not guarded: {UNGUARDED[key]}" for key, by in protections(tools).items() if by == "-"]
    if for_gpu is None:
        notes.append("not timed: there is no GPU, or nothing was built for one")
    shares = {result.name: result for result in results}
    names = [name for name in TESTS if (name != "time" or for_gpu) and (name != "counts" or lab.limit)]
    lines = points_of(lab, [shares.get(name, Result(name, 0)) for name in names])
    return Report(lab.number, lab.title, name, seed, lines, refused, tuple(notes)), results


def refused_report(lab: Lab, name: str, seed: int, why: str) -> Report:
    """The report on what is neither built nor read further: all tests count as failed."""
    names = TESTS if lab.is_program else [question.key for question in lab.question]
    return Report(lab.number, lab.title, name, seed, tuple(Line(key, 0, 0) for key in names),
                  f"Not run: {why}" if lab.is_program else why)


def grade_program(lab: Lab, text: str, seed: int, tools: Tools, for_gpu: Optional[Tools],
                  folder: Path) -> tuple[str, list[Result]]:
    """Why it was refused, or what it came to."""
    if broken := broken_by_text(lab, text):
        return f"Not run: {broken}", []
    inside = folder / "run"
    (inside / "out").mkdir(parents=True)
    (inside / lab.file_name).write_text(text, encoding="utf-8")
    try:
        plain = compile_both(tools, inside, lab.file_name)
        libraries = [Path(file) for file in tools.libraries["plain"]]
        if broken := broken_by_symbols(plain, libraries, names_of_step(tools, lab.source)):
            return f"Not run: {broken}", []
        programs = link_both(tools, inside)
    except DoesNotCompile as error:
        lines = str(error).splitlines()
        more = [f"... and {len(lines) - COMPILER_LINES} lines more"] if len(lines) > COMPILER_LINES else []
        return "\n".join(["It does not compile:", *lines[:COMPILER_LINES], *more]), []
    results = Tests(lab, tools, programs, seed).results()
    if for_gpu is not None:
        if results[0].passed:
            results.append(time_beside_step(lab, for_gpu, inside, lab.file_name, seed))
        else:
            results.append(Result("time", 0, "counts only where the forces are right"))
    return "", results


def points_of(lab: Lab, results: list[Result]) -> tuple[Line, ...]:
    """All points are on what the starter fails, and on the time."""
    earned = [result.name for result in results if result.name in lab.fails or result.name == "time"]
    points = dict(zip(earned, divided([TESTS[name] for name in earned])))
    return tuple(Line(result.name, points.get(result.name, 0), result.share,
                      0 if result.name in points else TESTS[result.name], result.why) for result in results)
