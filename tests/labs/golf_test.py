"""Repeats the counts in every row of course/board.md (./nbody golf --check): golf_test.py BUILD

pip installs nvcc, cuobjdump and nvdisasm in the current folder, so that no toolkit is needed. Exits
with 77 if pip cannot, or if there is no clang++.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from nbody_tools.arguments import ROOT
from tests.environments import run

FOLDER = Path("nvcc-packages").absolute()


def programs() -> Path:
    """Returns the folder of nvcc; installs the packages if necessary."""
    python = FOLDER / "bin" / "python3"
    if not list(FOLDER.glob("lib/python3*/site-packages/nvidia/cu13/bin/nvdisasm")):
        for words in ((sys.executable, "-m", "venv", "--clear", str(FOLDER)),
                      (str(python), "-m", "pip", "install", "--quiet", "--no-deps",
                       "--requirement", str(ROOT / "packaging" / "nvcc.txt"))):
            done = run(*words)
            if done.returncode != 0:
                print(f"skipped: {' '.join(words)}: {done.stdout.strip()[-300:]}")
                sys.exit(77)
    folder = next(FOLDER.glob("lib/python3*/site-packages/nvidia/cu13"))
    for tool in (*folder.glob("bin/*"), *folder.glob("nvvm/bin/*")):
        if tool.is_file():
            tool.chmod(0o755)  # pip does not mark all of them as programs
    return folder / "bin"


tools = programs()
environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "CUDACXX": str(tools / "nvcc")}
sys.exit(subprocess.run([sys.executable, "-m", "nbody_tools", "golf", "--check", "--build",
                         sys.argv[1]], env=environment, check=False).returncode)
