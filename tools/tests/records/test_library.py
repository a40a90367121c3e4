"""Tests two tables: the times of libnbody's calls, and cpu_tree compared with other programs."""

import json
import tempfile
import unittest
from pathlib import Path

from nbody_tools.records import library

CALL = {"kind": "call", "bodies": 65536, "method": "direct", "library": "torch", "kernels": 1e-3,
        "kernels_alone": 1.1e-3, "device": "H200", "date": "2026-11-23T00:00:00Z",
        "more": {"queued_checked": 4e-6, "checked_on_device": None, "unchecked_on_device": 1.2e-5,
                 "checked": 2.5e-5}}
HALF = {"kind": "massless", "bodies": 65536, "form": "targets", "all": 4e-3, "half": 2e-3,
        "all_in_a_row": 3.8e-3, "half_in_a_row": 1.9e-3}
TREES = [{"program": name, "bodies": 1 << 20, "seconds": seconds, "rms": 6e-4, "cores": 2,
          "processor": "EPYC", "date": "2026-11-23T00:00:00Z"}
         for name, seconds in (("cpu_tree", 0.8), ("rebound", 16.0))]


class Tables(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results = Path(folder.name)

    def write(self, name: str, records: list) -> None:
        file = self.results / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")

    def test_of_the_newest_file(self) -> None:
        self.write("library/2026-11-22_h200.jsonl", [{**CALL, "kernels": 9.0}])
        of_jax = {**CALL, "library": "jax"}
        compiled = {"kind": "compiled call", "bodies": 65536, "method": "direct",
                    "kernels": 1e-3, "loop": 5e-5, "unrolled": 4e-5}
        self.write("library/2026-11-23_h200.jsonl", [CALL, HALF, of_jax, compiled])
        self.write("cpu_tree_peers/2026-11-23_two_cores.jsonl", TREES)
        words = library.words(self.results)
        self.assertIn("| direct | PyTorch | 1,000 us | 1,100 us | 4 us | - | 12 us | 25 us |",
                      str(words["library_calls"]()))
        self.assertNotIn("JAX", str(words["library_calls"]()))
        self.assertIn("| 65,536 | direct | 1,000 us | 50 us | 40 us |",
                      str(words["library_calls_of_jax"]()))
        self.assertIn("| 65,536 | given | 3.80 ms | 1.90 ms | 2.00 | 4.00 ms | 2.00 ms | 2.00 |",
                      str(words["library_massless"]()))
        self.assertIn("| REBOUND's tree | 1,048,576 | 16.00 s | 6.0e-04 | 20.0 |",
                      str(words["cpu_tree_peers"]()))
        self.assertEqual(str(words["library_device"]()), "H200, 2026-11-23")
        self.assertEqual(str(words["cpu_tree_machine"]()), "EPYC, 2 cores, 2026-11-23")

    def test_without_records(self) -> None:
        for name, word in library.words(self.results).items():
            with self.subTest(name):
                self.assertIsNone(word().content)
                self.assertTrue(word().optional)
