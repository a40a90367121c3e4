"""Grades a student's solution of a lab (./nbody lab list) or of an assignment, or a whole class.

  ./nbody grade 03 nbody.cu
  ./nbody grade 03 nbody.cu --seed 7 --json result.json --junit result.xml
  ./nbody grade 03 nbody.cu --inspect
  ./nbody grade assignment.toml solution.cu
  ./nbody grade 03 submissions/ --csv points.csv --for canvas --roster gradebook.csv
  ./nbody grade teacher/reduction.csv submissions/ --csv points.csv
  ./nbody grade teacher/reduction.csv solution.cu --student NAME
  ./nbody grade teacher/reduction.csv solution.cu --submitter submission_metadata.json

teacher/ is in the folder that ./nbody course teacher make has written, build/course/assignments.

Builds a program in a temporary folder and runs it in a sandbox, on new input each time. A separate
process, which contains none of the submission's code, compares the results with float64. A student
gets points for tests that the starter fails, and loses points for failing other tests. On a machine
with a GPU and nvcc, the program's time also counts. course/labs/README.md says what is tested and
which attacks are not prevented.

Each student has an assignment.toml, which the student can edit; the teacher has the table of
variants. If the two differ, the report says so.

If FILE is a folder, all its submissions are graded in parallel (course/labs/README.md).

Exit code: 0 all points, 1 fewer points, 2 wrong arguments. For a folder: 0 if all submissions were
graded.
"""

from __future__ import annotations

import argparse
import secrets
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Callable, Optional, Union

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.assignments.family import (DESCRIPTION, NAMES_COLUMN, Variant, read_variant,
                                            read_variants)
from nbody_tools.assignments.grading import grade_assignment, refused_assignment
from nbody_tools.gradebook import grade_class
from nbody_tools.gradebook.class_grading import submissions_in
from nbody_tools.gradebook.submitter import submitter_in
from nbody_tools.inspection.as_text import text_of
from nbody_tools.labs.answers import NotAnswers, grade_answers
from nbody_tools.labs.building import DoesNotCompile, Tools, Workshop, gpu_tools, read_tools
from nbody_tools.labs.lab import TESTS, Lab, find_lab
from nbody_tools.labs.report import FORMS, Line, Report, as_text, divided
from nbody_tools.labs.rules import broken_by_files, broken_by_symbols, broken_by_text
from nbody_tools.labs.step_uses import uses_of_step
from nbody_tools.labs.submission import Refused, read_submission, with_line_feeds
from nbody_tools.labs.tests import Result, Tests, time_beside_step

Task = Union[Lab, Variant]
COMPILER_LINES = 20
EDITABLE = (f"the variant was read from {DESCRIPTION}, which students can edit; to be sure, grade "
            "with the teacher's table of variants")
UNGUARDED = {"user": "it ran with the rights of the user who graded it (the grader drops only "
                     "root's rights)",
             "files": "it could read and write files (this kernel has no Landlock)",
             "calls": "it could start processes and open connections (seccomp is not allowed here)"}


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("lab", metavar="LAB",
                   help="number or name (see ./nbody lab list), an assignment.toml, or the "
                        "table of variants that `./nbody course teacher make` writes")
    p.add_argument("file", metavar="FILE", type=file_or_folder,
                   help="the submission, or a folder with the submissions of a class")
    p.add_argument("--seed", type=arguments.integer_from_zero, metavar="K",
                   help="seed for the problems' sizes and states [random; the report contains it]")
    for form in FORMS:
        p.add_argument(f"--{form}", type=Path, metavar="FILE",
                       help=f"write the result for {form}" if form != "json"
                       else "write the result")
    p.add_argument("--inspect", action="store_true",
                   help="also print the tables of ./nbody inspect")
    who = p.add_mutually_exclusive_group()
    who.add_argument("--student", metavar="NAME",
                     help="the student whose variant to grade; needed if LAB is a table of "
                          "variants and FILE a single submission")
    who.add_argument("--submitter", type=Path, metavar="FILE",
                     help="instead of --student: Gradescope's submission_metadata.json, which has "
                          "the student's address and name")
    p.add_argument("--build", type=Path, default=ROOT / "build" / "cpu", metavar="DIR",
                   help="build folder that contains the target grade_tools [build/cpu]")
    p.add_argument("--sandbox", choices=("auto", "own"), default="auto",
                   help="auto: bubblewrap, if it works, around the grader's own sandbox; own: "
                        "without bubblewrap [auto]")
    p.add_argument("--cuda-build", type=Path, metavar="DIR",
                   help="build folder that contains the target grade_tools, compiled with nvcc; "
                        "needed to time programs on a GPU")
    grade_class.configure(p)


def file_or_folder(text: str) -> Path:
    return Path(text) if Path(text).is_dir() else arguments.existing_file(text)


