"""Tests the archive of a release, made from HEAD: it must build without .git, and know its version
and revision.

usage: release_test.py COMPILER

The archive is made from a clone, so that uncommitted changes here do not matter. Exits with 77 if
there is nothing to clone.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from nbody_tools.arguments import ROOT
from nbody_tools.command_line.help import number_of_the_version

TARGETS = ("step00_cpu_omp", "step03_tiling", "nbody-convert")


def run(*words: object, cwd: Path) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, f"{words}: exit code {done.returncode}\n{done.stdout[-4000:]}"
    return done.stdout


class Release(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.clone = self.folder / "clone"
        run("git", "clone", "--quiet", ROOT, self.clone, cwd=self.folder)
        run("./nbody", "release", self.folder, cwd=self.clone)
        self.name = f"nbody-steps-{number_of_the_version()}"
        self.archive = self.folder / f"{self.name}.tar.gz"

    def test_it_builds_and_runs(self) -> None:
        run("tar", "-xzf", self.archive, cwd=self.folder)
        root = self.folder / self.name
        self.assertFalse((root / ".git").exists())
        revision = run("git", "describe", "--always", "--abbrev=12", cwd=self.clone).strip()
        self.assertIn(
            f"{number_of_the_version()}, revision {revision}", run("./nbody", "--version", cwd=root)
        )
        run("cmake", "--preset", "cpu", f"-DCMAKE_CXX_COMPILER={COMPILER}", "-DBUILD_TESTING=OFF",
            "-DNBODY_EXPERIMENTS=OFF", cwd=root)
        run(
            "cmake",
            "--build",
            "build/cpu",
            "--parallel",
            os.cpu_count(),
            "--target",
            *TARGETS,
            cwd=root,
        )
        for step in TARGETS[:2]:
            program = root / "build" / "cpu" / step / step
            self.assertIn(revision, run(program, "--version", cwd=root))
            self.assertIn(
                "pass (full)", run(program, "--scenario", "figure-eight", "--steps", 10, cwd=root)
            )

    def test_the_same_revision_gives_the_same_bytes(self) -> None:
        run("./nbody", "release", self.folder / "again", cwd=self.clone)
        content = self.archive.read_bytes()
        self.assertEqual(content, (self.folder / "again" / self.archive.name).read_bytes())
        said = Path(f"{self.archive}.sha256").read_text(encoding="utf-8").split()
        self.assertEqual(said, [hashlib.sha256(content).hexdigest(), self.archive.name])

    def test_existing_folders_and_uncommitted_changes_are_rejected(self) -> None:
        for where, what in (
            (self.folder, "already exists"),
            (self.folder / "new", "README.md has uncommitted"),
        ):
            if where.name == "new":
                (self.clone / "README.md").write_text("changed\n", encoding="utf-8")
            done = subprocess.run(
                ["./nbody", "release", where],
                cwd=self.clone,
                check=False,
                capture_output=True,
                text=True,
            )
            self.assertEqual(done.returncode, 2)
            self.assertIn(what, done.stderr)
        self.assertFalse((self.folder / "new").exists())


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1)
    if not (ROOT / ".git").exists():
        print("not a git repository: nothing to archive")
        sys.exit(77)
    unittest.main()
