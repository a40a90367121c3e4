"""Tests ./nbody profile with a CSV file that Nsight Compute saved: how the command reads the file,
averages the values and writes records. Also tests invalid input, and a machine without ncu."""

import json
import unittest
from pathlib import Path

from tests import fakes
from nbody_tools.measure import ncu
from nbody_tools.measure.profile import interactions_of_a_launch
from nbody_tools.measure.ncu import ProfileError, aggregate, read_csv, short_name, to_base
from nbody_tools.records.record import read_records

CSV = Path(__file__).resolve().parent / "data" / "ncu_raw.csv"


class Csv(unittest.TestCase):
    def setUp(self) -> None:
        self.text = CSV.read_text(encoding="utf-8")
        self.launches = read_csv(self.text, "x.csv")

    def test_launches_and_units(self) -> None:
        self.assertEqual([launch.kernel for launch in self.launches],
                         ["update_velocities<(int)512>", "update_positions",
                          "update_velocities<(int)512>"])
        first = self.launches[0].values
        self.assertEqual(first["duration_us"], 1.0)
        self.assertEqual(first["shared_bytes"], 8192)
        self.assertAlmostEqual(first["sm_clock_ghz"], 1.5)
        self.assertNotIn("fma_percent", self.launches[2].values)  # ncu wrote n/a

    def test_rates_are_weighted_with_the_duration(self) -> None:
        velocities, positions = aggregate(self.launches, interactions=1000)
        self.assertEqual((velocities.launches, positions.launches), (2, 1))
        metrics = velocities.metrics
        self.assertEqual(metrics["duration_us"], 2.0)
        self.assertAlmostEqual(metrics["issue_percent"], (80 * 1 + 60 * 3) / 4)
        self.assertEqual(metrics["fma_percent"], 60)
        self.assertEqual(metrics["bank_conflicts"], 4)
        self.assertEqual(metrics["sectors_per_request"], 16)
        self.assertEqual(metrics["instructions_per_interaction"], 32 * 2000 / 1000)
        self.assertNotIn("instructions_per_interaction", aggregate(self.launches)[0].metrics)

    def test_what_ncu_could_not_count_is_left_out(self) -> None:
        values = {"load_requests": 10.0, "duration_us": 0.0, "registers": 40.0}
        (profile,) = aggregate([ncu.Launch("f", values)])
        self.assertEqual(profile.metrics, values)

    def test_table(self) -> None:
        text = ncu.table(aggregate(self.launches)[1])
        self.assertIn("update_positions: mean of 1 launch\n", text)
        self.assertRegex(text, r"registers per thread +16\n")
        self.assertIn("stalled: long scoreboard", text)
        self.assertNotIn("stalled: short scoreboard", text)  # too rare to be listed

    def test_what_is_no_profile_is_refused(self) -> None:
        start = self.text.index('"ID"')
        lines = self.text[start:].splitlines()
        for text, expected in (
            ("", "x.csv: no table of Nsight Compute"),
            ("==ERROR== ERR_NVGPUCTRPERM - no permission\n", "x.csv: ==ERROR== ERR_NVGPUCTRPERM"),
            ("\n".join(lines[:2]), "or the launches are missing"),
            ("\n".join([lines[0], *lines[2:]]), "the line of units or"),
            ("\n".join([*lines[:2], lines[2] + ',"1"']), "launch 1 has 27 columns"),
            ('"ID","Kernel Name"\n"",""\n"0","f"\n', "holds none of the counts"),
        ):
            with self.subTest(expected=expected), self.assertRaises(ProfileError) as caught:
                read_csv(text, "x.csv")
            self.assertIn(expected, str(caught.exception))

    def test_names_and_units(self) -> None:
        for name, expected in (("void f(int)", "f"), ("(anonymous namespace)::f(int *)", "f"),
                               ("void a::f<float, 4>(const b::c<int> *)", "f<float, 4>"),
                               ("unnamed>::f(int)", "f"),
                               ("void unnamed>::f<unnamed>::P>(T1)", "f<P>"),
                               ("void cublas::gemv<int, (int)4>(T1)", "gemv<int, (int)4>")):
            self.assertEqual(short_name(name), expected)
        for value, unit, expected in ((2, "msecond", 2e6), (2, "ns", 2), (3, "Kbyte/block", 3e3),
                                      (1.5, "cycle/nsecond", 1.5e9), (1.5, "Ghz", 1.5e9),
                                      (7, "%", 7), (7, "register/thread", 7)):
            self.assertAlmostEqual(to_base(value, unit), expected)