def check(options: argparse.Namespace) -> None:
    for name in ("student", "submitter"):
        if getattr(options, name) and (options.file.is_dir() or not options.lab.endswith(".csv")):
            raise ToolError(f"--{name} is for a single submission and a table of variants (.csv)")
    if options.file.is_dir():
        task_of = find_tasks(options.lab)
        grade_class.check(options, (*FORMS, "inspect"))
        for one in submissions_in(options.file):
            check_can_be_graded(task_of(one.student))
        if options.lab.endswith(".csv"):
            check_one_each(options.file, read_variants(Path(options.lab)).student)
        return
    check_can_be_graded(find_task(options.lab, student_of(options)))
    for name in grade_class.OF_CLASS:
        if getattr(options, name):
            option = "for" if name == "form" else name
            raise ToolError(f"--{option} is for a folder; {options.file} is a single submission")
    for form in FORMS:
        arguments.check_new_file(getattr(options, form))


def check_can_be_graded(task: Task) -> None:
    if isinstance(task, Lab):
        task.check_can_be_graded()


def check_one_each(folder: Path, student: dict[str, str]) -> None:
    """Raises ToolError if two submissions have different names of the same student."""
    found: dict[str, str] = {}
    for one in submissions_in(folder):
        other = found.setdefault(student[one.student], one.student)
        if other != one.student:
            raise ToolError(f"{folder}: the submissions of {other} and {one.student} both belong "
                            f"to {student[one.student]}; remove one of them")


def run(options: argparse.Namespace) -> int:
    if options.file.is_dir():
        return run_class(options)
    task = find_task(options.lab, student_of(options))
    seed = secrets.randbelow(1 << 31) if options.seed is None else options.seed
    report, results = grade_file(task, options.file, seed, options)
    if options.lab.endswith(".toml"):
        report = replace(report, notes=(*report.notes, EDITABLE))
    for form, write in FORMS.items():
        if file := getattr(options, form):
            arguments.write_whole_file(file, write(report))
    if options.inspect and (
        found := next((one.inspection for one in results if one.inspection), None)
    ):
        print(text_of(found) + "\n")
    print(as_text(report))
    return 0 if report.full else 1


def run_class(options: argparse.Namespace) -> int:
    task_of = find_tasks(options.lab)
    tasks = {one.student: task_of(one.student) for one in submissions_in(options.file)}

    def grade_one(student: str, file: Path, seed: int) -> Report:
        return grade_file(tasks[student], file, seed, options)[0]

    first = next(iter(tasks.values()))
    title = f"Lab {first.number}" if isinstance(first, Lab) else first.family.title
    return grade_class.run(options, lambda student: tasks[student].name, title, grade_one)


def grade_file(task: Task, file: Path, seed: int, options: argparse.Namespace
               ) -> tuple[Report, list[Result]]:
    try:
        text = read_submission(file)
    except Refused as error:
        return refused_task(task, file.name, seed, f"Not run: {error}"), []
    report, results = grade_task(task, text, file.name, seed, options)
    other = other_variant(task, file) if options.lab.endswith(".csv") else ""
    return replace(report, notes=(*report.notes, other)) if other else report, results


def other_variant(task: Task, file: Path) -> str:
    """Returns a note if the assignment.toml next to the submission specifies a different variant
    from the one in the table of variants."""
    named = file.parent / DESCRIPTION
    if not isinstance(task, Variant) or not named.is_file():
        return ""
    try:
        name = read_variant(named).name
    except ToolError as error:
        name = f"an unknown variant ({error})"
    return "" if name == task.name else (
        f"{DESCRIPTION} next to the submission specifies {name}, but the table of variants "
        f"specifies {task.name}, which was graded")


def find_tasks(text: str) -> Callable[[str], Task]:
    """Returns a function that maps a student's name to a task: the same lab for all, or the
    student's variant in a table of variants."""
    if not text.endswith(".csv"):
        task = find_task(text)
        return lambda student: task
    variants = read_variants(Path(text))

    def of(name: str) -> Task:
        if name not in variants.student:
            raise ToolError(f"{text}: has no variant for {name}; if this is another name of a "
                            f"student, add it to the column {NAMES_COLUMN}")
        return variants.of[variants.student[name]]
    return of


def find_task(text: str, student: Optional[str] = None) -> Task:
    """Returns what the argument LAB refers to: a lab, or a variant of an assignment."""
    if text.endswith(".csv"):
        if not student:
            raise ToolError(f"{text}: is a table of variants; select one with --student NAME")
        return find_tasks(text)(student)
    return read_variant(Path(text)) if text.endswith(".toml") else find_lab(text)


