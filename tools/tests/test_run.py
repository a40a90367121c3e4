"""Tests ./nbody run with made-up step programs: its table, its file of records, failures of steps,
and exit codes."""

import json
import re
import time

from tests import fakes
from nbody_tools.arguments import ToolError
from nbody_tools.measure.run import SCENARIOS
from nbody_tools.steps import find_step, step_folders, what_a_step_adds


class Run(fakes.InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.build = self.folder / "build"
        self.build.mkdir()
        self.output = self.folder / "records.jsonl"

    def run_tool(self, *words: str) -> tuple[int, str, str]:
        return self.call("run", "--build", self.build, "--output", self.output, *words)

    def row(self, table: str, step: str) -> str:
        return next(line for line in table.splitlines() if line.startswith(step))

    def test_table_and_records(self) -> None:
        fakes.write_step(self.build, fakes.record("step00_cpu_omp", "cpu", (8.0, 19.5, 29.5)))
        fakes.write_step(self.build, fakes.record("step01_gpu_naive"))
        code, out, errors = self.run_tool()
        self.assertEqual(code, 0, errors)
        row = self.row(out, "step01")
        self.assertIn("2 s (1.5 s)", row)  # compute: median and IQR of 1, 2, 4
        self.assertIn("2.5 s (1.5 s)", row)
        self.assertIn("21.47", row)  # 32 x 8192^2 x 20 / 2 s
        self.assertIn("8.00", row)  # 20 s / 2.5 s
        self.assertIn("2.0e-07  pass", row)
        self.assertIn("Test GPU", out)
        lines = self.output.read_text(encoding="utf-8").splitlines()
        self.assertEqual([json.loads(line)["step"] for line in lines],
                         ["step00_cpu_omp", "step01_gpu_naive"])

    def test_emulated_times_are_not_shown(self) -> None:
        fakes.write_step(self.build, fakes.record("step00_cpu_omp", "cpu"))
        fakes.write_step(self.build, fakes.record("step01_gpu_naive", "hostcuda"))
        code, out, _ = self.run_tool()
        self.assertEqual(code, 0)
        row = self.row(out, "step01")
        self.assertEqual(row.split(), ["step01_gpu_naive", *["emulated"] * 4, "2.0e-07", "pass"])
        self.assertIn("emulated on a CPU: not GPU times", out)

    def test_failures_are_rows_and_the_exit_code(self) -> None:
        fakes.write_step(self.build, fakes.record("step00_cpu_omp", "cpu"))
        fakes.write_step(self.build, fakes.record("step01_gpu_naive"),
                         "print('out of memory', file=sys.stderr); sys.exit(1)")
        fakes.write_step(self.build, fakes.record("step02_layout"),
                         "print('no CUDA device', file=sys.stderr); sys.exit(77)")
        fakes.write_step(self.build, fakes.record("step03_tiling"), "time.sleep(60)")
        fakes.write_step(self.build, fakes.record("step04_unroll", verdict="fail"), code=1)
        fakes.write_step(self.build, fakes.record("step05_streams"), "sys.exit(0)")
        started = time.monotonic()
        code, out, _ = self.run_tool("--step-timeout", "2")
        self.assertLess(time.monotonic() - started, 30)
        self.assertEqual(code, 1)
        for step, expected in (("step01", "error: exit code 1: out of memory"),
                               ("step02", "skipped: no device: no CUDA device"),
                               ("step03", "timeout: stopped after 2 s"),
                               ("step04", "fail"),
                               ("step05", "exit code 0, but it wrote no result record")):
            self.assertIn(expected, self.row(out, step))
        self.assertIn("pass", self.row(out, "step00"))

    def test_steps_by_number_or_name_and_options_handed_on(self) -> None:
        saying = f"open({str(self.folder / 'words')!r}, 'a').write(' '.join(words) + '\\n')"
        for step in ("step01_gpu_naive", "step02_layout", "step03_tiling"):
            fakes.write_step(self.build, fakes.record(step), saying)
        code, out, errors = self.run_tool(
            "3", "step01_gpu_naive", "--bodies", "512", "--validate", "off"
        )
        self.assertEqual(code, 0, errors)
        self.assertNotIn("step02", out)
        words = (self.folder / "words").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(words), 2)
        self.assertIn(
            "--bodies 512 --repeat 5 --warmup 1 --validate off --integrator euler --quiet --json",
            words[0],
        )

    def test_records_of_an_earlier_run_are_not_lost(self) -> None:
        self.output.write_text("earlier\n")
        fakes.write_step(self.build, fakes.record("step01_gpu_naive"), "sys.exit(2)")
        code, out, _ = self.run_tool()
        self.assertEqual((code, self.output.read_text()), (1, "earlier\n"))
        self.assertNotIn("Records", out)

    def test_a_file_that_cannot_be_written_is_refused_before_any_run(self) -> None:
        ran = self.folder / "ran"
        fakes.write_step(self.build, fakes.record("step01_gpu_naive"), f"open({str(ran)!r}, 'w')")
        for output, expected in ((self.folder, "is a folder, not a file"),
                                 (self.file("file", "") / "a" / "b", "is not a folder")):
            self.assertIn(expected, self.refused("run", "--build", self.build, "--output", output))
        self.assertFalse(ran.exists())

    def test_wrong_arguments_are_one_line_and_exit_2(self) -> None:
        fakes.write_step(self.build, fakes.record("step01_gpu_naive"))
        for words, expected in (
            (["07"], "'07' is not a step"),
            (["--bodies", "0"], "--bodies: '0'"),
            (["--bodies", "1.5"], "'1.5'"),
            (["--dt", "nan"], "'nan'"),
            (["--body", "5"], "--body"),
            (["--input", "nowhere"], "nowhere"),
            (["--validate", "maybe"], "maybe"),
        ):
            with self.subTest(words=words):
                self.assertIn(
                    expected,
                    self.refused("run", "--build", self.build, "--output", self.output, *words),
                )
                self.assertFalse(self.output.exists())

    def test_it_knows_the_scenarios_of_the_programs(self) -> None:
        table = (fakes.TOOLS.parent / "common/scenarios/scenario_table.cpp").read_text(
            encoding="utf-8"
        )
        self.assertCountEqual(SCENARIOS, re.findall(r'^    entry\("([a-z-]+)"', table, re.M))

    def test_each_scenario_has_a_section(self) -> None:
        page = (fakes.TOOLS.parent / "docs/initial_conditions.md").read_text(encoding="utf-8")
        headings = ", ".join(re.findall(r"^## (.*)$", page, re.M)).split(", ")
        missing = [name for name in SCENARIOS if name not in headings]
        if missing:
            self.fail(f"docs/initial_conditions.md has no section for: {', '.join(missing)}")

    def test_an_empty_build_is_exit_2(self) -> None:
        code, _, errors = self.run_tool()
        self.assertEqual(code, 2)
        self.assertIn("holds no step programs", errors)

    def test_what_a_step_adds_is_read_from_its_source(self) -> None:
        source = self.folder / "step03_tiling" / "nbody.cu"
        source.parent.mkdir()
        source.write_text("// step03_tiling -- tiles in shared memory.\n//\n", encoding="utf-8")
        self.assertEqual(what_a_step_adds("step03_tiling", self.folder), "tiles in shared memory")
        self.assertEqual(what_a_step_adds("step04_unroll", self.folder), "")

    def test_steps_are_found_by_name_or_number_and_a_half_stair_stands_between(self) -> None:
        for name in (
            "step05_streams",
            "step04b_blocks",
            "step04_unroll",
            "step10_x",
            "step4_x",
            "steps",
        ):
            (self.folder / name).mkdir()
        names = step_folders(self.folder)
        self.assertEqual(names, ["step04_unroll", "step04b_blocks", "step05_streams", "step10_x"])
        for text, number in (
            ("4", 0),
            ("04", 0),
            ("04b", 1),
            ("4b", 1),
            ("step04b_blocks", 1),
            ("10", 3),
        ):
            self.assertEqual(find_step(text, names), names[number])
        for text in ("b", "", "004", "4c", "step04", "٤"):
            with (
                self.subTest(text),
                self.assertRaisesRegex(ToolError, "is not a step; choose from step04_unroll"),
            ):
                find_step(text, names)
