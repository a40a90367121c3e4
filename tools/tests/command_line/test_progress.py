"""Tests the progress lines that a long command of ./nbody shows."""

import os
import re
import subprocess
import unittest

from tests import fakes

NINJA = ('for k in 1 2 3; do echo "[$k/3] Building CXX object a/CMakeFiles/x.dir/file$k.cpp.o"; '
         'sleep 0.7; done')


class Progress(fakes.InFolder):
    def run_bash(self, text: str, every: int = 1) -> subprocess.CompletedProcess:
        return subprocess.run(
            [
                "bash",
                "-euo",
                "pipefail",
                "-c",
                f"LOGS=. && source '{fakes.TOOLS}/progress.sh'; {text}",
            ],
            cwd=self.folder,
            env={**os.environ, "PROGRESS_EVERY": str(every)},
            check=False,
            capture_output=True,
            text=True,
        )

    def test_without_a_terminal_there_is_a_line_now_and_then(self) -> None:
        done = self.run_bash(f"phase Build log bash -c '{NINJA}'")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertRegex(lines[1], r"^  \d of 3, file\d\.cpp\.o, \d s \(\./log\.log\)$")
        self.assertRegex(lines[-1], r"^Build \.\.\. \d s$")
        self.assertEqual((self.folder / "log.log").read_text().count("Building"), 3)

    def test_what_is_quick_or_in_the_background_is_one_line(self) -> None:
        quick = self.run_bash("phase Build log true", every=20)
        self.assertRegex(quick.stdout, r"^Build \.\.\. \d s\n$")
        done = self.run_bash(f"phase Build log bash -c '{NINJA}'", every=0)
        self.assertRegex(done.stdout, r"^Build \.\.\. \d s\n$")

    def test_a_failure_shows_the_end_of_the_log(self) -> None:
        done = self.run_bash("phase Build log bash -c 'echo why >&2; exit 3'; echo not reached")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.endswith("Failed; the end of ./log.log:\nwhy\n"), done.stdout)

    def test_the_time_left_is_of_what_is_done(self) -> None:
        said = self.run_bash(
            "position_of ' 50/356 Test  #20: hostcuda.tool ......   Passed  1 sec' 10; "
            "position_of '[9/10] Linking CXX executable a/step03' 90; left 60 1 10"
        ).stdout
        self.assertEqual(
            said.splitlines(),
            [
                "50 of 356, hostcuda.tool, about 61 s left",
                "9 of 10, step03, about 10 s left",
                "about 9 min left",
            ],
        )

    def test_lines_that_are_not_hidden_are_shown(self) -> None:
        done = self.run_bash("printf 'secret\\nFAILED x\\n' | follow Test out.log '^secret$'")
        self.assertIn("FAILED x\n", done.stdout)
        self.assertNotIn("secret", done.stdout)
        self.assertTrue(re.match(r"secret\nFAILED", (self.folder / "out.log").read_text()))


if __name__ == "__main__":
    unittest.main()
