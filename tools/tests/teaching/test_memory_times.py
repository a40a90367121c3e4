"""Tests that the pages of memory/ quote the times and counts of their records."""

from __future__ import annotations

import csv
import re
import statistics
import unittest

from nbody_tools.arguments import ROOT

RECORDS = ROOT / "docs" / "results" / "memory"
ROW = re.compile(r"^\| `(memory\d\d_\w+)`(, with `PITCH` 32)? \| ([\d.]+) \| ([\d.]+) % \| "
                 r"(\d+) % \|$", re.M)
BODIES = 50_000_000


def rows(name: str) -> list[dict[str, str]]:
    with (RECORDS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Pages(unittest.TestCase):
    def test_times_and_shares_are_those_of_the_records(self) -> None:
        found = [match for page in sorted((ROOT / "memory").glob("*.md"))
                 for match in ROW.finditer(page.read_text(encoding="utf-8"))]
        times = rows("2026-11-23_h200_times.csv")
        programs = {row["program"] for row in times}
        names = {"memory04_pitch32" if match[2] else match[1] for match in found}
        self.assertEqual(names, programs)
        for match in found:
            program = "memory04_pitch32" if match[2] else match[1]
            own = [row for row in times if row["program"] == program]
            with self.subTest(program):
                ms = statistics.median(float(row["ms"]) for row in own)
                share = statistics.median(float(row["percent_of_copy"]) for row in own)
                self.assertLess(abs(float(match[3]) / ms - 1), 0.005)
                self.assertLess(abs(float(match[4]) - share), 0.51)

    def test_bytes_of_the_drifts_are_those_counted(self) -> None:
        page = (ROOT / "memory" / "README.md").read_text(encoding="utf-8")
        line = next(line for line in page.splitlines() if line.startswith("| bytes moved per body"))
        said = [float(cell) for cell in line.split("|")[2:5]]
        counts = {row["program"]: row for row in rows("2026-11-23_h200_counts.csv")}
        drifts = ("memory00_runs", "memory01_neighbours", "memory02_arrays")
        for program, value in zip(drifts, said):
            moved = int(counts[program]["dram_read"]) + int(counts[program]["dram_write"])
            self.assertAlmostEqual(value, moved / BODIES, delta=0.05)

    def test_sectors_of_the_transposes_are_those_counted(self) -> None:
        page = (ROOT / "memory" / "tiles.md").read_text(encoding="utf-8")
        line = next(line for line in page.splitlines() if line.startswith("| sectors that L2"))
        said = [float(cell) for cell in line.split("|")[2:4]]
        counts = {row["program"]: row for row in rows("2026-11-23_h200_counts.csv")}
        for program, value in zip(("memory03_transpose", "memory04_tile"), said):
            own = counts[program]
            found = int(own["l2_read_sectors"]) + int(own["l2_write_sectors"])
            self.assertAlmostEqual(value, found / int(own["load_requests"]), delta=0.05)


if __name__ == "__main__":
    unittest.main()
