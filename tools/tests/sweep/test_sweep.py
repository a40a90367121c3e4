"""Tests nbody sweep: which tables it rejects, the order of its rounds, and what it leaves behind if
it is killed or a run fails."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from nbody_tools.arguments import ROOT, Failed, ToolError
from nbody_tools.sweep import cloud, judge, pages, runner, sources
from nbody_tools.sweep.pages import unmeasured
from nbody_tools.sweep.tables import Program, read_tables
from nbody_tools.tables import NOT_MEASURED
from tests.fakes import TOOLS, InFolder, record

REPORTS = (
    '[lab]\ntitle = "A lab report"\nmachine = "a K80"\npublished = "table 1"\ntables = '
    '["lab_table_1"]\n'
)
TABLE = """number = "table 1"
title = "tiles"
arguments = "--bodies 100"
points = [["a", "--steps 1"], ["b", "--steps 2"]]
rounds = 3
series = [
  {name = "16", program = "step03_tiling", define = {TILE_SIZE = 16}, published = [1.0, 2.0]},
  {name = "512", program = "step03_tiling", published = [2.0, 3.0]},
]
claim = [{says = "512 is better", better = "512", worse = ["16"]}]
"""
# Runs a batch like sweep_programs. In its records, validated runs take 9 s and others 1 s.
# A line with "--bodies 13" fails, one with "--bodies 14" kills the process, and lines with
# "--bodies 15" or "--bodies 16" wait.
PROGRAMS = """#!{python} -IS
import json, os, sys, time
if sys.argv[1] == "--list":
    sys.exit(print("\\n".join("k%d" % k for k in range(6))))
for k, line in enumerate(open(sys.argv[2]).read().splitlines()):
    words = line.split()
    for stream in (sys.stdout, sys.stderr):
        print("begin", k, file=stream, flush=True)
    code = 0
    bodies = words[words.index("--bodies") + 1]
    if bodies == "13":
        print("too many registers", file=sys.stderr, flush=True)
        code = 1
    elif bodies == "14":
        os.kill(os.getpid(), 9)
    elif bodies == "15":
        time.sleep(0.2)
    elif bodies == "16":
        time.sleep(60)
    data = json.loads({record!r})
    if "sampled" in words:
        data = json.loads(json.dumps(data).replace("1.0", "9.0"))
        data["verdict"] = "pass"
    data.update(step=words[0])
    if not code:
        open(words[words.index("--json") + 1], "w").write(json.dumps(data) + "\\n")
    for stream in (sys.stdout, sys.stderr):
        print("end", k, code, file=stream, flush=True)
    if code:
        sys.exit(code)
