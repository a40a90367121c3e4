"""Tests the tables and the figure that compare trees with other programs on several systems."""

import json
import unittest

from nbody_tools.tree import programs
from nbody_tools.tree.programs import Point
from tests import fakes


def point(program: str, time: float, rms: float, ours: bool = False) -> Point:
    return Point(program, "plummer", 64, "", time, rms, rms, rms, ours)


class Programs(fakes.InFolder):
    def test_settings_that_another_one_beats_are_left_out(self) -> None:
        points = [point("a", 1, 1e-2), point("a", 2, 1e-2), point("a", 3, 1e-3),
                  point("a", 4, 2e-3), point("b", 0.1, 1e-6)]
        kept = programs.fastest(points, "a", "plummer")
        self.assertEqual([(p.seconds, p.rms) for p in kept], [(1, 1e-2), (3, 1e-3)])
        self.assertEqual(programs.fastest(points, "a", "uniform"), [])

    def test_times_between_settings(self) -> None:
        curve = [point("a", 1, 1e-2), point("a", 100, 1e-4)]
        self.assertAlmostEqual(programs.time_at(curve, 1e-3), 10)
        self.assertEqual(programs.time_at(curve, 1e-1), 1)
        self.assertEqual(programs.time_at(curve, 1e-4), 100)
        self.assertIsNone(programs.time_at(curve, 1e-5))
        self.assertIsNone(programs.time_at([], 1e-5))

    def test_the_fastest_of_each_side_are_compared(self) -> None:
        points = [point("step 15", 2, 1e-3, True), point("step 16", 1, 1e-3, True),
                  point("b", 8, 1e-3), point("c", 4, 1e-3)]
        self.assertAlmostEqual(programs.gain_at(points, "plummer", 1e-3), 4)
        self.assertIsNone(programs.gain_at(points, "plummer", 1e-4))

    def test_tables(self) -> None:
        self.assertEqual(programs.tables([], []), "")
        record = fakes.record("step15_barnes_hut") | {
            "scenario": "plummer", "bodies": 64, "approximation": {"theta": 0.6, "multipole": 2},
            "force_error": {"rms": 1e-3, "p99": 1e-3, "max": 1e-3}}
        folder = self.folder / programs.FOLDER
        folder.mkdir()
        (folder / "a.jsonl").write_text(json.dumps(record) + "\n")
        (folder / "a.peers.json").write_text(json.dumps([vars(point("b", 8, 1e-4))]))
        text = programs.tables(programs.records_of(self.folder), programs.others_of(self.folder))
        self.assertIn("Plummer sphere, 64 bodies:", text)
        self.assertIn("| RMS error | step 15 | b | times as fast |", text)
        self.assertIn("| 1e-04 | - | 8 s | - |", text)


if __name__ == "__main__":
    unittest.main()
