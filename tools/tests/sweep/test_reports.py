"""Tests the pages of the five documents: printed numbers, speedups, runs, stages, and items."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.sweep import items, judge, pages, ratios
from nbody_tools.sweep.tables import read_tables
from tests.fakes import InFolder, record
from tests.sweep.test_sweep import REPORTS

TABLE = """number = "table 1"
section = "2.5"
title = "tiles"
arguments = "--bodies 100"
points = [["N 1", "--steps 1"], ["N 2", "--steps 2"]]
measure = "s per step"
program = "step03_tiling"
series = [
  {name = "16", define = {TILE_SIZE = 16}, published = [2.500, 4.0]},
  {name = "512", published = [1.000, 3.0]},
]
ratio = [
  {name = "speedup", faster = "512", than = "16", published = [2.50, 1.33], \
average = {N = 1.92}, cumulative = {N = 1.92}},
]
claim = [{says = "512 is better", better = "512", worse = ["16"], where = "figure 4"}]
"""
ITEM = """item = [
  {document = "lab", section = "1", kind = "feature", what = "a tile", status = "whole", \
at = ["docs/page.md#the-tile"]},
  {document = "lab", section = "2", kind = "table", what = "table 1", status = "missing", \
at = [], reason = "no GPU"},
]
"""


class Pages(InFolder):

    def repository(self, table: str = TABLE) -> Path:
        self.file("experiments/sweeps/reports.toml",
                  REPORTS.replace("title", 'page = "lab_report"\ntitle', 1))
        self.file("experiments/sweeps/tables/lab_table_1.toml", table)
        self.file("step03_tiling/nbody.cu",
                  "// step03_tiling -- tiles.\nconstexpr int k = TUNABLE(TILE_SIZE, 512);\n")
        self.file("docs/page.md", "# A page\n\n## The tile\n")
        return self.folder

    def measured(self, root: Path, *files: tuple[str, str, float]) -> None:
        """Writes records: each argument is a file, a prefix of the series to write, and seconds."""
        for name, series, seconds in files:
            lines = [
                json.dumps(
                    {
                        **record("step03_tiling", compute=(seconds,), bodies=100, steps=1),
                        "configuration": cell.configuration.key,
                    }
                )
                + "\n"
                for cell in read_tables(root)["lab_table_1"].cells
                if cell.series.startswith(series)
            ]
            self.file(f"docs/results/sweeps/{name}.jsonl", "".join(lines))

    def page(self, root: Path) -> str:
        reports = pages.Reports(root)
        return reports.table(reports.tables["lab_table_1"])

    def test_numbers_are_printed_as_they_were(self) -> None:
        root = self.repository()
        self.measured(root, ("one", "", 0.5))
        text = self.page(root)
        self.assertIn("### Table 1 (section 2.5): tiles", text)
        self.assertIn("| 16 | 2.500 \\| 0.5 | 4.0 \\| 0.5 |", text)
        self.assertIn("| N 1 | 2.50 \\| 1.00 |", text)
        self.assertIn("| average over N | 1.92 \\| 1.00 |", text)
        self.assertIn("| product of the averages over N | 1.92 \\| 1.00 |", text)
        self.assertIn("| 512 is better | figure 4 |", text)

    def test_a_printed_speedup_that_does_not_follow_is_found(self) -> None:
        self.assertEqual(ratios.misprints(read_tables(self.repository())["lab_table_1"]), [])
        wrong = TABLE.replace("2.50, 1.33", "2.40, 1.33")
        self.assertEqual(ratios.misprints(read_tables(self.repository(wrong))["lab_table_1"]),
                         ["lab_table_1: speedup, N 1: printed 2.40, but 2.5000 follows from the "
                          "printed times"])

    def test_the_documents_misprints_are_those_of_the_errata(self) -> None:
        """Printed speedups that are not misprints must follow from the printed times. This also
        shows that the numbers were copied from the documents without typing errors."""
        found = [
            line.partition(" follows")[0] for table in read_tables(ROOT).values()
            for line in ratios.misprints(table)
        ]
        self.assertEqual(found, [
            "map_table_04: speedup, N 10000: printed 1.0003, but 1.0027",
            "project_table_a3: 4 x 256, 256: GPU6 over GPU5, 200k: printed 2.72, but 2.7336",
            "project_table_a4: 1 thread: CPU1 over CPU0, 100k: printed 1.08, but 1.6788",
            "project_table_a4: 4 threads: CPU1 over CPU0, 20k: printed 1.67, but 1.0846"
        ])

    def test_rows_of_two_runs_are_refused(self) -> None:
        root = self.repository()
        self.measured(root, ("one", "16", 1.0), ("two", "512", 0.99))
        self.assertEqual(pages.unmeasured(root), [
            "lab_table_1: its rows are from several runs; measure them in one, or say in "
            "several_runs why they can be compared"
        ])
        # Within one run, a difference of 1 % decides a claim; between two machines it does not.
        self.assertIn("| 1.01 | inside the spread |", self.page(root))
        root = self.repository(
            TABLE.replace('title = "tiles"', 'title = "tiles"\nseveral_runs = "two machines."'))
        self.assertEqual(pages.unmeasured(root), [])
        self.assertIn("The rows are from 2 runs: two machines.", self.page(root))
        self.measured(root, ("one", "", 1.0), ("two", "none", 1.0))
        self.assertEqual(pages.unmeasured(root),
                         ["lab_table_1: its rows are from one run, but several_runs says "
                          "otherwise"])

    def test_a_run_that_has_all_rows_is_preferred(self) -> None:
        root = self.repository()
        self.measured(root, ("one", "", 1.0), ("two", "512", 0.5))
        self.assertIn("| 1.00 | inside the spread |", self.page(root))

    def test_records_that_no_table_uses_are_found(self) -> None:
        root = self.repository()
        self.measured(root, ("one", "", 1.0))
        self.assertEqual(pages.unmeasured(root), [])
        self.measured(root, ("two", "", 0.5))
        run = judge.run_of(Path("one"), record("step03_tiling"))
        self.assertEqual(pages.unmeasured(root), [
            f"docs/results/sweeps: {run}: no table uses 4 of its records; remove them"
        ])

    def test_rows_with_one_gpu_come_from_one_run_if_others_need_more(self) -> None:
        root = self.repository()
        self.measured(root, ("all", "", 1.0), ("some", "512", 0.5))
        root = self.repository(TABLE.replace(
            "]\nratio", '  {name = "two GPUs", arguments = "--devices 2"},\n]\nratio', 1
        ))
        self.measured(root, ("two", "two GPUs", 0.25))
        text = self.page(root)
        self.assertIn("| 512 is better | figure 4 | 1.83 | 1.00 | inside the spread |", text)
        self.assertIn("The rows are from 2 runs", text)

    def test_stages_are_judged_by_their_timeline(self) -> None:
        table = ('number = "table 1"\ntitle = "stages"\ntimeline = "run"\n'
                 'stage = [{name = "up", stage = "upload", first = "1", later = "1"},\n'
                 '  {name = "sum", stage = "compute", first = "1", later = "1"}]\n'
                 'claim = [{says = "short", stages = ["up"], below = "sum"}]\n')
        root = self.repository(table)
        self.assertIn("*not measured*", self.page(root))
        for seconds, verdict in ((0.5, "yes"), (2.9, "no")):
            self.file(
                "docs/results/timelines/run.timeline.csv", "device,stream,system,stage,begin,end\n"
                f"0,0,0,upload,0,{seconds}\n0,0,0,compute,3,4\n"
                f"0,1,1,upload,0,{seconds}\n0,1,1,compute,3,5\n"
            )
            self.assertTrue(self.page(root).endswith(f"| {verdict} |"), self.page(root))
        # With `all`, the claim is false, because all uploads together take longer than one
        # computation.
        self.file("experiments/sweeps/tables/lab_table_1.toml",
                  table.replace('below =', 'all = true, below ='))
        self.file(
            "docs/results/timelines/run.timeline.csv", "device,stream,system,stage,begin,end\n"
            "0,0,0,upload,0,0.9\n0,0,0,compute,3,4\n0,1,1,upload,0,0.9\n0,1,1,compute,3,5\n")
        self.assertTrue(self.page(root).endswith("| no |"), self.page(root))

    def test_mistakes_are_one_line(self) -> None:
        for right, wrong, says in (('than = "16"', 'than = "17"', "there is no series '17'"),
                                   ("average = {N", "average = {M", "no point begins with 'M'"),
                                   ("[2.50, 1.33]", "[2.50]", "1 published numbers for 2 points")):
            with self.subTest(wrong), self.assertRaisesRegex(ToolError, says):
                read_tables(self.repository(TABLE.replace(right, wrong, 1)))

    def test_items_name_what_is_there(self) -> None:
        root = self.repository()
        self.file("docs/reports/items.toml", ITEM)
        self.assertEqual([item.status for item in items.read_items(root)], ["whole", "missing"])
        self.assertIn("| **all** | 2 | 1 | 0 | 1 | 0 |", items.counts_table(root))
        self.assertIn("| 1 | a tile | [page](../page.md#the-tile) | whole |",
                      items.items_of(root, "lab"))
        for right, wrong, says in (("docs/page.md#", "docs/pages.md#", "there is no docs/pages.md"),
                                   ("docs/page.md#", "../page.md#", "there is no ../page.md"),
                                   ("#the-tile", "#the-tiles",
                                    "docs/page.md has no heading #the-tiles"), ('"whole"', '"hole"',
                                                                                "status is 'hole'"),
                                   ('"table", what', '"tables", what', "kind is 'tables'"),
                                   (', reason = "no GPU"', "", "a reason is required if"),
                                   ('["docs/page.md#the-tile"]', "[]", "must contain a file"),
                                   ('"whole"', '"whole", reason = "because"',
                                    "a reason is required if")):
            self.file("docs/reports/items.toml", ITEM.replace(right, wrong, 1))
            with self.subTest(wrong), self.assertRaisesRegex(ToolError, says):
                items.read_items(root)

    def test_all_items_of_the_audit_are_listed(self) -> None:
        found = items.read_items(ROOT)
        self.assertEqual(len(found), 302)
        count = {kind: sum(item.kind == kind for item in found) for kind in ("table", "figure")}
        self.assertEqual(count, {"table": 29, "figure": 74})
        self.assertEqual([item.what for item in found if item.status == "wrong"], [])

    def test_links_of_the_pages_lead_somewhere(self) -> None:
        pages_of = [
            *(ROOT / "docs" / "reports").glob("*.md"), ROOT / "docs" / "reports.md",
            ROOT / "docs" / "errata.md", ROOT / "experiments" / "errata" / "README.md"
        ]
        self.assertGreater(len(pages_of), 7)
        for page in pages_of:
            for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
                if not target.startswith("http"):
                    path, _, heading = target.partition("#")
                    place = os.path.relpath(page.parent / path if path else page, ROOT)
                    with self.subTest(f"{page.name}: {target}"):
                        self.assertEqual(
                            items.unresolved(ROOT, place + (f"#{heading}" if heading else "")), "")

    def test_the_lines_that_errata_names_are_those_of_the_verdicts(self) -> None:
        folder = ROOT / "experiments" / "errata"
        named = re.findall(r"\[([^]]*)\]\((\w+)\.txt\)",
                           (folder / "README.md").read_text(encoding="utf-8"))
        self.assertEqual(len(named), len(list(folder.glob("*.cu"))))
        for text, program in named:
            verdict = (folder / f"{program}.txt").read_text(encoding="utf-8")
            for line in re.findall(r"\b\d+\b", text):
                self.assertIn(f"{program}.cu:{line}", verdict)


class Verdicts(InFolder):

    def test_noise_between_runs_is_wider(self) -> None:
        times = judge.Quartiles(1.0099, 1.01, 1.0101)
        self.assertEqual(judge.faster(times), "yes")
        self.assertEqual(judge.faster(times, judge.NOISE_OF_RUNS), "inside the spread")
