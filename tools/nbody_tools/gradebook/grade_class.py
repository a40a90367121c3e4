"""`./nbody grade LAB FOLDER`: grades all submissions of a folder (class_grading.py)."""

from __future__ import annotations

import argparse
import os
import random
from pathlib import Path
from typing import Callable, Optional

from nbody_tools import arguments
from nbody_tools.arguments import Failed, ToolError
from nbody_tools.gradebook.class_grading import (ENDINGS, FORMATS, Mark, Submission, digest_of,
                                            grade_all, keep_mark, kept_mark, read_roster, share_of,
                                            skipped_in, submissions_in)
from nbody_tools.labs.report import Report, as_text
from nbody_tools.labs.submission import Unreadable

MOST_FEEDBACK = 2000  # longest feedback in a cell, in characters
OF_CLASS = ("csv", "form", "roster", "reports", "jobs", "share")

# Grades one submission, given its student, its file and the seed.
GradeOne = Callable[[str, Path, int], Report]


def configure(p: argparse.ArgumentParser) -> None:
    of_class = p.add_argument_group("options if FILE is a folder with the submissions of a class")
    of_class.add_argument("--csv", type=Path, metavar="FILE", help="write a table of all points")
    of_class.add_argument("--for", dest="form", choices=tuple(FORMATS),
                          help="format of the CSV file [plain]")
    of_class.add_argument("--roster", type=arguments.existing_file, metavar="FILE",
                          help="gradebook that Canvas exported, or Moodle's list of participants")
    of_class.add_argument("--reports", type=Path, metavar="DIR",
                          help="write each student's report; skip unchanged files with a report")
    of_class.add_argument("--jobs", type=arguments.positive_integer, metavar="N",
                          help="number of submissions to grade at a time [number of cores]")
    of_class.add_argument("--share", metavar="K/N",
                          help="grade only the K-th of N shares, for a job array; needs --reports")


def check(options: argparse.Namespace, of_file: tuple[str, ...]) -> None:
    """Reports options that cannot be used for a folder, before anything is built."""
    given = [name for name in of_file if getattr(options, name)]
    if given:
        raise ToolError(f"--{given[0]} is for a single submission; {options.file} is a folder "
                        "(--csv and --reports are for folders)")
    if options.share and not options.reports:
        raise ToolError("--share needs --reports: without reports, the share's points would be "
                        "lost")
    if options.share and options.csv:
        raise ToolError("--share cannot be used with --csv: grade once more without --share to "
                        "collect the points")
    if not options.csv and not options.reports:
        raise ToolError(f"{options.file} is a folder: specify a file for the points with --csv")
    if options.form and not options.csv or options.roster and options.form in (None, "plain"):
        raise ToolError("--for needs --csv, and --roster needs --for canvas or moodle")
    arguments.check_new_file(options.csv)
    if options.reports and options.reports.exists() and not options.reports.is_dir():
        raise ToolError(f"--reports {options.reports}: is not a folder")
    submissions = submissions_in(options.file)
    if options.share:
        share_of(submissions, options.share)
    if options.roster:
        written(options, "", [Mark(one.student, 0, "") for one in submissions])


def run(options: argparse.Namespace, task_of: Callable[[str], str], title: str,
        grade_one: GradeOne) -> int:
    """Grades the folder and returns the exit code: 1 if the grader itself failed on a file.
    `task_of` returns a student's task."""
    submissions = submissions_in(options.file)
    if options.share:
        submissions = share_of(submissions, options.share)
    if options.reports:
        options.reports.mkdir(parents=True, exist_ok=True)

    def graded(one: Submission) -> Mark:
        return marked(one, task_of(one.student), grade_one, options.seed, options.reports)

    jobs = options.jobs or len(os.sched_getaffinity(0))
    marks = grade_all(submissions, graded, jobs, lambda line: print(line, flush=True))
    if options.csv:
        arguments.write_whole_file(options.csv, written(options, title, marks))
    failed = [mark for mark in marks if mark.score is None]
    for mark in failed:
        print(f"{mark.student}: {mark.feedback}")
    if skipped := skipped_in(options.file):
        print(f"skipped, because they contain no {' or '.join(ENDINGS)} file: "
              f"{', '.join(skipped)}")
    return 1 if failed else 0


def written(options: argparse.Namespace, title: str, marks: list[Mark]) -> str:
    roster = read_roster(options.roster) if options.roster else None
    return FORMATS[options.form or "plain"](marks, title, roster)


def marked(one: Submission, task: str, grade_one: GradeOne, seed: Optional[int],
           reports: Optional[Path]) -> Mark:
    """Grades a submission, or returns its mark from an earlier run."""
    try:
        digest = digest_of(task, one.file)
    except Unreadable as error:
        raise Failed(f"{one.file}: {error}") from error
    if reports and (kept := kept_mark(reports, one.student, digest)):
        return kept
    seed = random.SystemRandom().randrange(1 << 31) if seed is None else seed
    report = grade_one(one.student, one.file, seed)
    text = as_text(report)
    mark = Mark(one.student, report.score, feedback(report), seed, digest)
    if reports:
        keep_mark(reports, mark, text)
    return mark


def feedback(report: Report) -> str:
    """Returns the first line of each test's reason, for a cell of the gradebook."""
    if report.refused:
        return report.refused.splitlines()[0][:MOST_FEEDBACK]
    lines = [f"{line.name}: {line.why.splitlines()[0]}" for line in report.lines if line.why]
    return "; ".join(lines)[:MOST_FEEDBACK] or "all tests passed"
