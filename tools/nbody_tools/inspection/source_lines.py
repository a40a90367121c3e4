"""Finds the source file and line of code addresses."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from nbody_tools.arguments import ROOT, ToolError

HOSTCUDA_HEADERS = "hostcuda/include/"  # also matches the grader's copies of them


@dataclass(frozen=True)
class Place:
    file: str  # path; relative to the repository if inside it
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def shown_path(file: str) -> str:
    path = Path(os.path.normpath(file))
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def source_lines(program: Path, codes: Sequence[int]) -> dict[int, Place]:
    """Maps these code offsets to source lines. In inlined code, takes the innermost function that
    is not in hostcuda's headers, because an access in __ldg or atomicAdd belongs to the caller."""
    if not codes:
        return {}
    words = ["addr2line", "-a", "-i", "-e", str(program)]
    try:
        output = subprocess.run(words, input="\n".join(map(hex, codes)), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise ToolError(f"addr2line (binutils) cannot read {program}: {error}") from error
    frames: dict[int, list[str]] = {}
    for line in output.splitlines():
        if line.startswith("0x"):
            current = frames.setdefault(int(line, 16), [])
        else:
            current.append(line)
    return {code: place_of(frames[code]) for code in codes}


def place_of(frames: Sequence[str]) -> Place:
    places = []
    for frame in frames:
        file, _, line = frame.partition(" (discriminator ")[0].rpartition(":")
        places.append(Place(file, int(line) if line.isdigit() else 0))
    users = [place for place in places if HOSTCUDA_HEADERS not in place.file]
    chosen = (users or places)[0]
    return Place(shown_path(chosen.file), chosen.line)


def source_text(place: Place) -> str:
    try:
        lines = (ROOT / place.file).read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""