class Tool(fakes.InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.record = fakes.write_records(self.folder / "record.json", [
            fakes.record("step06_ldg_fastmath", systems=2, bodies=100, steps=3)])

    def test_a_saved_profile(self) -> None:
        lines = self.folder / "profile.jsonl"
        words = ["profile", "06", "--from", CSV, "--record", self.record, "--json", lines]
        out = self.done(*words)
        self.assertIn("step06_ldg_fastmath on Test GPU", out)
        self.assertLess(out.index("update_velocities"), out.index("update_positions"))
        found = [json.loads(line) for line in lines.read_text().splitlines()]
        self.assertEqual([line["kernel"] for line in found],
                         ["update_velocities<(int)512>", "update_positions"])
        self.assertEqual(found[0]["metrics"]["instructions_per_interaction"], 32 * 2000 / 100 ** 2)
        self.assertEqual(found[0]["machine"], "Test GPU (CUDA 13.0, driver 13.0)")
        self.done(*words)  # the second call replaces the lines
        self.assertEqual(len(lines.read_text().splitlines()), 2)

    def test_kernels_of_a_saved_profile_are_selected(self) -> None:
        out = self.done("profile", "06", "--from", CSV, "--kernel", "^update_pos")
        self.assertIn("update_positions", out)
        self.assertNotIn("update_velocities", out)
        self.assertIn("matches no kernel of",
                      self.refused("profile", "06", "--from", CSV, "--kernel", "f$"))
        self.assertIn("regular", self.refused("profile", "06", "--from", CSV, "--kernel", "("))

    def test_only_the_record_of_the_step_counts(self) -> None:
        records = fakes.write_records(self.folder / "all.jsonl", [
            fakes.record("step06_ldg_fastmath", systems=2, bodies=100, steps=3),
            fakes.record("step13_persistent", systems=2, bodies=100, steps=3)])
        words = ["--from", CSV, "--record", records]
        self.assertRegex(self.done("profile", "06", *words),
                         r"instructions per interaction +6\.4\n")
        self.assertIn("holds no record of step05_streams",
                      self.refused("profile", "05", *words))

    def test_one_launch_may_hold_all_steps_or_one_system(self) -> None:
        for step, expected in (("step04_unroll", 60000), ("step04b_blocks", 20000),
                               ("step05_streams", 10000),
                               ("step10_tiled2d_cublas", 20000)):
            fakes.write_records(self.record, [fakes.record(step, systems=2, bodies=100, steps=3)])
            record = read_records(self.record)[-1]
            self.assertEqual(interactions_of_a_launch(record), expected)

    def test_without_the_profiler_it_says_so_and_is_skipped(self) -> None:
        words = ["profile", "06", "--ncu", "no-such-profiler", "--build", self.folder]
        self.assertIn(
            "no no-such-profiler", self.refused(*words, "--recorded", self.folder, code=77)
        )
        self.assertIn("--csv and --json need",
                      self.refused(*words, "--json", self.folder / "x", code=77))

    def test_without_the_profiler_it_shows_what_was_counted_elsewhere(self) -> None:
        lines = [
            {
                "step": step,
                "kernel": kernel,
                "machine": "an H200",
                "date": date,
                "systems": 2,
                "bodies": 100,
                "launches": 3,
                "metrics": {"registers": registers},
            }
            for step, kernel, date, registers in (
                ("step06_ldg_fastmath", "force", "2026-01-02", 40.0),
                ("step06_ldg_fastmath", "force", "2026-01-01", 41.0),
                ("step06_ldg_fastmath", "move", "2026-01-01", 42.0),
                ("step05_streams", "force", "2026-01-03", 43.0),
            )
        ]
        self.file("profiles/h200.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        words = ["profile", "06", "--ncu", "no-such-profiler", "--build", self.folder, "--recorded",
                 self.folder / "profiles"]
        text = self.done(*words)
        for expected in (
            "no no-such-profiler (Nsight Compute) here; counted elsewhere",
            "on an H200, 2026-01-02: 2 x 100",
            "force: mean of 3 launches",
            "40",
            "move: mean",
        ):
            self.assertIn(expected, text)
        self.assertNotIn("41", text)
        self.assertNotIn("43", text)
        self.assertNotIn("move", self.done(*words, "--kernel", "force"))
        self.assertIn("not a regular expression", self.refused(*words, "--kernel", "(", code=2))

    def test_wrong_arguments(self) -> None:
        for words, expected in ((["06", "--from", "nowhere.csv"], "there is no file"),
                                (["06", "--record", str(self.record)], "--record needs --from"),
                                (["06", "--from", str(CSV), "--json", "x"], "needs --record"),
                                (["42"], "not a step"), (["06", "--launches", "0"], "'0'")):
            with self.subTest(words=words):
                self.assertIn(expected, self.refused("profile", *words))

    def test_it_runs_the_profiler_on_the_step(self) -> None:
        """Uses a stub for ncu, which writes the file given by --log-file and runs the program."""
        fakes.write_step(self.folder / "build", fakes.record("step06_ldg_fastmath"))
        ncu = self.program("ncu", f"""import shutil, subprocess
assert words[words.index("--clock-control") + 1] == "none"
program = next(i for i, word in enumerate(words) if word.endswith("/step06_ldg_fastmath"))
shutil.copy({str(CSV)!r}, words[words.index("--log-file") + 1])
sys.exit(subprocess.run(words[program:]).returncode)
""")
        words = ["profile", "06", "--ncu", ncu, "--build", self.folder / "build"]
        self.assertIn("update_velocities<(int)512>: mean of 2 launches",
                      self.done(*words, "--csv", self.folder / "kept.csv"))
        self.assertEqual((self.folder / "kept.csv").read_text(), CSV.read_text())
        none = [*words[:3], "true", *words[4:]]
        self.assertIn("true ran, but the program wrote no record", self.refused(*none, code=1))
        self.program("ncu", "#!/bin/sh\necho '==ERROR== no permission'; exit 1\n")
        self.assertIn("exit code 1: ==ERROR== no permission", self.refused(*words, code=1))
