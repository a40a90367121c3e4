"""Tests that the checks of memory/ reject wrong variants of its programs (mutants.toml).

usage: mutants_test.py [NAME...]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

from counted import AWKWARD, counts, inspected
from counts_test import stated, wrong
from nbody_tools.arguments import ROOT
from nbody_tools.edits import replaced

CHOSEN = sys.argv[1:]
HOSTCUDA = ROOT / "hostcuda" / "bin" / "hostcuda"


def compiled(name: str, text: str, folder: Path) -> Path:
    source, program = folder / f"{name}.cu", folder / name
    source.write_text(text.replace('"program.h"', f'"{ROOT}/memory/program.h"'), "utf-8")
    subprocess.run([sys.executable, HOSTCUDA, "cc", "--traced", "-O2", "-std=c++20", source,
                    "-o", program], check=True)
    return program


def rejected_by(program: Path, name: str) -> set[str]:
    """Returns the reasons for which the checks reject a program, or an empty set if it is right."""
    found = inspected(program, AWKWARD)
    reasons = {finding["kind"] for finding in found.findings}
    if found.exit_code != 0:
        reasons.add("FAIL")
    if not reasons and wrong(counts(inspected(program)), stated()[name]):
        reasons.add("counts")
    return reasons


class Mutants(unittest.TestCase):
    def test_every_mutant_is_rejected(self) -> None:
        tables = tomllib.loads((Path(__file__).parent / "mutants.toml").read_text("utf-8"))
        mutants = {name: (program, table) for program, of in tables.items()
                   for name, table in of.items()}
        self.assertLessEqual(set(CHOSEN), mutants.keys())
        for name, (program, table) in mutants.items():
            if CHOSEN and name not in CHOSEN:
                continue
            with self.subTest(mutant=f"{program}.{name}"), tempfile.TemporaryDirectory() as folder:
                text = (ROOT / "memory" / f"{program}.cu").read_text("utf-8")
                mutant = compiled(program, replaced(text, [table["edit"]], name), Path(folder))
                reasons = rejected_by(mutant, program)
                self.assertTrue(any(table["says"] in one for one in reasons), reasons)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
