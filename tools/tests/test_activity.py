"""Tests that the tables of experiments/activity_map use only measured records."""

from tests import fakes
from nbody_tools.activity import tables as activity
from nbody_tools.records.record import RecordError
from nbody_tools.tables import NOT_MEASURED


def record(rung: str, bodies: int, cells: int, compute: float, backend: str = "cuda", **changes):
    data = fakes.record("activity_map", backend, [compute] * 3, bodies=bodies)
    return {**data, "rung": rung, "block": 256, "cells": cells, **changes}


class Activity(fakes.InFolder):
    def block(self, *records) -> str:
        fakes.write_records(self.folder / activity.FOLDER / "r.jsonl", records)
        return activity.measured(self.folder)

    def test_two_tables(self) -> None:
        text = self.block(record("baseline", 1024, 10, 8.0), record("shared", 1024, 10, 2.0),
                          record("baseline", 4096, 10, 16.0), record("shared", 4096, 10, 1.0),
                          record("shared", 1024, 500, 3.0))
        self.assertIn("Test GPU", text)
        self.assertIn("| rung | block | 1024 | 4096 | speedup |", text)
        self.assertIn("| shared | 256 | 2 s | 1 s | 8.00 |", text)  # the geometric mean of 4 and 16
        self.assertIn("| rung | block | 500 | speedup |", text)
        self.assertIn("| shared | 256 | 3 s | - |", text)
        self.assertNotIn("Rejected", text)

    def test_what_failed_is_named(self) -> None:
        text = self.block(record("shared", 1024, 10, 2.0, verdict="fail"))
        self.assertIn("Rejected by their checks: shared.", text)

    def test_emulated_times_are_none(self) -> None:
        self.assertEqual(self.block(record("shared", 1024, 10, 2.0, "hostcuda")), NOT_MEASURED)

    def test_damaged_records_are_refused(self) -> None:
        for changes in ({"cells": "10"}, {"rung": None}, {"repeats": []}):
            with self.subTest(**changes), self.assertRaisesRegex(RecordError, "r.jsonl:1"):
                self.block({**record("shared", 1024, 10, 2.0), **changes})
