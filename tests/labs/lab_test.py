#!/usr/bin/env python3
"""Tests that a lab works as declared: lab_test.py BUILD LAB [--ends | --again N]

The starter must compile and fail exactly the tests that the lab names, the solution must pass all
tests, and each wrong solution must fail exactly the tests that it lists, with the declared
messages. --ends tests only the starter and the solution. --again N checks that the solution and the
first wrong solution get the same results N times, with different seeds.
"""
import argparse
import secrets
import sys
from pathlib import Path

from nbody_tools.labs import watching
from nbody_tools.labs.building import read_tools
from nbody_tools.labs.grade import grade
from nbody_tools.labs.lab import find_lab
from nbody_tools.labs.report import as_text
from nbody_tools.labs.step_uses import uses_of_step

SECONDS = 20  # processor time that a grading may take on two idle cores

options = argparse.ArgumentParser()
options.add_argument("build", type=Path)
options.add_argument("lab")
options.add_argument("--ends", action="store_true")
options.add_argument("--again", type=int, default=0)
options.set_defaults(cuda_build=None, sandbox="auto")
options = options.parse_args()
lab = find_lab(options.lab)
problems = []


def check(what, text, fails, says="", points=(0, 100)):
    watching.watched_seconds.clear()
    report, _ = grade(lab, text, lab.file_name, secrets.randbelow(1 << 31), options)
    seconds = sum(watching.watched_seconds)
    print(f"{what}: {report.score:g} points, fails {', '.join(report.failed) or 'nothing'}, "
          f"{seconds:.1f} s")
    shown = as_text(report)
    if report.refused:
        problems.append(f"{what} was refused: {report.refused}")
    elif report.failed != [line.name for line in report.lines if line.name in fails]:
        problems.append(f"{what} should fail {', '.join(fails) or 'nothing'}:\n{shown}")
    elif says not in shown:
        problems.append(f"{what} should get the message \"{says}\":\n{shown}")
    if not fails and report.score != 100 or what == "starter" and report.score != 0:
        problems.append(f"{what} has {report.score} points")
    if not points[0] <= report.score <= points[1]:
        problems.append(
            f"{what} has {report.score} points, not {points[0]} to {points[1]}:\n{shown}"
        )
    if seconds > SECONDS:
        problems.append(f"{what} took {seconds:.0f} s of processor time")


if lab.is_program:
    # Compiles the lab's step now. Otherwise the first grading would compile it and take longer.
    uses_of_step(read_tools(options.build), lab)
if len(lab.wrong) < 3:
    problems.append(f"only {len(lab.wrong)} wrong solutions; at least three are required")
if options.again:
    for _ in range(options.again):
        check("solution", lab.solution, ())
        check(
            lab.wrong[0].name, lab.wrong_text(lab.wrong[0]), lab.wrong[0].fails, lab.wrong[0].says
        )
else:
    check("starter", lab.starter, lab.fails)
    check("solution", lab.solution, ())
    for wrong in () if options.ends else lab.wrong:
        check(wrong.name, lab.wrong_text(wrong), wrong.fails, wrong.says, wrong.points)
sys.exit("\n\n".join(problems) if problems else 0)
