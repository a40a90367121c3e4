"""Tests that nbody sweep reports published results without a counterpart here. Also tests its
tables of profiler counts, its counts in SASS, and its list of drawings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.sweep import coverage, judge, machine_code, profiles
from nbody_tools.sweep.pages import Reports, unmeasured
from nbody_tools.sweep.tables import read_reports, read_tables
from tests.fakes import InFolder, record

REPORTS = (
    '[map]\ntitle = "A map report"\nmachine = "a GTX"\npublished = "figures 1 and 2"\ntables = '
    '["map_figure_02"]\n'
)
TABLE = """number = "figure 2"
title = "use of the device"
kernel = "force"
profile = [
  {name = "slow", profile = "before", counter = "compute", published = "71 %"},
  {name = "fast", profile = "after", counter = "compute"},
  {name = "share", profile = "before", kernel = "move", counter = "share of the time"},
]

[[claim]]
says = "it is used more"
rows = ["fast"]
above = "slow"
"""
DRAWINGS = (
    '[[drawing]]\nreport = "map"\nnumber = "figure 1"\ntitle = "a tile"\nours = '
    '["docs/figures/tile.svg"]\n'
)
COLUMNS = (
    "ID",
    "Kernel Name",
    "gpu__time_duration.sum",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
)


def csv(*launches: tuple[str, float, float]) -> str:
    rows = [COLUMNS, ("", "", "ns", "%"), *((k, f"void {kernel}(int)", time, compute)
                                           for k, (kernel, time, compute) in enumerate(launches))]
    return "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows)


class Counterparts(InFolder):
    def setUp(self) -> None:
        super().setUp()
        profiles.launches_of.cache_clear()

    def repository(
        self, table: str = TABLE, reports: str = REPORTS, drawings: str = DRAWINGS
    ) -> Path:
        self.file("experiments/sweeps/reports.toml", reports)
        self.file("experiments/sweeps/drawings.toml", drawings)
        self.file("experiments/sweeps/tables/map_figure_02.toml", table)
        self.file("docs/figures/tile.svg", "<svg/>")
        return self.folder

    def counted(
        self, before: tuple[float, ...], after: tuple[float, ...], claim: str = ""
    ) -> judge.Judgement:
        root = self.repository(TABLE.replace('above = "slow"', claim or 'above = "slow"'))
        profiles.launches_of.cache_clear()
        folder = "docs/results/sweeps/profiles"
        self.file(
            f"{folder}/before.csv",
            csv(*(("force", 300, value) for value in before), ("move<4>", 100, 1)),
        )
        self.file(
            f"{folder}/after.csv",
            csv(*(("force", 300, value) for value in after), ("force_2", 300, 99)),
        )
        return judge.judgements(read_tables(root)["map_figure_02"], judge.Results(root))[0]

    def test_what_was_counted_is_still_true(self) -> None:
        self.assertEqual(
            self.counted((10, 11), (20, 21)),
            judge.Judgement("it is used more", "", "20.5 % and 10.5 %", "yes"),
        )
        self.assertEqual(self.counted((20, 21), (10, 11)).still_true, "no")
        self.assertEqual(self.counted((10, 12), (11, 13)).still_true, "inside the spread")
        self.assertEqual(self.counted((10,), (61,), "below = 60").still_true, "no")
        self.assertEqual(self.counted((10,), (59,), "below = 60").still_true, "yes")

    def test_the_page_sets_what_was_counted_beside_the_published(self) -> None:
        self.counted((10, 11), (20, 21))
        self.file("docs/results/sweeps/profiles/device.txt", "Test GPU, driver 1\n")
        page = Reports(self.folder)
        text = page.table(page.tables["map_figure_02"])
        self.assertIn("|  | published | ours (Test GPU) |", text)
        self.assertIn("| slow | 71 % | 10.5 % |", text)
        self.assertIn("| share | - | 14.29 % |", text)  # 100 us of 700 us
        self.assertIn("| it is used more | - | 20.5 % and 10.5 % | yes |", text)

    def test_a_figure_names_the_days_on_which_its_profiles_were_counted(self) -> None:
        self.file("docs/results/sweeps/profiles/device.txt",
                  "Test GPU, driver 1, 2026-01-02\nopen_*.csv: Test GPU, 2026-01-03\n")
        self.assertEqual(profiles.days_of(self.folder, ["map_a"]), "2026-01-02")
        self.assertEqual(profiles.days_of(self.folder, ["open_a"]), "2026-01-03")
        self.assertEqual(profiles.days_of(self.folder, ["map_a", "open_a"]),
                         "2026-01-02 and 2026-01-03")
        self.assertEqual(profiles.machine(self.folder, "2026-01-02"), " (Test GPU, 2026-01-02)")

    def test_what_was_not_counted_is_found(self) -> None:
        self.assertEqual(
            unmeasured(self.repository()), ["map_figure_02: 3 of 3 rows have no counts"]
        )
        page = Reports(self.folder)
        self.assertEqual([one.still_true for one in page.judgements("map")], ["not measured"])
        self.counted((1,), (1,))
        self.assertEqual(unmeasured(self.folder), [])

    def test_counts_that_are_not_there_are_one_line(self) -> None:
        self.counted((10,), (20,))
        for right, wrong, says in (
            (
                "kernel = \"move\"",
                "kernel = \"mov\"",
                "before.csv: has no kernel mov; it has force, move",
            ),
            ("counter = \"compute\"", "counter = \"memory\"", "force has no 'memory_percent'"),
        ):
            with self.subTest(wrong), self.assertRaisesRegex(ToolError, says):
                unmeasured(self.repository(TABLE.replace(right, wrong, 1)))

    def test_mistakes_in_a_profile_are_one_line(self) -> None:
        for right, wrong, says in (
            ('counter = "compute"', 'counter = "speed"', "'speed' is not a counter"),
            ('name = "fast"', 'name = "slow"', "two profiles have the same name"),
            ('above = "slow"', 'above = "other"', "there is no profile 'other'"),
            ('above = "slow"', "", "needs either `above` or `below`"),
            ('rows = ["fast"]', 'rows = ["other"]', "there is no profile 'other'"),
            (
                "[[claim]]",
                '[[series]]\nname = "a"\nreason = "none"\n[[claim]]',
                "cannot share a table",
            ),
        ):
            with self.subTest(wrong), self.assertRaisesRegex(ToolError, says):
                read_tables(self.repository(TABLE.replace(right, wrong, 1)))

    def test_names_of_tables_and_figures(self) -> None:
        self.assertEqual(
            coverage.named("tables 1 to 3 and A2"), ["table 1", "table 2", "table 3", "table A2"]
        )
        self.assertEqual(
            coverage.named("section 6.3 and figures A1, 31-4 to 31-5"),
            ["figure A1", "figure 31-4", "figure 31-5"],
        )
        self.assertEqual(coverage.named("table 11, in three dimensions"), ["table 11"])

    def test_every_table_and_figure_of_a_report_has_a_counterpart(self) -> None:
        def lines(**changes: str) -> list[str]:
            root = self.repository(**changes)
            return coverage.uncovered(root, read_reports(root), read_tables(root))

        self.assertEqual(lines(), [])
        self.assertEqual(lines(drawings=""), ["map: figure 1 has no counterpart"])
        self.assertEqual(
            lines(reports=REPORTS.replace("figures 1 and 2", "table 1, figures 1 to 2")),
            ["map: table 1 has no counterpart"],
        )
        self.assertEqual(lines(reports=REPORTS.replace("figures 1 and 2", "figure 1")),
                         ["map: there is no figure 2 in this report"])
        self.assertIn("map: figure 1 has no counterpart", unmeasured(self.repository(drawings="")))

    def test_mistakes_in_a_drawing_are_one_line(self) -> None:
        for right, wrong, says in (
            ("tile.svg", "tiles.svg", "figure 1: there is no docs/figures/tiles.svg"),
            ("ours = [\"docs/figures/tile.svg\"]", "", "needs either `ours` or a `reason`"),
            ('"map"', '"lab"', "'lab' is not a report"),
            ("title", "name", "'name' is not a key"),
        ):
            root = self.repository(drawings=DRAWINGS.replace(right, wrong, 1))
            with self.subTest(wrong), self.assertRaisesRegex(ToolError, says):
                coverage.read_drawings(root, read_reports(root))

    def test_drawings_are_listed_with_ours(self) -> None:
        root = self.repository(
            drawings=DRAWINGS
            + '[[drawing]]\nreport = "map"\nnumber = "figure 2"\ntitle = "banks"\n'
            'reason = "they are counted"\n'
        )
        text = coverage.drawings_table(root, read_reports(root), "map")
        self.assertIn("| figure 1 | a tile | [tile](../figures/tile.svg) |", text)
        self.assertIn("| figure 2 | banks | none: they are counted |", text)

    def test_a_program_of_the_cpu_has_its_fastest_record(self) -> None:
        def newest(backend: str) -> Any:
            lines = [
                {
                    **record("step03_tiling", backend, compute=(seconds,)),
                    "backend": backend,
                    "configuration": "a",
                    "date": date,
                }
                for seconds, date in ((1.0, "2026-01-01"), (2.0, "2026-01-02"))
            ]
            self.file(
                "docs/results/sweeps/records.jsonl",
                "".join(json.dumps(line) + "\n" for line in lines),
            )
            return judge.Results(self.folder).records["a"]["date"]

        self.assertEqual((newest("cpu"), newest("cuda")), ("2026-01-01", "2026-01-02"))


SASS = """code for sm_90
		Function : _ZN8activity13compute_forceILNS_4RootE0ENS_7StructsEEEvT0_
        /*0000*/                   LDC R1, c[0x0][0x28] ;  /* 0x00 */
        /*0010*/              @P0 EXIT ;                   /* 0x00 */
		Function : _ZN8activity13compute_forceILNS_4RootE2ENS_7StructsEEEvT0_
        /*0000*/                   LDC R1, c[0x0][0x28] ;  /* 0x00 */
		Function : _ZN8activity22compute_force_constantENS_7StructsEP6float2
        /*0000*/                   ISETP.GE.AND P0, PT, R1, c[0x3][0x4], PT ;  /* 0x00 */
        /*0010*/                   LDC R2, c[0x0][0x28] ;  /* 0x00 */