def student_of(options: argparse.Namespace) -> Optional[str]:
    """Returns the student whose variant is graded; None for a lab."""
    if options.submitter:
        return submitter_in(options.submitter, read_variants(Path(options.lab)).student)
    return options.student


def grade_task(task: Task, text: str, name: str, seed: int, options: argparse.Namespace
               ) -> tuple[Report, list[Result]]:
    if isinstance(task, Lab):
        return grade(task, text, name, seed, options)
    return grade_assignment(task, text, name, seed, options)


def refused_task(task: Task, name: str, seed: int, why: str) -> Report:
    if isinstance(task, Lab):
        return refused_report(task, name, seed, why)
    return refused_assignment(task, name, seed, why)


def grade(
    lab: Lab, text: str, name: str, seed: int, options: argparse.Namespace
) -> tuple[Report, list[Result]]:
    try:
        text = with_line_feeds(text)
        if not lab.is_program:
            return Report(lab.number, lab.title, name, seed, grade_answers(lab, text)), []
    except Refused as error:
        return refused_report(lab, name, seed, f"Not run: {error}"), []
    except NotAnswers as error:
        return refused_report(lab, name, seed, str(error)), []
    if broken := broken_by_text(lab, text):
        return refused_report(lab, name, seed, f"Not run: {broken}"), []
    tools = read_tools(options.build)
    for_gpu = gpu_tools(options.cuda_build)
    with tempfile.TemporaryDirectory(prefix="nbody-grade-") as folder:
        workshop = Workshop(Path(folder), tools, lab.headers, options.sandbox)
        refused, results = grade_program(lab, text, seed, workshop)
        if results and for_gpu is not None:
            results.append(
                time_on_gpu(lab, text, seed, for_gpu, results[0].passed, options.sandbox)
            )
    sandbox = workshop.sandbox
    notes = [f"sandbox: {sandbox.description}"]
    notes += [f"not guarded: {UNGUARDED[key]}" for key, by in sandbox.guards.items() if by == "-"]
    if for_gpu is None:
        notes.append("not timed: there is no GPU, or --cuda-build is missing")
    lines = points_of(lab, results, for_gpu is not None)
    return Report(lab.number, lab.title, name, seed, lines, refused, tuple(notes)), results


def refused_report(lab: Lab, name: str, seed: int, why: str) -> Report:
    """Returns the report on a rejected submission: all tests count as failed."""
    lines = (
        points_of(lab, [], False)
        if lab.is_program
        else tuple(Line(one.key, 0, 0) for one in lab.question)
    )
    return Report(lab.number, lab.title, name, seed, lines, why)


def grade_program(lab: Lab, text: str, seed: int, workshop: Workshop) -> tuple[str, list[Result]]:
    """Grades a program. Returns the reason for a rejection (empty if there is none) and the
    results."""
    workshop.add(lab.file_name, text)
    try:
        workshop.compile_both(lab.file_name)
        allowed = uses_of_step(workshop.tools, lab)
        if broken := broken_by_files(workshop, allowed.files) or broken_by_symbols(
            workshop, allowed.names
        ):
            return f"Not run: {broken}", []
        programs = workshop.link_both()
    except DoesNotCompile as error:
        lines = str(error).splitlines()
        more = (
            [f"... and {len(lines) - COMPILER_LINES} more lines"]
            if len(lines) > COMPILER_LINES
            else []
        )
        return "\n".join(["It does not compile:", *lines[:COMPILER_LINES], *more]), []
    return "", Tests(lab, workshop, programs, seed).results()


def time_on_gpu(
    lab: Lab, text: str, seed: int, tools: Tools, is_right: bool, sandbox: str
) -> Result:
    if not is_right:
        return Result("time", 0, "gives points only if the forces are right")
    with tempfile.TemporaryDirectory(prefix="nbody-grade-") as folder:
        Path(folder).chmod(0o755)  # so that user nobody can enter two folders inside it
        step, submission = (Workshop(Path(folder) / name, tools, lab.headers, sandbox)
                            for name in ("step", "submission"))
        step.add(lab.file_name, lab.step_text)
        submission.add(lab.file_name, text)
        return time_beside_step(lab, step, submission, seed)


def points_of(lab: Lab, results: list[Result], on_gpu: bool) -> tuple[Line, ...]:
    """Divides all points among the tests that the starter fails and, on a GPU, the test `time`."""
    found = {result.name: result for result in results}
    names = [
        name for name in TESTS if (name != "time" or on_gpu) and (name != "counts" or lab.limit)
    ]
    earned = [name for name in names if name in lab.fails or name == "time"]
    points = dict(zip(earned, divided([TESTS[name] for name in earned])))
    return tuple(Line(result.name, points.get(result.name, 0), result.share,
                      0 if result.name in points else TESTS[result.name], result.why)
                 for result in (found.get(name, Result(name, 0)) for name in names))
