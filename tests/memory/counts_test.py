"""Tests that the pages of memory/ state what the tracer counts.

usage: counts_test.py FOLDER

Pages contain tables whose first column has the names of programs. The heading of each other column
is the name of a count.
"""

from __future__ import annotations

import re
import sys
import unittest
from pathlib import Path
from typing import Iterator

from counted import AWKWARD, counts, inspected
from nbody_tools.arguments import ROOT

COLUMNS = {
    "sectors per load": "global load",
    "sectors per store": "global store",
    "sectors per atomic": "global atomic",
    "wavefronts per load": "shared load",
    "wavefronts per store": "shared store",
    "wavefronts per atomic": "shared atomic",
    "barriers": "barriers",
}


def tables(page: str) -> Iterator[dict[str, dict[str, float]]]:
    """Yields each table with counts as {program: {count: value}}. A cell with "-" has no count."""
    for block in re.findall(r"(?:^\|.*\n)+", page, re.M):
        rows = [[cell.strip() for cell in line.strip("|\n").split("|")]
                for line in block.splitlines()]
        kinds = {k: COLUMNS[name] for k, name in enumerate(rows[0]) if name in COLUMNS}
        if kinds:
            yield {row[0].strip("`"): {kind: float(row[k]) for k, kind in kinds.items()
                                       if row[k] != "-"} for row in rows[2:]}


def stated() -> dict[str, dict[str, float]]:
    """Maps each program to the counts that the pages state."""
    found: dict[str, dict[str, float]] = {}
    for page in sorted((ROOT / "memory").glob("*.md")):
        for table in tables(page.read_text("utf-8")):
            for program, values in table.items():
                found.setdefault(program, {}).update(values)
    return found


def wrong(counted: dict[str, float], said: dict[str, float]) -> list[str]:
    """Returns one line for each count that, rounded like the table, differs from the stated one."""
    return [f"{kind}: the page says {value:g}, counted {counted.get(kind, 0):g}"
            for kind, value in said.items() if abs(counted.get(kind, 0) - value) > 0.05]


class Counts(unittest.TestCase):
    def test_the_pages_say_what_is_counted(self) -> None:
        programs = sorted(FOLDER.glob("inspect_memory[0-9][0-9]_*"))
        self.assertGreater(len(programs), 0)
        said = stated()
        self.assertEqual([one.name.removeprefix("inspect_") for one in programs], sorted(said))
        for program in programs:
            name = program.name.removeprefix("inspect_")
            with self.subTest(program=name):
                found = inspected(program)
                for one in (found, inspected(program, AWKWARD)):
                    self.assertTrue(one.clean, one.messages)
                self.assertEqual(wrong(counts(found), said[name]), [])
                # A page may not leave out an access that the kernel makes for every body.
                missing = {kind for kind, value in counts(found).items()
                           if value > 0 and kind not in said[name]}
                self.assertEqual(missing, set())


if __name__ == "__main__":
    FOLDER = Path(sys.argv.pop(1))
    unittest.main()
