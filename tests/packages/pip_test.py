"""Tests `pip install .` in a new environment. `nbody` must work in a clone, and must say what it
needs when it runs elsewhere.

Exits with 77 if there is no venv, or if pip cannot reach a package index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from nbody_tools.arguments import ROOT
from nbody_tools.command_line.help import number_of_the_version

NOT_HERE = 77
NO_NETWORK = (
    "No matching distribution",
    "Could not find a version",
    "Temporary failure in name resolution",
)
TAKEN = ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE", "NOTICE")


def run(*words: object, cwd: Path) -> subprocess.CompletedProcess:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "NBODY_ROOT")
    }
    return subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=environment,
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
    )


def install(folder: Path) -> Path:
    """Returns the installed command. Installs from a copy, so that the work tree stays clean."""
    source = folder / "source"
    shutil.copytree(ROOT / "tools" / "nbody_tools", source / "tools" / "nbody_tools",
                    ignore=shutil.ignore_patterns("__pycache__"))
    for name in TAKEN:
        shutil.copy(ROOT / name, source / name)
    made = run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    if made.returncode != 0:
        print(f"no venv here: {made.stdout}")
        sys.exit(NOT_HERE)
    done = run(folder / "venv/bin/pip", "install", "--quiet", source, cwd=folder)
    if any(text in done.stdout for text in NO_NETWORK):
        print(f"no package index here: {done.stdout}")
        sys.exit(NOT_HERE)
    assert done.returncode == 0, done.stdout
    shutil.rmtree(source)
    return folder / "venv/bin/nbody"


class Installed(unittest.TestCase):
    def test_in_a_clone_it_is_the_command_line(self) -> None:
        self.assertIn(
            f"nbody-steps {number_of_the_version()}",
            run(NBODY, "--version", cwd=ROOT / "docs").stdout,
        )
        said = run(NBODY, "lab", "list", cwd=ROOT / "course")
        self.assertEqual(said.returncode, 0, said.stdout)
        self.assertIn("tile loop", said.stdout)

    def test_outside_a_clone_it_draws_and_names_what_needs_one(self) -> None:
        self.assertEqual(run(NBODY, "--version", cwd=FOLDER).stdout.split(",")[0],
                         f"nbody-steps {number_of_the_version()}")
        said = run(NBODY, "build", cwd=FOLDER)
        self.assertEqual((said.returncode, said.stdout.count("\n")), (1, 1), said.stdout)
        self.assertIn("needs a clone of the repository", said.stdout)
        said = run(NBODY, "biuld", cwd=FOLDER)
        self.assertIn("did you mean build?", said.stdout)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        FOLDER = Path(name)
        NBODY = install(FOLDER)
        unittest.main()
