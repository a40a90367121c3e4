"""Reads the names in object files and libraries with nm and c++filt."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Sequence

from nbody_tools.labs.building import Workshop

WHOLE = 1 << 30  # effectively no limit, because the sandbox already limits output


def symbols(workshop: Workshop, files: Sequence[Path], *options: str) -> list[tuple[str, str]]:
    """Returns the (type, name) of each symbol, as printed by nm."""
    listed = workshop.call(["nm", *options, *map(str, files)], most=WHOLE)
    return [(match[1], match[2])
            for match in re.finditer(r"^(?:[0-9a-f]+)? +([A-Za-z]) (.*)$", listed, re.M)]


def names_called(listed: Sequence[tuple[str, str]]) -> list[str]:
    """Returns the demangled names that an object file uses but does not define."""
    wanted = [name for kind, name in listed if kind in "Uwv"]
    return subprocess.run(["c++filt"], input="\n".join(wanted), stdout=subprocess.PIPE, text=True,
                          check=True).stdout.splitlines()
