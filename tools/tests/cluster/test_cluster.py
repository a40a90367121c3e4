"""Tests nbody cluster: the commands it starts, rejected input, and docs/cluster.md's table of
gathers."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.cluster import cluster, model
from nbody_tools.cluster import tables as cluster_tables
from nbody_tools.steps import Step
from nbody_tools.tables import NOT_MEASURED
from tests.fakes import TOOLS, InFolder

GATHER = """4 GPUs
# 2 ranks, nccl; median of 20
    size (B)       bodies  time (us)   algbw (GB/s)   busbw (GB/s)
       65536         4096       20.0          90.00          45.00
# 2 ranks, mpi, host memory; median of 20
    size (B)       bodies  time (us)   algbw (GB/s)   busbw (GB/s)
       65536         4096     2000.0           3.00           1.50
"""


class Cluster(InFolder):
    def launcher(self, text: str, ranks: int | None = 3) -> list[str]:
        with mock.patch.dict(os.environ, NBODY_LAUNCHER=text):
            return cluster.launcher(ranks)

    def test_the_launcher_is_a_variable(self) -> None:
        self.assertEqual(self.launcher("env A=1 mpirun"), ["env", "A=1", "mpirun", "-n", "3"])
        self.assertEqual(self.launcher("env", None), ["env"])

    def test_the_program_is_told_how_many_ranks_there_are(self) -> None:
        self.assertEqual(cluster.environment(3)["NBODY_RANKS"], "3")
        with mock.patch.dict(os.environ, {"OMPI_MCA_odls_base_sigkill_timeout": "5"}):
            self.assertNotIn("NBODY_RANKS", cluster.environment())
            self.assertEqual(cluster.environment()["OMPI_MCA_odls_base_sigkill_timeout"], "5")

    def test_only_the_step_is_required(self) -> None:
        self.assertRegex(self.refused("cluster", "run"), "required: step\n$")

    def test_rates_that_make_no_sense(self) -> None:
        for wrong in ("1e-300", "1e300", "nan", "0"):
            with self.subTest(wrong):
                self.assertIn(
                    f"'{wrong}' is no", self.refused("cluster", "predict", "--rate", wrong)
                )

    def test_a_launcher_that_is_none(self) -> None:
        for text, why in (
            ("", "not a program"),
            ("no_such_launcher -x", "not a program"),
            ("'", "no closing quotation"),
        ):
            with self.subTest(text), self.assertRaisesRegex(ToolError, f"^NBODY_LAUNCHER: .*{why}"):
                self.launcher(text)

    def test_a_step_without_ranks(self) -> None:
        steps = [Step("step07_overlap", Path("a")), Step("step14_cluster", Path("b")),
                 Step("step16b_tree_ranks", Path("c"))]
        with mock.patch.object(cluster, "find_steps", lambda build: steps):
            self.assertEqual(cluster.program(Path("build"), "14"), Path("b"))
            self.assertEqual(cluster.program(Path("build"), "16b"), Path("c"))
            with self.assertRaisesRegex(ToolError, "'7' does not support ranks"):
                cluster.program(Path("build"), "7")

    def test_an_output_that_cannot_be_written_is_said_at_once(self) -> None:
        cluster.require_writable(self.folder / "new")
        for wrong in (self.folder, self.folder / "none" / "new"):
            with self.assertRaisesRegex(ToolError, "cannot be written"):
                cluster.require_writable(wrong)

    def test_the_model(self) -> None:
        one, four = model.step(1048576, 1, 1e12), model.step(1048576, 4, 1e12)
        self.assertEqual((one.share, one.seconds), (0, 1048576 ** 2 / 1e12))
        self.assertTrue(one.compute / 4 < four.compute < 1.01 * one.compute / 4)
        self.assertLess(four.share, model.step(262144, 4, 1e12).share)
        # With 528 ranks, most ranks keep no bodies, but each gathers a segment from every rank.
        self.assertEqual(
            model.plan(1048576, 528).gathered, 527 * model.plan(1048576, 32).gathered // 31
        )
        self.assertEqual(model.plan(1048576, 528).all_work, model.plan(1048576, 1).work)

    def test_the_numbers_of_the_page(self) -> None:
        page = " ".join((ROOT / "docs" / "cluster.md").read_text("utf-8").split())
        for ranks in (8, 64, 128, 528):
            load = model.plan(1048576, ranks)
            self.assertIn(f"{load.work * ranks / load.all_work:.2f} times", page)
        of_64, of_528 = (model.plan(1048576, ranks).gathered / 1048576 for ranks in (64, 528))
        self.assertIn(f"{of_64:.0f} bytes per body with 64 ranks, and {of_528:.0f} bytes with "
                      "528 ranks", page)

    def test_measured_gathers_are_taken_before_assumed_ones(self) -> None:
        gathers = model.read_gathers([self.file("a.txt", GATHER.replace(
            "# 2 ranks, mpi", "      131072         8192       40.0          90.00          45.00\n"
                              "# 2 ranks, mpi"))])
        self.assertEqual(set(gathers), {("nccl", 2), ("mpi", 2)})
        for received, seconds in ((1, 20e-6), (32768, 20e-6), (49152, 30e-6), (131072, 80e-6)):
            self.assertAlmostEqual(model.seconds_of(received, 2, gathers), seconds)
        self.assertEqual(model.seconds_of(0, 4, gathers), model.Network().seconds(0, 4))
        head = cluster.prediction(1e12, gathers)[0]
        self.assertEqual(head[1:4], ["1 GPU", "2 GPUs", "4 GPUs *"])

    def test_a_file_without_a_gather(self) -> None:
        words = (
            "cluster",
            "predict",
            "--rate",
            "1e12",
            "--gather",
            str(self.file("a.txt", "no numbers")),
        )
        self.assertIn("is not output of nbody-gather", self.refused(*words))

    def test_a_reader_that_has_seen_enough(self) -> None:
        for words in (["cluster", "predict", "--rate", "1e12"], ["cluster", "--help"], ["help"]):
            for options in ([], ["-u"]):
                read, write = os.pipe()
                os.close(read)
                done = subprocess.run(
                    [sys.executable, *options, "-m", "nbody_tools", *words],
                    cwd=TOOLS,
                    stdout=write,
                    stderr=subprocess.PIPE,
                    text=True,
                    check=False,
                )
                os.close(write)
                self.assertEqual(done.stderr, "", (words, options))
                # In Python 3.13, argparse ignores that the pipe for its help is closed.
                self.assertIn(done.returncode, (141, 0) if "--help" in words else (141,))

    def test_damaged_and_short_outputs_of_nbody_gather(self) -> None:
        def predict(text: bytes | str) -> tuple[object, ...]:
            return "cluster", "predict", "--rate", "1e12", "--gather", self.file("g.txt", text)

        self.assertIn("g.txt: cannot be read", self.refused(*predict(b"\xff\x90")))
        self.assertIn("g.txt:4: not a gather: ",
                      self.refused(*predict(GATHER.replace("20.0 ", "abc "))))
        for nothing in (GATHER.replace("# 2 ranks", "# 0 ranks"), GATHER[:GATHER.index("     6")]):
            self.assertIn("is not output of nbody-gather", self.refused(*predict(nothing)))
        # The only measured size gives the bandwidth.
        self.assertIn(" 2 GPUs  ", self.done(*predict(GATHER)))
        gathers = model.read_gathers([self.folder / "g.txt"])
        self.assertAlmostEqual(model.seconds_of(65536, 2, gathers), 40e-6)

    def test_the_table_of_a_gather(self) -> None:
        self.assertEqual(cluster_tables.gathered(self.folder), NOT_MEASURED)
        self.file("cluster/a_gather.txt", GATHER)
        self.assertEqual(cluster_tables.gathered(self.folder).splitlines()[::2],
                         ["| size (B) | bodies | 2 GPUs, NCCL | 2 GPUs, MPI |",
                          "| 65,536 | 4,096 | 20 us, 45 (10 %) | 2 ms, 1.5 |"])
        self.file("cluster/b_gather.txt",
                  GATHER.replace("# 2 ranks, nccl", "# 8 ranks, nccl").replace("2000.0", "4000.0"))
        self.assertEqual(cluster_tables.gathered(self.folder).splitlines()[::2],
                         ["| size (B) | bodies | 2 GPUs, NCCL | 8 GPUs, NCCL | 2 GPUs, MPI |",
                          "| 65,536 | 4,096 | 20 us, 45 (10 %) | 20 us, 45 (10 %) | 4 ms, 1.5 |"])


class Recipes(unittest.TestCase):
    @staticmethod
    def text(file: str) -> str:
        return (ROOT / file).read_text("utf-8")

    def test_what_was_built_here_does_not_go_along(self) -> None:
        ignored = self.text(".dockerignore").splitlines()
        self.assertIn("/build*", ignored)
        self.assertFalse([line for line in ignored if ".git" in line and not line.startswith("#")])
        self.assertNotIn("%files", self.text("packaging/nbody-steps.def"))
