"""What ./nbody view makes of its command line: what must be built, or why it is refused."""
import subprocess
import sys
import unittest
from pathlib import Path

VIEW = Path(__file__).resolve().parents[1] / "view.py"


class Command(unittest.TestCase):
    def plan(self, *words):
        return subprocess.run([sys.executable, VIEW, "--plan", *words], capture_output=True, text=True,
                              check=False)

    def assert_builds(self, targets, *words):
        done = self.plan(*words)
        self.assertEqual((done.returncode, done.stderr, done.stdout.split()), (0, "", targets.split()))

    def assert_refused(self, pattern, *words):
        done = self.plan(*words)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
        self.assertRegex(done.stderr, pattern)

    def test_a_run(self):
        self.assert_builds("nbody-view DEFAULT")
        self.assert_builds("nbody-view DEFAULT", "--scenario", "plummer", "--port", "0")
        self.assert_builds("nbody-view step03_tiling", "--step", "03", "--bodies", "7")
        self.assert_builds("nbody-view step04b_blocks", "--step", "4b")
        self.assert_builds("nbody-view cpu_simd", "--step", "cpu_simd")
        self.assert_builds("nbody-view DEFAULT", "--export", "p.html", "--steps", "9", "--frames", "3")

    def test_files(self):
        self.assert_builds("nbody-view", "a.bin", "b.bin")
        self.assert_builds("nbody-view", "a.bin", "--export", "p.html")

    def test_refusals(self):
        self.assert_refused("'99' is not a step; there are step00", "--step", "99")
        self.assert_refused("--port", "--view", "8765")
        self.assert_refused("needs --steps", "--export", "p.html")
        self.assert_refused("needs --steps", "--export", "p.html", "--steps", "0")
        self.assert_refused("--snapshot-", "--export", "p.html", "--steps", "9", "--snapshot-every", "3")
        self.assert_refused("--frames", "--frames", "0")
        self.assert_refused("'p.png' does not end in .html.*nbody plot", "a.bin", "--export", "p.png")

    def test_stairs(self):
        self.assert_builds("nbody-stairs step01_gpu_naive step03_tiling", "--stairs", "01,03", "--bodies", "7")
        self.assertIn("step11_register_blocking", self.plan("--stairs", "--scenario", "plummer").stdout)
        self.assert_refused("'99' is not a step", "--stairs", "01,99")
        self.assert_refused("--json does not go with --stairs; options of the bodies do", "--stairs", "--json", "r.json")
        self.assert_refused("--steps does not go with --stairs", "--stairs", "01", "--steps=3")
        self.assert_refused("neither with files nor with --export", "--export", "p.html", "--stairs")
        self.assert_refused("neither with files nor with --export", "a.bin", "--stairs")

    def test_help(self):
        done = self.plan("--help")
        self.assertEqual((done.returncode, done.stdout), (0, ""))  # so that nothing is built
        self.assertIn("--step STEP", done.stderr)
