"""Grades one submission for an assignment, as nbody_tools.labs.grade does for a lab."""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

from nbody_tools.assignments.building import BreaksRule, build
from nbody_tools.assignments.family import Variant
from nbody_tools.assignments.messages import error_first
from nbody_tools.assignments.points import TIME, WEIGHTS
from nbody_tools.assignments.tests import Tests
from nbody_tools.assignments.timing import NoGpu, time_on_gpu
from nbody_tools.labs.building import DoesNotCompile, Workshop, gpu_tools, read_tools
from nbody_tools.labs.report import Line, Report, divided
from nbody_tools.labs.rules import broken_by_text
from nbody_tools.labs.submission import Refused, with_line_feeds
from nbody_tools.labs.tests import Result

COMPILER_LINES = 20


def grade_assignment(variant: Variant, text: str, name: str, seed: int,
                     options: argparse.Namespace) -> tuple[Report, list[Result]]:
    try:
        text = with_line_feeds(text)
    except Refused as error:
        return refused_assignment(variant, name, seed, f"Not run: {error}"), []
    if broken := broken_by_text(variant, text):
        return refused_assignment(variant, name, seed, f"Not run: {broken}"), []
    with tempfile.TemporaryDirectory(prefix="nbody-grade-") as folder:
        tools = read_tools(options.build)
        tools = replace(tools, flags=[*tools.flags, *variant.flags])
        workshop = Workshop(Path(folder), tools, (), options.sandbox)
        try:
            programs = build(variant, text, workshop)
        except BreaksRule as error:
            return refused_assignment(variant, name, seed, f"Not run: {error}"), []
        except DoesNotCompile as error:
            why = "\n".join(["It does not compile:", *error_first(str(error), COMPILER_LINES)])
            return refused_assignment(variant, name, seed, why), []
        results = Tests(variant, workshop, programs, seed).results()
        notes = [f"sandbox: {workshop.sandbox.description}"]
    for_gpu = gpu_tools(options.cuda_build) if variant.time_limit else None
    if for_gpu is None:
        notes.append("not timed: there is no GPU, or --cuda-build is missing")
    else:
        try:
            results.append(time_on_gpu(variant, text, seed, for_gpu, results[0].passed,
                                       options.sandbox))
        except NoGpu as error:
            notes.append(f"not timed: {error}")
    return Report(variant.name, variant.family.title, name, seed, lines_of(results), "",
                  tuple(notes), "Assignment"), results


def lines_of(results: list[Result]) -> tuple[Line, ...]:
    weights = WEIGHTS | TIME
    points = divided([weights[result.name] for result in results])
    return tuple(Line(result.name, most, result.share, 0, result.why)
                 for result, most in zip(results, points))


def refused_assignment(variant: Variant, name: str, seed: int, why: str) -> Report:
    lines = lines_of([Result(test, 0) for test in WEIGHTS])
    return Report(variant.name, variant.family.title, name, seed, lines, why, (), "Assignment")
