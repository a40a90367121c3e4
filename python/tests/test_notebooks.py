"""Runs the code of Markdown notebooks, each in its own process.

usage: test_notebooks.py NOTEBOOK.md...
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path


def main(notebooks: list[str]) -> int:
    failed = 0
    for name in notebooks:
        text = Path(name).read_text(encoding="utf-8")
        cells = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
        done = subprocess.run([sys.executable, "-c", "\n".join(cells)], check=False)
        print(f"{name}: {len(cells)} cells, exit code {done.returncode}")
        failed |= int(done.returncode != 0 or not cells)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
