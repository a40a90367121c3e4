#!/usr/bin/env python3
"""ic_test.py NBODY_IC: runs nbody-ic as a user would; checks its results and error messages."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from nbody_tools.files import library
from nbody_tools.files.bodies import read_bodies

# A build with a sanitizer uses the library of another build folder.
reads_files = unittest.skipUnless(library.is_built(), "no build folder has nbody_files")
NBODY_IC = ""


class Ic(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_ic(self, *words):
        return subprocess.run([NBODY_IC, *map(str, words)], cwd=self.folder, text=True,
                              capture_output=True, check=False)

    def summary(self, *words):
        done = self.run_ic(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {key: value for key, value in re.findall(r"^ +(\w+) +(.*)$", done.stdout, re.M)}

    def refused(self, words, pattern):
        done = self.run_ic(*words)
        self.assertEqual(done.returncode, 2, words)
        self.assertRegex(done.stderr, pattern)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [], words)

    @reads_files
    def test_every_scenario_makes_a_file(self):
        names = re.findall(r"^  ([a-z]+(?:-[a-z]+)*) ", self.run_ic("--help").stdout, re.M)
        for name in (
            "plummer",
            "star-cluster",
            "cold-sphere",
            "kuzmin",
            "disk-halo",
            "spiral",
            "collision",
            "two-body",
            "figure-eight",
            "sun-earth-moon",
            "solar-system",
        ):
            self.assertIn(name, names)
            said = self.summary(name, name + ".bin")
            for key in ("mass", "energy", "virial", "centre", "velocity"):
                self.assertIn(key, said)
            self.assertEqual(read_bodies(self.folder / (name + ".bin")).scenario, name)

    def test_what_it_prints_is_what_is_known(self):
        said = self.summary("two-body", "a.csv", "--eccentricity", "0", "--mass-ratio", 1)
        self.assertEqual(said["energy"].split()[0], "-0.5")  # - m1 m2 / 2a
        self.assertEqual(said["virial"], "2T/|W| = 1")
        said = self.summary("cold-sphere", "b.csv", "--bodies", 200, "--virial-ratio", "0.5")
        self.assertEqual(said["virial"], "2T/|W| = 0.5")

    @reads_files
    def test_options_reach_the_file(self):
        self.summary("disk-halo", "a.csv", "--bodies", 30, "--systems", 2, "--softening", 0.125,
                     "--seed", 7)
        bodies = read_bodies(self.folder / "a.csv")
        self.assertEqual(bodies.positions.shape, (2, 30, 3))
        self.assertEqual(bodies.softening, 0.125)
        self.summary("disk-halo", "b.csv", "--bodies", 30, "--seed", 8)
        other = read_bodies(self.folder / "b.csv")
        self.assertNotEqual(bodies.positions[0, 0, 0], other.positions[0, 0, 0])

    @reads_files
    def test_double_keeps_the_digits(self):
        for name in ("a.csv", "a.bin"):
            self.summary("solar-system", name, "--precision", "double")
            x = read_bodies(self.folder / name).positions[0, 0, 0]
            self.assertEqual(x, -0.007136458940)

    def test_nonsense_is_refused_in_one_line(self):
        for words, pattern in (
            ((), "required"),
            (("andromeda", "a.csv"), "unknown scenario \"andromeda\".*plummer.*sun-earth-moon"),
            (("plummer",), "OUT is required"),
            (("plummer", "a.txt"), "extension \"\\.txt\""),
            (("plummer", "no/a.csv"), "no"),
            (("plummer", "a.csv", "--bodies", "0"), "--bodies: \"0\".*from 1"),
            (("plummer", "a.csv", "--bodies", "1.5"), "--bodies: \"1.5\".*from 1"),
            (
                ("plummer", "a.csv", "--bodeis", "9"),
                "unknown option --bodeis: did you mean --bodies",
            ),
            (("plummer", "a.csv", "--bodies", "70000", "--systems", "70000"), "2147483647"),
            (("plummer", "a.csv", "--seed", "-1"), "--seed"),
            (("plummer", "a.csv", "--toomre", "1"), "--toomre"),
            (("plummer", "a.csv", "--softening", "0"), "--softening: \"0\".*from 1e-12"),
            (("spiral", "a.csv", "--toomre", "nan"), "--toomre: \"nan\".*from 0 to 10"),
            (("two-body", "a.csv", "--eccentricity", "1"), "--eccentricity: \"1\".*0.99"),
            (("two-body", "a.csv", "--bodies", "3"), "--bodies"),
            (("plummer", "a.raw"), "mass"),
            (("plummer", "a.tipsy", "--precision", "double"), "--precision: \"double\""),
            (("--seed", "1", "plummer", "a.csv"), "seed"),
        ):
            with self.subTest(words=words):
                self.refused(words, pattern)


if __name__ == "__main__":
    NBODY_IC = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
