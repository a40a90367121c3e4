#!/usr/bin/env python3
"""Tests problems that contain several copies of a system, as they do when a GPU is timed: each copy
must get the right result, and a program that omits the last copy must be detected. copies_test.py
BUILD"""
import random
import sys
import tempfile
from pathlib import Path

from nbody_tools.assignments.building import build
from nbody_tools.assignments.family import families
from nbody_tools.assignments.tests import run_problems
from nbody_tools.labs.building import PLAIN, Workshop, read_tools

COPIES = 3
tools = read_tools(Path(sys.argv[1]))
problems = []
for family in families():
    variant = family.variants[len(family.variants) // 2]
    problem = variant.problem(2, 140, random.Random(1))
    if variant.timed[2] == 1:
        continue  # the variant does not compute one result per system
    signature = variant.family.module.signature(variant.choice)
    dropped = variant.reference.replace(
        f"{signature} {{", f"{signature.replace('bodies', 'given')} {{\n  Bodies bodies = given;\n"
        "  if (bodies.systems > 2) bodies.systems = 4;")
    for what, text, right in (("reference", variant.reference, {0, 1, 2}),
                              ("without the last copy", dropped, {0, 1})):
        with tempfile.TemporaryDirectory() as name:
            workshop = Workshop(Path(name), tools, ())
            program = build(variant, text, workshop)[PLAIN]
            found = set()
            for kept in range(COPIES):
                answers, _, _ = run_problems(workshop, program, [problem], "", 8.0, 2,
                                             copies=COPIES, kept=kept)
                if answers.why:
                    problems.append(f"{variant.name}, {what}: {answers.why}\n{answers.said}")
                elif not variant.check(problem, answers.results[0]).why:
                    found.add(kept)
            print(f"{variant.name}, {what}: copies {sorted(found)} are right")
            if found != right:
                problems.append(f"{variant.name}, {what}: copies {sorted(found)} are right, not "
                                f"{sorted(right)}")
sys.exit("\n".join(problems) if problems else 0)
