"""Installs yt, pynbody and h5py from PyPI into readers/ of the current folder, for other_readers.py.

Exit code 77, which ctest shows as skipped, where that is not possible, without a network for example.
"""

import os
import subprocess
import sys

FOLDER = "readers"
READERS = ("yt", "pynbody", "h5py")


def main() -> int:
    if os.environ.get("NBODY_YT_PYTHON"):
        return 0
    imports = [f"{FOLDER}/bin/python3", "-c", f"import {', '.join(READERS)}"]
    if os.path.exists(imports[0]) and subprocess.run(imports, check=False, capture_output=True).returncode == 0:
        return 0
    for command in ([sys.executable, "-m", "venv", "--clear", FOLDER],
                    [f"{FOLDER}/bin/python3", "-m", "pip", "install", "--quiet", *READERS]):
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"skipped: {' '.join(command)}: {(done.stdout + done.stderr).strip()[-300:]}")
            return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