"""


def planned(key: str, bodies: int = 100, **changes: Any) -> runner.Planned:
    return runner.Planned(
        **{
            "key": key,
            "program": key,
            "arguments": f"--bodies {bodies}",
            "threads": 0,
            "rounds": 2,
            "repeat": 1,
            "rate": 100.0,
            **changes,
        }
    )


class Sweep(InFolder):
    def setUp(self) -> None:
        super().setUp()
        data = record("step03_tiling", compute=(1.0,), verdict="unchecked")
        self.programs = self.program(
            "sweep_programs", PROGRAMS.format(python=sys.executable, record=json.dumps(data))
        )
        self.journal = self.folder / "out" / "runs.jsonl"
        self.said: list[str] = []

    def run_all(self, *plan: runner.Planned) -> list[dict[str, Any]]:
        journal = runner.Journal(self.journal)
        runner.run_all(list(plan), self.folder, journal, say=self.said.append)
        return journal.runs

    def repository(self, table: str = TABLE, reports: str = REPORTS) -> Path:
        self.file("experiments/sweeps/reports.toml", reports)
        self.file("experiments/sweeps/tables/lab_table_1.toml", table)
        source = "// step03_tiling -- tiles.\nconstexpr int kTileSize = TUNABLE(TILE_SIZE, 512);\n"
        self.file("step03_tiling/nbody.cu", source)
        return self.folder

    def test_rounds_follow_one_another_and_the_first_validates(self) -> None:
        runs = self.run_all(planned("a"), planned("b"))
        self.assertEqual([(run["round"], run["key"]) for run in runs],
                         [(0, "a"), (0, "b"), (1, "a"), (1, "b"), (2, "a"), (2, "b")])
        records = runner.records_of(runner.Journal(self.journal))
        self.assertEqual([data["configuration"] for data in records], ["a", "b"])
        # The record has the verdict of the validated run, but not its time of 9 s.
        self.assertEqual([repeat["compute"] for repeat in records[0]["repeats"]], [1.0, 1.0])
        self.assertEqual(records[0]["verdict"], "pass")

    def test_what_is_there_is_not_run_again(self) -> None:
        self.run_all(planned("a"))
        before = self.journal.read_text()
        self.run_all(planned("a"))
        self.assertEqual(self.journal.read_text(), before)
        self.assertEqual(len(self.run_all(planned("a"), planned("b"))), 6)

    def test_a_line_cut_short_is_run_again(self) -> None:
        self.run_all(planned("a"))
        text = self.journal.read_text()
        self.journal.write_text(text[:-20])
        self.assertEqual([run["round"] for run in self.run_all(planned("a"))], [0, 1, 2])

    def test_a_damaged_line_is_named(self) -> None:
        for line in ('{"key"', "{}", "[]"):
            self.file("out/runs.jsonl", f'{{"key": "k0", "round": 1}}\n{line}\n')
            with self.assertRaisesRegex(ToolError, "runs.jsonl:2: not a run of ./nbody sweep"):
                runner.Journal(self.journal)

    def test_a_dry_run_writes_nothing(self) -> None:
        self.done("sweep", "lab_table_1", "--dry-run", "--output", self.folder / "new")
        self.assertFalse((self.folder / "new").exists())

    def test_misspelt_words_are_named_before_anything_is_built(self) -> None:
        self.assertIn("list: takes no further words, but got 'x'",
                      self.refused("sweep", "list", "x"))
        self.assertIn("'lab_tabel_1' is not a table; choose from lab_",
                      self.refused("sweep", "build", "lab_tabel_1", "--build", self.folder))

    def test_a_failure_is_a_record_and_the_others_go_on(self) -> None:
        runs = self.run_all(planned("a"), planned("bad", 13), planned("worse", 14), planned("b"))
        failures = {run["key"]: run["failure"] for run in runs if "failure" in run}
        self.assertEqual(
            failures, {"bad": "exit code 1: too many registers", "worse": "killed by signal 9"}
        )
        self.assertEqual({run["key"] for run in runs if run["round"] == 2}, {"a", "b"})
        by_key = {
            data["configuration"]: data for data in runner.records_of(runner.Journal(self.journal))
        }
        self.assertEqual(
            by_key["bad"], {"configuration": "bad", "failure": "exit code 1: too many registers"}
        )

    def test_time_that_is_over_is_no_failure(self) -> None:
        journal = runner.Journal(self.journal)
        runner.run_all(
            [planned("a"), planned("slow", 16)], self.folder, journal, 8.0, self.said.append
        )
        self.assertEqual([(run["key"], "record" in run) for run in journal.runs], [("a", True)])
        self.assertIn("the time is up", self.said[-1])

    def test_a_long_run_needs_no_warmup(self) -> None:
        # Ten steps of 1e8 pairs take 1 s at 1 G interactions/s, and 10 s at 0.1.
        self.assertIn("--warmup 1 ", planned("a", 10000, rate=1.0).line(False, Path("x")))
        self.assertIn("--warmup 0 ", planned("a", 10000, rate=0.1).line(False, Path("x")))

    def test_what_is_not_built_is_left_out_and_named(self) -> None:
        one = {
            "arguments": "--bodies 100",
            "threads": 0,
            "cpu": False,
            "rounds": 1,
            "repeat": 1,
            "rate": 1.0,
        }
        plan = {
            "tables": {"t": ["k0", "other"]},
            "configurations": {
                "k0": {"program": "k0", **one},
                "other": {"program": "other", **one},
            },
        }
        self.file("plan.json", json.dumps(plan))
        code, out, _ = self.call(
            "sweep", "t", "--build", self.folder, "--output", self.folder / "out"
        )
        self.assertEqual((code, "other: skipped, because it is not built" in out), (0, True))
        self.assertEqual({run["key"] for run in runner.Journal(self.journal).runs}, {"k0"})

    def test_a_machine_that_cannot_run_anything_is_no_failure_of_a_configuration(self) -> None:
        for body, says in (
            ("import sys; sys.exit('libcublas.so.13: not found')", "libcublas"),
            (
                "import sys; [print('begin 0\\nno CUDA device\\nend 0 77', file=f) for f in "
                "(sys.stdout, sys.stderr)]; sys.exit(77)",
                "no CUDA device",
            ),
        ):
            self.programs.write_text(f"#!{sys.executable}\n{body}\n")
            with self.subTest(says), self.assertRaisesRegex(Failed, says):
                self.run_all(planned("a"))
            self.assertFalse(self.journal.exists())

    def test_a_killed_sweep_goes_on_where_it_was(self) -> None:
        plan = {
            "tables": {"t": [f"k{k}" for k in range(6)]},
            "configurations": {
                f"k{k}": {
                    "program": f"k{k}",
                    "arguments": "--bodies 15",
                    "threads": k,
                    "rounds": 2,
                    "repeat": 1,
                    "rate": 100.0,
                }
                for k in range(6)
            },
        }
        self.file("plan.json", json.dumps(plan))
        words = [
            sys.executable,
            "-m",
            "nbody_tools",
            "sweep",
            "all",
            "--build",
            str(self.folder),
            "--output",
            str(self.folder / "out"),
        ]
        environment = {**os.environ, "PYTHONPATH": str(TOOLS)}
        process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not self.journal.exists() or self.journal.read_text().count("\n") < 2:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        done = self.journal.read_text().splitlines()
        self.assertLess(len(done), 18)
        subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=True)
        runs = [json.loads(line) for line in self.journal.read_text().splitlines()]
        self.assertEqual([json.loads(line) for line in done], runs[:len(done)])
        self.assertEqual(sorted((run["key"], run["round"]) for run in runs),
                         sorted((f"k{k}", round_) for k in range(6) for round_ in range(3)))

    def test_mistakes_in_a_table_are_one_line(self) -> None:
        for right, wrong, says in (
            ("TILE_SIZE = 16", "TILES = 16", "no parameter TILES"),
            ("step03_tiling", "step99", "'step99' is neither"),
            ("[1.0, 2.0]", "[1.0]", "1 published numbers for 2 points"),
            ("[1.0, 2.0]", "{c = 1.0}", "series '16': there is no point 'c'"),
            ("[1.0, 2.0]", '[1.0, "-"]', "series '16': the published value '-' is not a number"),
            ('["b", "--steps 2"]', '"b"', "a point must be a name and arguments, not 'b'"),
            ('worse = ["16"]', 'worse = ["17"]', "'17'"),
            ("rounds", "round", "'round' is not a key"),
            ('name = "512"', 'name = "16"', "the same name"),
        ):
            with self.subTest(wrong), self.assertRaisesRegex(ToolError, says):
                read_tables(self.repository(TABLE.replace(right, wrong, 1)))
        for named, says in (
            ("[]", "lab_table_1: no report in reports.toml lists this table"),
            ('["lab_table_2"]', "lab_table_2.toml"),
            ('["lab_table_1", "lab_table_1"]', "reports.toml: lab: 'lab_table_1' is listed twice"),
            ('["lab_table_1"]\npoints.x = 3', "reports.toml: lab: a point must be .*, not 3"),
        ):
            with self.subTest(named), self.assertRaisesRegex(ToolError, says):
                read_tables(self.repository(reports=REPORTS.replace('["lab_table_1"]', named)))
        self.assertEqual(self.refused("sweep", "nothing", "--dry-run").count("lab_table_1"), 1)

    def test_what_series_share_stands_above_them(self) -> None:
        table = read_tables(self.repository("""number = "table 1"
