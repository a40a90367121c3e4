"""Tests that computed occupancies agree with the profiler's, and that the glossary agrees with the
terms in bold. Also tests Amdahl's law."""

import re
import unittest
from typing import Any
from unittest import mock

from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.course import glossary, hardware, performance
from nbody_tools.records import gpus
from nbody_tools.records.facts import Facts
from tests import fakes

FACTS = Facts(ROOT)


def gpu_facts() -> dict[str, Any]:
    """Returns the facts of a GPU as in docs/machines.json."""
    return {fact: {"label": fact, "value": value, "unit": unit, "source": "datasheet"}
            for fact, value, unit in (("sms", 40, ""), ("capability", "7.5", ""),
                                      ("memory", 16, "GB"), ("bandwidth", 0.32, "TB/s"))}


class Occupancy(unittest.TestCase):
    def test_known_kernels(self) -> None:
        for block, registers, shared, expected in (
            (1024, 32, 0, (2, 2, 228, 32)),
            (256, 91, 4096, (2, 8, 45, 32)),
            (32, 96, 4096, (20, 64, 45, 32)),
            (384, 149, 30720, (1, 5, 7, 32)),
            (256, 65, 0, (3, 8, 228, 32)),
            (256, 64, 0, (4, 8, 228, 32)),
        ):
            with self.subTest(block=block, registers=registers):
                blocks = hardware.blocks_by(hardware.measured_limits(), block, registers, shared)
                self.assertEqual(tuple(blocks.values()), expected)

    def test_the_profiler_never_counts_more(self) -> None:
        kernels = dict(hardware.main_kernels(FACTS))
        self.assertGreater(len(kernels), 12)
        for step, profile in kernels.items():
            metrics = profile["metrics"]
            block = round(metrics["block_size"])
            blocks = min(
                hardware.blocks_by(
                    hardware.measured_limits(),
                    block,
                    round(metrics["registers"]),
                    round(metrics["shared_bytes"]),
                ).values()
            )
            with self.subTest(step):
                possible = 100 * blocks * block / hardware.measured_limits().threads
                self.assertLessEqual(metrics["occupancy_percent"], possible + 0.1)
                # With many waves, the occupancy is close to the largest possible one.
                if metrics["grid_size"] > 10 * blocks * gpus.measured()["sms"]:
                    self.assertGreater(metrics["occupancy_percent"], 0.9 * possible)

    def test_other_gpus_have_rows(self) -> None:
        rows = hardware.other_gpus().splitlines()[2:]
        self.assertEqual(len(rows), len(gpus.described()))
        for name in ("(Ada)", "(Blackwell)", "(Grace and Hopper)"):
            self.assertTrue([row for row in rows if name in row], name)
        self.assertIn("| T4 | 7.5 | 40 | 64 | 1024 | 64 KB | 1/4 | 80 % | 6.4 | 1.6 |", rows)

    def test_a_row_that_lacks_something_is_named(self) -> None:
        good = gpu_facts()
        self.assertEqual(gpus.values("T4", good), {"sms": 40, "capability": "7.5", "memory": 16,
                                                   "bandwidth": 0.32})
        for fact, change, why in (
            ("bandwidth", {"value": None}, 'needs a "value", a number above 0'),
            ("bandwidth", {"unit": "GB/s"}, 'has the unit "GB/s", but the unit must be "TB/s"'),
            ("sms", {"value": "40"}, 'needs a "value", a number above 0'),
            ("sms", {"value": 0}, 'needs a "value", a number above 0'),
            ("memory", {"source": ""}, 'needs a "source"'),
            ("memory", {"label": ""}, 'needs a "label"'),
            ("memory", {"unit": None}, 'needs a "unit", a string'),
            ("memory", {"unit": "TB"}, 'has the unit "TB", but the unit must be "GB"'),
            ("capability", {"value": 7.5}, 'capability 7.5 is a number: write it as a string, '
                                           '"7.5"'),
            ("capability", {"value": None}, 'needs a "value", a string such as "9.0"'),
        ):
            with self.subTest(fact=fact, change=change):
                self.refused({**good, fact: {**good[fact], **change}}, why)
        for fact in good:
            self.refused({**good, fact: 40}, f"{fact} must be an object with")
            self.refused({other: row for other, row in good.items() if other != fact},
                         f"{fact} is missing")

    def refused(self, facts: dict[str, Any], why: str) -> None:
        with self.assertRaisesRegex(ToolError, f"machines.json: T4: .*{re.escape(why)}"):
            gpus.values("T4", facts)

    def test_a_gpu_with_an_incomplete_row_is_not_skipped(self) -> None:
        for missing in ("sms", "capability"):
            facts = gpu_facts()
            del facts[missing]
            with self.subTest(missing), self.listed({"T4": facts}):
                with self.assertRaisesRegex(ToolError, f"T4: {missing} is missing"):
                    gpus.described()
        with self.listed({"T4": gpu_facts(), "Xeon": {"threads": {"value": 16}}}):
            self.assertEqual(list(gpus.described()), ["T4"])

    def listed(self, machines: dict[str, Any]) -> Any:
        """Replaces the content of docs/machines.json."""
        read = gpus.read_json
        return mock.patch.object(gpus, "read_json", lambda path: (
            machines if path.name == "machines.json" else read(path)))


class Performance(unittest.TestCase):
    def test_intensity_of_broadcasts(self) -> None:
        points = {p.step: p for p in performance.roofline(FACTS)}
        # For 32 interactions of 20 flops, a warp loads four sectors of 32 bytes.
        # The loads of the warp's own bodies add little.
        self.assertAlmostEqual(points["01"].intensity, 5, delta=0.1)
        # In a tile, each of the 512 threads of a block uses a body's 16 bytes.
        self.assertGreater(points["03"].intensity, 40 * points["02"].intensity)

    def test_serial_share(self) -> None:
        share = 0.2
        times = {d: share + (1 - share) / d for d in (1, 2, 4)}
        self.assertAlmostEqual(performance.serial_share(times), share)
        self.assertAlmostEqual(performance.serial_share({1: 8.0, 4: 2.0}), 0)
        self.assertAlmostEqual(performance.time_left(times, 4, 8), share + (1 - share) / 8)


class Glossary(fakes.InRepository):
    def setUp(self) -> None:
        super().setUp()
        self.file(
            "step01_gpu_naive/README.md",
            "# 01\n\n## The idea\n\nA **kernel**. **It runs later.**\n",
        )
        self.define(kernel="A function.")

    def define(self, **terms: str) -> None:
        self.file(
            "docs/glossary.toml", "".join(f'{term} = "{text}"\n' for term, text in terms.items())
        )

    def test_a_term_and_where_it_is(self) -> None:
        self.assertEqual(glossary.lines(self.folder),
                         "- **kernel** ([step 01](../step01_gpu_naive/README.md)): A function.")

    def test_both_directions(self) -> None:
        self.define(kernel="A function.", grid="All blocks.")
        with self.assertRaisesRegex(ToolError, "'grid' is not in bold in any step"):
            glossary.lines(self.folder)
        self.define(grid="All blocks.")
        with self.assertRaisesRegex(ToolError, "'kernel' is in bold but not in"):
            glossary.lines(self.folder)
        self.define(kernel="A function")
        with self.assertRaisesRegex(ToolError, "ends in a full stop"):
            glossary.lines(self.folder)


if __name__ == "__main__":
    unittest.main()
