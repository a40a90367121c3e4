"""Tests the product of counted factors in a step's README."""

from __future__ import annotations

import unittest

from nbody_tools.arguments import ROOT
from nbody_tools.documents.account import account, account_of_lanes, extra_row
from nbody_tools.records.facts import FactError, Facts


class Account(unittest.TestCase):
    def setUp(self) -> None:
        self.facts = Facts(ROOT)

    def factors(self, step: str, parent: str, extra=()) -> dict[str, float]:
        rows = account(step, parent, self.facts, extra).splitlines()[2:]
        cells = [[cell.strip(" *") for cell in row.strip("|").split("|")] for row in rows]
        return {row[0]: float(row[-1]) for row in cells}

    def test_a_slower_step(self) -> None:
        factors = self.factors("step05_streams", "step04b_blocks")
        measured = self.facts.value("step04b_blocks", "systems", "gips").content / \
            self.facts.value("step05_streams", "systems", "gips").content
        self.assertAlmostEqual(factors["measured, G interactions/s"], measured, places=2)
        self.assertAlmostEqual(factors["SMs with work, mean over time, %"], 2.0, places=1)
        self.assertLess(abs(factors["product of these factors"] / measured - 1), 0.1)

    def test_an_equal_step_has_factors_of_its_gain(self) -> None:
        text = account("step02_layout", "step01_gpu_naive", self.facts, ())
        self.assertIn("times faster", text)
        factors = self.factors("step02_layout", "step01_gpu_naive")
        self.assertGreater(factors["product of these factors"], 1)

    def test_a_row_of_ones_own_joins_the_product(self) -> None:
        plain = self.factors("step06_ldg_fastmath", "step05_streams")
        more = self.factors("step06_ldg_fastmath", "step05_streams", [["a", 2, 6, "more"]])
        product = "product of these factors"
        self.assertAlmostEqual(more[product], 3 * plain[product], places=1)
        fewer = self.factors("step06_ldg_fastmath", "step05_streams", [["a", 6, 2, "fewer"]])
        self.assertEqual(more["a"], fewer["a"])

    def test_lanes_against_threads(self) -> None:
        text = account_of_lanes("step01_gpu_naive", "step00_cpu_omp", self.facts, 16, 32)
        rows = [[cell.strip(" *") for cell in line.strip("|").split("|")]
                for line in text.splitlines()[2:]]
        lanes, time, product, missing, measured = (float(row[-1]) for row in rows)
        self.assertEqual(lanes, 256)
        self.assertAlmostEqual(product / (lanes * time), 1, places=2)
        self.assertAlmostEqual(product * missing / measured, 1, places=2)
        self.assertLess(abs(missing - 1), 0.1)  # a lesson may leave this share unexplained

    def test_a_wrong_row(self) -> None:
        for row in (["a", 1, 2], ["a", 1, 2, "less"]):
            with self.subTest(row), self.assertRaises(FactError):
                extra_row(row)
