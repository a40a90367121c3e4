"""The names in object files and libraries, by nm and c++filt."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Sequence


def symbols(files: Sequence[Path], *options: str) -> list[tuple[str, str]]:
    """(type, name) of symbols, as they are linked."""
    listed = subprocess.run(["nm", *options, *map(str, files)], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, errors="replace", check=True).stdout
    return [(match[1], match[2])
            for match in re.finditer(r"^(?:[0-9a-f]+)? +([A-Za-z]) (.*)$", listed, re.M)]


def names_called(object_file: Path) -> list[str]:
    """The names that it calls and does not define, readable."""
    wanted = [name for kind, name in symbols([object_file]) if kind == "U"]
    return subprocess.run(["c++filt"], input="\n".join(wanted), stdout=subprocess.PIPE, text=True,
                          check=True).stdout.splitlines()
