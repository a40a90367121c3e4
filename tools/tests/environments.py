"""Python environments for nightly tests of packages that users need not install."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Optional


def python_with(package: str, folder: Path) -> Optional[str]:
    """Returns an interpreter that can import the package. Tries the interpreter in the environment
    variable PYTHON and the one in `folder`. If both lack the package, makes a new environment in
    `folder` and installs the package there with pip. If venv is missing or pip fails, for example
    without a network, prints the reason and returns None."""
    own = shutil.which(os.environ.get("PYTHON", "python3")) or sys.executable
    installed = folder.absolute() / "bin" / "python3"
    for python in (own, str(installed)):
        if Path(python).exists() and run(python, "-c", f"import {package}").returncode == 0:
            return python
    for words in ((sys.executable, "-m", "venv", "--clear", str(folder.absolute())),
                  (str(installed), "-m", "pip", "install", "--quiet", package)):
        done = run(*words)
        if done.returncode != 0:
            print(f"{' '.join(words)}: {done.stdout.strip()[-300:]}")
            return None
    return str(installed)


def run(*words: str) -> subprocess.CompletedProcess[str]:
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    # Not in the test's folder: a folder there with the package's name would be imported.
    return subprocess.run(words, check=False, text=True, env=ours, cwd="/",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
