"""Uses pip to install missing Python packages that only a course needs, into the build folder."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path
from typing import Sequence

from nbody_tools.arguments import Failed


def imports(python: Path | str, modules: Sequence[str]) -> bool:
    try:
        done = subprocess.run(
            [str(python), "-c", f"import {', '.join(modules)}"],
            stderr=subprocess.DEVNULL,
            check=False,
        )
    except OSError:
        return False
    return done.returncode == 0


def python_with(modules: Sequence[str], packages: Sequence[str], folder: Path) -> str:
    """Returns a Python interpreter that can import these modules. If none can, installs
    `packages`."""
    if imports(sys.executable, modules):
        return sys.executable
    python = folder / "bin" / "python"
    if not imports(python, modules):
        print(f"Installing {', '.join(packages)} with pip in {folder} ...", flush=True)
        try:
            venv.create(folder, with_pip=True, system_site_packages=True)
        except (subprocess.CalledProcessError, OSError) as error:
            raise Failed(f"{folder}: Python cannot make an environment with pip (Debian, Ubuntu: "
                         "apt install python3-venv)") from error
        # pip also complains about unrelated packages, so this shows its output only if pip fails.
        words = [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            *packages,
        ]
        done = subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        if done.returncode != 0 or not imports(python, modules):
            sys.stderr.write(done.stdout)
            raise Failed(f"pip could not install {', '.join(packages)}")
    return str(python)
