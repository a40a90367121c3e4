"""Uses copydetect to compare submissions with one another, with the solutions of all variants of
all assignments, and with this repository's own CUDA code.

copydetect (pip install copydetect) compares tokens and ignores names, so it recognises a renamed or
reformatted copy. This module starts copydetect with a Python that can import it: the Python that
the environment variable PYTHON specifies, the Python of this process, or the one of the command
`copydetect`. Nothing leaves this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence

from nbody_tools.arguments import (ROOT, Failed, ToolError, check_new_file, existing_folder,
                                   positive_number, write_whole_file)
from nbody_tools.assignments.family import families
from nbody_tools.gradebook.class_grading import Submission, as_csv, submissions_in
from nbody_tools.labs.submission import Refused, read_submission
from nbody_tools.tables import aligned

MISSING = 77  # exit code if copydetect is not installed
WORKER = Path(__file__).with_name("similarity_worker.py")
# This repository's code that a student might hand in.
OURS = ("step*/*.cu", "step*/*.h", "experiments/**/*.cu", "experiments/**/*.h", "common/gpu/*.h",
        "course/mistakes/*.cu", "memory*/*.cu", "float64/*.h", "small_systems/*.h",
        "tests/mutants/*.cu", "library/cuda/*.cu", "library/cuda/*.h", "tests/assignments/**/*.cu")
SUSPICIOUS = 0.5  # share of a submission that is found in one other file
# The class has the lessons of memory/ and may use them. A submission that shares at least
# USES_LESSON with a lesson has used that lesson. Programs that were written from the statement
# alone share up to 0.27 with a lesson.
COPY, LESSON = "copy?", "uses a lesson"
LESSONS, USES_LESSON = "memory/", 0.35


@dataclass(frozen=True)
class Match:
    submission: str
    share: float  # share of the submission's tokens that are also in the other file
    other: str


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("folder", metavar="FOLDER", type=existing_folder,
                   help="folder of submissions, as for ./nbody grade")
    p.add_argument("--csv", type=Path, metavar="FILE", help="also write the table to this CSV file")
    p.add_argument("--above", type=positive_number, default=SUSPICIOUS, metavar="SHARE",
                   help="a submission that shares this much or more with one file is reported "
                   f"as a copy [{SUSPICIOUS}]")


def run(options: argparse.Namespace) -> int:
    submissions = readable(submissions_in(options.folder))
    check_new_file(options.csv)
    with tempfile.TemporaryDirectory(prefix="nbody-compare-") as name:
        found = matches(submissions, others(Path(name)))
    rows = [[one.submission, f"{one.share:.2f}", one.other,
             verdict_on(one, options.above)] for one in found]
    head = ["submission", "share", "nearest", ""]
    if options.csv:
        write_whole_file(options.csv, as_csv([[*head[:3], "verdict"], *rows]))
    print("\n".join(aligned([head, *rows], left=(0, 2, 3))))
    copies = sum(row[3] == COPY for row in rows)
    print(f"{copies} of {len(rows)} submissions share {options.above:g} or more with one file")
    return 1 if copies else 0


def readable(submissions: Sequence[Submission]) -> dict[str, Path]:
    """Returns the files by student, without those that the grader would refuse to read; copydetect
    would wait for ever for the end of a pipe."""
    files = {}
    for one in submissions:
        try:
            read_submission(one.file)
            files[one.student] = one.file
        except Refused as error:
            print(f"{one.student}: not compared: {error}")
    return files


def verdict_on(match: Match, above: float) -> str:
    if match.share >= above:
        return COPY
    return LESSON if match.other.startswith(LESSONS) and match.share >= USES_LESSON else ""


def others(folder: Path) -> dict[str, Path]:
    """Writes the references of all variants, and the programs in which one thread does everything,
    into the folder. Returns the paths of these files and of our own code, by name."""
    files = {str(file.relative_to(ROOT)): file for pattern in OURS for file in ROOT.glob(pattern)}
    for family in families():
        for variant in family.variants:
            for what in ("reference", "one_thread"):
                file = folder / f"{what}-{variant.name}.cu"
                file.write_text(getattr(variant, what), encoding="utf-8")
                files[f"{what} {variant.name}"] = file
    return files


def matches(submissions: dict[str, Path], compared: dict[str, Path]) -> list[Match]:
    """Returns, for each submission, the file that shares most with it. Submissions that share most
    come first."""
    python = python_with_copydetect()
    if python is None:
        raise NoCopydetect("copydetect is not installed: run pip install copydetect, and set "
                           "PYTHON to the interpreter that has it")
    asked = {"submissions": {key: str(file) for key, file in submissions.items()},
             "others": {key: str(file) for key, file in compared.items()}}
    ended = subprocess.run([python, str(WORKER)], input=json.dumps(asked), text=True,
                           capture_output=True, check=False)
    if ended.returncode:
        lines = ended.stderr.strip().splitlines()
        raise Failed(f"copydetect failed: {lines[-1] if lines else ended.returncode}")
    found = [Match(*row) for row in json.loads(ended.stdout)]
    return sorted(found, key=lambda one: (-one.share, one.submission))


class NoCopydetect(ToolError):
    code = MISSING


def python_with_copydetect() -> Optional[str]:
    for python in candidates():
        tried = subprocess.run([python, "-c", "import copydetect"], capture_output=True,
                               check=False)
        if tried.returncode == 0:
            return python
    return None


def candidates() -> Sequence[str]:
    """Returns the interpreters that may have copydetect."""
    found = [os.environ.get("PYTHON", ""), sys.executable]
    if command := shutil.which("copydetect"):
        with open(command, "rb") as file:
            first = file.readline().decode("utf-8", errors="replace")
        found.append(first[2:].split()[0] if first.startswith("#!") else "")
    return [path for path in (shutil.which(one) for one in found if one) if path]
