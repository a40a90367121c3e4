#!/usr/bin/env python3
"""Tests that the variants of an assignment work as declared:
assignment_test.py BUILD FAMILY [--some N | --attempts]

The reference of each variant must get all points, its starter none, and each wrong program the
points that the family declares for it, with the declared message. --some N tests the reference and
the starter of N variants. --attempts grades the programs in attempts/, which were written from the
statement alone: each must get all points; those in cheats/ must get none. Right programs by another
method than the variant's (other_methods/) must get fewer points than nearly complete ones by its own
method (slips/).
"""
import argparse
import secrets
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from nbody_tools.assignments.family import find_family
from nbody_tools.assignments.grading import grade_assignment
from nbody_tools.labs import watching
from nbody_tools.labs.report import as_text

# The fewest and the most points of the programs in each folder.
POINTS = {"attempts": (100, 100), "cheats": (0, 0), "other_methods": (40, 50), "slips": (50, 75)}

options = argparse.ArgumentParser()
options.add_argument("build", type=Path)
options.add_argument("family")
options.add_argument("--some", type=int, default=0)
options.add_argument("--attempts", action="store_true")
options.set_defaults(cuda_build=None, sandbox="auto")
options = options.parse_args()
family = find_family(options.family)


def check(variant, what, text, points, says=""):
    """Returns the problems of one program."""
    report, _ = grade_assignment(variant, text, variant.file_name, secrets.randbelow(1 << 31),
                                 options)
    shown = as_text(report)
    print(f"{variant.name}, {what}: {report.score:g} points", flush=True)
    if not points[0] <= report.score <= points[1]:
        return [f"{what} of {variant.name} has {report.score:g} points, not {points[0]} to "
                f"{points[1]}:\n{shown}"]
    if says not in shown:
        return [f"{what} of {variant.name} should get the message \"{says}\":\n{shown}"]
    return []


def check_variant(variant):
    problems = check(variant, "reference", variant.reference, (100, 100))
    problems += check(variant, "starter", variant.starter, (0, 0))
    for wrong in () if options.some else variant.wrong:
        problems += check(variant, wrong.name, variant.wrong_text(wrong), wrong.points, wrong.says)
    return problems


if options.attempts:
    found = sorted(Path(__file__).with_name("attempts").glob(f"{family.name}-*.cu"))
    by_name = {variant.name: variant for variant in family.variants}
    if len(found) < 2:
        sys.exit(f"{family.name}: {len(found)} attempts; at least two are required")
    all_problems = [problem for folder, points in POINTS.items()
                    for file in sorted(Path(__file__).with_name(folder).glob(f"{family.name}-*.cu"))
                    for problem in check(by_name[file.stem], folder,
                                         file.read_text(encoding="utf-8"), points)]
else:
    variants = family.variants
    if options.some:
        variants = variants[::max(1, len(variants) // options.some)][:options.some]
    with ThreadPoolExecutor(2) as pool:
        all_problems = [problem for found in pool.map(check_variant, variants)
                        for problem in found]
seconds = sum(watching.watched_seconds)
print(f"{seconds:.0f} s of processor time in programs and compilers")
sys.exit("\n\n".join(all_problems) if all_problems else 0)
