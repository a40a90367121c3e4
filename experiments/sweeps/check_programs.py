#!/usr/bin/env python3
"""check_programs.py PROGRAM: checks that every configuration of a sweep passes its validation at a
small size."""
import subprocess
import sys
import tempfile
from pathlib import Path

PROBLEM = "--scenario galaxies --systems 2 --bodies 300 --steps 2 --validate full --quiet"
OWN_PROBLEMS = {"activity_map": "--bodies 100 --map 10 --steps 2", "course_program": "5"}

program = sys.argv[1]
names = subprocess.run(
    [program, "--list"], stdout=subprocess.PIPE, check=True, text=True
).stdout.split()
left = list(names)
failed = []
with tempfile.TemporaryDirectory() as folder:
    batch = Path(folder) / "batch"
    while left:
        batch.write_text(
            "".join(f"{name} {OWN_PROBLEMS.get(name, PROBLEM)}\n" for name in left),
            encoding="utf-8",
        )
        done = subprocess.run(
            [program, "--batch", str(batch)], stdout=subprocess.PIPE, check=False, text=True
        )
        if done.returncode == 77:
            sys.exit(77)
        passed = sum(
            line.startswith("end ") and line.endswith(" 0") for line in done.stdout.splitlines()
        )
        failed += left[passed:passed + 1]  # a batch stops at its first failure
        left = left[passed + 1:]
print(f"{len(names)} programs, failed: {', '.join(failed) or 'none'}")
sys.exit(1 if failed or not names else 0)
