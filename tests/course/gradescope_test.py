#!/usr/bin/env python3
"""Tests Gradescope's archive: gradescope_test.py FOLDER

Packs the archive, unpacks it in FOLDER, runs its setup.sh, and submits the solution and the starter
of every lab. Then adds the table of an assignment, as in the archive of an assignment, and submits
the reference and the starter of a student's variant.
"""
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from nbody_tools.arguments import ROOT
from nbody_tools.assignments.family import find_family
from nbody_tools.course.pack import VARIANTS, write_gradescope
from nbody_tools.labs.lab import lab_folders, read_lab

root = Path(sys.argv[1]).resolve()
problems = []


def call(script):
    """Calls the script from another folder, as Gradescope does."""
    environment = os.environ | {"AUTOGRADER": str(root)}
    return subprocess.run([root / script], env=environment, check=False).returncode


def score_of(name, text):
    submission = root / "submission"
    shutil.rmtree(submission, ignore_errors=True)
    submission.mkdir()
    (submission / name).write_text(text, encoding="utf-8")
    call("run_autograder")
    result = json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))
    print(f"{name}: {result['score']} points", flush=True)
    return result["score"], result.get("output", "")


shutil.rmtree(root, ignore_errors=True)
root.mkdir(parents=True)
write_gradescope(ROOT, root / "gradescope.zip")
with zipfile.ZipFile(root / "gradescope.zip") as archive:
    archive.extractall(root / "source")
for script in ("setup.sh", "run_autograder"):
    shutil.move(root / "source" / script, root / script)
    (root / script).chmod(0o755)  # Gradescope does this too
if call("setup.sh") != 0:
    sys.exit("setup.sh failed")

labs = [read_lab(folder) for folder in lab_folders()]
for lab in labs:
    ending = Path(lab.file_name).suffix
    for what, text, expected in (("solution", lab.solution, 100), ("starter", lab.starter, 0)):
        score, output = score_of(f"{lab.number}{ending}", text)
        if score != expected:
            problems.append(f"the {what} of lab {lab.number} has {score} points, not {expected}: "
                            f"{output}")
if not {"04b", "23", "24"} <= {lab.number for lab in labs}:
    problems.append("labs 04b, 23 and 24 are not among those that were graded")

family = find_family("histogram")
variant = family.variant_of("ada", "seed", family.variants)
choice = variant.choice
table = f"student,family,{','.join(choice)}\nada,histogram,{','.join(choice.values())}\n"
(root / "table.csv").write_text(table, encoding="utf-8")
write_gradescope(ROOT, root / "assignment.zip", root / "table.csv")
with zipfile.ZipFile(root / "assignment.zip") as archive:
    archive.extract(VARIANTS, root / "source")
users = [{"id": 1, "email": "ada@school.org", "name": "Ada"}]
(root / "submission_metadata.json").write_text(json.dumps({"users": users}), encoding="utf-8")
for what, text, expected in (("reference", variant.reference, 100),
                             ("starter", variant.starter, 0)):
    score, output = score_of("solution.cu", text)
    if score != expected:
        problems.append(f"the {what} of {variant.name} has {score} points, not {expected}: "
                        f"{output}")
sys.exit("\n".join(problems) if problems else 0)
