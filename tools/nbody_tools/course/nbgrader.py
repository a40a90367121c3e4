"""Turns a lab, or a variant of an assignment, into an nbgrader assignment.

  ./nbody course nbgrader 03                     writes build/course/nbgrader/source/lab03/
  ./nbody course nbgrader assignment.toml        the same for a variant (course/assignments)
  ./nbody course nbgrader 03 --output DIR        DIR is the folder of an nbgrader course

The notebook has the statement with all tests and limits, a cell with the starter, and a locked
cell that calls `./nbody grade`; the cell's value is the number of points, which nbgrader takes as
partial credit. On the teacher's machine, the environment variable NBODY must hold the path of this
project's ./nbody:

  export NBODY=$PWD/nbody
  nbgrader generate_assignment lab03 && nbgrader autograde lab03 && nbgrader export

nbgrader stops a cell after 30 s. Therefore grade one submission beforehand, so that nothing is left
to build, and set c.ExecutePreprocessor.timeout = 300 in nbgrader_config.py.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from nbody_tools.arguments import ROOT, Failed
from nbody_tools.assignments.family import DESCRIPTION, Variant
from nbody_tools.course.teacher import pack_of
from nbody_tools.labs.grade import find_task
from nbody_tools.labs.lab import Lab
from nbody_tools.labs.report import FULL
from nbody_tools.labs.working_folder import tests_and_limits

POINTS_CELL = """\
# The points: this cell builds and tests the file above, which takes some seconds.
import json
import os
import pathlib
import subprocess

points = pathlib.Path("points.json")
points.unlink(missing_ok=True)
subprocess.run([os.environ.get("NBODY", "nbody"), "grade", "{task}", "{file}", "--json",
                str(points)], check=False)
json.loads(points.read_text(encoding="utf-8"))["score"]
"""


@dataclass(frozen=True)
class Material:
    name: str  # name of the assignment in nbgrader
    task: str  # first argument of ./nbody grade
    file: str  # name of the file that the student writes
    statement: str
    starter: str
    more: dict[str, str]  # files next to the notebook


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("task", metavar="LAB", help="number of a lab, or an assignment.toml")
    p.add_argument("--output", type=Path, default=ROOT / "build" / "course" / "nbgrader",
                   metavar="DIR", help="folder to write to [build/course/nbgrader]")


def run(options: argparse.Namespace) -> int:
    material = material_of(find_task(options.task))
    folder = options.output / "source" / material.name
    if folder.exists():
        raise Failed(f"{folder}: already exists; remove it, or choose another folder with "
                     "--output")
    folder.mkdir(parents=True)
    for name, text in material.more.items():
        (folder / name).write_text(text, encoding="utf-8")
    notebook = folder / f"{material.name}.ipynb"
    notebook.write_text(json.dumps(notebook_of(material), indent=1) + "\n", encoding="utf-8")
    print(notebook)
    return 0


def material_of(task: Lab | Variant) -> Material:
    if isinstance(task, Lab):
        return Material(f"lab{task.number}", task.number, task.file_name, statement_of(task),
                        task.starter, {})
    files = pack_of(task)
    more = {DESCRIPTION: files[DESCRIPTION]}
    return Material(task.name, DESCRIPTION, task.file_name, files["README.md"], task.starter, more)


def statement_of(lab: Lab) -> str:
    """Returns the lab's README and, because the cell with the points applies them, its limits."""
    text = (lab.folder / "README.md").read_text(encoding="utf-8").rstrip()
    return "\n".join([text, "", "## How it is graded", "", *tests_and_limits(lab)])


def notebook_of(material: Material) -> dict[str, Any]:
    points = POINTS_CELL.format(task=material.task, file=material.file)
    return {
        "cells": [cell("markdown", material.statement, locked("statement")),
                  cell("code", f"%%writefile {material.file}\n{material.starter}"),
                  cell("code", points, locked("points", FULL))],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python",
                                    "name": "python3"}},
        "nbformat": 4, "nbformat_minor": 4}


def cell(kind: str, text: str, metadata: Optional[dict[str, Any]] = None) -> dict[str, Any]:
    made: dict[str, Any] = {"cell_type": kind, "metadata": metadata or {},
                            "source": text.rstrip("\n").splitlines(keepends=True)}
    return made | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def locked(name: str, points: int = 0) -> dict[str, Any]:
    """Returns nbgrader's metadata for a cell that students cannot change."""
    facts: dict[str, Any] = {"schema_version": 3, "grade_id": name, "grade": points > 0,
                             "locked": True, "solution": False, "task": False}
    if points:
        facts |= {"points": points, "cell_type": "code"}
    return {"nbgrader": facts}
