#!/usr/bin/env python3
"""The quick test of a lab: quick_test.py BUILD LAB

Grades nothing if no file of the lab (tests/nightly/subjects.toml) has changed since the lab last
passed, in the nightly test or in this one. If the lab itself or its steps have changed since, or if
the lab is new and has no nightly result, grades the same files as the nightly test, once each: the
starter, the solution and each wrong solution. If only files that all labs share have changed, or if
the revision of the nightly result is not in this history, grades only the starter and the solution.
"""
import json
import subprocess
import sys
from pathlib import Path

from nbody_tools.labs.lab import find_lab
from nbody_tools.nightly.ledger import Row, read_ledger
from nbody_tools.nightly.subjects import (changed_since, fingerprint, matcher, paths_of,
                                          read_subjects)

build, name = Path(sys.argv[1]), sys.argv[2]
lab = find_lab(name)
row = read_ledger().get(("cpu", f"labs.{name}"), Row("cpu", f"labs.{name}"))
changed = changed_since(row.passed) if row.passed and not row.red else None  # since that pass
patterns = {"subject": paths_of(row, read_subjects()),
            "own": (f"course/labs/{name}/*", "!*.md", *(f"{step}/nbody.cu" for step in lab.steps))}
passed_file = build / "tests" / "labs" / f"{name}.passed"
passed = json.loads(passed_file.read_text(encoding="utf-8")) if passed_file.exists() else {}


def is_unchanged(what):
    if changed is not None and not any(map(matcher(patterns[what]), changed)):
        return True
    files = fingerprint(patterns[what])
    return files != "" and passed.get(what) == files


if is_unchanged("subject"):
    print(f"labs.{name} has passed with these files"
          + (f", nightly, at {row.passed}" if changed is not None else ""))
    sys.exit(0)
is_unknown = row.passed and changed is None and "own" not in passed
options = ["--ends"] if is_unknown or is_unchanged("own") else []
whole = Path(__file__).with_name("lab_test.py")
ended = subprocess.run([sys.executable, whole, build, name, *options], check=False)
if ended.returncode == 0:
    known = ("subject",) if options else ("subject", "own")
    passed |= {what: fingerprint(patterns[what]) for what in known}
    passed_file.write_text(json.dumps(passed), encoding="utf-8")
sys.exit(ended.returncode)
