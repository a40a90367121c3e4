#!/usr/bin/env python3
"""Tests assignments of nbgrader end to end: nbgrader_test.py FOLDER BUILD

nbgrader generates the students' version of labs 03 and 23 and of a variant of an assignment, grades
solutions and starters, and exports points. If the interpreter in PYTHON does not have
nbgrader, pip installs nbgrader next to FOLDER; exits with 77 if pip cannot.
"""
import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from shlex import quote

from nbody_tools.__main__ import main
from nbody_tools.arguments import ROOT
from nbody_tools.assignments.family import find_family
from nbody_tools.labs.lab import find_lab
from tests.environments import python_with

root, build = (Path(word).resolve() for word in sys.argv[1:])
python = python_with("nbgrader", root.with_name("nbgrader-python"))
if python is None:
    sys.exit(77)
environment = os.environ | {"NBODY": str(root / "nbody"),
                            "PATH": f"{Path(python).parent}:{os.environ['PATH']}"}


def nbgrader(*words):
    ended = subprocess.run([python, "-m", "nbgrader", *words], cwd=root, env=environment, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if ended.returncode:
        print(ended.stdout[-3000:])
    return ended.returncode


def submit(student, name, text):
    """Hands in the released notebook, with this text in the cell that the student edits."""
    folder = root / "submitted" / student / name
    shutil.copytree(root / "release" / name, folder)
    file = folder / f"{name}.ipynb"
    notebook = json.loads(file.read_text(encoding="utf-8"))
    cell = notebook["cells"][1]
    cell["source"] = "".join(cell["source"]).splitlines(keepends=True)[0] + text
    notebook["cells"][2]["source"] = "100"  # a forged grade: nbgrader must restore this cell
    file.write_text(json.dumps(notebook), encoding="utf-8")


shutil.rmtree(root, ignore_errors=True)
root.mkdir(parents=True)
# The grader runs in this test's Python, because nbgrader's Python may lack the grader's modules. It
# uses the programs of this build.
(root / "nbody").write_text(
    f"#!/bin/sh\nPYTHONPATH={quote(str(ROOT / 'tools'))} exec {quote(sys.executable)} "
    f"-m nbody_tools \"$@\" --build {quote(str(build))}\n")
(root / "nbgrader_config.py").write_text("c = get_config()\nc.ExecutePreprocessor.timeout = 300\n")
(root / "nbody").chmod(0o755)
variant = find_family("transpose").variants[0]
(root / "assignment.toml").write_text(variant.description, encoding="utf-8")
tasks = [(find_lab("03"), "lab03", "03"), (find_lab("23"), "lab23", "23"),
         (variant, variant.name, str(root / "assignment.toml"))]
problems = []
for task, name, argument in tasks:
    if main(["course", "nbgrader", argument, "--output", str(root)]):
        sys.exit(f"{name}: not written")
    if nbgrader("generate_assignment", name, "--create"):
        sys.exit(f"{name}: not generated")
    right = task.reference if task is variant else task.solution
    submit("right", name, right)
    submit("starter", name, task.starter)
    if nbgrader("autograde", name, "--create"):
        problems.append(f"{name}: not graded")
nbgrader("export", "--to", "grades.csv")
rows = list(csv.DictReader((root / "grades.csv").open(encoding="utf-8")))
for _, name, _ in tasks:
    scores = {row["student_id"]: float(row["raw_score"]) for row in rows
              if row["assignment"] == name}
    print(f"{name}: {scores}")
    if scores != {"right": 100, "starter": 0}:
        problems.append(f"{name}: {scores}, not 100 and 0 points")
sys.exit("\n".join(problems) if problems else 0)