title = "tiles"
points = ["both", ["c", "--steps 3"]]
program = "step03_tiling"
define = {TILE_SIZE = 16}
fast_math = true
series = [
  {name = "16", published = [1.0, "", 2.0]},
  {name = "32", define = {TILE_SIZE = 32}, published = {b = 4.0, c = 5.0}, only = ["a", "b"]},
  {name = "none", reason = "does not compile"},
]
claim = [{says = "32 is better", better = "32", worse = ["16"], at = ["both"]}]
""", REPORTS + 'points.both = [["a", "--steps 1"], ["b", "--steps 2"]]\n'))["lab_table_1"]
        self.assertEqual(
            [
                (
                    cell.series,
                    cell.point,
                    cell.configuration and cell.configuration.key,
                    cell.published,
                )
                for cell in table.cells
            ],
            [
                ("16", "a", "step03_tiling_TILE_SIZE_16_fast --steps 1", 1.0),
                ("16", "c", "step03_tiling_TILE_SIZE_16_fast --steps 3", 2.0),
                ("32", "a", "step03_tiling_TILE_SIZE_32_fast --steps 1", None),
                ("32", "b", "step03_tiling_TILE_SIZE_32_fast --steps 2", 4.0),
                ("32", "c", None, 5.0),
                *(("none", point, None, None) for point in "abc"),
            ],
        )
        self.assertEqual(table.data["claim"][0]["at"], ["a", "b"])

    def test_a_default_written_out_is_the_same_program(self) -> None:
        table = read_tables(self.repository(TABLE.replace("TILE_SIZE = 16", "TILE_SIZE = 512")))[
            "lab_table_1"
        ]
        self.assertEqual({cell.configuration.key for cell in table.cells if cell.point == "a"},
                         {"step03_tiling --bodies 100 --steps 1"})

    def judged(
        self, slow: tuple[float, ...], fast: tuple[float, ...], **claim: Any
    ) -> judge.Judgement:
        root = self.repository()
        table = read_tables(root)["lab_table_1"]
        lines = []
        for cell in table.cells:
            times = slow if cell.series == "16" else fast
            data = record("step03_tiling", compute=times, systems=1, bodies=100, steps=1)
            lines.append(json.dumps({**data, "configuration": cell.configuration.key}) + "\n")
        self.file("docs/results/sweeps/records.jsonl", "".join(lines))
        return judge.judge(table, {**table.data["claim"][0], **claim}, judge.Results(root))

    def test_still_true(self) -> None:
        self.assertEqual(self.judged((4.0, 4.0, 4.1), (2.0, 2.0, 2.1)).still_true, "yes")
        self.assertEqual(self.judged((4.0, 4.0, 4.1), (2.0, 2.0, 2.1)).ours, "2.00")
        self.assertEqual(self.judged((4.0, 4.0, 4.1), (2.0, 2.0, 2.1)).published, "1.73")
        self.assertEqual(self.judged((2.0, 2.0, 2.1), (4.0, 4.0, 4.1)).still_true, "no")
        self.assertEqual(
            self.judged((1.0, 2.0, 4.0), (1.0, 2.1, 4.0)).still_true, "inside the spread"
        )

    def test_nothing_measured_is_no_verdict_and_is_found(self) -> None:
        root = self.repository()
        table = read_tables(root)["lab_table_1"]
        self.assertEqual(
            judge.judge(table, table.data["claim"][0], judge.Results(root)).still_true,
            "not measured",
        )
        self.assertEqual(unmeasured(root), ["lab_table_1: 4 of 4 configurations are not measured"])
        self.judged((1.0,), (1.0,))
        self.assertEqual(unmeasured(root), [])

    def test_emulated_times_are_none(self) -> None:
        root = self.repository()
        cell = read_tables(root)["lab_table_1"].cells[0]
        data = {**record("step03_tiling", "hostcuda"), "configuration": cell.configuration.key}
        self.file("docs/results/sweeps/records.jsonl", json.dumps(data) + "\n")
        self.assertIsNone(judge.Results(root).of(cell))

    def test_a_default_far_below_the_best_is_found(self) -> None:
        root = self.repository(
            reports=REPORTS.replace('["lab_table_1"]', '["lab_table_1", "cloud"]')
        )
        self.file("experiments/sweeps/tables/cloud.toml", 'number = "cloud"\ntitle = "all"\n'
                  '[[grid]]\nprogram = "step03_tiling"\ndefine = {TILE_SIZE = [16, 32, 512]}\n')

        def measured(*times: float, run: str = "records") -> None:
            lines = []
            for cell, seconds in zip(read_tables(root)["cloud"].cells, times):
                data = record("step03_tiling", compute=(seconds,), systems=1, bodies=1000, steps=1)
                lines.append(json.dumps({**data, "configuration": cell.configuration.key}) + "\n")
            self.file(f"docs/results/sweeps/{run}.jsonl", "".join(lines))

        self.assertEqual(cloud.cloud_table(root), NOT_MEASURED)
        measured(1.0, 2.0, 1.04)
        self.assertEqual(cloud.slow_defaults(root), [])
        self.assertIn("| step03_tiling | 3 of 3 | 0.0005 |", cloud.cloud_table(root))
        measured(1.0, 2.0, 1.1)
        self.assertEqual(cloud.slow_defaults(root), [
            "step03_tiling: the default is 9.1 % slower than 03, TILE_SIZE 16; "
             "at most 5 % is allowed"])
        self.assertEqual(cloud.listed_slow_defaults(root), "step03_tiling (9.1 %)")
        self.assertEqual(cloud.default_loss(root, "step03_tiling"), "9.1 %")
        self.assertEqual(cloud.default_loss(root, "step04_unroll"), NOT_MEASURED)
        measured(0.5, run="some_of_them_again")
        self.assertEqual(cloud.default_loss(root, "step03_tiling"), "9.1 %")

    def test_the_page_sets_ours_beside_the_published(self) -> None:
        self.judged((4.0,), (2.0,))
        page = pages.Reports(self.folder)
        text = page.table(page.tables["lab_table_1"])
        self.assertIn("| 16 | 1.0 \\| 2.5e-06 | 2.0 \\| 2.5e-06 |", text)
        self.assertIn("| 512 is better | - | 1.73 | 2.00 | yes |", text)
        self.assertEqual(
            pages.verdict_of(page, ("lab_table_1", "512", "16")),
            "**Verdict: gain** (Test GPU). The "
            "variant *512* runs at 2.00 times the speed of *16* (quartiles: 2.00 to 2.00).",
        )
        named = pages.verdict_of(page, ("lab_table_1", "512", "16", "tiles of 512", "tiles of 16"))
        self.assertIn(
            "The variant *tiles of 512* runs at 2.00 times the speed of *tiles of 16* (", named
        )
        self.assertEqual(
            pages.verdict_of(page, ("lab_table_1", "16", "512")).partition("*")[2][:16],
            "*Verdict: loss**",
        )


class Tables(InFolder):
    def test_those_of_the_repository_are_right_and_every_program_has_a_bundle(self) -> None:
        tables = read_tables(ROOT)
        self.assertGreater(len(tables), 30)
        names = [program.name for programs in sources.bundles([]).values() for program in programs]
        self.assertEqual(len(names), len(set(names)))
        text = sources.bundle_text(sources.bundles(["lab_table_1"])["step03_tiling_exact"])
        self.assertIn("#define TILE_SIZE 128\nnamespace step03_tiling_TILE_SIZE_128 {", text)
        self.assertEqual(text.count("::main);"), 5)

    def test_an_edit_must_fit(self) -> None:
        with self.assertRaisesRegex(sources.EditError, "must occur once"):
            sources.bundle_text([Program("step03_tiling", edit=("no such text", ""))])
        text = sources.bundle_text(
            [Program("step03_tiling", edit=("1.0f / sqrtf(distance_squared)", "rsqrtf(d)"))]
        )
        self.assertIn("const float inverse_distance = rsqrtf(d);", text)
