"""Tests ./nbody measure with made-up programs: its records, its reports of failures, and that it
does not repeat finished parts."""

import subprocess
import sys
from typing import Any
from unittest import mock

from nbody_tools.measure import parts
from tests import fakes

NCU = f"""import shutil, subprocess
if "--log-file" in words:
    log = words[words.index("--log-file") + 1]
    shutil.copy({str(fakes.TOOLS / "tests/data/ncu_raw.csv")!r}, log)
program = [i for i, word in enumerate(words)
           if "/step" in word and word.endswith(word.split("/")[-2])]
sys.exit(subprocess.run(words[program[0]:]).returncode)
"""


class Measure(fakes.Measuring):
    def setUp(self) -> None:
        super().setUp()
        for data in fakes.staircase_records():
            fakes.write_step(self.build, data)

    def with_tools(self, **scripts: str) -> Any:
        """Puts these scripts first on the PATH."""
        for name, text in scripts.items():
            self.program(f"bin/{name.replace('_', '-')}", text)
        return mock.patch.dict("os.environ", {"PATH": f"{self.folder / 'bin'}:/usr/bin:/bin"})

    def test_records_and_a_table(self) -> None:
        out = self.done(*self.measure("staircase"))
        self.assertEqual([record["step"] for record in self.records("staircase")],
                         [step for step, _, _ in fakes.STAIRCASE])
        self.assertRegex(
            out, r"(?m)^staircase  step03_tiling +1 +32 x 8192 x 20 .* 429\.5 +2\.0e-07  pass$"
        )

    def test_a_part_that_is_done_is_not_done_again(self) -> None:
        self.done(*self.measure("staircase"))
        before = (self.output / "staircase.jsonl").stat().st_mtime_ns
        self.assertIn("already done", self.done(*self.measure("staircase")))
        self.assertEqual((self.output / "staircase.jsonl").stat().st_mtime_ns, before)
        self.assertNotIn("already done", self.done(*self.measure("staircase", "--again")))

    def test_a_failure_is_named_the_others_go_on_and_the_part_is_not_done(self) -> None:
        fakes.write_step(self.build, fakes.record("step05_streams"),
                         "print('out of memory', file=sys.stderr); sys.exit(1)")
        for step in ("step06_ldg_fastmath", "step10_tiled2d_cublas"):
            fakes.write_step(self.build, fakes.record(step))
        code, _, errors = self.call(*self.measure("staircase", "sizes", "variants"))
        self.assertEqual(code, 1)
        self.assertIn("FAILED: staircase: step05_streams --scenario galaxies", errors)
        self.assertIn("out of memory", errors)
        self.assertIn("FAILED: variants: no variants in the build folder", errors)
        self.assertEqual(self.records("staircase")[-1]["step"], "step10_tiled2d_cublas")
        self.assertEqual(
            len(self.records("sizes")), 7
        )  # three sizes per step; from step 10 also a million bodies
        self.assertEqual(list(self.output.glob("*.done")), [])

    def test_small_systems_from_step_10(self) -> None:
        for step in ("step06_ldg_fastmath", "step13_persistent"):
            fakes.write_step(self.build, fakes.record(step))
        self.done(*self.measure("small"))
        self.assertEqual(
            [record["step"] for record in self.records("small")], 7 * ["step13_persistent"]
        )

    def test_tests_of_the_steps(self) -> None:
        test = self.build / "tests/command_line/command_line_test"
        for path in (test, *(self.build / step / f"{step}_test" for step, _, _ in fakes.STAIRCASE)):
            self.program(path, "#!/bin/sh\necho '[       OK ] a'; [ \"$NBODY_REQUIRE_GPU\" = 1 ]\n")
        self.assertIn(
            "step03_tiling test: 1 tests passed, 0 skipped", self.done(*self.measure("checks"))
        )
        test.unlink()
        self.assertIn("step00_cpu_omp.command_line.log: error cannot be started",
                      self.call(*self.measure("checks", "--again"))[2])

    def test_the_environment_is_set_and_the_records_are_told_apart(self) -> None:
        say = (
            f"import os; open({str(self.folder / 'seen')!r}, "
            "'a').write(os.environ.get('CUDA_DEVICE_MAX_CONNECTIONS', '-'))"
        )
        fakes.write_step(self.build, fakes.record("step07_overlap"), say)
        self.assertIn("step07_by_system: not built", self.done(*self.measure("connections")))
        self.assertEqual((self.folder / "seen").read_text(), "-12481632------")
        names = {path.name for path in (self.output / "connections").iterdir()}
        self.assertLessEqual(
            {"queues_unset.jsonl", "queues_8.jsonl", "copy_queues_32.jsonl"}, names
        )

    def test_runs_that_end_with_other_bits(self) -> None:
        for step, bits in (("step03_tiling", "b'same'"), ("step12_newton3", "os.urandom(4)")):
            self.program(
                f"build/{step}/{step}",
                f"import os\nopen(words[words.index('--output') + 1], 'wb').write({bits})\n",
            )
        code, out, errors = self.call(*self.measure("same_bits"))
        self.assertEqual((code, errors.count("\n")), (1, 2), errors)
        self.assertIn("step03_tiling.species: 10 runs gave the same bits", out)
        self.assertIn(
            "FAILED: same_bits: step12_newton3.masses: 10 runs gave 10 different results", errors
        )

    def test_sanitizer_and_profiler(self) -> None:
        with self.with_tools(
            compute_sanitizer="print('========= ERROR SUMMARY: 0 errors')", ncu=NCU
        ):
            out = self.done(*self.measure("sanitize", "profile"))
        self.assertIn("step03_tiling.racecheck: ERROR SUMMARY: 0 errors", out)
        lines = (self.output / "profile" / "profiles.jsonl").read_text().splitlines()
        self.assertEqual(len(lines), 6)  # two kernels in each of three steps
        self.assertTrue((self.output / "profile" / "step03_tiling.ncu.csv").is_file())

    def test_profiles_and_times_where_steps_are_near_their_limit(self) -> None:
        for step in ("step11_register_blocking", "step13_persistent"):
            fakes.write_step(self.build, fakes.record(step))
        with self.with_tools(ncu=NCU):
            self.assertIn("step13_persistent.4096: ", self.done(*self.measure("limits")))
        self.assertEqual([record["step"] for record in self.records("limits")],
                         2 * ["step11_register_blocking"] + 3 * ["step13_persistent"])
        self.assertEqual(
            len((self.output / "limits" / "profiles.jsonl").read_text().splitlines()), 2 * 5
        )

    def test_what_cannot_be_profiled_is_timed_all_the_same(self) -> None:
        fakes.write_step(self.build, fakes.record("step12_newton3"))
        with self.with_tools(ncu="open(words[words.index('--log-file') + 1], 'w').write('==ERROR== "
                                 "no permission')\nsys.exit(1)"):
            code, _, errors = self.call(*self.measure("limits"))
        self.assertEqual((code, errors.count("\n")), (1, 2), errors)
        self.assertIn("FAILED: limits: step12_newton3: ncu: exit code 1", errors)
        self.assertEqual(len(self.records("limits")), 3)

    def test_it_needs_nothing_but_python(self) -> None:
        """Runs Python with -S, that is, without installed packages."""
        code = (
            f"import sys; sys.path.insert(0, {str(fakes.TOOLS)!r}); import "
            "nbody_tools.measure.measure"
        )
        self.assertEqual(
            subprocess.run([sys.executable, "-S", "-c", code], check=False).returncode, 0
        )

    def test_wrong_arguments(self) -> None:
        self.assertIn(
            "'nonsense' is not a part; choose from checks,", self.refused("measure", "nonsense")
        )
        self.assertIn("there is no folder", self.refused("measure", "--build", "nowhere"))
        self.file("empty/x", "")
        self.assertIn(
            "holds no step programs", self.refused("measure", "--build", self.folder / "empty")
        )

    def test_every_part_says_what_it_is(self) -> None:
        out = self.done("measure", "--help")
        for name, part in parts.PARTS.items():
            self.assertIn(name, out)
            self.assertNotIn("\n", part.__doc__)
