#!/usr/bin/env python3
"""Tests that programs get the points that the README promises for their kind (bands.py):
assignment_test.py BUILD FAMILY [--some N [--if-stale] | --all | --attempts]

Tests for each variant: the reference; the starter; a right program in which one thread does
everything; the same program with additional shuffles, which have no effect and must not gain
points; and the family's wrong programs (course/assignments/FAMILY/wrong.py), which must get the
declared message. Each variant is tested with THREE of the wrong programs, and the next variant with
others; --all tests each variant with all wrong programs.
--some N tests N variants, with the first wrong program of a few kinds; with --if-stale it tests
none if the family's nightly test passed with the present files. --attempts grades programs that
students wrote from the statement alone: right ones in attempts/, cheats, right programs that use a
method other than the variant's, and programs with a slip. A file is named VARIANT.cu, or
VARIANT.WHAT.cu if there are several of a variant. Slips that change a line or two of a right
program are edits of it, in slips.toml.
"""
import argparse
import os
import secrets
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bands import BANDS
from nbody_tools.assignments.family import find_family
from nbody_tools.assignments.grading import grade_assignment
from nbody_tools.edits import replaced
from nbody_tools.labs import watching
from nbody_tools.labs.report import as_text
from nbody_tools.nightly.ledger import Row, read_ledger
from nbody_tools.nightly.plan import needs_a_run
from nbody_tools.nightly.subjects import read_subjects

KIND_OF_FOLDER = {"attempts": "complete", "lessons": "complete", "cheats": "host",
                  "other_methods": "other method", "slips": "slip"}
HERE = Path(__file__).parent
THREE = 3
WORKERS = max(2, (os.cpu_count() or 2) // 2)  # each grader runs two programs at a time
QUICK = ("slip", "first kernel", "no results")  # kinds of wrong programs that --some tests
# Shuffles without effect, inserted at the start of the program in which one thread does everything.
WORDS = """  float word = 0;
  for (int k = 0; k < 30; ++k) word += 0 * __shfl_down_sync(0xffffffffu, word, 1);
  if (threadIdx.x != 0) return;
"""

options = argparse.ArgumentParser()
options.add_argument("build", type=Path)
options.add_argument("family")
options.add_argument("--some", type=int, default=0)
options.add_argument("--if-stale", action="store_true")
options.add_argument("--all", action="store_true")
options.add_argument("--attempts", action="store_true")
options.set_defaults(cuda_build=None, sandbox="auto")
options = options.parse_args()
family = find_family(options.family)
nightly = Row("cpu", f"assignments.{family.name}")
nightly = read_ledger().get(nightly.key, nightly)
if options.if_stale and not needs_a_run(nightly, read_subjects()):
    print(f"{nightly.test} passed with these files, nightly, at {nightly.passed}")
    sys.exit(0)


def check(variant, what, text, kind, says=""):
    """Returns the problems of one program."""
    least, most = BANDS[kind]
    report, _ = grade_assignment(variant, text, variant.file_name, secrets.randbelow(1 << 31),
                                 options)
    shown = as_text(report)
    print(f"{variant.name}, {what} ({kind}): {report.score:g} points", flush=True)
    if not least <= report.score <= most:
        return [f"{what} ({kind}) of {variant.name} has {report.score:g} points, not {least} to "
                f"{most}:\n{shown}"]
    if says not in shown:
        return [f"{what} of {variant.name} should get the message \"{says}\":\n{shown}"]
    return []


def with_words(one_thread):
    """Returns the program of one thread, with additional shuffles that have no effect."""
    launched = one_thread.replace("<<<1, 1>>>", "<<<1, 32>>>")
    begin = launched.index("result) {\n") + len("result) {\n")
    return launched[:begin] + WORDS + launched[begin:]


def first_of_each_kind(wrong):
    return list({one.kind: one for one in reversed(wrong) if one.kind in QUICK}.values())


def chosen(variant):
    """Returns the wrong programs that are tested with this variant."""
    if options.some:
        return first_of_each_kind(variant.wrong)
    if options.all:
        return variant.wrong
    first = family.variants.index(variant)
    return [variant.wrong[(THREE * first + k) % len(variant.wrong)] for k in range(THREE)]


def check_variant(variant):
    problems = check(variant, "reference", variant.reference, "complete")
    problems += check(variant, "starter", variant.starter, "starter")
    problems += check(variant, "one_thread", variant.one_thread, "one thread")
    problems += check(variant, "words", with_words(variant.one_thread), "one thread")
    for wrong in chosen(variant):
        problems += check(variant, wrong.name, variant.wrong_text(wrong), wrong.kind, wrong.says)
    return problems


def attempts():
    """Returns the variant, name, text and kind of each program that a student wrote."""
    by_name = {variant.name: variant for variant in family.variants}
    found = []
    for folder, kind in KIND_OF_FOLDER.items():
        for file in sorted((HERE / folder).rglob(f"{family.name}-*.cu")):
            found.append((by_name[file.name.split(".")[0]], f"{folder}/{file.name}",
                          file.read_text(encoding="utf-8"), kind))
    slips = tomllib.loads((HERE / "slips.toml").read_text(encoding="utf-8"))
    for name, slip in slips.items():
        if name.startswith(f"{family.name}-"):
            right = (HERE / "attempts" / slip["of"]).read_text(encoding="utf-8")
            found.append((by_name[name.split(".")[0]], f"slips.toml, {name}",
                          replaced(right, slip["edits"], name), "slip"))
    return found


if options.attempts:
    programs = attempts()
    count = sum(name.startswith("attempts/") for _, name, _, _ in programs)
    if count < 2:
        sys.exit(f"{family.name}: {count} attempts; at least two are required")
    with ThreadPoolExecutor(WORKERS) as pool:
        all_problems = [problem for found in pool.map(lambda one: check(*one), programs)
                        for problem in found]
else:
    variants = family.variants
    if options.some:
        variants = variants[::max(1, len(variants) // options.some)][:options.some]
    with ThreadPoolExecutor(WORKERS) as pool:
        all_problems = [problem for found in pool.map(check_variant, variants)
                        for problem in found]
seconds = sum(watching.watched_seconds)
print(f"{seconds:.0f} s of processor time in programs and compilers")
sys.exit("\n\n".join(all_problems) if all_problems else 0)
