#!/usr/bin/env python3
"""Tests that steps build and pass without the repository: take_test.py [STEP...] (default: all).

Copies each step to a directory outside the repository, builds it with its Makefile (a CUDA step
with hostcuda's nvcc) and runs its check. The check must then reject a wrong force.
"""
from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from nbody_tools.__main__ import main as nbody
from nbody_tools.arguments import ROOT
from nbody_tools.steps import number_of, step_folders
from nbody_tools.take.take import recipe_of

NVCC = ROOT / "hostcuda/bin/nvcc"
NEED_THE_REPOSITORY = ("14", "16b")  # these steps need MPI and NCCL


def check(directory: Path) -> tuple[int, str]:
    made = subprocess.run(
        ["make", "-C", directory, "check", f"NVCC='{NVCC}'"],  # the path may contain spaces
        text=True,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return made.returncode, made.stdout


def taken(number: str, directory: Path) -> Path:
    if nbody(["take", number, str(directory)]) != 0:
        sys.exit(f"take {number}: failed")
    foreign = [line for file in directory.rglob("*") if file.is_file()
               for line in file.read_text(encoding="utf-8").splitlines() if f"{ROOT}/" in line]
    if foreign:
        sys.exit(f"take {number}: the copy contains the path of the repository: {foreign[0]}")
    return directory


def must_pass(number: str, directory: Path) -> None:
    code, output = check(taken(number, directory))
    if code != 0 or output.count("right; ") != 3:
        sys.exit(f"step {number} fails in another directory:\n{output}")


def must_fail(number: str, directory: Path) -> None:
    """Checks that the copied step rejects a force whose y component equals its x component."""
    source = directory / recipe_of(next(
        name for name in step_folders(ROOT) if number_of(name) == number)).source
    text = source.read_text(encoding="utf-8")
    if text.count("s * dy") != 1:
        sys.exit(f"{source}: 's * dy' must occur once")
    source.write_text(text.replace("s * dy", "s * dx"), encoding="utf-8")
    code, output = check(directory)
    if code == 0 or "force is wrong" not in output:
        sys.exit(f"the check of step {number} does not find a wrong force:\n{output}")


def main() -> None:
    if not shutil.which("make"):
        print("skipped: there is no make")
        sys.exit(77)
    numbers = sys.argv[1:] or [number_of(name) for name in step_folders(ROOT)
                               if number_of(name) not in NEED_THE_REPOSITORY]
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            must_pass(number, Path(folder, number))
        must_fail(numbers[0], Path(folder, numbers[0]))


if __name__ == "__main__":
    main()
