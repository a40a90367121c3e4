"""Installs the Python package nbody_steps with pip into a new environment that has JAX, and runs
its tests and the examples of docs/library.md. With the word "adapters", installs REBOUND, yt, galpy
and h5py instead of JAX, and tests the package against them.

usage: python_test.py [adapters]

Exits with 77 if there is no venv, if pip cannot reach a package index, or if Highway is missing.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from nbody_tools.arguments import ROOT
from pip_test import NO_NETWORK, NOT_HERE, run

TAKEN = ("common", "library", "python", "cpu/simd", "cpu/tree", "cpu/vectors.h",
         "CMakeLists.txt", "docs/library.md", "step11_register_blocking", "step12_newton3",
         "step13_persistent", "step15_barnes_hut", "step15b_force_aware", "float64",
         "small_systems")
NO_HIGHWAY = "nbody_steps needs Highway"
OTHERS = ("rebound", "yt", "galpy", "h5py")


def copy(folder: Path) -> None:
    """Copies what a build needs, so that the work tree stays clean."""
    for name in TAKEN:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)


def install(folder: Path, source: Path, with_others: bool) -> int:
    made = run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    if made.returncode != 0:
        print(f"no venv here: {made.stdout}")
        return NOT_HERE
    # The build of the package uses the headers of JAX if it is installed already. nvcc would take
    # minutes, and there is no device to test with.
    package = ("--config-settings=cmake.define.NBODY_GRAVITY_CUDA=OFF", source / "python")
    for words in ((*package, *OTHERS),) if with_others else (("jax",), package):
        done = run(folder / "venv/bin/pip", "install", "--quiet", *words, cwd=folder)
        if any(text in done.stdout for text in (*NO_NETWORK, NO_HIGHWAY)):
            print(f"no package index or no Highway here: {done.stdout}")
            return NOT_HERE
        if done.returncode != 0:
            print(done.stdout)
            return 1
    return 0


def main(folder: Path, with_others: bool) -> int:
    source = folder / "source"
    copy(source)
    if failed := install(folder, source, with_others):
        return failed
    # The notebook of GRAPE-6 needs libnbody_g6, so no test runs it.
    notebooks = [source / f"python/notebooks/{name}.md" for name in OTHERS[:3]]
    tests = ((("test_adapters.py", "--all"), ("test_archives.py", "--all"),
              ("test_notebooks.py", *notebooks)) if with_others
             else (("test_nbody_steps.py", source / "docs/library.md"), ("test_arguments.py",),
                   ("test_jax.py",)))
    for name, *words in tests:
        tested = run(folder / "venv/bin/python", source / "python/tests" / name, *words, cwd=folder)
        print(tested.stdout)
        failed = failed or tested.returncode
    return failed


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        sys.exit(main(Path(name), sys.argv[1:] == ["adapters"]))
