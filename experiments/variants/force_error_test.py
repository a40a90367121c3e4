#!/usr/bin/env python3
"""force_error_test.py PROGRAM BODIES LIMIT: checks that 99 % of the forces in a Plummer sphere have
errors below LIMIT."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

program, bodies, limit = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    record = Path(folder) / "record.json"
    done = subprocess.run(
        [
            program,
            "--scenario",
            "plummer",
            "--bodies",
            bodies,
            "--steps",
            "1",
            "--validate",
            "off",
            "--force-error",
            bodies,
            "--quiet",
            "--json",
            record,
        ],
        check=False,
    )
    if done.returncode != 0:
        sys.exit(done.returncode)  # 77 means that there is no device
    error = json.loads(record.read_text(encoding="utf-8"))["force_error"]
print(error)
if error["p99"] is None or not error["p99"] <= float(limit):
    sys.exit(f"the 99th percentile is {error['p99']}, the limit {limit}")
