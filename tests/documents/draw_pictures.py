"""Runs the commands of docs/pictures.md, in the order of the page, in a new folder. They must
produce every picture that the page shows.

  draw_pictures.py ROOT BUILD
  draw_pictures.py ROOT BUILD docs/figures/pictures   also stores the pictures in that folder
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Optional

PROGRAMS = ("cpu_simd", "nbody", "mkdir")


def main(root: Path, build: Path, keep: Optional[Path] = None) -> int:
    page = (root / "docs" / "pictures.md").read_text(encoding="utf-8")
    commands = [line[4:] for line in page.splitlines()
                if line.startswith("    ") and line.split()[0] in PROGRAMS and "&&" not in line]
    pictures = re.findall(r"\(figures/pictures/(\w+\.svg)\)", page)
    if len(commands) < 10 or len(pictures) < 5:
        print("the page has too few commands or pictures; is it still parsed correctly?")
        return 1
    cpu_simd = build / "cpu" / "simd" / "cpu_simd"
    if not cpu_simd.is_file():
        print(f"{cpu_simd} does not exist; build it first: ./nbody build cpu_simd")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        for command in commands:
            words = command.split()
            if words[0] == "nbody":
                words = [sys.executable, "-m", "nbody_tools", *words[1:]]
            elif words[0] == "cpu_simd":
                words[0] = str(cpu_simd)
            words = [word.replace("../../build/cpu", str(build)) for word in words]
            print(command, flush=True)
            code = subprocess.run(words, cwd=folder, check=False).returncode
            if code != 0:
                print(f"exit code {code}")
                return 1
        missing = [name for name in pictures if not (Path(folder) / name).is_file()]
        if not keep:
            missing += [f"{name}, committed" for name in pictures
                        if not (root / "docs" / "figures" / "pictures" / name).is_file()]
        for name in missing:
            print(f"missing: {name}")
        if keep and not missing:
            for name in pictures:
                shutil.copy(Path(folder) / name, keep / name)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*(Path(word).resolve() for word in sys.argv[1:])))
