"""Compiles and runs the C example of docs/library.md.

usage: page_test.py COMPILER LIBRARY_FOLDER
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from nbody_tools.arguments import ROOT


def main(compiler: str, library: str) -> int:
    page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```c\n(.*?)^```$", page, re.M | re.S)
    (wanted,) = re.findall(r"/\* (.*) \*/$", example, re.M)
    with tempfile.TemporaryDirectory() as name:
        source, program = Path(name) / "example.c", Path(name) / "example"
        source.write_text(example, encoding="utf-8")
        subprocess.run([compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/library",
                        source, "-o", program, f"-L{library}", "-lnbody", f"-Wl,-rpath,{library}"],
                       check=True)
        done = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True)
    found = done.stdout.strip()
    if found != wanted:
        print(f"the example printed {found!r}; the page says {wanted!r}")
    return int(found != wanted)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
