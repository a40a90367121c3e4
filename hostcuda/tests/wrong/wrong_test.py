#!/usr/bin/env python3
"""Checks typical mistakes of beginners: one program per file, in a folder per subject.

The programs were written before their author had looked at the checks. With -DFIXED, a program is
corrected. `// BUG` marks the ends of the mistake's statements; it is removed before the check.
`hostcuda check` must report a finding or an error of the compiler at one of the lines of these
statements, and must report nothing about the corrected program.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
HOSTCUDA = FOLDER.parents[1] / "bin" / "hostcuda"
MARK = re.compile(r"\s*// BUG$")
# `check` gives another line: the launch instead of an endless loop, and the load of an unwritten
# element instead of the copy that left it out.
OTHER_LINE = {"spin_lock_no_release", "memcpy2d_in_elements"}
# A line that a statement cannot continue after.
ENDS_BEFORE = re.compile(r"^\s*(?:#|//|$)|[;{}]\s*(?://.*)?$")
NEEDS_CLANG = {"host_function_in_kernel", "host_global_in_kernel"}
FINDINGS, DOES_NOT_COMPILE = 1, 2


def check(path, *options):
    with tempfile.TemporaryDirectory() as folder:
        lines = path.read_text(encoding="utf-8").splitlines()
        source = Path(folder) / path.name
        source.write_text("\n".join(MARK.sub("", line) for line in lines) + "\n", encoding="utf-8")
        return subprocess.run(
            [sys.executable, HOSTCUDA, "check", path.name, *options], cwd=folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", check=False)


def marked_lines(lines):
    """Returns the numbers of the lines of all statements that end in a marked line."""
    marked = set()
    for number, line in enumerate(lines, 1):
        if MARK.search(line):
            marked.add(number)
            while number > 1 and not ENDS_BEFORE.search(lines[number - 2]):
                number -= 1
                marked.add(number)
    return marked


class WrongPrograms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.programs = sorted(FOLDER.glob("*/*.cu"))
        check(cls.programs[0])  # builds the libraries
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            cls.wrong = list(pool.map(check, cls.programs))
            cls.corrected = list(pool.map(lambda path: check(path, "-DFIXED"), cls.programs))

    def test_mistakes_are_reported_with_their_line(self):
        for path, ended in zip(self.programs, self.wrong):
            if path.stem in NEEDS_CLANG and "clang++ is not installed" in ended.stdout:
                continue
            lines = path.read_text(encoding="utf-8").splitlines()
            marked = marked_lines(lines)
            places = set(map(int, re.findall(re.escape(path.name) + r":(\d+)", ended.stdout)))
            with self.subTest(program=path.stem):
                self.assertIn(ended.returncode, (FINDINGS, DOES_NOT_COMPILE), ended.stdout)
                if path.stem not in OTHER_LINE:
                    self.assertTrue(marked & places, f"{sorted(marked)}\n{ended.stdout}")

    def test_nothing_is_reported_about_corrected_programs(self):
        for path, ended in zip(self.programs, self.corrected):
            with self.subTest(program=path.stem):
                self.assertEqual(0, ended.returncode, ended.stdout)


if __name__ == "__main__":
    unittest.main()
