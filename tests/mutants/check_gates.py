"""Is every gate of the validator needed? check_gates.py RECORDS

A gate is needed if some mutant is rejected by it alone. The gates are those that the programs report,
so that a new gate without such a mutant fails this. WITHOUT_A_MUTANT are known, and said.
"""
import json
import sys
from pathlib import Path

# Step 15 is compared with its own tree in float64 (the gate `tree`), which rejects all that these
# two rejected alone. Step 15b names no such tree yet, so they still judge it; no mutant of 15b has
# been found that they alone reject.
WITHOUT_A_MUTANT = {"rms_at_theta_0.3", "p99_at_theta_0.3"}

results = [json.loads(file.read_text()) for file in sorted(Path(sys.argv[1]).glob("*.json"))
           if not file.name.endswith(".declared.json")]
runs = [(result["name"], result["is_wrong"], result["found"]) for result in results
        if "verdict" in result["found"]]
gates = list(dict.fromkeys(gate for _, _, found in runs for gate in found["errors"]))
if not gates:
    sys.exit(f"{sys.argv[1]}: no mutant has been run; ctest -L mutants runs them")

not_needed = []
for gate in gates:
    needing = [name for name, is_wrong, found in runs if is_wrong and found["failed"] == [gate]]
    print(f"{gate}: without it {', '.join(needing) or 'no mutant'} would pass")
    if needing and gate in WITHOUT_A_MUTANT:
        sys.exit(f"{gate} has a mutant now: {needing[0]}; take it out of WITHOUT_A_MUTANT")
    if not needing and gate not in WITHOUT_A_MUTANT:
        not_needed.append(gate)
if not_needed:
    sys.exit("no mutant needs " + ", ".join(not_needed))
