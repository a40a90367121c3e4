"""Tests that every check of the validator is needed: needed_checks.py RECORDS

A check is needed if some mutant is rejected by no other check. The list of checks comes from what
the programs report, so a new check without such a mutant fails this test.
"""
import json
import sys
from pathlib import Path

results = [json.loads(file.read_text()) for file in sorted(Path(sys.argv[1]).glob("*.json"))
           if not file.name.endswith(".declared.json")]
runs = [(result["name"], result["is_wrong"], result["found"]) for result in results
        if "verdict" in result["found"]]
checks = list(dict.fromkeys(check for _, _, found in runs for check in found["errors"]))
if not checks:
    sys.exit(f"{sys.argv[1]}: no records of mutants; run ctest -L mutants first")

not_needed = []
for check in checks:
    needing = [name for name, is_wrong, found in runs if is_wrong and found["failed"] == [check]]
    print(f"{check}: without it {', '.join(needing) or 'no mutant'} would pass")
    if not needing:
        not_needed.append(check)
if not_needed:
    sys.exit("no mutant needs " + ", ".join(not_needed))
