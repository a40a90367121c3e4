"""run.py with made-up step programs: the table, the records file, failures and exit codes."""

import json
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import fakes
from nbody_tools.steps import what_a_step_adds


class Run(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.build = self.folder / "build"
        self.build.mkdir()
        self.output = self.folder / "records.jsonl"

    def run_tool(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, str(fakes.TOOLS / "run.py"), "--build", str(self.build),
             "--output", str(self.output), *words],
            capture_output=True, text=True, timeout=60, check=False)

    def row(self, table: str, step: str) -> str:
        return next(line for line in table.splitlines() if line.startswith(step))

    def test_table_and_records(self) -> None:
        fakes.write_step(self.build, fakes.record("step00_cpu_omp", "cpu", (8.0, 19.5, 29.5)))
        fakes.write_step(self.build, fakes.record("step01_gpu_naive"))
        done = self.run_tool()
        self.assertEqual(done.returncode, 0, done.stderr)
        row = self.row(done.stdout, "step01")
        self.assertIn("2 s (1.5 s)", row)  # compute: median and IQR of 1, 2, 4
        self.assertIn("2.5 s (1.5 s)", row)
        self.assertIn("21.47", row)  # 32 x 8192^2 x 20 / 2 s
        self.assertIn("8.00", row)  # 20 s / 2.5 s
        self.assertIn("2.0e-07  pass", row)
        self.assertIn("Test GPU", done.stdout)
        lines = self.output.read_text(encoding="utf-8").splitlines()
        self.assertEqual([json.loads(line)["step"] for line in lines],
                         ["step00_cpu_omp", "step01_gpu_naive"])

    def test_emulated_times_are_not_shown(self) -> None:
        fakes.write_step(self.build, fakes.record("step00_cpu_omp", "cpu"))
        fakes.write_step(self.build, fakes.record("step01_gpu_naive", "hostcuda"))
        done = self.run_tool()
        self.assertEqual(done.returncode, 0)
        row = self.row(done.stdout, "step01")
        self.assertEqual(row.split(), ["step01_gpu_naive", *["emulated"] * 4, "2.0e-07", "pass"])
        self.assertIn("emulated on a CPU: not GPU times", done.stdout)

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
        done = self.run_tool("--step-timeout", "2")
        self.assertLess(time.monotonic() - started, 30)
        self.assertEqual(done.returncode, 1)
        for step, expected in (("step01", "error: exit code 1: out of memory"),
                               ("step02", "skipped: no device: no CUDA device"),
                               ("step03", "timeout: ended after 2 s"),
                               ("step04", "fail"),
                               ("step05", "exit code 0, but no result record")):
            self.assertIn(expected, self.row(done.stdout, step))
        self.assertIn("pass", self.row(done.stdout, "step00"))

    def test_steps_by_number_or_name_and_options_handed_on(self) -> None:
        saying = f"open({str(self.folder / 'words')!r}, 'a').write(' '.join(words) + '\\n')"
        for step in ("step01_gpu_naive", "step02_layout", "step03_tiling"):
            fakes.write_step(self.build, fakes.record(step), saying)
        done = self.run_tool("3", "step01_gpu_naive", "--bodies", "512", "--validate", "off")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("step02", done.stdout)
        words = (self.folder / "words").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(words), 2)
        self.assertIn("--bodies 512 --repeat 5 --warmup 1 --validate off --quiet --json", words[0])

    def test_wrong_arguments_are_one_line_and_exit_2(self) -> None:
        fakes.write_step(self.build, fakes.record("step01_gpu_naive"))
        for words, expected in ((["07"], "'07' is not a step"), (["--bodies", "0"], "--bodies: '0'"),
                                (["--bodies", "1e3"], "'1e3'"), (["--dt", "nan"], "'nan'"),
                                (["--body", "5"], "--body"), (["--input", "nowhere"], "nowhere"),
                                (["--validate", "maybe"], "maybe")):
            with self.subTest(words=words):
                done = self.run_tool(*words)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(expected, done.stderr)
                self.assertFalse(self.output.exists())

    def test_an_empty_build_is_exit_2(self) -> None:
        done = self.run_tool()
        self.assertEqual(done.returncode, 2)
        self.assertIn("holds no step programs", done.stderr)

    def test_what_a_step_adds_is_read_from_its_source(self) -> None:
        source = self.folder / "step03_tiling" / "nbody.cu"
        source.parent.mkdir()
        source.write_text("// step03_tiling -- tiles in shared memory.\n//\n", encoding="utf-8")
        self.assertEqual(what_a_step_adds("step03_tiling", self.folder), "tiles in shared memory")
        self.assertEqual(what_a_step_adds("step04_unroll", self.folder), "")


if __name__ == "__main__":
    unittest.main()
