"""Fails if the quick tests do not reach a line, branch or template instance of steps 10 to 15.

    coverage_test.py ROOT BUILD COMPILER

Builds these steps with gcov's counters, runs their quick tests as ctest defines them and the tests
in NIGHTLY, and prints each place that no test reached and that exceptions.toml does not list. If a
test is removed, this test therefore fails, unless other tests reach the same places.
"""
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from judge import counted, judged, missing

STEPS = "step1[0-5]_*"
INCLUDED = ("float64", "small_systems")  # folders with kernels that these steps include
# The other tests would add nothing: other thread orders run the same lines, and large problems run
# the same lines as small ones.
GROUPS = "force|size_sweep|chunks|passes|launches|stack|skewed|clusters|too_large"
TESTS = rf"^(step1[0-5]_[a-z0-9_]+\.({GROUPS})|cluster\.(bits|memory))$"
# Tests that are not quick, and the only ones that reach some template instances.
NIGHTLY = {"step12_newton3": "SweepFloat64.IsRightInEveryShape"}


def run(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-6000:]}")


def count(root, build, compiler, steps):
    for old in build.rglob("*.gcda"):
        old.unlink()
    run("cmake", "-S", root, "-B", build, "-G", "Ninja", "-D", "NBODY_COVERAGE=ON",
        "-D", "NBODY_EXPERIMENTS=OFF", "-D", f"CMAKE_CXX_COMPILER={compiler}")
    folders = [*steps, "step00_cpu_omp", "tests/cluster"]
    run("cmake", "--build", build, "--target", *(f"{folder}/all" for folder in folders))
    run("ctest", "--test-dir", build, "-R", TESTS, "-LE", "nightly", "-j", os.cpu_count(),
        "--output-on-failure")
    for step, tests in NIGHTLY.items():
        run(build / step / f"{step}_test", f"--gtest_filter={tests}")


def report(places, unused):
    for place in places:
        print(f"{place.file}:{place.line}: {place.what}")
    for one in unused:
        place = one.get("line") or one["function"]
        print(f"exceptions.toml: {one['file']}: \"{place}\" is executed, so the exception is not "
              "needed any more")


def main(root, build, compiler):
    if not shutil.which("gcov"):
        print("gcov not found")
        return 77
    steps = sorted(path.name for path in root.glob(STEPS))
    count(root, build, compiler, steps)
    counts = counted(root, build, steps, INCLUDED)
    texts = {file: (root / file).read_text(encoding="utf-8").splitlines() for file in counts}
    table = Path(__file__).with_name("exceptions.toml").read_text(encoding="utf-8")
    exceptions = tomllib.loads(table).get("exception", [])
    found = [place for file in counts for place in missing(file, counts[file], texts[file])]
    places, unused = judged(found, exceptions, texts)
    instances = sum(len(of_file.instances) for of_file in counts.values())
    lines = len({(file, line) for file, of_file in counts.items() for line, _ in of_file.lines})
    branches = sum(many for of_file in counts.values() for _, many in of_file.branches)
    print(f"{len(counts)} files, {lines} lines, {branches} branches, {instances} functions and "
          f"instances: {len(places)} places not reached, {len(exceptions)} exceptions")
    report(places, unused)
    return 1 if places or unused else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3]))
