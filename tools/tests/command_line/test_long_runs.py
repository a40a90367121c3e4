"""Tests that commands with long runs reject impossible arguments before the first run."""

import sys
import unittest
from unittest import mock

from tests import fakes

try:
    import matplotlib  # noqa: F401
except ModuleNotFoundError as missing:
    raise unittest.SkipTest(f"{missing.name} is not installed for {sys.executable}")


class NothingRuns(fakes.InFolder):
    def test_arguments_that_cannot_work(self) -> None:
        ran, text = self.folder / "ran", self.file("text", "x")
        program = self.program("program", f"open({str(ran)!r}, 'w')")
        step00 = self.program("step00_cpu_omp/step00_cpu_omp", f"open({str(ran)!r}, 'w')")
        for words, expected in (
            (["disk-halo", program, "--json", self.folder], "is a folder, not a file"),
            (["disk-halo", text], "text: is not a program"),
            (["disk-halo", program, "--bodies", 2], "at least 30"),
            (["disk-halo", program, "--rotations", 1e300], "more than 2147483647 time steps"),
            (["disk-halo", program, "--rotations", 1e300, "--dt", 1e-300], "more than 2147483647"),
            (["orders", text, self.folder / "new"], "text: is not a program"),
            (["orders", program, text], "text is not a folder"),
            (["measure", "checks", "--build", step00.parent.parent, "--output", text],
             "text is not a folder"),
            (["site", "--output", text], "text is not a folder"),
            (["site", "--serve", 65536], "'65536' is not a whole number from 1 to 65535"),
            (["solar-system", "--build", step00.parent.parent, "--json", text / "a"],
             "text is not a folder"),
        ):
            with self.subTest(words=words):
                self.assertIn(expected, self.refused(*words))
        self.assertFalse(ran.exists())
        self.assertFalse((self.folder / "new").exists())

    def test_a_damaged_folder_of_counts(self) -> None:
        for text in ("", "H200, 13\n\n2026-01-01\n", "H200\nncu 1\n2026-01-01\n"):
            device = self.file("chip/device.txt", text)
            self.assertIn("device.txt is not from ./nbody measure patterns",
                          self.refused("calibrate", "chip", device.parent, code=1))

    def test_a_release_into_a_file(self) -> None:
        with mock.patch("nbody_tools.release.release.git", return_value=b""):
            self.assertIn("text is not a folder", self.refused("release", self.file("text", "x")))