"""


class MachineCode(InFolder):
    def test_constant_banks_and_differences(self) -> None:
        other = SASS.replace("@P0 EXIT", "@P1 EXIT", 1)
        lines = {line["kernel"]: line["values"] for line in machine_code.lines_of(SASS, other)}
        self.assertEqual(lines["compute_force"], {"instructions": 2, "bank_0": 1, "bank_3": 0})
        self.assertEqual(
            lines["compute_force_constant"], {"instructions": 2, "bank_0": 1, "bank_3": 1}
        )
        self.assertEqual(lines["compute_force_float2"]["different"], 2)  # one removed, one added
        same = {line["kernel"]: line["values"] for line in machine_code.lines_of(SASS, SASS)}
        self.assertEqual(same["compute_force_float2"]["different"], 0)

    def test_a_kernel_that_is_not_there_is_named(self) -> None:
        with self.assertRaisesRegex(ToolError, "has no kernel compute_force_constant"):
            machine_code.kernels(SASS.replace("22compute_force_constant", "x"))

    def test_its_edits_fit_the_source(self) -> None:
        text = (ROOT / machine_code.SOURCE / "forces.cuh").read_text(encoding="utf-8")
        self.assertIn("make_float2(s * d.x, s * d.y)", machine_code.edited(text))
        with self.assertRaisesRegex(ToolError, "must occur once"):
            machine_code.edited(text + text)

    def test_what_is_committed_can_be_read(self) -> None:
        rows = [row for table in read_tables(ROOT).values() for row in table.data["profile"]]
        self.assertGreater(len(rows), 40)
        self.assertEqual(profiles.not_counted(ROOT, rows), [])
