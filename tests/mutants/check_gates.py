"""Tests that every check ("gate") of the validator is needed: check_gates.py RECORDS

A gate is needed if some mutant is rejected by no other gate. The list of gates comes from what the
programs report, so a new gate without such a mutant fails this test.
"""
import json
import sys
from pathlib import Path

results = [json.loads(file.read_text()) for file in sorted(Path(sys.argv[1]).glob("*.json"))
           if not file.name.endswith(".declared.json")]
runs = [(result["name"], result["is_wrong"], result["found"]) for result in results
        if "verdict" in result["found"]]
gates = list(dict.fromkeys(gate for _, _, found in runs for gate in found["errors"]))
if not gates:
    sys.exit(f"{sys.argv[1]}: no records of mutants; run ctest -L mutants first")

not_needed = []
for gate in gates:
    needing = [name for name, is_wrong, found in runs if is_wrong and found["failed"] == [gate]]
    print(f"{gate}: without it {', '.join(needing) or 'no mutant'} would pass")
    if not needing:
        not_needed.append(gate)
if not_needed:
    sys.exit("no mutant needs " + ", ".join(not_needed))
