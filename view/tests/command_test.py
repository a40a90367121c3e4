"""Tests how ./nbody view handles its command line: which programs it asks to build, or why it
rejects the command line."""
import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import view  # noqa: E402


class Command(unittest.TestCase):
    def plan(self, *words):
        """Returns the exit code, standard output and standard error."""
        with (
            contextlib.redirect_stdout(io.StringIO()) as out,
            contextlib.redirect_stderr(io.StringIO()) as error,
        ):
            try:
                code = view.main(["--plan", *words])
            except SystemExit as end:
                code = end.code
        return code, out.getvalue(), error.getvalue()

    def assert_builds(self, targets, *words):
        code, out, error = self.plan(*words)
        self.assertEqual((code, out.split(), error), (0, targets.split(), ""))

    def assert_refused(self, pattern, *words):
        code, out, error = self.plan(*words)
        self.assertEqual((code, out, error.count("\n")), (2, "", 1), error)
        self.assertRegex(error, pattern)

    def test_a_run(self):
        self.assert_builds("nbody-view DEFAULT")
        self.assert_builds("nbody-view DEFAULT", "--scenario", "plummer", "--port", "0")
        self.assert_builds("nbody-view step03_tiling", "--step", "03", "--bodies", "7")
        self.assert_builds("nbody-view step04b_blocks", "--step", "4b")
        self.assert_builds("nbody-view cpu_simd", "--step", "cpu_simd")
        self.assert_builds("nbody-view cpu_tree", "--step", "cpu_tree", "--bodies", "7")
        for bodies, name in (
            ("9999", "DEFAULT"),
            ("10000", "DEFAULT_MANY"),
            ("30000", "DEFAULT_MANY"),
            ("1048576", "DEFAULT_TREE"),
            ("1e6", "DEFAULT_TREE"),
        ):
            self.assert_builds(f"nbody-view {name}", "--bodies", bodies)
        self.assert_builds(
            "nbody-view DEFAULT", "--export", "p.html", "--steps", "9", "--frames", "3"
        )

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [f"{folder}/a.bin", f"{folder}/b.bin"]
            for file in files:
                Path(file).touch()
            self.assert_builds("nbody-view", *files)
            self.assert_builds("nbody-view", files[0], "--export", "p.html")
        self.assert_refused("there is no file 'a.bin'", "a.bin")

    def test_refusals(self):
        self.assert_refused("'99' is not a step; choose from step00", "--step", "99")
        self.assert_refused("--port", "--view", "8765")
        self.assert_refused("needs --steps", "--export", "p.html")
        self.assert_refused("needs --steps", "--export", "p.html", "--steps", "0")
        self.assert_refused(
            "--snapshot-", "--export", "p.html", "--steps", "9", "--snapshot-every", "3"
        )
        self.assert_refused("--frames", "--frames", "0")
        self.assert_refused(
            "'p.png' does not end in .html.*nbody plot", "a.bin", "--export", "p.png"
        )

    def test_stairs(self):
        self.assert_builds(
            "nbody-stairs step01_gpu_naive step03_tiling", "--stairs", "01,03", "--bodies", "7"
        )
        self.assertIn("step11_register_blocking", self.plan("--stairs", "--scenario", "plummer")[1])
        self.assert_refused("'99' is not a step", "--stairs", "01,99")
        self.assert_refused(
            "--json cannot be used with --stairs; allowed options: ",
            "--stairs",
            "--json",
            "r.json",
        )
        self.assert_refused("--steps cannot be used with --stairs", "--stairs", "01", "--steps=3")
        self.assert_refused(
            "cannot be used with files or --export", "--export", "p.html", "--stairs"
        )
        self.assert_refused("cannot be used with files or --export", "a.bin", "--stairs")

    def test_help(self):
        code, out, error = self.plan("--help")
        self.assertEqual((code, out), (0, ""))  # so that nothing is built
        self.assertIn("--step STEP", error)
