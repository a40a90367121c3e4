"""Tests how a submission is timed against its step on a GPU. The tests need no GPU."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from nbody_tools.arguments import Failed
from nbody_tools.labs.building import DoesNotCompile
from nbody_tools.labs.lab import find_lab
from nbody_tools.labs.sandbox import Access, Sandbox, driver_folders
from nbody_tools.labs.tests import time_beside_step


class NvccRefuses:
    """A workshop in which no program compiles."""

    def build_for_gpu(self, *_: Any) -> Path:
        raise DoesNotCompile("nbody.cu(7): error: no\n1 error detected")


class NvccTakes:
    def build_for_gpu(self, *_: Any) -> Path:
        return Path("program")


class TimeOnGpu(unittest.TestCase):
    def test_what_hostcuda_takes_and_nvcc_refuses_gets_no_points(self) -> None:
        lab: Any = find_lab("03")
        step: Any = NvccRefuses()
        with self.assertRaisesRegex(Failed, r"^step03_tiling: nvcc does not compile it: nbody\.cu"):
            time_beside_step(lab, step, step, 1)
        right: Any = NvccTakes()
        with mock.patch("nbody_tools.labs.tests.run") as run:
            run.return_value = mock.Mock(failure="", problems=[{"seconds": [1.0]}])
            result = time_beside_step(lab, right, step, 1)
        self.assertEqual(
            (result.share, result.why), (0, "nvcc does not compile it: nbody.cu(7): error: no"))

    def test_the_sandbox_shows_the_driver_where_the_loader_does_not_search(self) -> None:
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.dict("os.environ", LD_LIBRARY_PATH=f"/none:{folder}"):
            self.assertNotIn(folder, driver_folders())
            Path(folder, "libcuda.so.1").touch()
            self.assertIn(folder, driver_folders())
            words = Sandbox(Path("tool")).words(Access(gpu=True), 0, 1, ["program"])
            self.assertEqual(words[words.index(folder) - 1], "--read")
            self.assertNotIn(folder, Sandbox(Path("tool")).words(Access(), 9, 1, ["program"]))


if __name__ == "__main__":
    unittest.main()
