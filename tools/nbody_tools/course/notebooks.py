"""Makes .ipynb files from the Markdown files in course/notebooks.

  ./nbody course notebooks               writes them to build/notebooks
  ./nbody course notebooks --execute     also runs them and checks the results of their cells

Uses jupytext and nbclient, and lets pip install them in build/notebook-tools if they are missing.
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

from nbody_tools.arguments import ROOT, existing_folder
from nbody_tools.course.packages import python_with

MODULES = ("jupytext", "nbclient", "ipykernel")
PACKAGES = ("jupytext==1.19.6", "nbclient==0.11.0", "ipykernel==7.4.0")
WORKER = Path(__file__).with_name("notebook_worker.py")


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("--output", type=Path, default=ROOT / "build" / "notebooks", metavar="DIR",
                   help="[build/notebooks]")
    p.add_argument("--execute", action="store_true",
                   help="also run them, and check the results of their cells")
    p.add_argument("--root", type=existing_folder, default=ROOT, metavar="DIR",
                   help="root of the repository")


def run(options: argparse.Namespace) -> int:
    root, output = options.root.resolve(), options.output
    output.mkdir(parents=True, exist_ok=True)
    python = python_with(MODULES, PACKAGES, root / "build" / "notebook-tools")
    texts = sorted(path for path in (root / "course" / "notebooks").glob("[0-9]*.md"))
    words = [
        python,
        str(WORKER),
        str(root),
        str(output),
        *(["--execute"] if options.execute else []),
        *map(str, texts),
    ]
    return subprocess.run(words, check=False).returncode
