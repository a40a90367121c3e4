#!/usr/bin/env python3
"""A lab by day: by_day_test.py BUILD LAB

Grades the starter, the solution and each wrong solution once (lab_test.py), unless the files that
the lab is about (tests/nightly/subjects.toml) are those with which all that has passed already: by
night, as tests/nightly.csv says, or here.
"""
import subprocess
import sys
from pathlib import Path

from nbody_tools.nightly.ledger import Row, read_ledger
from nbody_tools.nightly.subjects import fingerprint, read_subjects, stale_by

build, lab = Path(sys.argv[1]), sys.argv[2]
test = f"labs.{lab}"
subjects = read_subjects()
row = read_ledger().get(("cpu", test), Row("cpu", test))
if row.passed and not row.red and stale_by(row, subjects) is None:
    print(f"{test} passed at {row.passed}; no file of its subject has changed since")
    sys.exit(0)

kept = build / "tests" / "labs" / f"{lab}.passed"
files = fingerprint(row, subjects)
if files and kept.exists() and kept.read_text(encoding="utf-8") == files:
    print(f"{test} has passed here with these files")
    sys.exit(0)

whole = Path(__file__).with_name("lab_test.py")
ended = subprocess.run([sys.executable, whole, build, lab], check=False)
if ended.returncode == 0:
    kept.write_text(files, encoding="utf-8")
sys.exit(ended.returncode)
