"""Tests bar charts of profiler counts, and how pages show the results of experiments/claims."""

import json

from tests import fakes

from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.sweep.charts import PROFILED, bar_chart
from nbody_tools.sweep.claims import ONE_THREAD, RESULTS, claims_table, one_thread
from nbody_tools.sweep.tables import read_tables


class Claims(fakes.InFolder):
    def setUp(self) -> None:
        super().setUp()
        line = {"revision": "1", "program": "near_field", "leaves": 8, "seconds": 0.25,
                "verdict": "pass"}
        self.file(str(RESULTS), json.dumps(line) + "\n")
        self.file(str(ONE_THREAD), json.dumps({"interactions_per_second": 2.5e9}) + "\n")

    def test_a_row_per_result(self) -> None:
        rows = claims_table(self.folder, "near_field").splitlines()
        self.assertEqual(rows[0], "| leaves | seconds | check |")
        self.assertEqual(rows[2:], ["| 8 | 0.25 | pass |"])

    def test_a_program_without_results_is_named(self) -> None:
        with self.assertRaisesRegex(ToolError, "no line of far_field"):
            claims_table(self.folder, "far_field")

    def test_rates_of_one_thread(self) -> None:
        self.assertEqual(one_thread(self.folder, "rate").number, 2.5)
        self.assertEqual(one_thread(self.folder, "gflops").number, 50)

    def test_every_bar_of_a_profiler_has_a_count(self) -> None:
        tables = read_tables(ROOT)
        for name in PROFILED:
            chart = bar_chart(ROOT, tables[name])
            with self.subTest(name):
                values = [v for row in chart.panels[0].ours.values() for v in row]
                self.assertEqual(len(values), len(chart.x) * len(chart.panels[0].ours))
                self.assertTrue(all(0 < v <= 100 for v in values if v is not None))
