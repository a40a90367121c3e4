"""Tests the integrators: their orders, three known orbits, and their messages.

usage: orbits_test.py FOLDER IC    (the folder of the four programs, and nbody-ic)
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy

from nbody_tools.arguments import ROOT
from nbody_tools.files import library
from nbody_tools.files.bodies import Bodies, read_bodies
from nbody_tools.physics import taylor

FIXED, ADAPTIVE = ("leapfrog", "yoshida4"), ("hermite4", "block_steps")
PYTHAGOREAN = ROOT / "data" / "pythagorean.csv"
FIGURE_EIGHT = ROOT / "data" / "figure_eight.csv"
PERIOD = 6.32591398  # of the figure-eight


class Programs(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.known: dict[tuple[Path, float], numpy.ndarray] = {}

    def call(self, program: str, *words: object) -> subprocess.CompletedProcess:
        return subprocess.run([str(PROGRAMS / program), *map(str, words)], check=False, text=True,
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end_of(self, program: str, start: Path, time: float,
               accuracy: float) -> tuple[Bodies, dict]:
        """Returns the final state, and the JSON record of the run."""
        option = "--dt" if program in FIXED else "--eta"
        done = self.call(program, "--input", start, "--time", repr(time), option, repr(accuracy),
                         "--output", "end.csv", "--json", "end.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        line = (self.folder / "end.json").read_text(encoding="utf-8").splitlines()[-1]
        return read_bodies(self.folder / "end.csv"), json.loads(line)

    def ellipse(self, eccentricity: float) -> Path:
        file = self.folder / "ellipse.csv"
        subprocess.run([IC, "two-body", file, "--eccentricity", str(eccentricity), "--precision",
                        "double"], check=True, stdout=subprocess.DEVNULL)
        return file

    def error(self, program: str, start: Path, time: float,
              accuracy: float) -> tuple[float, dict]:
        """Returns the largest error of a position, and the JSON record of the run."""
        end, line = self.end_of(program, start, time, accuracy)
        exact = self.exact(start, time)
        return float(numpy.linalg.norm(end.positions[0] - exact, axis=1).max()), line

    def exact(self, start: Path, time: float) -> numpy.ndarray:
        """Returns the positions from Taylor series; computes each result only once."""
        if (start, time) not in self.known:
            first = read_bodies(start)
            x, _ = taylor.integrate(first.positions[0], first.velocities[0], first.masses[0], time)
            self.known[start, time] = x.astype(float)
        return self.known[start, time]


# A build with a sanitizer uses the library of another build folder.
@unittest.skipUnless(library.is_built(), "no build folder has nbody_files")
class Orbits(Programs):
    def test_orders(self) -> None:
        """The error is proportional to the number of steps to the power of minus the order."""
        start = self.ellipse(0.5)
        wanted = {"leapfrog": (2, 0.01, 0.0025), "yoshida4": (4, 0.02, 0.005),
                  "hermite4": (4, 1e-4, 1e-5), "block_steps": (4, 1e-4, 1e-6)}
        for program, (order, coarse, fine) in wanted.items():
            with self.subTest(program):
                (e0, r0), (e1, r1) = (self.error(program, start, 8.0, accuracy)
                                      for accuracy in (coarse, fine))
                found = math.log(e0 / e1) / math.log(r1["steps"] / r0["steps"])
                # Block steps are powers of two, so they do not follow eta smoothly.
                self.assertAlmostEqual(found, order, delta=0.5 if program == "block_steps" else 0.1)

    def test_figure_eight(self) -> None:
        """After a period all bodies are where they started, within the precision of the file."""
        for program, accuracy in (("leapfrog", 2e-4), ("yoshida4", 0.005), ("hermite4", 1e-4),
                                  ("block_steps", 1e-4)):
            with self.subTest(program):
                end, _ = self.end_of(program, FIGURE_EIGHT, PERIOD, accuracy)
                start = read_bodies(FIGURE_EIGHT)
                self.assertLess(numpy.abs(end.positions - start.positions).max(), 1e-6)
                self.assertLess(numpy.abs(end.velocities - start.velocities).max(), 1e-6)

    def test_eccentric(self) -> None:
        """After ten orbits with e = 0.9, the errors are below a limit."""
        start = self.ellipse(0.9)
        for program, accuracy, limit in (("leapfrog", 1e-4, 2e-4), ("yoshida4", 5e-4, 1e-4),
                                         ("hermite4", 1e-4, 1e-4), ("block_steps", 1e-4, 1e-4)):
            with self.subTest(program):
                error, line = self.error(program, start, 50.0, accuracy)
                self.assertLess(error, limit)
                self.assertLess(line["energy_error"], 1e-4)

    def test_pythagorean(self) -> None:
        """The lightest body escapes, and the others remain a binary (Szebehely & Peters 1967, AJ
        72, 876). That body's expected position is from Taylor series in extended precision."""
        for program in ADAPTIVE:
            with self.subTest(program):
                end, line = self.end_of(program, PYTHAGOREAN, 70, 1e-5)
                m, x, v = end.masses[0], end.positions[0], end.velocities[0]
                self.assertEqual(list(m), [3, 4, 5])
                centre, speed = ((m[1] * q[1] + m[2] * q[2]) / 9 for q in (x, v))
                away = 0.5 * ((v[0] - speed) ** 2).sum() - 12 / numpy.linalg.norm(x[0] - centre)
                self.assertGreater(away, 0)  # escapes: unbound from the binary
                self.assertGreater(((x[0] - centre) * (v[0] - speed)).sum(), 0)  # and recedes
                pair = 0.5 * ((v[1] - v[2]) ** 2).sum() - 9 / numpy.linalg.norm(x[1] - x[2])
                self.assertLess(pair, 0)
                self.assertLess(numpy.abs(x[0, :2] - (6.9334636, 20.2618043)).max(), 0.02)
                self.assertLess(line["energy_error"], 1e-9)

    def test_block_steps_save_work(self) -> None:
        """Slow planets need fewer steps than the Moon."""
        start = ROOT / "data" / "solar_system_j2000.csv"
        (e0, one), (e1, own) = (self.error(program, start, 6.28, eta)
                                for program, eta in (("hermite4", 0.01), ("block_steps", 0.001)))
        self.assertLess(own["interactions"], one["interactions"])
        self.assertLess(e1, e0 * 2)

    def test_the_reference(self) -> None:
        """Taylor series agree with Kepler's laws: after half an orbit, the bodies are at the
        opposite end of the ellipse."""
        x = numpy.array([[0.0, 0, 0], [0.1, 0, 0]])
        v = numpy.array([[0.0, 0, 0], [0, math.sqrt(19), 0]])
        x, v = x - x[1] / 2, v - v[1] / 2  # equal masses about their centre
        end, _ = taylor.integrate(x, v, numpy.array([0.5, 0.5]), math.pi)
        self.assertLess(abs(float(end[1, 0] - end[0, 0] + 1.9)), 1e-13)


