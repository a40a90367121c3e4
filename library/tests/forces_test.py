"""Compares the forces that the CUDA part of the library computes with the forces from the steps
whose kernels it uses. All bits must be the same, unless a tolerance is given, relative to the
largest number.

usage: forces_test.py FOLDER [TOLERANCE]

FOLDER has the programs forces_of_library, forces_of_step12_newton3, ...
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from array import array
from pathlib import Path

# The library uses step 13 up to 6144 bodies and step 12 above; 15b is the tree (16 bodies a leaf).
CASES = (("step13_persistent", "direct", (2, 100, 1500)), ("step12_newton3", "direct", (6500,)),
         ("step15b_force_aware", "tree", (2, 16, 17, 3000)))


def are_alike(ours: bytes, theirs: bytes, tolerance: float) -> bool:
    if tolerance == 0:
        return ours == theirs
    pairs = list(zip(array("f", ours), array("f", theirs)))
    largest = max(abs(one) for _, one in pairs)
    return all(abs(a - b) <= tolerance * largest for a, b in pairs)


def main(folder: Path, tolerance: float) -> int:
    different = compared = 0
    with tempfile.TemporaryDirectory() as name:
        ours, theirs = Path(name) / "library", Path(name) / "step"
        for step, method, sizes in CASES:
            for bodies in sizes:
                for masses in ("one", "many"):
                    subprocess.run([folder / "forces_of_library", str(bodies), masses, method,
                                    ours], check=True)
                    subprocess.run([folder / f"forces_of_{step}", str(bodies), masses, theirs],
                                   check=True)
                    compared += 1
                    if len(ours.read_bytes()) != 12 * bodies:
                        print(f"{bodies} bodies: the library wrote another number of forces")
                        different += 1
                    elif not are_alike(ours.read_bytes(), theirs.read_bytes(), tolerance):
                        print(f"{bodies} bodies of {masses} mass: other forces than {step}")
                        different += 1
    print(f"{compared} comparisons, {different} different")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 0))
