#!/usr/bin/env python3
"""Tests the points for time, with CPU programs instead of GPU programs: time_test.py BUILD

The solution takes about as long as the step. A slow solution loses points, and a solution that
leaves out work in the timed calls gets none.
"""
import secrets
import sys
from pathlib import Path
from unittest import mock

from nbody_tools.edits import replaced
from nbody_tools.labs import tests
from nbody_tools.labs.building import PLAIN, Workshop, read_tools
from nbody_tools.labs.grade import time_on_gpu
from nbody_tools.labs.lab import find_lab

START = "nbody::StageTimer timer;"
# For each case: an edit of lab 03's solution as (text, replacement), a text that the result must
# contain, and the smallest and the largest share of the points that the case may get.
CASES = {
    "solution": ("", "", "times the", (0.3, 1)),
    "slow": (START, f"{START}\n  for (volatile int k = 0; k < 1'000'000'000;) k = k + 1;",
             "times the", (0, 0)),
    "does_nothing_where_it_is_timed":
        (START, f"{START}\n  if (systems.bodies.size() > 500) return {{}};", "acceleration_rms",
         (0, 0)),
    "keeps_the_first_answer":
        ("return timer.timing();", "static auto first = systems.bodies;\n"
         "  if (first.size() == systems.bodies.size()) systems.bodies = first;\n"
         "  return timer.timing();", "acceleration_rms", (0, 0)),
    "half_the_steps_where_it_is_timed":
        (START, f"{START}\n  const int of_run = run.steps > 3 ? run.steps / 2 : run.steps;",
         "composition", (0, 0)),
}
ALSO = {"half_the_steps_where_it_is_timed": ("run.steps, run.dt", "of_run, run.dt")}
lab = find_lab("03")


def on_cpu(workshop, source, step, name):
    workshop.compile_for_cpu(source, PLAIN)
    return workshop.link_for_cpu(PLAIN)


def timed(name, seed):
    edits = [edit for edit in (CASES[name][:2], ALSO.get(name, ("", ""))) if edit[0]]
    text = replaced(lab.solution, edits, name)
    tools = read_tools(Path(sys.argv[1]))
    with (mock.patch.object(Workshop, "build_for_gpu", on_cpu),
          mock.patch.object(tests, "TIMED", (2, 300, 4))):
        return time_on_gpu(lab, text, seed, tools, is_right=True, sandbox="own")


problems = []
for case, (_, _, says, (low, high)) in CASES.items():
    result = timed(case, secrets.randbelow(1 << 31))
    print(f"{case}: {result.share:.2f} of the points: {result.why}", flush=True)
    if not low <= result.share <= high or says not in result.why:
        problems.append(f"{case} should have {low} to {high} of the points, and \"{says}\"")
sys.exit("\n".join(problems) or 0)