class Messages(Programs):
    def test_wrong_arguments(self) -> None:
        self.folder.joinpath("two.csv").write_text("x,y,vx,vy\n0,0,0,0\n1,0,0,one\n")
        self.folder.joinpath("one.csv").write_text("x,y,vx,vy\n0,0,0,0\n")
        self.folder.joinpath("link.csv").symlink_to("one.csv")
        some = ("--scenario", "figure-eight", "--time", "1")
        for program, words, said in (
                ("leapfrog", (), "--input FILE or --scenario NAME"),
                ("leapfrog", ("--input", PYTHAGOREAN, *some), "give either"),
                ("leapfrog", ("--scenario", "eight", "--time", "1"), "--dt is missing"),
                ("leapfrog", ("--scenario", "eight", "--time", "1", "--dt", "1"), "figure-eight"),
                ("leapfrog", some, "--dt is missing"),
                ("leapfrog", (*some, "--dt", "0"), '--dt: "0" is not allowed'),
                ("leapfrog", (*some, "--dt", "1e-30"), "at most 1e12 steps"),
                ("leapfrog", (*some, "--eta", "1"), "--eta"),
                ("yoshida4", (*some, "--dt", "nan"), '--dt: "nan" is not allowed'),
                ("hermite4", some[:2], "--time is missing"),
                ("hermite4", (*some[:2], "--time", "-1"), '--time: "-1" is not allowed'),
                ("hermite4", (*some, "--eta", "much"), '--eta: "much" is not allowed'),
                ("block_steps", (*some, "--softening", "-1"), '--softening: "-1" is not allowed'),
                ("block_steps", ("--input", "none.csv", "--time", "1"), "none.csv"),
                ("block_steps", ("--input", "two.csv", "--time", "1"), "two.csv"),
                ("block_steps", (*some, "--output", "missing/end.csv"), "missing"),
                ("block_steps", (*some, "--output", "end.odd"), "end.odd"),
                ("leapfrog", (*some, "--dt", "1e300"), "from 1.2e-38 to 3.4e38"),
                ("leapfrog", (*some, "--dt", "1", "--json", "missing/a.json"), "missing"),
                ("hermite4", (*some, "--output", "a.csv", "--json", "./a.csv"), "--json"),
                ("hermite4", ("--input", "one.csv", "--time", "1", "--output", "link.csv"),
                 "--input")):
            with self.subTest(program=program, words=words):
                done = self.call(program, *words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(said, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_collision(self) -> None:
        """Two bodies at rest fall onto each other; no time step is short enough to compute this."""
        (self.folder / "fall.csv").write_text("m,x,y,vx,vy\n1,0,0,0,0\n1,1,0,0,0\n")
        for program in ADAPTIVE:
            with self.subTest(program):
                done = self.call(program, "--input", "fall.csv", "--time", "2", "--output",
                                 "end.csv")
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn("as happens in a collision", done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertFalse((self.folder / "end.csv").exists())


if __name__ == "__main__":
    PROGRAMS, IC = Path(sys.argv[1]).resolve(), str(Path(sys.argv[2]).resolve())
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
